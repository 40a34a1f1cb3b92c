"""Model files: fitted estimators as one `.secant` file each, which holds no code.

Below the estimators, for they save themselves; it knows their classes by name only.
"""

from secant.model_files.errors import ModelFileError
from secant.model_files.saving import Savable, load, read_metadata, save

__all__ = ["ModelFileError", "Savable", "load", "read_metadata", "save"]

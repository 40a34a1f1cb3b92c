"""Model files: fitted estimators as one `.secant` file each, which holds no code.

In a layer below the estimators, whose methods call it; it refers to their classes by name.
"""

from secant.model_files.errors import ModelFileError
from secant.model_files.saving import Savable, load, read_metadata, save

__all__ = ["ModelFileError", "Savable", "load", "read_metadata", "save"]

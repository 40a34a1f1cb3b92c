"""Model files: each fitted estimator in one `.secant` file without code.

This layer is below the estimators, whose methods call it; it refers to their classes by name.
"""

from secant.model_files.errors import ModelFileError
from secant.model_files.saving import Savable, load, read_metadata, save

__all__ = ["ModelFileError", "Savable", "load", "read_metadata", "save"]

"""Model files among the other files: fitted estimators out and in, with what is told about them."""

from secant.model_files import ModelFileError, load, read_metadata, save

__all__ = ["ModelFileError", "load", "read_metadata", "save"]

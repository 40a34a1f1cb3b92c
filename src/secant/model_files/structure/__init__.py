"""Convert fitted objects to JSON and arrays and back, without running code."""

from secant.model_files.structure.decoder import decoded
from secant.model_files.structure.encoder import FORMAT, EncodedObject, encoded

__all__ = ["FORMAT", "EncodedObject", "decoded", "encoded"]

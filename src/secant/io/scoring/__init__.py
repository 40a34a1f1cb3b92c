"""Scoring tables by model files: one of them, or a folder of them."""

from secant.io.scoring.folders import FolderScored, score_folder
from secant.io.scoring.result import Scored
from secant.io.scoring.scorer import Scorer
from secant.io.scoring.tables import score_table

__all__ = ["FolderScored", "Scored", "Scorer", "score_folder", "score_table"]

"""Scoring tables by model files: one of them, or a folder of them."""

from secant.deploy.scoring.folders import FolderScored, score_folder
from secant.deploy.scoring.scorer import Scored, Scorer, score_table

__all__ = ["FolderScored", "Scored", "Scorer", "score_folder", "score_table"]

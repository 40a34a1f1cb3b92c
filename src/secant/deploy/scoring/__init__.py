"""Scoring of one table, or a folder of tables, by a model file."""

from secant.deploy.scoring.folders import FolderScored, score_folder
from secant.deploy.scoring.scorer import Scored, Scorer, score_table

__all__ = ["FolderScored", "Scored", "Scorer", "score_folder", "score_table"]

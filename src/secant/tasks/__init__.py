"""The jobs people come for, each on top of any ratio estimator."""

from secant.tasks.mi_estimator import MIEstimator
from secant.tasks.mi_matrix import MutualInformationMatrix, mutual_information_matrix
from secant.tasks.mi_result import MutualInformation
from secant.tasks.mutual_information import mutual_information, total_correlation

__all__ = [
    "MIEstimator",
    "MutualInformation",
    "MutualInformationMatrix",
    "mutual_information",
    "mutual_information_matrix",
    "total_correlation",
]

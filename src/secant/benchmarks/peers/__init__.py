"""What a user would pick instead, behind the same two calls: `fit_samples` and `log_ratio`."""

from secant.benchmarks.peers.classifiers import boosted_trees, logistic_regression
from secant.benchmarks.peers.densratio import DensRatio
from secant.benchmarks.peers.torch_scores import TorchCTSM, TorchDREInfinity

__all__ = [
    "DensRatio",
    "TorchCTSM",
    "TorchDREInfinity",
    "boosted_trees",
    "logistic_regression",
]

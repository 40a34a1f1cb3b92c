"""Other libraries with the same interface: `fit_samples` and `log_ratio`."""

from secant_bench.peers.classifiers import boosted_trees, logistic_regression
from secant_bench.peers.densratio import DensRatio
from secant_bench.peers.torch_scores import TorchCTSM, TorchDREInfinity

__all__ = [
    "DensRatio",
    "TorchCTSM",
    "TorchDREInfinity",
    "boosted_trees",
    "logistic_regression",
]

"""Models of the secant u(x, l, t), the trunks inside them and the Gaussian anchor."""

from secant.models.aligned import AlignedSecant
from secant.models.anchor import Anchor, Anchored, GaussianAnchor, MixtureAnchor
from secant.models.networks import ResidualMLP, Trunk, TrunkBuilder
from secant.models.secant_function import ModelBuilder, SecantFunction
from secant.models.spectral import SpectralSecant
from secant.models.tangent import TangentNetwork

__all__ = [
    "AlignedSecant",
    "Anchor",
    "Anchored",
    "GaussianAnchor",
    "MixtureAnchor",
    "ModelBuilder",
    "ResidualMLP",
    "SecantFunction",
    "SpectralSecant",
    "TangentNetwork",
    "Trunk",
    "TrunkBuilder",
]

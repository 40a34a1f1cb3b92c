"""Models of the secant u(x, l, t), the trunks inside them and the Gaussian anchor."""

from secant.models.aligned import AlignedSecant
from secant.models.anchor import Anchor, Anchored, GaussianAnchor, MixtureAnchor
from secant.models.networks import (
    FourierMLP,
    ModulatedMLP,
    QuadraticForms,
    ResidualMLP,
    TimedTrunk,
    Trunk,
    TrunkBuilder,
)
from secant.models.ridge_functions import RidgeFunctions
from secant.models.secant_function import ModelBuilder, SecantFunction, Shifted
from secant.models.spectral import SpectralSecant
from secant.models.tangent import JointScore, JointScoreNetwork, TangentNetwork
from secant.models.telescoping import TelescopingHeads

__all__ = [
    "AlignedSecant",
    "Anchor",
    "Anchored",
    "FourierMLP",
    "GaussianAnchor",
    "JointScore",
    "JointScoreNetwork",
    "MixtureAnchor",
    "ModelBuilder",
    "ModulatedMLP",
    "QuadraticForms",
    "ResidualMLP",
    "RidgeFunctions",
    "SecantFunction",
    "Shifted",
    "SpectralSecant",
    "TangentNetwork",
    "TelescopingHeads",
    "TimedTrunk",
    "Trunk",
    "TrunkBuilder",
]

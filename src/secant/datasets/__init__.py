"""Distributions with known log ratio or mutual information."""

import warnings
from importlib import import_module

from secant.datasets.beyond_normal import bmi_tasks, geometric_tasks
from secant.datasets.dependence import (
    additive_noise,
    asinh_student,
    edge_singular_gauss,
    joint_student,
    shuffled,
)
from secant.datasets.dependent_pair import DependentPair
from secant.datasets.gaussians import (
    RHO_HALF_NAT,
    block_gaussians,
    gaussian_pair,
    narrow_gaussian,
)
from secant.datasets.heavy_tails import student_pair
from secant.datasets.injections import (
    mixture_quantile_of_normal,
    normal_cdf,
    spiral,
    swiss_roll,
    wiggly_x,
    wiggly_y,
)
from secant.datasets.mixtures import mixture_2d, mixture_8d, mixture_pair
from secant.datasets.pair import Estimate, Pair
from secant.datasets.toys import Toy, toys
from secant.datasets.transforms import (
    asinh,
    half_cube,
    inverse_asinh,
    inverse_half_cube,
    through,
)

__all__ = [
    "RHO_HALF_NAT",
    "DependentPair",
    "Estimate",
    "Pair",
    "Toy",
    "additive_noise",
    "asinh",
    "asinh_student",
    "block_gaussians",
    "bmi_tasks",
    "edge_singular_gauss",
    "gaussian_pair",
    "geometric_tasks",
    "half_cube",
    "inverse_asinh",
    "inverse_half_cube",
    "joint_student",
    "mixture_2d",
    "mixture_8d",
    "mixture_pair",
    "mixture_quantile_of_normal",
    "narrow_gaussian",
    "normal_cdf",
    "shuffled",
    "spiral",
    "student_pair",
    "swiss_roll",
    "through",
    "toys",
    "wiggly_x",
    "wiggly_y",
]

_MOVED = {
    "Table": "RealTable",
    **{
        name: name
        for name in ("TABLES", "TableSource", "bsds300", "gas", "hepmass", "miniboone", "power")
    },
}


def __getattr__(name: str) -> object:
    if name not in _MOVED:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    import_module("secant.benchmarks")  # which says how to install it
    place, new = "secant_bench.real_tables", _MOVED[name]
    warnings.warn(
        f"secant.datasets.{name} is now {place}.{new}; the old name will be removed.",
        DeprecationWarning,
        stacklevel=2,
    )
    return getattr(import_module(place), new)

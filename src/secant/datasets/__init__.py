"""Distributions that carry their truth, and tables of real data."""

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
from secant.datasets.tables import (
    TABLES,
    Table,
    TableSource,
    bsds300,
    gas,
    hepmass,
    miniboone,
    power,
)
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
    "TABLES",
    "DependentPair",
    "Estimate",
    "Pair",
    "Table",
    "TableSource",
    "Toy",
    "additive_noise",
    "asinh",
    "asinh_student",
    "block_gaussians",
    "bmi_tasks",
    "bsds300",
    "edge_singular_gauss",
    "gas",
    "gaussian_pair",
    "geometric_tasks",
    "half_cube",
    "hepmass",
    "inverse_asinh",
    "inverse_half_cube",
    "joint_student",
    "miniboone",
    "mixture_2d",
    "mixture_8d",
    "mixture_pair",
    "mixture_quantile_of_normal",
    "narrow_gaussian",
    "normal_cdf",
    "power",
    "shuffled",
    "spiral",
    "student_pair",
    "swiss_roll",
    "through",
    "toys",
    "wiggly_x",
    "wiggly_y",
]

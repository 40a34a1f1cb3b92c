"""The forty tasks of the "Beyond Normal" benchmark of mutual information, with exact truths.

Czyż, Grabowski, Vogt, Beerenwinkel and Marx (2023), Beyond Normal: On the Evaluation of Mutual
Information Estimators. Names are those of version 1 of its package, so that results can be joined.
"""

from functools import cache, partial

import numpy as np
from jaxtyping import Array

from secant.datasets.dependence import additive_noise, edge_singular_gauss, joint_student
from secant.datasets.dependent_pair import DependentPair
from secant.datasets.gaussians import Vector, gaussian_pair
from secant.datasets.injections import (
    mixture_quantile_of_normal,
    normal_cdf,
    spiral,
    swiss_roll,
    wiggly_x,
    wiggly_y,
)
from secant.datasets.pair import Map
from secant.datasets.transforms import asinh, half_cube

_BIMODAL_X = partial(mixture_quantile_of_normal, weights=(0.3, 0.7), means=(0.0, 5.0))
_BIMODAL_Y = partial(mixture_quantile_of_normal, weights=(0.5, 0.5), means=(-1.0, 3.0))


@cache
def bmi_tasks() -> tuple[DependentPair, ...]:
    """The forty tasks, in the order of the benchmark's version 1.

    Nine of one dimension each, a Swiss roll, nine multivariate normals (dense, then sparse), six
    Student ts, and fifteen of these under maps that preserve mutual information.

    Returns:
        The tasks, of distinct names.

    Examples:
        >>> len(bmi_tasks())
        40
    """
    return (*_one_dimensional(), _swiss_roll(), *_normals(), *_students(), *_transformed())


@cache
def geometric_tasks() -> tuple[DependentPair, ...]:
    """Four geometries that are difficult for estimators, the last at three correlations.

    Dependence without correlation (asinh of a bivariate Cauchy), a support with edges (additive
    noise), a density that is infinite at 0 (half-cube), and mass on a ridge (ρ → 1).

    Returns:
        Six tasks of two columns each.

    Examples:
        >>> [round(task.mutual_information, 4) for task in geometric_tasks()]
        [0.2242, 1.7094, 0.4133, 0.8304, 1.9585, 3.1076]
    """
    ridges = (edge_singular_gauss(rho) for rho in (0.9, 0.99, 0.999))
    return (
        _asinh(_student(1, 1)),
        _additive(0.1),
        _half_cube(_binormal()),
        *(DependentPair.from_pair(pair, 1) for pair in ridges),
    )


def _one_dimensional() -> tuple[DependentPair, ...]:
    normal, student = _binormal(), _student(1, 1)
    return (
        normal,
        _uniform(normal),
        _additive(0.1),
        _additive(0.75),
        # From normal scores, because rounding Φ(z) would cut off the upper tails.
        normal.through(_BIMODAL_X, _BIMODAL_Y, "1v1-bimodal-0.75"),
        normal.through(wiggly_x, wiggly_y, f"wiggly-{normal.name}"),
        _half_cube(normal),
        student,
        _asinh(student),
    )


def _swiss_roll() -> DependentPair:
    uniform = _uniform(_binormal())
    return uniform.through(swiss_roll, _same, f"swissroll_x-{uniform.name}")


def _normals() -> tuple[DependentPair, ...]:
    dense = (_dense(dim) for dim in (2, 3, 5, 25, 50))
    return (*dense, *(_sparse(dim) for dim in (2, 3, 5, 25)))


def _students() -> tuple[DependentPair, ...]:
    sizes = ((2, 1), (2, 2), (3, 2), (3, 3), (5, 2), (5, 3))
    return tuple(_student(dim, df) for dim, df in sizes)


def _transformed() -> tuple[DependentPair, ...]:
    normals = [_sparse(dim) for dim in (3, 5, 25)]
    return (
        *(_uniform(task) for task in normals),
        *(_half_cube(task) for task in normals),
        *(_spiral(task) for task in normals),
        *(_spiral(_uniform(task)) for task in normals),
        *(_asinh(_student(dim, df)) for dim, df in ((2, 1), (3, 2), (5, 2))),
    )


def _binormal() -> DependentPair:
    return _normal(np.array([[1.0, 0.75], [0.75, 1.0]]), "1v1-normal-0.75")


def _dense(dim: int) -> DependentPair:
    """Every two of the columns of x and y have correlation ½."""
    covariance = np.full((2 * dim, 2 * dim), 0.5) + 0.5 * np.eye(2 * dim)
    return _normal(covariance, f"multinormal-dense-{dim}-{dim}-0.5")


def _sparse(dim: int) -> DependentPair:
    """x_1, y_1 and x_2, y_2 have correlation 0.8: a shared signal of strength 2 and unit noise."""
    covariance, first = np.eye(2 * dim), np.arange(2)
    covariance[first, dim + first] = covariance[dim + first, first] = 0.8
    return _normal(covariance, f"multinormal-sparse-{dim}-{dim}-2-2.0")


def _normal(covariance: Vector, name: str) -> DependentPair:
    """N(0, covariance), its columns halved into x and y."""
    dim, zero = covariance.shape[0] // 2, np.zeros(covariance.shape[0])
    margins = covariance * np.kron(np.eye(2), np.ones((dim, dim)))
    pair = gaussian_pair(zero, margins, zero, covariance, name=name)
    return DependentPair.from_pair(pair, dim)


def _student(dim: int, df: int) -> DependentPair:
    pair = joint_student(dim, dim, df)
    return DependentPair.from_pair(pair, dim, name=f"student-identity-{dim}-{dim}-{df}")


def _additive(epsilon: float) -> DependentPair:
    return DependentPair.from_pair(additive_noise(epsilon), 1, name=f"1v1-additive-{epsilon}")


def _uniform(task: DependentPair) -> DependentPair:
    return task.through(normal_cdf, normal_cdf, f"normal_cdf-{task.name}")


def _half_cube(task: DependentPair) -> DependentPair:
    return task.through(half_cube, half_cube, f"half_cube-{task.name}")


def _asinh(task: DependentPair) -> DependentPair:
    return task.through(asinh, asinh, f"asinh-{task.name}")


def _spiral(task: DependentPair) -> DependentPair:
    """Rotations by ‖x‖²/dim, about one radian in any dimension."""
    map_x: Map = partial(spiral, plane=(0, 1), speed=1 / task.dim_x)
    map_y: Map = partial(spiral, plane=(1, 2), speed=1 / task.dim_y)
    return task.through(map_x, map_y, f"spiral-{task.name}")


def _same(y: Array) -> Array:
    return y

"""Laws that every pair obeys: registry × laws."""

import math
import pickle
from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import jax
import numpy as np
import pytest
from jaxtyping import PRNGKeyArray
from scipy import special

from secant import datasets
from secant.datasets import Pair

PAIRS: dict[str, Callable[[], Pair]] = {
    "gaussian": lambda: datasets.gaussian_pair(
        [0.0, 1.0], [[2.0, 0.3], [0.3, 1.0]], [1.0, 0.0], [[1.0, -0.4], [-0.4, 0.7]]
    ),
    "block_gaussians": lambda: datasets.block_gaussians(6),
    "narrow_gaussian": lambda: datasets.narrow_gaussian(3, shift=2.0, scale=0.5),
    "mixture_2d": datasets.mixture_2d,
    "mixture_8d": datasets.mixture_8d,
    "student": datasets.student_pair,
    "half_cube": lambda: datasets.through(
        datasets.block_gaussians(4), datasets.half_cube, datasets.inverse_half_cube, "half-cube"
    ),
    "asinh": lambda: datasets.through(
        datasets.student_pair(3), datasets.asinh, datasets.inverse_asinh, "asinh"
    ),
    "additive_noise_narrow": lambda: datasets.additive_noise(0.1),
    "additive_noise_wide": lambda: datasets.additive_noise(0.75),
    "edge_singular_gauss": datasets.edge_singular_gauss,
    "joint_student": lambda: datasets.joint_student(1, 2, df=2.0),
    "asinh_student": lambda: datasets.asinh_student(2, 2, df=1.0),
}
NO_KL = ("mixture_2d", "mixture_8d")  # in closed form
NO_REVERSE_KL = (*NO_KL, "asinh_student", "joint_student")
N_ROWS = 20_000
STANDARD_ERRORS = 4


class Case(NamedTuple):
    """A pair with samples and their log ratios, drawn once for all laws."""

    pair: Pair
    x_0: np.ndarray
    x_1: np.ndarray
    log_0: np.ndarray
    log_1: np.ndarray


@pytest.fixture(scope="module", params=PAIRS)
def case(request: pytest.FixtureRequest, key: PRNGKeyArray) -> Case:
    """Every registered pair in turn."""
    pair = PAIRS[request.param]()
    x_0, x_1 = pair.sample(key, N_ROWS)
    arrays = (x_0, x_1, pair.log_ratio(x_0), pair.log_ratio(x_1))
    return Case(pair, *(np.asarray(array) for array in arrays))


def every_pair_but(names: tuple[str, ...]) -> pytest.MarkDecorator:
    """The registered pairs without some."""
    return pytest.mark.parametrize("case", [n for n in PAIRS if n not in names], indirect=True)


def mean_and_standard_error(values: np.ndarray) -> tuple[float, float]:
    """Both in float64."""
    values = values.astype(np.float64)
    return values.mean(), values.std(ddof=1) / math.sqrt(values.size)


def test_shapes_and_dtype(case: Case) -> None:
    assert case.x_0.shape == case.x_1.shape == (N_ROWS, case.pair.n_features)
    assert case.log_0.shape == case.log_1.shape == (N_ROWS,)
    assert {array.dtype for array in case[1:]} == {np.dtype(np.float32)}


def test_traceable_under_jit(case: Case, key: PRNGKeyArray) -> None:
    x_0, x_1 = jax.jit(case.pair.sample, static_argnums=1)(key, N_ROWS)
    log_ratio = jax.jit(case.pair.log_ratio)
    np.testing.assert_allclose(x_0, case.x_0, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(x_1, case.x_1, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(log_ratio(case.x_0), case.log_0, rtol=1e-4, atol=1e-3)
    np.testing.assert_allclose(log_ratio(case.x_1), case.log_1, rtol=1e-4, atol=1e-3)


def test_same_seed_same_answer(case: Case, key: PRNGKeyArray) -> None:
    again = case.pair.sample(key, N_ROWS)
    other = case.pair.sample(jax.random.key(1, impl="rbg"), N_ROWS)
    for x, x_again, x_other in zip((case.x_0, case.x_1), again, other, strict=True):
        np.testing.assert_array_equal(x, x_again)
        assert not np.array_equal(x, x_other)


def test_samples_are_independent_of_each_other(case: Case) -> None:
    ranks_0, ranks_1 = (np.argsort(np.argsort(x[:, 0])) for x in (case.x_0, case.x_1))
    correlation = np.corrcoef(ranks_0, ranks_1)[0, 1]
    assert abs(correlation) < STANDARD_ERRORS / math.sqrt(N_ROWS)


@every_pair_but(NO_KL)
def test_kl_is_the_mean_log_ratio(case: Case) -> None:
    mean, standard_error = mean_and_standard_error(case.log_1)
    assert abs(mean - case.pair.kl) < STANDARD_ERRORS * standard_error


@every_pair_but(NO_REVERSE_KL)
def test_reverse_kl_is_the_mean_negated_log_ratio(case: Case) -> None:
    if math.isinf(case.pair.reverse_kl):
        assert np.isneginf(case.log_0).any()
        return
    mean, standard_error = mean_and_standard_error(-case.log_0)
    assert abs(mean - case.pair.reverse_kl) < STANDARD_ERRORS * standard_error


def test_a_kl_without_closed_form_is_none() -> None:
    assert all(PAIRS[name]().kl is None for name in NO_KL)
    assert all(PAIRS[name]().reverse_kl is None for name in NO_REVERSE_KL)


def test_class_probabilities_integrate_to_one(case: Case) -> None:
    # E_{p_0}[r/(1+r)] + E_{p_1}[r/(1+r)] = ∫ p_1 = 1 for the exact ratio. The terms are bounded,
    # so this holds across a chasm where E_{p_0}[r] = 1 cannot be checked.
    mean_0, error_0 = mean_and_standard_error(special.expit(case.log_0))
    mean_1, error_1 = mean_and_standard_error(special.expit(case.log_1))
    assert abs(mean_0 + mean_1 - 1) < STANDARD_ERRORS * math.hypot(error_0, error_1)


def test_swapped_negates(case: Case) -> None:
    pair, swapped = case.pair, case.pair.swapped()
    np.testing.assert_array_equal(swapped.log_ratio(case.x_1), -case.log_1)
    assert (swapped.draw_0, swapped.draw_1) == (pair.draw_1, pair.draw_0)
    assert (swapped.kl, swapped.reverse_kl) == (pair.reverse_kl, pair.kl)
    assert swapped.name != pair.name == swapped.swapped().name


def test_float32_agrees_with_float64(case: Case) -> None:
    with jax.enable_x64(new_val=True):
        log_ratio = jax.jit(case.pair.log_ratio)
        double_0, double_1 = (
            np.asarray(log_ratio(x.astype(np.float64))) for x in (case.x_0, case.x_1)
        )
    # Relative: 10³ roundings of float32. Absolute: the ridge of width 10⁻² amplifies a rounding
    # of x by up to 10⁴.
    np.testing.assert_allclose(case.log_0, double_0, rtol=1e-4, atol=2e-3)
    np.testing.assert_allclose(case.log_1, double_1, rtol=1e-4, atol=2e-3)


@pytest.mark.usefixtures("float64")
def test_float64_samples_under_x64(case: Case, key: PRNGKeyArray) -> None:
    x_0, x_1 = jax.eval_shape(partial(case.pair.sample, n=5), key)
    log_1 = jax.eval_shape(case.pair.log_ratio, x_1)
    assert x_0.dtype == x_1.dtype == log_1.dtype == np.float64


def test_survives_pickling(case: Case) -> None:
    copy = pickle.loads(pickle.dumps(case.pair.swapped()))
    np.testing.assert_array_equal(copy.log_ratio(case.x_1), -case.log_1)


@pytest.mark.parametrize(
    ("name", "far"),
    [("gaussian", 1e4), ("mixture_8d", 1e4), ("student", 1e8), ("asinh_student", 20.0)],
)
def test_finite_far_in_the_tails(name: str, far: float) -> None:
    pair = PAIRS[name]()
    assert np.isfinite(pair.log_ratio(np.full((1, pair.n_features), far, np.float32))).all()


def test_kl_estimate_is_a_mean_with_its_standard_error(key: PRNGKeyArray) -> None:
    pair = datasets.narrow_gaussian(3)
    value, standard_error = mean_and_standard_error(
        np.asarray(pair.log_ratio(pair.draw_1(key, N_ROWS)))
    )
    assert pair.kl_estimate(key, N_ROWS) == pytest.approx((value, standard_error), rel=1e-5)


def test_standard_error_needs_two_rows(key: PRNGKeyArray) -> None:
    with pytest.raises(ValueError, match="at least 2"):
        datasets.block_gaussians(2).kl_estimate(key, 1)

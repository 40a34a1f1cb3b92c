"""Diagnostics on Gaussian pairs whose normaliser and effective sample size are known."""

import warnings
from dataclasses import replace

import jax.numpy as jnp
import numpy as np
import pytest

from secant.diagnostics import (
    Diagnostics,
    Normaliser,
    calibration_curve,
    effective_sample_size,
    log_normaliser,
    pareto_shape,
)
from secant.exceptions import OverlapWarning, TrainingWarning
from secant.integration import Trapezoid
from secant.models.anchor import GaussianAnchor
from secant.paths import DiffusionInterpolant
from secant.schedules import Trigonometric
from secant.training import Status

SHIFT = 0.7


def log_ratio_0(n=20_000, seed=0):
    """The true log ratio of N(0, 1) → N(SHIFT, 1) at rows of N(0, 1)."""
    return SHIFT * np.random.default_rng(seed).standard_normal(n) - 0.5 * SHIFT**2


def test_normaliser_of_the_true_ratio_is_one():
    found = log_normaliser(log_ratio_0())
    assert abs(found.log_value) < 4.5 * found.standard_error


def test_normaliser_sees_a_constant():
    found = log_normaliser(log_ratio_0() + 0.2)
    assert abs(found.log_value - 0.2) < 4.5 * found.standard_error


@pytest.mark.parametrize(("evaluations", "is_coarse"), [(2, True), (4, True), (50, False)])
def test_a_coarse_integral_buys_likelihood_with_mass(evaluations, is_coarse):
    # Erratum 6, on N(0, 1) → N(2, 0.3²), whose time score is known.
    mean, scale, rng = 2.0, 0.3, np.random.default_rng(0)
    moments = (np.zeros(1), np.eye(1), np.full(1, mean), np.full((1, 1), scale**2))
    exact = GaussianAnchor.fitted(*moments, DiffusionInterpolant(Trigonometric()))
    x_0, x_1 = rng.normal(size=(50_000, 1)), rng.normal(mean, scale, size=(50_000, 1))
    on_0, on_1 = (
        np.asarray(Trapezoid(evaluations)(exact, jnp.asarray(x)).value, float) for x in (x_0, x_1)
    )
    rows = 0.5 * x_1[:, 0] ** 2 + 0.5 * np.log(2 * np.pi) - on_1
    found, entropy = log_normaliser(on_0), 0.5 * np.log(2 * np.pi * np.e * scale**2)
    error = 4.5 * np.hypot(rows.std() / np.sqrt(rows.size), found.standard_error)
    assert (rows.mean() < entropy - error) == is_coarse
    assert rows.mean() + found.log_value > entropy - error  # of a density, and so never below
    if evaluations == 2:  # the rule sees s(x, 0) = πmx/2 and s(x, 1) = 0: Z of exp(πmx/4)
        expected = 0.5 * (np.pi * mean / 4.0) ** 2
        assert abs(found.log_value - expected) < 4.5 * found.standard_error


def test_standard_error_is_the_delta_method_one():
    # r is log-normal: Var r = e^{SHIFT²} − 1 with mean 1.
    log_ratio = log_ratio_0()
    expected = np.sqrt(np.expm1(SHIFT**2) / log_ratio.size)
    relative = np.exp(log_ratio)
    # 4.5 standard errors of a standard deviation, from the fourth moment of the draws.
    centred = (relative - relative.mean()) ** 2
    error = 4.5 * centred.std() / np.sqrt(relative.size) / (2 * centred.mean())
    assert log_normaliser(log_ratio).standard_error == pytest.approx(expected, rel=error)


def test_standard_error_has_the_coverage_it_claims():
    found = [log_normaliser(log_ratio_0(n=2000, seed=seed)) for seed in range(400)]
    z = np.array([f.log_value / f.standard_error for f in found])
    inside = np.mean(np.abs(z) < 1.96)
    assert abs(inside - 0.95) < 4.5 * np.sqrt(0.95 * 0.05 / 400)  # standard errors of a share


@pytest.mark.parametrize("offset", [-2000.0, 2000.0])
def test_nothing_overflows(offset):
    base, far = log_normaliser(log_ratio_0()), log_normaliser(log_ratio_0() + offset)
    assert far.log_value == pytest.approx(base.log_value + offset, abs=1e-9)
    assert far.standard_error == pytest.approx(base.standard_error, rel=1e-9)
    assert effective_sample_size(log_ratio_0() + offset) == pytest.approx(
        effective_sample_size(log_ratio_0()), rel=1e-9
    )


def test_effective_sample_size_is_the_formula():
    weights = np.array([1.0, 2.0, 3.0, 0.5])
    expected = weights.sum() ** 2 / np.sum(weights**2)
    assert effective_sample_size(np.log(weights)) == pytest.approx(expected, rel=1e-12)


def test_equal_weights_all_count_and_one_weight_counts_alone():
    assert effective_sample_size(np.zeros(50)) == pytest.approx(50, rel=1e-12)
    assert effective_sample_size(np.array([0.0, -1e9, -np.inf])) == pytest.approx(1, rel=1e-12)


GOOD = Diagnostics(
    held_out_loss=-1.0,
    held_out_error=0.1,
    normaliser=Normaliser(0.0, 0.01, pareto_shape=0.3, n_rows=1000),
    effective_sample_size=900.0,
    n_rows=1000,
    mean_log_ratio_0=-1.0,
    mean_log_ratio_1=1.0,
    overlap=0.5,
    overlap_error=0.01,
    calibration=calibration_curve(log_ratio_0(500), log_ratio_0(500, seed=1) + SHIFT**2),
    status=Status.FINISHED,
    best_step=10,
    steps=10,
    seconds=1.0,
)


@pytest.mark.parametrize("status", [Status.FINISHED, Status.EARLY_STOPPED])
def test_a_good_fit_says_nothing(status):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        replace(GOOD, status=status).warn()


@pytest.mark.parametrize(
    ("status", "advice"),
    [(Status.INTERRUPTED, "More steps may fit better"), (Status.TIME_UP, "max_seconds")],
)
def test_a_bad_end_of_training_is_told_with_a_remedy(status, advice):
    with pytest.warns(TrainingWarning, match=advice):
        replace(GOOD, status=status).warn()


def test_little_overlap_is_told_with_a_number_and_a_remedy():
    with pytest.warns(OverlapWarning, match=r"size 14\.2 of 1000 held-out rows.*fewer features"):
        replace(GOOD, effective_sample_size=14.2).warn()


@pytest.mark.parametrize(
    ("size", "n_rows", "enough"),
    [
        (29.0, 1000, False),  # thirty rows at least
        (31.0, 1000, True),
        (99.0, 10_000, False),  # and one in a hundred
        (101.0, 10_000, True),
        (1.9, 20, False),  # of a few rows, a tenth
        (2.1, 20, True),
    ],
)
def test_overlap_threshold(size, n_rows, enough):
    assert replace(GOOD, effective_sample_size=size, n_rows=n_rows).has_overlap is enough


@pytest.mark.parametrize("shape", [0.2, 0.5, 1.0])
def test_the_pareto_shape_is_that_of_the_tail(shape):
    rng = np.random.default_rng(0)
    weights = rng.pareto(1.0 / shape, size=(20, 20_000)) + 1.0
    found = [pareto_shape(np.log(w)) for w in weights]
    # 424 largest weights a fit: its own spread is about (1 + k)/√424; the shrinkage adds 0.01.
    assert np.mean(found) == pytest.approx(shape, abs=4 * (1 + shape) / np.sqrt(424 * 20) + 0.01)


def test_the_pareto_shape_of_equal_or_few_weights():
    assert pareto_shape(np.zeros(1000)) == -np.inf
    assert np.isnan(pareto_shape(np.zeros(10)))
    bounded = pareto_shape(np.log(np.random.default_rng(0).random(2000)))
    assert bounded < 0.0
    few_values = np.log(np.repeat([1.0, 5.0], [990, 10]))  # as trees give
    assert pareto_shape(few_values) < 0.7
    assert np.isnan(pareto_shape(np.append(np.zeros(100), 800.0)))  # one weight tells no tail

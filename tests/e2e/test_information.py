"""Mutual information by the default estimator, near and far."""

import jax
import numpy as np
import pytest

import secant
from secant.datasets import asinh_student, block_gaussians


def student(n, seed=0):
    rows = np.asarray(asinh_student(1, 1, df=1.0).draw_1(jax.random.key(seed), n))
    return rows[:, :1], rows[:, 1:]


@pytest.mark.slow
def test_a_dependence_without_correlation_is_found_by_default():
    x, y = student(1000)
    found = secant.mutual_information(x, y, second_opinion=False, random_state=0)
    assert abs(found.estimate - 0.2242) < 3.0 * found.standard_error
    assert found.correction > 0.0
    assert found.p_value < 0.01


@pytest.mark.slow
def test_monotone_maps_change_nothing_by_default():
    x, y = student(1000)
    plain, bent = (
        secant.mutual_information(a, b, random_state=0) for a, b in ((x, y), (np.exp(x), y**3))
    )
    assert bent.estimate == plain.estimate
    assert bent.on_path == plain.on_path


@pytest.mark.slow
def test_ten_nats_in_forty_dimensions_by_default():
    rows = np.asarray(block_gaussians(40).draw_1(jax.random.key(5_000_000), 20_000))
    found = secant.mutual_information(rows[:, ::2], rows[:, 1::2], random_state=0)
    assert found.estimate == pytest.approx(10.0, rel=0.02)
    assert not found.is_normalised
    assert found.on_path.estimate == pytest.approx(10.0, rel=0.05)


@pytest.mark.slow
def test_an_ensemble_is_no_worse_than_its_members():
    x, y = student(2000)
    errors = []
    for n_ensemble in (1, 3):
        found = secant.mutual_information(
            x, y, n_ensemble=n_ensemble, correct=False, second_opinion=False, random_state=0
        )
        errors.append(0.2242 - found.estimate)
    assert errors[1] < errors[0] + 0.005

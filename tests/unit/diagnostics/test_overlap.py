"""The overlap of Gaussian pairs, which is known: ∫ min(p_0, p_1) = 2Φ(−δ/2)."""

import numpy as np
import pytest
from scipy.stats import norm

from secant.diagnostics import estimated_overlap

SHIFT = 1.2
N_0, N_1 = 40_000, 10_000


def scores(n_0=N_0, n_1=N_1, seed=0):
    rng = np.random.default_rng(seed)
    zero, one = rng.standard_normal(n_0), SHIFT + rng.standard_normal(n_1)
    return SHIFT * zero - 0.5 * SHIFT**2, SHIFT * one - 0.5 * SHIFT**2


def test_overlap_of_gaussians():
    found = estimated_overlap(*scores())
    assert found.share == pytest.approx(2 * norm.cdf(-SHIFT / 2), abs=4.5 * found.standard_error)


def test_standard_error_is_that_of_two_shares():
    p = norm.cdf(-SHIFT / 2)
    found = estimated_overlap(*scores())
    assert found.standard_error == pytest.approx(
        np.sqrt(p * (1 - p) * (1 / N_0 + 1 / N_1)), rel=0.03
    )


def test_a_poor_ratio_shows_more_overlap_not_less():
    zero, one = scores()
    assert estimated_overlap(zero + 0.7, one + 0.7).share > estimated_overlap(zero, one).share


def test_no_and_full_overlap():
    assert estimated_overlap(np.full(9, -3.0), np.full(5, 3.0)).share == 0.0
    assert estimated_overlap(np.full(9, 3.0), np.full(5, -3.0)).share == 1.0  # never above 1
    assert estimated_overlap(np.zeros(9), np.zeros(5)).share == 1.0  # knows nothing

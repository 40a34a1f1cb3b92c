"""The link to the log ratio, folds, and the choice of a candidate."""

import numpy as np
import pytest

from secant.estimators.kernel.least_squares import LeastSquares
from secant.estimators.kernel.linear_model import Rows
from secant.estimators.kernel.selection import KernelMethod, Link, best_candidate


@pytest.mark.parametrize("alpha", [0.0, 0.1, 0.5, 0.99])
def test_link_inverts_the_relative_ratio(alpha):
    ratio = np.array([0.011, 0.5, 1.0, 3.0, 99.0])
    relative = ratio / (alpha * ratio + 1.0 - alpha)
    link = Link(alpha, floor=0.01)
    np.testing.assert_allclose(link.log_ratio(relative), np.log(ratio), rtol=1e-9, atol=1e-12)
    assert not link.is_clipped(relative).any()


@pytest.mark.parametrize("alpha", [0.0, 0.3])
def test_link_clips_on_both_sides(alpha):
    link = Link(alpha, floor=0.01)
    fitted = np.array([-1.0, 0.0, 1.0, 1e9])
    expected = [np.log(0.01), np.log(0.01), 0.0, -np.log(0.01)]
    np.testing.assert_allclose(link.log_ratio(fitted), expected, atol=1e-9)
    np.testing.assert_array_equal(link.is_clipped(fitted), [True, True, False, True])


def drawn(n_0, n_1, seed=0):
    rng = np.random.default_rng(seed)
    x = np.concatenate([rng.normal(size=(n_0, 1)), 0.5 + rng.normal(size=(n_1, 1))])
    share_0 = np.repeat([1.0 / n_0, 0.0], [n_0, n_1])
    return Rows(x, share_0, np.repeat([0.0, 1.0 / n_1], [n_0, n_1]))


def test_the_best_of_all_pairs_of_candidates_is_chosen():
    rows = drawn(200, 200)
    method = KernelMethod(LeastSquares(), Link(0.0, 1e-3))
    centers, bandwidths, ridges = rows.x[-20:], np.array([0.1, 1.0, 5.0]), np.array([1e-6, 1e-2])

    def loss(bandwidths, ridges):
        return best_candidate(
            method, rows, centers, bandwidths=bandwidths, ridges=ridges, folds=None
        ).loss

    alone = {(b, r): loss(np.array([b]), np.array([r])) for b in bandwidths for r in ridges}
    found = best_candidate(method, rows, centers, bandwidths=bandwidths, ridges=ridges, folds=None)
    assert (found.bandwidth, found.ridge) == min(alone, key=alone.get)
    assert found.loss == pytest.approx(min(alone.values()), rel=1e-12)
    assert found.held_out.shape == (400,)

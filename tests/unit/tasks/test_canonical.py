"""Canonical coordinates and their anchor, against Gaussian pairs in closed form."""

import jax.numpy as jnp
import numpy as np
import pytest

from secant.gaussians import Gaussian
from secant.paths import DiffusionInterpolant
from secant.tasks.canonical import BlockMoments, CanonicalStart, _optimism, gaussian_bound

RHO = 0.8
MI = -0.5 * np.log(1.0 - RHO**2)  # of one pair of columns


def normals(n, seed=0, d=2):
    """d columns each, of which the first of x and of y are correlated."""
    rng = np.random.default_rng(seed)
    x, y = rng.normal(size=(2, n, d))
    y[:, 0] = RHO * x[:, 0] + np.sqrt(1 - RHO**2) * y[:, 0]
    return x, y


def twisted(x):
    """The first two columns turned by an angle that is the third: no column is correlated."""
    angle = 1.5 * x[:, 2]
    cosine, sine = np.cos(angle), np.sin(angle)
    turned = cosine * x[:, 0] - sine * x[:, 1], sine * x[:, 0] + cosine * x[:, 1]
    return np.stack([*turned, x[:, 2]], axis=1)


def log_ratio(x, y, rho=RHO):
    """Of the bivariate normal, in closed form."""
    square = (x**2 - 2 * rho * x * y + y**2) / (1 - rho**2)
    return -0.5 * np.log(1 - rho**2) - 0.5 * square + 0.5 * (x**2 + y**2)


def test_the_bound_of_held_out_rows_is_the_information_of_a_gaussian():
    x, y = normals(40_000)
    train, held = (x[:20_000], y[:20_000]), (x[20_000:], y[20_000:])
    error = RHO / np.sqrt(20_000)  # the spread of the exact log ratio is ρ
    # log Ẑ adds √(Var r / pairs), with pairs of 600 rows far from independent.
    assert gaussian_bound(train, held) == pytest.approx(MI, abs=4 * error + 0.02)


def test_the_bound_is_invariant_under_linear_maps_of_a_block():
    x, y = normals(2_000)
    mixed = x @ np.array([[2.0, 1.0], [0.0, -3.0]]) + 5.0
    found = [gaussian_bound((b[:1000], y[:1000]), (b[1000:], y[1000:])) for b in (x, mixed)]
    assert found[1] == pytest.approx(found[0], abs=1e-4)  # but for the ridge


def test_what_wide_tables_lose_is_known():
    # 12 + 12 independent columns and 1,000 rows: 0.072 nats and terms of order 1/n².
    values = []
    for seed in range(20):
        rows = np.random.default_rng(seed).normal(size=(2, 2_000, 12))
        train, held = (rows[0, :1000], rows[1, :1000]), (rows[0, 1000:], rows[1, 1000:])
        values.append(gaussian_bound(train, held) + _optimism(train))
    assert abs(np.mean(values)) < 4 * np.std(values) / np.sqrt(20)
    assert _optimism(train) > 10 * np.std(values) / np.sqrt(20)


def test_columns_of_a_gaussian_stay_as_they_are():
    x, y = normals(4_000)
    start = CanonicalStart.fitted(x, y, np.random.RandomState(0))
    assert start.n_pairs == 0
    first, second = start(x, y)
    assert first is x
    assert second is y
    assert start.anchor == BlockMoments((0, 1), (2, 3))


def test_bends_that_hide_correlation_are_undone():
    x, y = normals(5_000, d=3)
    bent = twisted(x), y
    start = CanonicalStart.fitted(*bent, np.random.RandomState(0))
    assert abs(np.corrcoef(bent[0][:, 0], y[:, 0])[0, 1]) < 0.4
    assert start.n_pairs >= 1
    assert 0.8 * MI < start.bound < 1.1 * MI
    fresh_x, fresh_y = normals(2_000, seed=1, d=3)
    first, second = start(twisted(fresh_x), fresh_y)
    np.testing.assert_array_equal(first[:, :3], twisted(fresh_x))
    # Fresh rows are as correlated in the new coordinates as the columns were before the bend.
    assert abs(np.corrcoef(first[:, 3], second[:, 3])[0, 1]) > 0.9 * RHO
    assert start.anchor.first[0] == 3
    assert start.anchor.second[0] == first.shape[1] + 3


def test_no_correlation_makes_no_coordinates():
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(2, 3_000, 3))
    start = CanonicalStart.fitted(x, y, np.random.RandomState(0))
    assert start.bound < 0.01


class Moments:
    """What an anchor needs of prepared rows."""

    def __init__(self, covariance):
        self.gaussian_1 = Gaussian(np.zeros(len(covariance)), covariance)


def test_the_anchor_is_the_log_ratio_of_its_columns_only():
    covariance = np.eye(4)
    covariance[0, 2] = covariance[2, 0] = RHO
    covariance[1, 3] = covariance[3, 1] = 0.5  # not asked for
    rule = BlockMoments((0,), (2,))
    anchor = rule.fitted(Moments(covariance), DiffusionInterpolant(), 0)
    rows = np.random.default_rng(0).normal(size=(50, 4))
    found = anchor.log_ratio(jnp.asarray(rows))
    np.testing.assert_allclose(found, log_ratio(rows[:, 0], rows[:, 2]), rtol=1e-4, atol=1e-5)

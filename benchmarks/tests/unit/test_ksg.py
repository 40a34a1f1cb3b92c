"""KSG against scikit-learn, its own formula by brute force, and Gaussian truths."""

import math

import numpy as np
import pytest
from scipy.special import digamma
from sklearn.feature_selection import mutual_info_regression

from secant_bench.ksg import ksg


def gaussian_rows(rho: float, n: int, dim: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """x and y of `dim` columns each; column i of x has correlation ρ with column i of y."""
    random = np.random.default_rng(seed)
    x, noise = random.standard_normal((2, n, dim))
    return x, rho * x + math.sqrt(1 - rho**2) * noise


def by_brute_force(x: np.ndarray, y: np.ndarray, k: int) -> float:
    """Every distance, every count, from the paper's equation (8); columns have equal scales."""
    n = x.shape[0]
    apart_x, apart_y = (np.abs(z[:, None] - z[None]).max(axis=2) for z in (x, y))
    joint = np.maximum(apart_x, apart_y)
    total = 0.0
    for i in range(n):
        others = np.arange(n) != i
        radius = np.sort(joint[i, others])[k - 1]
        n_x, n_y = ((apart[i, others] < radius).sum() for apart in (apart_x, apart_y))
        total += digamma(n_x + 1) + digamma(n_y + 1)
    return digamma(k) + digamma(n) - total / n


@pytest.mark.parametrize("k", [1, 3, 7])
def test_agrees_with_scikit_learn_on_two_columns(k: int) -> None:
    x, y = gaussian_rows(0.75, 2_000, 1, seed=0)
    # Scikit-learn divides by the standard deviation, as we do, and adds noise of 1e-10: that
    # moves a count, worth about 1e-5 here, only where two distances lie that close.
    theirs = mutual_info_regression(x, y[:, 0], n_neighbors=k, random_state=0)[0]
    assert ksg(x, y, k=k) == pytest.approx(theirs, abs=2e-5)


@pytest.mark.parametrize(("dim_x", "dim_y"), [(2, 3), (1, 4)])
def test_agrees_with_brute_force(dim_x: int, dim_y: int) -> None:
    random = np.random.default_rng(1)
    rows = random.standard_normal((200, dim_x + dim_y)) @ random.standard_normal(
        2 * [dim_x + dim_y]
    )
    rows = (rows - rows.mean(axis=0)) / rows.std(axis=0)
    x, y = rows[:, :dim_x], rows[:, dim_x:]
    assert ksg(x, y, k=4) == pytest.approx(by_brute_force(x, y, 4), abs=1e-10)


@pytest.mark.parametrize(("rho", "dim"), [(0.0, 1), (0.75, 1), (0.9, 1), (0.0, 3), (0.5, 2)])
def test_gaussian_truth(rho: float, dim: int) -> None:
    estimates = [ksg(*gaussian_rows(rho, 1_000, dim, seed)) for seed in range(20)]
    standard_error = np.std(estimates, ddof=1) / math.sqrt(len(estimates))
    truth = -dim / 2 * math.log(1 - rho**2)
    assert abs(np.mean(estimates) - truth) < 4 * standard_error


def test_symmetric() -> None:
    x, y = gaussian_rows(0.6, 500, 2, seed=2)
    y = np.hstack([y, y[:, :1] ** 2])
    assert ksg(x, y) == pytest.approx(ksg(y, x), abs=1e-12)


def test_order_of_rows_and_units_do_not_matter() -> None:
    x, y = gaussian_rows(0.6, 500, 2, seed=3)
    order = np.random.default_rng(3).permutation(500)
    assert ksg(x[order], y[order]) == pytest.approx(ksg(x, y), abs=1e-12)
    # Powers of two change no bit of the standardised columns.
    assert ksg(1024 * x, y / 64) == pytest.approx(ksg(x, y), abs=1e-12)


def test_a_constant_column_tells_nothing() -> None:
    x, y = gaussian_rows(0.6, 300, 1, seed=4)
    padded = np.hstack([x, np.full_like(x, 7.0)])
    assert ksg(padded, y) == ksg(x, y)


def test_bad_parameters_are_named() -> None:
    x = np.random.default_rng(0).standard_normal((10, 2))
    with pytest.raises(ValueError, match="`y` must have 10 rows"):
        ksg(x, x[:9])
    with pytest.raises(ValueError, match="`k`"):
        ksg(x, x, k=10)
    with pytest.raises(ValueError, match=r"`x` must be finite, of shape \(n, d\)"):
        ksg(x[:, 0], x)
    with pytest.raises(ValueError, match="`y` must be finite"):
        ksg(x, np.where(x > 0, np.nan, x))

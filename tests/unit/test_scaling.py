"""Scalings: increasing maps of single columns, the same on the host and inside a compiled loop."""

import jax.numpy as jnp
import numpy as np
import pytest
from scipy.stats import ks_2samp, kstest, norm

from secant import AdaptiveMargins, ConstantColumnWarning, Identity, Standardise
from secant import scaling as scaling_module

N = 4000
EPSILON = float(np.finfo(np.float32).eps)


def columns(x_0, x_1):
    """Two samples of one column."""
    return np.asarray(x_0, dtype=float)[:, None], np.asarray(x_1, dtype=float)[:, None]


def margins(kind):
    """One column of both samples."""
    rng = np.random.default_rng(0)
    return {
        "normal": lambda: columns(rng.normal(size=N), rng.normal(1.0, 2.0, size=N)),
        "skewed": lambda: columns(rng.exponential(size=N), rng.exponential(size=N)),
        "heavy": lambda: columns(rng.standard_t(2.0, N), 3.0 + rng.standard_t(2.0, N)),
        "atoms": lambda: columns(rng.poisson(1.0, N), rng.poisson(1.0, N)),
        "half an atom": lambda: columns(*(np.maximum(rng.normal(size=(2, N)), 0.0))),
        "several": lambda: [
            np.hstack(x) for x in zip(*map(margins, ("skewed", "normal", "heavy")), strict=True)
        ],
    }[kind]()


KINDS = ["normal", "skewed", "heavy", "atoms", "half an atom"]
RULES = {"identity": Identity(), "standardise": Standardise(), "adaptive": AdaptiveMargins()}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("rule", RULES)
def test_strictly_increasing_near_and_far(rule, kind):
    x_0, x_1 = margins(kind)
    scaling = RULES[rule].fitted(x_0, x_1)
    near = np.linspace(-10.0, 10.0, 2001)
    far = 10.0 * 1.02 ** np.arange(1, 1000)  # up to 4e9: beyond any row of these samples
    x = np.concatenate([-far[::-1], near, far])[:, None]
    assert (np.diff(scaling(x)[:, 0]) > 0.0).all()


@pytest.mark.parametrize("kind", ["normal", "skewed", "heavy", "several"])
@pytest.mark.parametrize("rule", RULES)
def test_traced_is_the_host_map(rule, kind):
    x_0, x_1 = (x.astype(np.float32) for x in margins(kind))
    scaling = RULES[rule].fitted(x_0, x_1)
    x = np.concatenate([x_0, x_1, 100.0 * x_0])
    traced = scaling.traced(jnp.asarray(x))
    # A handful of float32 operations; a table's steepest piece multiplies their rounding.
    slopes = np.diff(scaling(x), axis=0) / np.diff(x, axis=0)
    steepest = np.nanmax(np.abs(slopes), initial=1.0)
    bound = 8.0 * EPSILON * (steepest * np.abs(x).max(initial=1.0, where=np.abs(x) < 10.0) + 1.0)
    np.testing.assert_allclose(traced, scaling(x), rtol=8.0 * EPSILON, atol=bound)


@pytest.mark.parametrize("rule", ["standardise", "adaptive"])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("scale", [1e-12, 1e-3, 1e6, 1e12])
def test_units_do_not_matter(rule, kind, scale):
    x_0, x_1 = margins(kind)
    expected = RULES[rule].fitted(x_0, x_1)(x_0)
    other = RULES[rule].fitted(scale * x_0, scale * x_1)(scale * x_0)
    # Computed in float64: what is left is the last bit of float32, and for a table its knots'
    # (taken from float32 rows) times a slope of at most 0.125/0.001.
    np.testing.assert_allclose(other, expected, rtol=4.0 * EPSILON, atol=500.0 * EPSILON)


def test_standardised_pool():
    x_0, x_1 = margins("normal")
    scaling = Standardise().fitted(x_0, x_1[: N // 4])  # few rows count as much as many
    means = [scaling(x).mean(dtype=float) for x in (x_0, x_1[: N // 4])]
    squares = [(scaling(x).astype(float) ** 2).mean() for x in (x_0, x_1[: N // 4])]
    assert np.mean(means) == pytest.approx(0.0, abs=1e-6)  # float32 rows
    assert np.mean(squares) == pytest.approx(1.0, abs=1e-6)


def test_identity_leaves_rows_alone():
    x_0, x_1 = margins("heavy")
    np.testing.assert_array_equal(Identity().fitted(x_0, x_1)(x_0), x_0.astype(np.float32))


def test_adaptive_margins_decide_column_by_column():
    kinds = ["normal", "skewed", "heavy", "atoms"]
    x_0, x_1 = (np.hstack(parts) for parts in zip(*map(margins, kinds), strict=True))
    scaling = AdaptiveMargins().fitted(x_0, x_1)
    # Left alone; tabulated for the same margin, for heavy tails, and for the same margin again.
    assert tuple(scaling.tabulated) == (False, True, True, True)


@pytest.mark.parametrize("heavy", [0, 1])
def test_one_heavy_tail_is_enough(heavy):
    pair = [margins("normal")[1 - heavy], margins("heavy")[heavy]]
    scaling = AdaptiveMargins().fitted(*(pair if heavy else pair[::-1]))
    assert all(scaling.tabulated)


@pytest.mark.parametrize("kind", ["atoms", "half an atom"])
def test_atoms_do_not_make_the_map_vertical(kind):
    x_0, x_1 = margins(kind)
    scaling = AdaptiveMargins().fitted(x_0, x_1)
    step = 1e-4 * scaling.scale[0]
    x = np.arange(-1.0, 5.0, step)[:, None]
    # Knots are 0.125 apart in level and at least 0.001 in standard deviations.
    assert np.diff(scaling(x)[:, 0]).max() <= 0.125 * 1e-4 / 1e-3 + 10.0 * EPSILON


def test_same_margins_become_normal():
    x_0, x_1 = margins("skewed")
    mapped = AdaptiveMargins().fitted(x_0, x_1)(np.concatenate([x_0, x_1]))
    # A table of the pooled quantiles: normal to within 49 knots' interpolation.
    assert mapped.mean() == pytest.approx(0.0, abs=0.01)
    assert mapped.std() == pytest.approx(1.0, abs=0.01)


@pytest.mark.parametrize(
    ("draw", "n", "bent"),
    [
        ("normal", 40_000, False),
        ("normal", 1_000, True),  # too few rows to be sure
        ("uniform", 40_000, True),
        ("logistic", 40_000, True),  # 0.02 from normal, tails not heavy enough by themselves
    ],
)
def test_margins_that_are_normal_already_are_left_alone(draw, n, bent):
    x = getattr(np.random.default_rng(0), draw)(size=(2, n, 1))
    assert AdaptiveMargins(heavy_tail=2.0).fitted(*x).tabulated == (bent,)


@pytest.mark.parametrize("kind", ["skewed", "heavy"])
def test_few_rows_are_left_alone(kind):
    x_0, x_1 = (x[:199] for x in margins(kind))
    assert not any(AdaptiveMargins().fitted(x_0, x_1).tabulated)


def test_thresholds_are_settings():
    x_0, x_1 = margins("normal")
    assert any(AdaptiveMargins(same_margin=1.0).fitted(x_0, x_1).tabulated)
    assert any(AdaptiveMargins(heavy_tail=0.5).fitted(x_0, x_1).tabulated)


@pytest.mark.parametrize("value", [0.0, 5.0, -1e12, 1e-12])
@pytest.mark.parametrize("rule", ["standardise", "adaptive"])
def test_constant_columns_become_zero(rule, value):
    x = np.full((300, 1), value)
    with pytest.warns(ConstantColumnWarning, match="1 of 1 columns"):
        scaling = RULES[rule].fitted(x, x)
    np.testing.assert_array_equal(scaling(np.array([[value], [value + 3.0]])), 0.0)


@pytest.mark.parametrize("kind", KINDS)
def test_distances_of_margins_are_kolmogorov_and_smirnovs(kind):
    a, b = (np.round(x[:, 0], 2) for x in margins(kind))  # ties within and between
    margin = scaling_module._Margin.of(a, b[: N // 3])
    expected = ks_2samp(a, b[: N // 3], method="asymp").statistic
    assert margin.distance() == pytest.approx(expected, abs=1e-12)
    both = np.concatenate([a, b[: N // 3]])
    assert margin.distance_from_normal() == pytest.approx(kstest(both, "norm").statistic, abs=1e-12)
    levels = norm.cdf(scaling_module.LEVELS)
    quantiles = np.quantile(both, levels)
    apart = np.concatenate([[True], np.diff(quantiles) > scaling_module._LEAST_GAP])
    if apart.all():
        np.testing.assert_allclose(margin.knots(), quantiles, atol=1e-12)
    assert (np.diff(margin.knots()) > 0.0).all()

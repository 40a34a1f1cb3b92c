"""Time samplers against SciPy and against the path they are meant for."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import stats
from scipy.special import logit

from secant.paths import DiffusionInterpolant, Moments
from secant.schedules import Trigonometric, VariancePreserving
from secant.time_samplers import Corners, LogitNormal, Uniform, VarianceImportance

pytestmark = pytest.mark.usefixtures("float64")

KEY_SEED = 3
SHARES = np.linspace(0.01, 0.99, 23)
CELLS = 512


def key():
    return jax.random.key(KEY_SEED, impl="rbg")


def test_uniform_quantile_and_density():
    np.testing.assert_array_equal(Uniform().quantile(jnp.asarray(SHARES)), SHARES)
    np.testing.assert_array_equal(Uniform().density(jnp.asarray(SHARES)), 1.0)


@pytest.mark.parametrize(("mean", "scale"), [(-0.4, 1.0), (1.0, 0.5)])
def test_logit_normal_matches_scipy(mean, scale):
    sampler = LogitNormal(mean, scale)
    t = np.asarray(eqx.filter_jit(sampler.quantile)(jnp.asarray(SHARES)))
    np.testing.assert_allclose(stats.norm.cdf(logit(t), mean, scale), SHARES, rtol=1e-10)
    density = stats.norm.pdf(logit(t), mean, scale) / (t * (1 - t))
    np.testing.assert_allclose(eqx.filter_jit(sampler.density)(jnp.asarray(t)), density, rtol=1e-10)


@pytest.mark.parametrize("sampler", [Uniform(), LogitNormal()], ids=repr)
def test_draws_are_stratified(sampler):
    n = 257
    t = np.asarray(jax.jit(lambda key: sampler.sample(key, n))(key()))
    cdf = t if isinstance(sampler, Uniform) else stats.norm.cdf(logit(t), -0.4, 1.0)
    np.testing.assert_array_equal(np.floor(cdf * n), np.arange(n))  # one in every cell, in order


def test_pairs_are_sorted_independent_and_use_every_stratum_twice():
    n = 4096
    l, t = (np.asarray(a) for a in jax.jit(lambda key: Uniform().pairs(key, n))(key()))
    assert (l <= t).all()
    counts = np.bincount(np.floor(np.concatenate([l, t]) * n).astype(int), minlength=n)
    np.testing.assert_array_equal(counts, 2)
    # |a − b| of two independent uniforms has mean 1/3 and variance 1/18.
    assert abs((t - l).mean() - 1 / 3) < 4.5 * np.sqrt(1 / 18 / n)  # 4.5 standard errors


def test_pairs_differ_from_key_to_key():
    draw = jax.jit(lambda key: Uniform().pairs(key, 16)[0])
    first, second = (draw(jax.random.key(seed, impl="rbg")) for seed in (0, 1))
    assert not np.array_equal(first, second)


def variance_importance(floor, variance=lambda t: 1.0 + 3.0 * np.asarray(t) ** 2):
    return VarianceImportance(floor).resolved(variance)


def test_variance_importance_is_the_floor_plus_the_precision():
    middles = (np.arange(CELLS) + 0.5) / CELLS
    precision = 1 / (1 + 3 * middles**2)
    q = precision / precision.mean()
    density = eqx.filter_jit(variance_importance(0.25).density)(middles)
    np.testing.assert_allclose(density, 0.75 * q + 0.25, rtol=1e-12)


def test_variance_importance_quantile_inverts_the_integrated_density():
    sampler = variance_importance(0.25)
    edges = np.arange(CELLS + 1) / CELLS
    mass = (
        np.asarray(eqx.filter_jit(sampler.density)(np.asarray((edges[1:] + edges[:-1]) / 2)))
        / CELLS
    )
    cumulative = np.concatenate([[0.0], np.cumsum(mass)])
    np.testing.assert_allclose(
        eqx.filter_jit(sampler.quantile)(jnp.asarray(cumulative)), edges, atol=1e-12
    )
    inside = eqx.filter_jit(sampler.quantile)(jnp.asarray(SHARES))
    np.testing.assert_allclose(np.interp(inside, edges, cumulative), SHARES, atol=1e-12)


def test_floor_of_one_is_uniform():
    np.testing.assert_allclose(eqx.filter_jit(variance_importance(1.0).density)(SHARES), 1.0)


def path_variance(schedule):
    moments = Moments(square_0=2.0, square_1=2.0, cross=0.0)
    path = DiffusionInterpolant(schedule)
    low, high = path.conditional_time_range
    return jax.jit(lambda t: path.mean_conditional_variance(low + (high - low) * t, moments, 2))


def share_before(sampler, time, n=20_001):
    shares = np.linspace(0.0, 1.0, n)
    return float(np.mean(np.asarray(eqx.filter_jit(sampler.quantile)(jnp.asarray(shares))) < time))


def test_without_a_floor_all_mass_is_at_the_start_under_variance_preserving():
    # Erratum 5: Var → 0 at t = 0 and the plain 1/Var sampler never leaves it.
    sampler = variance_importance(1e-9, path_variance(VariancePreserving()))
    assert share_before(sampler, 0.2) > 0.9
    assert share_before(sampler, 0.5) > 0.99


def test_the_floor_keeps_the_rest_of_the_path_alive_under_variance_preserving():
    floor = VarianceImportance().floor
    sampler = variance_importance(floor, path_variance(VariancePreserving()))
    late = 1 - share_before(sampler, 0.5)
    assert late >= 0.5 * floor - 1e-3  # the uniform share beyond one half; 20 001-point grid
    density = np.asarray(eqx.filter_jit(sampler.density)(np.linspace(0.0, 1.0, CELLS)))
    assert density.min() >= floor * (1 - 1e-9)


def test_trigonometric_needs_no_floor():
    sampler = variance_importance(1e-9, path_variance(Trigonometric()))
    assert share_before(sampler, 0.5) < 0.9


def test_variance_importance_must_be_resolved_first():
    with pytest.raises(ValueError, match="before resolved"):
        VarianceImportance().quantile(jnp.asarray(SHARES))


@pytest.mark.parametrize("floor", [-0.1, 1.1])
def test_bad_floor_is_named(floor):
    with pytest.raises(ValueError, match=f"0 <= floor <= 1; got {floor}"):
        VarianceImportance(floor)


def test_bad_scale_is_named():
    with pytest.raises(ValueError, match=r"scale > 0; got 0\.0"):
        LogitNormal(scale=0.0)


def test_corners_start_a_share_of_the_intervals_at_zero():
    sampler = Corners(variance_importance(0.25), start=0.4)
    l, t = (np.asarray(a) for a in jax.jit(lambda k: sampler.pairs(k, 20_000))(jax.random.key(0)))
    from_start = l == 0.0
    assert from_start.mean() == pytest.approx(0.4, abs=0.02)  # five standard errors
    # There t is a draw of the other sampler, elsewhere the later of two.
    middle = float(eqx.filter_jit(sampler.quantile)(np.array([0.5]))[0])
    assert np.mean(t[from_start] < middle) == pytest.approx(0.5, abs=0.03)
    assert np.mean(t[~from_start] < middle) == pytest.approx(0.25, abs=0.03)


def test_corners_resolve_the_other_sampler():
    resolved = Corners(VarianceImportance(), start=0.2).resolved(lambda t: 1.0 + t)
    assert resolved.start == 0.2
    assert resolved.of.cumulative is not None


def test_corners_come_as_often_as_asked_for():
    sampler, n = Corners(start=0.2, end=0.3, whole=0.1), 20_000
    l, t = (np.asarray(a) for a in sampler.pairs(jax.random.key(0), n))
    assert (l <= t).all()
    at_start, at_end = l == 0.0, t == 1.0
    found = {
        0.2: at_start & ~at_end,
        0.3: at_end & ~at_start,
        0.1: at_start & at_end,
    }
    for share, kind in found.items():
        assert abs(kind.mean() - share) < 4.5 * np.sqrt(share * (1 - share) / n)
    # The free ends are the other sampler's own times: uniform here.
    for free in (t[found[0.2]], l[found[0.3]]):
        assert abs(free.mean() - 0.5) < 4.5 * np.sqrt(1 / 12 / free.size)


@pytest.mark.parametrize("shares", [{"end": -0.1}, {"start": 0.6, "end": 0.5}, {"whole": np.nan}])
def test_shares_of_corners_beyond_one_are_refused(shares):
    with pytest.raises(ValueError, match="at least 0 and at most 1 together"):
        Corners(**shares)

"""What every direct loss must satisfy: least at the true ratio, finite everywhere."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from tests.laws.oracle import Oracle, batch, z_scores
from tests.laws.registry import DIRECT_TARGETS

from secant.paths import DiffusionInterpolant
from secant.targets import Bregman

PATH = DiffusionInterpolant()
BLOCKS = 40  # a loss may be the logarithm of a mean over rows: its slope is taken block by block

# φ itself, as the papers write it.
PHI = {
    "logistic": lambda r: r * jnp.log(r) - (1 + r) * jnp.log1p(r),
    "logistic, K = 3": lambda r: r * jnp.log(r / 3) - (3 + r) * jnp.log1p(r / 3),
    "squared ratio": lambda r: r**2 / 2,
    "kl": lambda r: r * jnp.log(r) - r,
    "hellinger": lambda r: -2 * jnp.sqrt(r),
    "exponential weight": lambda r: jnp.exp(2 * r - 2) / 4,
    "polynomial weight": lambda r: r**3 / 6,
}


def mild():
    """p_1 narrower than p_0, so that r is bounded and every power of it has a variance."""
    return Oracle(
        PATH,
        mean_0=np.zeros(2),
        variance_0=np.ones(2),
        mean_1=np.array([0.3, -0.2]),
        variance_1=np.array([0.7, 0.8]),
        theta=np.zeros(5),
    )


@eqx.filter_jit
def block_slopes(loss, truth, rows, theta):
    def mean_loss(theta, block):
        return jnp.mean(loss.losses(truth.pushed(theta), PATH, block))

    blocks = jax.tree.map(lambda a: a.reshape(BLOCKS, -1, *a.shape[1:]), rows)
    return jax.lax.map(lambda block: jax.grad(mean_loss)(theta, block), blocks)


@pytest.mark.usefixtures("float64")
@pytest.mark.parametrize("name", DIRECT_TARGETS)
def test_slope_is_zero_at_the_true_log_ratio_only(name):
    loss, truth = DIRECT_TARGETS[name](None), mild()
    rows = batch(truth, n=80_000, seed=3)
    slopes = block_slopes(loss, truth, rows, np.zeros(5))
    if not loss.fixes_constant:  # the first direction shifts log r alone
        np.testing.assert_allclose(slopes[:, 0], 0.0, atol=1e-9)
        slopes = slopes[:, 1:]
    assert (np.abs(z_scores(slopes)) < 4.5).all()  # standard errors
    beside = z_scores(block_slopes(loss, truth, rows, np.full(5, -0.1)))
    assert np.max(np.abs(beside)) > 10


@pytest.mark.usefixtures("float64")
@pytest.mark.parametrize("name", PHI)
def test_loss_is_that_of_its_phi(name):
    # (D0): φ'(r) and φ'(r) r − φ(r), up to constants, between the limits.
    loss, phi = DIRECT_TARGETS[name](None), PHI[name]

    @jax.jit
    def halves(g):
        r = jnp.exp(g)
        slope = jax.vmap(jax.grad(phi))(r)
        return (loss.slope(g), slope), (loss.conjugate(g), slope * r - phi(r))

    for found, expected in halves(np.linspace(-2.0, 1.0, 21)):
        gap = np.asarray(found) - np.asarray(expected)
        np.testing.assert_allclose(gap, gap[0], atol=1e-9 * np.max(np.abs(expected)))


def test_every_bregman_loss_has_its_phi_here():
    assert {n for n, make in DIRECT_TARGETS.items() if isinstance(make(None), Bregman)} == set(PHI)


@pytest.mark.usefixtures("float64")
@pytest.mark.parametrize("name", PHI)
def test_both_halves_belong_together_on_either_side_of_the_limits(name):
    # d(φ' r − φ)/dg = e^g dφ'/dg: what makes the loss least at the true ratio.
    loss = DIRECT_TARGETS[name](None)
    top, bottom = getattr(loss, "top", 20.0), max(getattr(loss, "bottom", -8.0), -20.0)
    g = np.concatenate([np.linspace(-8.0, top + 8.0, 101), np.linspace(bottom - 3, -8.0, 40)])
    halves = jax.jit(lambda g: [jax.vmap(jax.grad(f))(g) for f in (loss.slope, loss.conjugate)])
    slope, conjugate = (np.asarray(half) for half in halves(g))
    np.testing.assert_allclose(conjugate, np.exp(g) * slope, rtol=1e-6, atol=1e-12)
    assert (conjugate >= 0).all()


@pytest.mark.parametrize("name", DIRECT_TARGETS)
def test_loss_and_slope_are_finite_in_single_precision(name):
    loss = DIRECT_TARGETS[name](None)
    rows = batch(mild(), n=8)
    rows = jax.tree.map(lambda a: np.asarray(a, dtype=np.float32), rows)
    logits = np.asarray([-1e4, -200.0, -81.0, -3.0, 3.0, 81.0, 200.0, 1e4], dtype=np.float32)

    @jax.jit
    def loss_and_slopes(on_0, on_1, rows):
        def mean_loss(on_0, on_1):
            return jnp.mean(loss.compared(on_0, on_1, rows))

        return jax.value_and_grad(mean_loss, (0, 1))(on_0, on_1)

    for on_0, on_1 in ((logits, logits), (logits, logits[::-1])):
        value, slopes = loss_and_slopes(on_0, on_1, rows)
        slope_0, slope_1 = (np.asarray(slope) for slope in slopes)
        assert np.isfinite(value)
        assert np.isfinite(slope_0).all()
        assert np.isfinite(slope_1).all()
        # Their squares too, in single precision: a gradient is clipped by its norm.
        assert np.isfinite(np.sum(slope_0**2) + np.sum(slope_1**2))
        # A larger ratio at x_1 and a smaller one at x_0 is never worse.
        assert (slope_0 >= 0).all()
        assert (slope_1 <= 0).all()

"""The paper's propositions: how smooth a secant is, and that alignment and boundary fix it."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from equinox import filter_jit
from tests.laws.oracle import Oracle, oracle
from tests.laws.registry import randomised

from secant.models import AlignedSecant, ModulatedMLP
from secant.paths import DiffusionInterpolant

pytestmark = pytest.mark.usefixtures("float64")

TIMES = np.linspace(0.0, 1.0, 201)
NODES, WEIGHTS = np.polynomial.legendre.leggauss(40)


def rate(function, x, t):
    """∂_t of a function of (x, t), row by row."""
    return jax.jvp(lambda time: function(x, time), (t,), (jnp.ones_like(t),))[1]


class LinearInTime(eqx.Module):
    """s(x, t) = λ t x: its secant from l is λ x (l + t)/2, half as steep."""

    slope: float = 3.0

    def time_score(self, x, t):
        return self.slope * t * x[:, 0]

    def secant(self, x, l, t):
        return self.slope * 0.5 * (l + t) * x[:, 0]


@pytest.mark.parametrize("truth", [oracle(DiffusionInterpolant()), LinearInTime()], ids=type)
def test_a_secant_is_half_as_steep_as_its_tangent(truth):
    # |∂_t u| ≤ Λ/2 where Λ bounds |∂_t s|, at each x and from every l.
    l, t = (a.ravel() for a in np.meshgrid(TIMES, TIMES))
    l, t = l[t > l + 0.02], t[t > l + 0.02]  # where the oracle subtracts no nearly equal numbers

    @filter_jit
    def steepness(x):
        tangent = rate(truth.time_score, jnp.tile(x, (TIMES.size, 1)), jnp.asarray(TIMES))
        many = jnp.tile(x, (t.size, 1))
        secant = rate(lambda x, time: truth.secant(x, l, time), many, jnp.asarray(t))
        return jnp.max(jnp.abs(tangent)), jnp.max(jnp.abs(secant))

    for x in np.random.default_rng(0).standard_normal((5, 2)):
        of_tangent, of_secant = steepness(x)
        assert of_secant <= 0.5 * of_tangent * (1 + 1e-3)  # Λ is looked for on a grid of 1/200
        if isinstance(truth, LinearInTime):
            assert of_secant == pytest.approx(0.5 * of_tangent)  # the bound cannot be lowered


class Unbounded(Oracle):
    """u + c/(t − l): aligned with the true tangent, but without a boundary value at t = l."""

    c: float = 0.3

    def secant(self, x, l, t):
        return super().secant(x, l, t) + self.c / (t - l)


def alignment_gap(model, truth, x, l, t):
    """How far the tangent that the secants imply is from the true one (S1)."""

    @filter_jit
    def gap(model, truth):
        return model.implied_tangent(x, l, t) - truth.time_score(x, t)

    return float(np.max(np.abs(gap(model, truth))))


def rebuilt(model, x, l, t):
    """The bounded function that has the model's implied tangent: its mean over [l, t]."""
    at = jax.vmap(lambda node: model.implied_tangent(x, l, l + 0.5 * (t - l) * (1.0 + node)))
    return jnp.tensordot(0.5 * WEIGHTS, at(NODES), axes=1)


def points():
    rng = np.random.default_rng(1)
    l, t = np.sort(rng.uniform(size=(2, 30)), axis=0)
    return rng.standard_normal((30, 2)), l, t


def test_alignment_and_boundary_leave_the_secant_alone():
    truth, (x, l, t) = oracle(DiffusionInterpolant()), points()
    secant = filter_jit(truth.secant)(x, l, t)
    # A bounded function is the mean of the tangent it implies: if that is the time score, the
    # function is the secant. Any network is bounded, so this holds for one with random weights.
    network = randomised(AlignedSecant(ModulatedMLP(6, 1), order=4), 2)
    for model in (truth, network):
        whole = filter_jit(model.secant)(x, l, t)
        np.testing.assert_allclose(filter_jit(rebuilt)(model, x, l, t), whole, rtol=1e-7, atol=1e-9)
    assert alignment_gap(truth, truth, x, l, t) < 1e-9
    # Aligned without the boundary: not the secant, and not what it is rebuilt to.
    fields = {name: getattr(truth, name) for name in truth.__dataclass_fields__}
    unbounded = Unbounded(**fields)
    assert alignment_gap(unbounded, truth, x, l, t) < 1e-9
    off = np.asarray(filter_jit(unbounded.secant)(x, l, t)) - np.asarray(secant)
    np.testing.assert_allclose(off, 0.3 / (t - l))
    np.testing.assert_allclose(
        filter_jit(rebuilt)(unbounded, x, l, t), secant, rtol=1e-7, atol=1e-9
    )
    # Bounded without the alignment: not the secant either.
    assert alignment_gap(network, truth, x, l, t) > 0.1
    assert np.max(np.abs(filter_jit(network.secant)(x, l, t) - secant)) > 0.1

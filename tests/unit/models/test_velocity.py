import equinox as eqx
import jax
import numpy as np
import pytest

from secant.models import GaussianAnchor, ResidualMLP
from secant.models.velocity import MeanVelocity
from secant.paths import DiffusionInterpolant

pytestmark = pytest.mark.usefixtures("float64")


def anchor():
    covariance = np.array([[1.0, 0.4], [0.4, 2.0]])
    return GaussianAnchor.fitted(
        np.zeros(2), np.eye(2), np.ones(2), covariance, DiffusionInterpolant()
    )


def rows(n=5):
    return np.random.default_rng(0).normal(size=(n, 2)), np.linspace(0.1, 0.9, n)


def bare_field():
    return MeanVelocity(ResidualMLP(width=4)).build(2, key=jax.random.key(0))


def anchored_field():
    return MeanVelocity().anchored(bare_field(), anchor())


def test_a_fresh_field_is_the_anchor_s():
    field = anchored_field()
    moved = eqx.filter_jit(field)(*rows())
    np.testing.assert_allclose(moved, eqx.filter_jit(anchor().mean_velocity)(*rows()))
    assert not np.any(eqx.filter_jit(bare_field())(*rows()))


def test_the_divergence_is_the_trace_of_the_jacobian():
    field = anchored_field()
    head = jax.device_put(np.random.default_rng(1).normal(size=field.trunk.head.weight.shape))
    field = eqx.tree_at(lambda f: f.trunk.head.weight, field, head)  # fresh ones are zero
    x, t = rows()
    jacobian = eqx.filter_jit(
        jax.vmap(lambda x, t: jax.jacfwd(lambda x: field(x[None], t[None])[0])(x))
    )(x, t)
    # Over the probes e_1, e_2 scaled by √2, whose mean p pᵀ is I, the estimate is exact.
    probes = np.sqrt(2.0) * np.eye(2)
    divergence = eqx.filter_jit(field.divergence)
    each = [divergence(x, t, np.broadcast_to(p, x.shape)) for p in probes]
    np.testing.assert_allclose(np.mean(each, axis=0), np.trace(jacobian, axis1=1, axis2=2))

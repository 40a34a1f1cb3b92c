"""What every model must satisfy."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from equinox import filter_jit
from tests.laws.registry import MODELS, build

from secant.models import SecantFunction

pytestmark = [
    pytest.mark.usefixtures("float64"),
    pytest.mark.parametrize("name", MODELS),
]

N, D = 4, 3
X = np.random.default_rng(1).standard_normal((N, D))
L, M, T = np.sort(np.random.default_rng(2).uniform(size=(3, N)), axis=0)
INTERVALS = {"secant": (L, T), "first": (L, M), "second": (M, T), "empty": (T, T)}


@filter_jit
def program(model, x, l, t):
    """Values and derivatives at rows; the derivative of (t − l) u is the base class's own."""
    return {
        "secant": model.secant(x, l, t),
        "along_x": jax.jvp(lambda x: model.secant(x, l, t), (x,), (jnp.ones_like(x),))[1],
        "log_ratio": model.log_ratio(x),
        "between_ends": model.secant(x, jnp.zeros_like(l), jnp.ones_like(t)),
        "parts": model.parts(x, l, t),
        "tangent_parts": model.tangent_parts(x, t),
        "time_score": model.time_score(x, t),
        "implied": model.implied_tangent(x, l, t),
        "rise_rate": SecantFunction.implied_tangent(model, x, l, t),
    }


@functools.cache
def answers(name):
    """Every answer of a model over every interval, as {interval: {quantity: rows}}."""
    l, t = (np.concatenate(ends) for ends in zip(*INTERVALS.values(), strict=True))
    found = program(build(MODELS[name], D), np.tile(X, (len(INTERVALS), 1)), l, t)
    blocks = {k: np.asarray(v).reshape(len(INTERVALS), N, *v.shape[1:]) for k, v in found.items()}
    return {name: {k: v[i] for k, v in blocks.items()} for i, name in enumerate(INTERVALS)}


def test_laws_of_secants(name):
    whole, empty = answers(name)["secant"], answers(name)["empty"]
    # One value a row, the sum of its parts, neither zero nor infinite.
    assert whole["secant"].shape == whole["time_score"].shape == (N,)
    np.testing.assert_allclose(whole["parts"].sum(axis=1), whole["secant"], rtol=1e-12, atol=1e-12)
    tangent = whole["tangent_parts"].sum(axis=1)
    np.testing.assert_allclose(tangent, whole["time_score"], rtol=1e-10, atol=1e-10)
    assert np.min(np.abs(whole["secant"])) > 1e-6
    assert np.isfinite(whole["along_x"]).all()
    # The log ratio, whichever way a model takes to it, is u(x, 0, 1).
    np.testing.assert_allclose(whole["log_ratio"], whole["between_ends"], rtol=1e-9, atol=1e-9)
    # u(x, t, t) = s(x, t), and an empty interval implies the same tangent.
    np.testing.assert_allclose(empty["secant"], empty["time_score"], rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(empty["implied"], empty["time_score"], rtol=1e-10, atol=1e-10)


def test_implied_tangent_is_the_rate_of_the_rise(name):
    # (S1): ∂_t[(t − l) u]. A model may know it in closed form, not differ from it.
    slack = max(MODELS[name].additive_to or 0.0, 1e-11)
    for found in answers(name).values():
        np.testing.assert_allclose(found["implied"], found["rise_rate"], atol=10 * slack)


def test_secants_add_where_they_are_said_to(name):
    # (K1)
    whole, first, second = (answers(name)[k]["secant"] for k in ("secant", "first", "second"))
    gap = (T - L) * whole - (M - L) * first - (T - M) * second
    if MODELS[name].additive_to is None:
        assert np.max(np.abs(gap)) > 1e-4
    else:
        np.testing.assert_allclose(gap, 0.0, atol=10 * MODELS[name].additive_to)


def test_rows_do_not_talk_to_each_other(name):
    # Among other rows, and in another order, a row has the same answer.
    order = np.roll(np.arange(4 * N), 5)
    l, t = (np.concatenate(ends) for ends in zip(*INTERVALS.values(), strict=True))
    found = program(build(MODELS[name], D), np.tile(X, (4, 1))[order], l[order], t[order])
    expected = np.concatenate([found["secant"] for found in answers(name).values()])
    np.testing.assert_allclose(found["secant"], expected[order], rtol=1e-12, atol=1e-13)

"""Ridge functions (P1): sums over directions, and the direction that two samples differ in."""

import jax
import numpy as np
import pytest
from tests.laws.registry import randomised

from secant import ClassifierRatio, Training
from secant.models import RidgeFunctions

pytestmark = pytest.mark.usefixtures("float64")


def test_no_term_sees_more_than_its_own_projection():
    # Along a_1 with a_2·x kept, and the other way round: what one adds is apart from the other.
    trunk = randomised(RidgeFunctions(n_terms=2, width=5), 4, 3)
    dual = np.linalg.pinv(np.asarray(trunk.directions))  # dual[j]·a_k is 1 for j = k, else 0
    x = np.random.default_rng(0).normal(size=(6, 4))
    f = jax.jit(jax.vmap(trunk))
    both, one, other, none = f(x + dual.sum(axis=0)), f(x + dual[0]), f(x + dual[1]), f(x)
    np.testing.assert_allclose(both - one - other + none, 0.0, atol=1e-12)
    assert np.max(np.abs(one - none)) > 0.1
    null = np.linalg.svd(np.asarray(trunk.directions).T)[2][2:]  # orthogonal to both directions
    np.testing.assert_allclose(f(x + null[0]), none, atol=1e-12)


def test_the_length_of_a_direction_does_not_matter():
    trunk = randomised(RidgeFunctions(n_terms=2, width=5), 4, 1)
    longer = type(trunk)(3.0 * trunk.directions, trunk.steepness, trunk.knots, trunk.head)
    x = np.random.default_rng(0).normal(size=(6, 4))
    f = jax.jit(lambda trunk, x: jax.vmap(trunk)(x))
    np.testing.assert_allclose(f(longer, x), f(trunk, x))


@pytest.mark.parametrize("loss", ["nce", pytest.param("kl", marks=pytest.mark.slow)])
def test_one_term_finds_the_one_direction_among_thirty(loss):
    rng = np.random.default_rng(0)
    direction = rng.normal(size=30)
    direction /= np.linalg.norm(direction)
    x_0, x_1 = rng.normal(size=(2, 10_000, 30))
    x_1 += np.outer(0.8 - 0.3 * (x_1 @ direction), direction)  # N(0.8, 0.7²) along it
    s = x_1 @ direction
    truth = -0.5 * ((s - 0.8) / 0.7) ** 2 - np.log(0.7) + 0.5 * s**2
    model = ClassifierRatio(
        loss,
        trunk=RidgeFunctions(n_terms=1),
        training=Training(steps=1500, batch_size=512, learning_rate=1e-2),
        random_state=0,
    ).fit_samples(x_0, x_1)
    found = np.asarray(model.model_.trunk.directions)[:, 0] * model.scaling_.slope(x_1[:1])[0]
    assert abs(found @ direction) / np.linalg.norm(found) > 0.98
    assert np.sqrt(np.mean((model.log_ratio(x_1) - truth) ** 2)) < 0.15  # of a spread of 0.75


@pytest.mark.parametrize("settings", [{"n_terms": 0}, {"width": 0}])
def test_what_cannot_be_built_is_refused(settings):
    with pytest.raises(ValueError, match="n_terms >= 1 and width >= 1"):
        RidgeFunctions(**settings)

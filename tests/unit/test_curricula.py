"""Curricula: what they do to the left ends of intervals."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from secant.curricula import ContractionIntervalAnnealing, FullIntervals, SecantTangentShare

pytestmark = pytest.mark.usefixtures("float64")

N = 4000
LEFT, RIGHT = np.sort(np.random.default_rng(0).uniform(size=(2, N)), axis=0)


def left_ends(curriculum, progress, seed=0):
    key = jax.random.key(seed, impl="rbg")
    ends = curriculum.left_ends(key, jnp.asarray(LEFT), jnp.asarray(RIGHT), jnp.asarray(progress))
    return np.asarray(ends)


@pytest.mark.parametrize("progress", [0.0, 0.5, 1.0])
def test_full_intervals_are_left_alone(progress):
    np.testing.assert_array_equal(left_ends(FullIntervals(), progress), LEFT)


@pytest.mark.parametrize(
    ("progress", "width"), [(0.0, 0.0), (0.2, 0.5), (0.4, 1.0), (0.7, 1.0), (1.0, 1.0)]
)
def test_annealing_grows_every_interval_in_proportion(progress, width):
    ends = left_ends(ContractionIntervalAnnealing(anneal_share=0.4), progress)
    np.testing.assert_allclose(RIGHT - ends, width * (RIGHT - LEFT), rtol=0, atol=1e-15)


def test_annealing_starts_with_tangents_exactly():
    np.testing.assert_array_equal(left_ends(ContractionIntervalAnnealing(), 0.0), RIGHT)


@pytest.mark.parametrize("share", [0.0, 0.3, 1.0])
def test_tangent_share_is_kept_and_the_rest_is_as_drawn(share):
    ends = left_ends(SecantTangentShare(share), 0.5)
    tangent = ends == RIGHT
    np.testing.assert_array_equal(ends[~tangent], LEFT[~tangent])
    error = np.sqrt(share * (1 - share) / N)
    assert abs(tangent.mean() - share) <= 4.5 * error  # standard errors; exact at 0 and 1


def test_tangent_rows_are_chosen_by_the_key():
    first, again, other = (left_ends(SecantTangentShare(), 0.5, seed) for seed in (0, 0, 1))
    np.testing.assert_array_equal(first, again)
    assert not np.array_equal(first, other)


@pytest.mark.parametrize("share", [0.0, 1.5])
def test_bad_anneal_share_is_named(share):
    with pytest.raises(ValueError, match=rf"anneal_share must lie in \(0, 1\]; got {share}"):
        ContractionIntervalAnnealing(share)


@pytest.mark.parametrize("share", [-0.1, 1.5])
def test_bad_tangent_share_is_named(share):
    with pytest.raises(ValueError, match=rf"tangent_share must lie in \[0, 1\]; got {share}"):
        SecantTangentShare(share)


def test_curricula_know_whether_they_train_an_interval():
    assert SecantTangentShare(1.0).tangents_only
    for other in (SecantTangentShare(0.99), FullIntervals(), ContractionIntervalAnnealing()):
        assert not other.tangents_only

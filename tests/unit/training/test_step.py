"""One step: intervals inside the target's range, the averaged weights, the optimiser's schedule."""

from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest
from equinox import filter_jit
from tests.unit.training.dial import BRISK, Dial, Towards, key, objective, source, words

from secant.curricula import ContractionIntervalAnnealing, FullIntervals
from secant.paths import DiffusionInterpolant, Moments
from secant.schedules import Foellmer
from secant.targets import (
    ConditionalSecantAlignment,
    SecantVelocity,
    TangentVelocity,
    TimeScoreMatching,
)
from secant.time_samplers import Uniform
from secant.training import Training
from secant.training import step as step_module
from secant.training.optimisers import Adam
from secant.training.step import Objective, Pace, Steps, run_steps, split, started

pytestmark = pytest.mark.usefixtures("unoptimised")

PATH = DiffusionInterpolant(end_cut=0.2)
N = 1024


@filter_jit
def drawn(objective, key, progress):
    return objective.intervals(key, N, progress)


def intervals(target, path=PATH, curriculum=None, progress=1.0):
    whole = Objective(target, path, Uniform(), curriculum or FullIntervals())
    return (np.asarray(a) for a in drawn(whole, key(), np.float32(progress)))


def test_intervals_fill_the_target_s_time_range():
    l, t = intervals(ConditionalSecantAlignment(Moments(1.0, 1.0, 0.0)))
    assert (l >= 0).all()
    assert (l <= t).all()
    assert (t <= np.float32(0.8)).all()
    assert t.max() > 0.79


def test_intervals_stay_clear_of_a_singular_end():
    _, t = intervals(TangentVelocity(), DiffusionInterpolant(Foellmer()))
    assert t.max() <= np.float32(1 - Foellmer().cut)


def test_the_curriculum_sees_the_progress():
    l, t = intervals(SecantVelocity(), curriculum=ContractionIntervalAnnealing(), progress=0.0)
    np.testing.assert_array_equal(l, t)
    l, t = intervals(SecantVelocity(), curriculum=ContractionIntervalAnnealing(), progress=1.0)
    assert (l < t).all()


def test_time_score_matching_gets_the_uniform_times_it_needs():
    _, t = intervals(TimeScoreMatching())
    assert abs(t.mean() - 0.5) < 4.5 / np.sqrt(12 * N)  # standard errors


def towards_five(**changed):
    """The dial's steps, and how to start them."""
    pace = Pace.of(Training(**(BRISK | changed)))
    weights, rest = split(Dial(jnp.zeros(())))
    steps = Steps(rest, source(), objective(Towards(5.0)), pace, batch_size=4)
    return steps, lambda: started(weights, steps.optimiser, pace, jnp.asarray(words()))


def number(n):
    return jnp.asarray(n, dtype=jnp.int32)


def test_a_step_depends_on_what_it_uses_only():
    plain = Training(steps=7, batch_size=3, learning_rate=0.1, warmup=1, clip=2.0, average=0.5)
    patient = replace(plain, patience=3, evaluate_every=9, max_seconds=1.0, validation_rows=5)
    assert Pace.of(plain) == Pace.of(patient)
    for name, value in (
        ("steps", 8),
        ("learning_rate", 0.2),
        ("warmup", 2),
        ("clip", 1.0),
        ("average", 0.9),
    ):
        changed = Pace.of(replace(plain, **{name: value}))
        assert float(getattr(changed, name)) == pytest.approx(value)
        assert changed != Pace.of(plain)


def test_average_forgets_fast_while_it_is_young():
    steps, start = towards_five(average=0.2)
    state, average = start(), 0.0
    for step in range(4):
        state, _ = run_steps(steps, state, number(1))
        decay = min(0.2, (1 + step) / (10 + step))  # 1/10, 2/11, then 0.2
        average = decay * average + (1 - decay) * float(state.weights.weight)
        assert float(state.average.weight) == pytest.approx(average, rel=1e-5)
    assert int(state.step) == 4


def test_many_steps_at_once_are_the_same_steps():
    steps, start = towards_five()
    at_once, mean = run_steps(steps, start(), number(4))
    state, one_by_one = start(), []
    for _ in range(4):
        state, loss = run_steps(steps, state, number(1))
        one_by_one.append(float(loss))
    assert len(set(one_by_one)) == 4
    assert float(mean) == pytest.approx(np.mean(one_by_one), rel=1e-6)
    assert float(at_once.weights.weight) == pytest.approx(float(state.weights.weight), rel=1e-6)
    np.testing.assert_array_equal(at_once.key, state.key)


def test_the_weights_it_started_from_are_still_there():
    weights, _ = split(Dial(jnp.ones(())))
    steps, _ = towards_five()
    state = started(weights, steps.optimiser, steps.pace, jnp.asarray(words()))
    run_steps(steps, state, number(2))  # which is given the state's buffers
    assert float(weights.weight) == 1.0


def rule(**settings):
    """The optimiser's rule as the step makes it."""
    return step_module._rule(Adam(), Pace.of(Training(**settings)))


def test_rate_warms_up_and_decays_to_nothing():
    # Adam's first steps along a constant gradient have the length of the rate.
    adam, weight = rule(steps=100, learning_rate=0.5, warmup=10), jnp.zeros(())
    memory, moves = adam.init(weight), []
    update = jax.jit(adam.update)
    for _ in range(100):
        move, memory = update(jnp.ones(()), memory)
        moves.append(-float(move))
    assert moves[0] == 0.0
    assert moves[5] == pytest.approx(0.25, rel=1e-3)  # half-way up
    assert max(moves) == pytest.approx(0.5, rel=1e-3)
    assert np.argmax(moves) == 10
    assert moves[-1] < 1e-3


@pytest.mark.parametrize(("warmup", "steps"), [(0, 50), (10, 100), (200, 60)])
def test_the_rate_is_optax_s_warmup_cosine(warmup, steps):
    pace = Pace.of(Training(steps=steps, learning_rate=0.3, warmup=warmup))
    rising = min(warmup, steps // 2)  # a short training does not spend itself on the warm-up
    expected = optax.warmup_cosine_decay_schedule(0.0, 0.3, rising, steps)
    every = jnp.arange(steps + 5)
    np.testing.assert_allclose(jax.vmap(pace.rate)(every), jax.vmap(expected)(every), atol=1e-6)


def test_gradients_are_clipped_by_their_global_norm():
    # Adam is blind to scale but not to a change of it: an outlier of 1e6 must not freeze it.
    adam = rule(steps=1000, learning_rate=1.0, warmup=0, clip=1.0)
    memory = adam.init(jnp.zeros(2))
    update = jax.jit(adam.update)
    first, _ = update(jnp.array([3e6, 4e6]), memory)
    _, memory = update(jnp.array([3e6, 4e6]), memory)
    moment = memory[1][0].mu  # first moment after one step: 0.1 · the clipped gradient
    np.testing.assert_allclose(moment, [0.06, 0.08], rtol=1e-5)
    assert np.isfinite(first).all()

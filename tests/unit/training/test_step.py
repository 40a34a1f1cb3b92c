"""One step: intervals inside the target's range, the averaged weights, the optimiser's schedule."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from equinox import filter_jit
from tests.unit.training.dial import BRISK, Dial, Towards, key, objective, source

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
from secant.training.optimisers import Adam
from secant.training.step import TrainingState, scheduled, split
from secant.training.step import Objective, Run, run_steps

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


def test_average_forgets_fast_while_it_is_young():
    training = Training(**(BRISK | {"average": 0.2}))
    trainable, rest = split(Dial(jnp.zeros(())))
    run = Run(rest, source(), objective(Towards(5.0)), training)
    state = TrainingState.start(trainable, training, Adam(), key=key())
    average = 0.0
    for step in range(4):
        state, _ = run_steps(run, state, 1)
        decay = min(0.2, (1 + step) / (10 + step))  # 1/10, 2/11, then 0.2
        average = decay * average + (1 - decay) * float(state.weights.weight)
        assert float(state.average.weight) == pytest.approx(average, rel=1e-5)
    assert int(state.step) == 4


def test_many_steps_at_once_are_the_same_steps():
    training = Training(**BRISK)
    trainable, rest = split(Dial(jnp.zeros(())))
    run = Run(rest, source(), objective(Towards(5.0)), training)

    def start():
        return TrainingState.start(jax.tree.map(jnp.array, trainable), training, Adam(), key=key())

    at_once, losses = run_steps(run, start(), 4)
    state, one_by_one = start(), []
    for _ in range(4):
        state, loss = run_steps(run, state, 1)
        one_by_one.append(float(loss[0]))
    np.testing.assert_allclose(losses, one_by_one, rtol=1e-6)
    assert float(at_once.weights.weight) == pytest.approx(float(state.weights.weight), rel=1e-6)


def test_rate_warms_up_and_decays_to_nothing():
    # Adam's first steps along a constant gradient have the length of the rate.
    training = Training(steps=100, learning_rate=0.5, warmup=10)
    rule, weight = scheduled(Adam(), training), jnp.zeros(())
    memory, moves = rule.init(weight), []
    update = jax.jit(rule.update)
    for _ in range(100):
        move, memory = update(jnp.ones(()), memory)
        moves.append(-float(move))
    assert moves[0] == 0.0
    assert moves[5] == pytest.approx(0.25, rel=1e-3)  # half-way up
    assert max(moves) == pytest.approx(0.5, rel=1e-3)
    assert np.argmax(moves) == 10
    assert moves[-1] < 1e-3


def test_gradients_are_clipped_by_their_global_norm():
    # Adam is blind to scale but not to a change of it: an outlier of 1e6 must not freeze it.
    rule = scheduled(Adam(), Training(steps=1000, learning_rate=1.0, warmup=0, clip=1.0))
    memory = rule.init(jnp.zeros(2))
    update = jax.jit(rule.update)
    first, _ = update(jnp.array([3e6, 4e6]), memory)
    _, memory = update(jnp.array([3e6, 4e6]), memory)
    moment = memory[1][0].mu  # first moment after one step: 0.1 · the clipped gradient
    np.testing.assert_allclose(moment, [0.06, 0.08], rtol=1e-5)
    assert np.isfinite(first).all()

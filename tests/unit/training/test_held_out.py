"""The held-out score: every row once, paired draws, J of the truth."""

import numpy as np
import pytest
from equinox import filter_jit
from tests.laws.oracle import batch, oracle, z_scores
from tests.unit.training.dial import key

from secant.paths import DiffusionBridge
from secant.targets import ImpliedVelocity, TangentVelocity
from secant.training import held_out
from secant.training.held_out import HeldOut

pytestmark = pytest.mark.usefixtures("float64")

PATH = DiffusionBridge(gamma=0.5, epsilon=0.1)


def test_blocks_and_remainder_score_every_row_once(monkeypatch):
    truth = oracle(PATH, standard=False)
    rows = batch(truth, n=10)
    scores = []
    for rows_at_once in (4, 5):  # blocks and a remainder, blocks alone
        monkeypatch.setattr(held_out, "_ROWS_AT_ONCE", rows_at_once)
        # A fresh target: the program is compiled anew, with the block size of now.
        judge = HeldOut(rows, PATH, type("Fresh", (TangentVelocity,), {})())
        scores.append(judge.score(truth))
    losses = filter_jit(TangentVelocity().losses)(truth, PATH, rows)
    losses = np.asarray(losses)
    for score in scores:
        assert score.value == pytest.approx(losses.mean(), rel=1e-12)
        assert score.standard_error == pytest.approx(losses.std() / np.sqrt(10), rel=1e-12)


def test_score_of_the_truth_is_minus_its_mean_square():
    # J(s) = E s² − 2 E[s · s] = −E s² (V1).
    truth = oracle(PATH, standard=False)
    rows = batch(truth, n=20_000)
    score = HeldOut(rows, PATH, ImpliedVelocity()).score(truth)
    x_t = filter_jit(PATH.point)(rows.x_0, rows.x_1, rows.z, rows.t).x_t
    square = np.asarray(filter_jit(truth.time_score)(x_t, rows.t)) ** 2
    # Paired draws: the error of the sum of both is at most that of its two parts together.
    assert abs(score.value + square.mean()) < 4.5 * score.standard_error + 4.5 * (
        square.std() / np.sqrt(square.size)
    )


def test_drawn_pairs_keep_their_rows_and_ask_tangents_and_secants():
    n = 512
    rng = np.random.default_rng(0)
    x_0, x_1 = rng.standard_normal((2, n, 2))
    draw = filter_jit(lambda key: HeldOut.drawn(x_0, x_1, PATH, ImpliedVelocity(), key=key))
    judge = draw(key())
    np.testing.assert_array_equal(judge.batch.x_0, x_0)
    np.testing.assert_array_equal(judge.batch.x_1, x_1)
    l, t = np.asarray(judge.batch.l), np.asarray(judge.batch.t)
    assert ((l >= 0) & (l <= t) & (t <= 1)).all()
    assert abs(np.mean(l == t) - 0.5) < 4.5 * np.sqrt(0.25 / n)  # standard errors
    assert abs(z_scores(np.asarray(judge.batch.z).ravel())) < 4.5

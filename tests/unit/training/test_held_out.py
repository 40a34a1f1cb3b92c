"""The held-out score: every pair once, J of the truth, and coverage of the error bar."""

import numpy as np
import pytest
from equinox import filter_jit
from tests.laws.oracle import batch, oracle, z_scores

from secant.paths import DiffusionBridge
from secant.targets import Batch, ImpliedVelocity, TangentVelocity
from secant.training import held_out
from secant.training.held_out import HeldOut, pairs_of_rows

pytestmark = pytest.mark.usefixtures("float64")

PATH = DiffusionBridge(gamma=0.5, epsilon=0.1)


def judged(n, target, **settings):
    """So many pairs of rows of their own, and the truth between them."""
    truth = oracle(PATH, standard=False)
    rows, number = batch(truth, n=n), np.arange(n)
    return HeldOut(rows.x_0, rows.x_1, number, number, PATH, target, **settings), truth


def asked(judge):
    """The times and noise at which the score is evaluated."""
    return Batch(*map(np.asarray, judge.batch))


@pytest.mark.parametrize("rows_at_once", [4, 6, 12])
def test_blocks_score_every_pair_once(rows_at_once, monkeypatch):
    monkeypatch.setattr(held_out, "_ROWS_AT_ONCE", rows_at_once)
    # A new target, so that a program is compiled with the current block size.
    judge, truth = judged(12, type("Fresh", (TangentVelocity,), {})())
    expected = np.asarray(filter_jit(TangentVelocity().losses)(truth, PATH, asked(judge)))
    np.testing.assert_allclose(judge.losses(truth), expected, rtol=1e-12)
    assert judge.score(truth).value == pytest.approx(expected.mean(), rel=1e-12)
    assert judge.score(truth) == judge.mean(judge.losses(truth))


def test_score_of_the_truth_is_minus_its_mean_square():
    # J(s) = E s² − 2 E[s · s] = −E s² (V1).
    judge, truth = judged(20_480, ImpliedVelocity())
    score, rows = judge.score(truth), asked(judge)
    x_t = filter_jit(PATH.point)(rows.x_0, rows.x_1, rows.z, rows.t).x_t
    square = np.asarray(filter_jit(truth.time_score)(x_t, rows.t)) ** 2
    # Paired draws: the error of the sum of both is at most that of its two parts together.
    assert abs(score.value + square.mean()) < 4.5 * score.standard_error + 4.5 * (
        square.std() / np.sqrt(square.size)
    )


def test_pairs_keep_their_rows_and_ask_tangents_and_secants():
    rng = np.random.default_rng(0)
    x_0, x_1 = rng.standard_normal((300, 2)), rng.standard_normal((500, 2))
    judge = HeldOut.paired(x_0, x_1, PATH, ImpliedVelocity())
    np.testing.assert_array_equal(judge.batch.x_0, x_0[judge.row_0])
    np.testing.assert_array_equal(judge.batch.x_1, x_1[judge.row_1])
    rows = asked(judge)
    assert ((rows.l >= 0) & (rows.l <= rows.t) & (rows.t <= 1)).all()
    assert abs(np.mean(rows.l == rows.t) - 0.5) < 4.5 * np.sqrt(0.25 / rows.t.size)  # std. errors
    assert abs(z_scores(rows.z.ravel())) < 4.5


def test_tangents_only_asks_no_secant():
    judge, truth = judged(64, ImpliedVelocity(), tangents_only=True)
    rows, pushed = asked(judge), truth.pushed(np.full(5, 0.3))
    np.testing.assert_array_equal(rows.l, rows.t)
    both, _ = judged(64, ImpliedVelocity())
    at_tangents = asked(both)._replace(l=rows.t)
    expected = filter_jit(ImpliedVelocity().losses)(pushed, PATH, at_tangents)
    np.testing.assert_allclose(judge.losses(pushed), expected, rtol=1e-12)
    assert np.max(np.abs(judge.losses(pushed) - both.losses(pushed))) > 1e-3


@pytest.mark.parametrize(("n_0", "n_1"), [(1, 1), (37, 500), (4096, 5000), (9000, 100)])
def test_every_row_is_in_as_many_pairs_or_one_more(n_0, n_1):
    for row, n in zip(pairs_of_rows(n_0, n_1), (n_0, n_1), strict=True):
        counts = np.bincount(row, minlength=n)
        assert counts.size == n
        assert np.ptp(counts) <= 1
        assert row.size % held_out._ROWS_AT_ONCE == 0
        assert row.size >= max(n_0, n_1, 4096)


# The error bar, against many repetitions of the whole: other rows, the same pairing.

REPETITIONS = 2000


def repeated(n_0, n_1, noise):
    """The variance of the mean over repetitions, and the mean of what is claimed for it.

    A value of a pair is that of its rows, of both together, and of its own time and noise.
    """
    rng, (row_0, row_1) = np.random.default_rng(0), pairs_of_rows(n_0, n_1)
    empty = np.zeros((1, 1))
    judge = HeldOut(empty, empty, row_0, row_1, PATH, ImpliedVelocity())
    means, claims = [], []
    for _ in range(REPETITIONS):
        a, b = rng.standard_normal(n_0)[row_0], 2.0 * rng.standard_normal(n_1)[row_1]
        score = judge.mean(a + b + 0.3 * a * b + noise * rng.standard_normal(row_0.size))
        means.append(score.value)
        claims.append(score.standard_error**2)
    return np.var(means), np.mean(claims)


# A variance of so many repetitions has a relative error of √(2/n) = 3 %.
WITHIN = 4.5 * np.sqrt(2 / REPETITIONS)


@pytest.mark.parametrize(("n_0", "n_1"), [(50, 50), (200, 40)])
def test_the_standard_error_is_that_of_other_rows(n_0, n_1):
    found, claimed = repeated(n_0, n_1, noise=1.0)
    assert claimed == pytest.approx(found, rel=WITHIN)
    pairs_as_rows = (1.0 + 4.0 + 0.36 + 1.0) / 4096
    assert found > 10 * pairs_as_rows  # which is what pairs that shared no row would have


def test_the_standard_error_where_every_row_is_in_one_pair():
    found, claimed = repeated(4096, 4096, noise=1.0)
    assert claimed == pytest.approx(found, rel=WITHIN)


def test_one_row_of_a_sample_is_judged_as_if_pairs_were_rows():
    judge = HeldOut.paired(np.zeros((1, 2)), np.zeros((1, 2)), PATH, ImpliedVelocity())
    values = np.random.default_rng(0).standard_normal(judge.row_0.size)
    expected = np.sqrt(values.var() / values.size)
    assert judge.mean(values).standard_error == pytest.approx(expected)

"""The anytime test: fair bets, exact ranks, the rate of false alarms, and the delay of an alarm."""

import numpy as np
import pytest
from scipy import stats
from scipy.integrate import quad

from secant.tasks import anytime
from secant.tasks.anytime import (
    AnytimeTest,
    Evidence,
    Wealth,
    WindowScores,
    likely_start,
    rank_p_values,
)

ENOUGH = np.log(20.0)


def evidence_of(seed, change=None, *, windows=20, rows=50, d=3, n=300):
    """log evidence after each window; the change sets in at once."""
    rng = np.random.default_rng(seed)
    test = AnytimeTest(rng.normal(size=(n, d)), seed=seed)
    found = []
    for number in range(windows):
        x = rng.normal(size=(rows, d))
        test.add(number, x if change is None else change(x))
        found.append(test.log_evidence)
    return np.array(found)


def only(tilt):
    """All wealth of one test on one tilt."""
    return Wealth(np.where(np.arange(anytime._TILTS.size) == tilt, 0.0, -np.inf)[None])


@pytest.mark.parametrize("tilt", range(anytime._TILTS.size))
def test_a_bet_is_a_density(tilt, monkeypatch):
    """(Y2) integrates to 1 over p, so that its mean is 1 where p is uniform."""
    monkeypatch.setattr(anytime, "_MOVED", 1e-300)

    def paid(z):
        return np.exp(only(tilt).after(np.array([z]), 1).log_totals[0])

    value, _ = quad(lambda z: paid(z) * stats.norm.pdf(z), -8.0, 8.0 + anytime._TILTS[tilt])
    assert value == pytest.approx(1.0, abs=1e-6)


def test_a_bet_is_a_likelihood_ratio(monkeypatch):
    monkeypatch.setattr(anytime, "_MOVED", 1e-300)
    z = np.array([0.3, -1.2, 2.0])
    exact = (stats.norm.logpdf(z, 0.4) - stats.norm.logpdf(z)).sum()
    assert only(3).after(np.array([z.sum()]), 3).log_totals[0] == pytest.approx(exact, abs=1e-12)


def test_wealth_starts_at_one_and_is_dealt_out_without_loss():
    start = Wealth.start(2)
    assert start.log_totals == pytest.approx([0.0, 0.0], abs=1e-12)
    assert start.after(np.zeros(2), 0).log_totals == pytest.approx([0.0, 0.0], abs=1e-12)  # (Y3)


def test_the_number_of_tests_is_paid_for():
    """(Y4): half for the learned test, half for the columns in either direction."""
    quiet = WindowScores(0.0, 0, (0.0,) * 5, 0)
    evidence = Evidence(5)
    assert evidence.add(quiet) == pytest.approx(-np.log(2.0))
    assert np.exp(evidence._weighted).sum() == pytest.approx(1.0)


def test_the_strongest_test_says_when_it_began():
    quiet = WindowScores(0.0, 50, (0.0, -3.0), 100)
    moved = WindowScores(5.0, 50, (0.0, -60.0), 100)
    evidence = Evidence(2)
    course = [evidence.add(w) for w in (quiet, quiet, quiet, moved, moved)]
    assert evidence.strongest == 4  # the second column, down
    assert course[-1] > ENOUGH
    assert likely_start([quiet, quiet, quiet, moved, moved]) == 3


def test_ranks_are_those_of_the_formula():
    """(Y1), row by row, ties included."""
    rng = np.random.default_rng(0)
    pool, scores = rng.integers(0, 5, 30).astype(float), rng.integers(0, 5, 12).astype(float)
    draws = np.random.default_rng(1).uniform(size=12)
    found = rank_p_values(pool, scores, np.random.default_rng(1))
    for i in range(12):
        seen = np.concatenate([pool, scores[: i + 1]])
        exact = ((seen > scores[i]).sum() + draws[i] * (seen == scores[i]).sum()) / seen.size
        assert found[i] == pytest.approx(exact, abs=1e-12)


def test_ranks_do_not_depend_on_how_many_are_taken_at_once(monkeypatch):
    rng = np.random.default_rng(0)
    pool, scores = rng.normal(size=40), rng.normal(size=25)
    found = rank_p_values(pool, scores, np.random.default_rng(1))
    monkeypatch.setattr(anytime, "_AT_ONCE", 25)
    whole = rank_p_values(pool, scores, np.random.default_rng(1))
    monkeypatch.setattr(anytime, "_AT_ONCE", 7)
    parts = rank_p_values(pool, scores, np.random.default_rng(1))
    assert found == pytest.approx(whole, abs=1e-12)
    assert parts == pytest.approx(whole, abs=1e-12)


def test_p_values_of_one_stream_are_independent_and_uniform():
    """Although every row is ranked among the same small reference, which is reused."""
    rng = np.random.default_rng(0)
    halves = []
    for _ in range(400):
        p = rank_p_values(rng.normal(size=10), rng.normal(size=40), rng)
        halves.append([p[:20].mean(), p[20:].mean()])
    first, second = np.transpose(halves)
    # Ranks among the ten alone would have means with several times that variance, and correlated.
    for means in (first, second):
        assert np.var(means) == pytest.approx(1 / 12 / 20, rel=4.5 * np.sqrt(2 / 400))
    assert abs(np.corrcoef(first, second)[0, 1]) < 4.5 / np.sqrt(400)


def test_few_streams_like_the_reference_ever_raise_the_alarm():
    alarms = [evidence_of(seed, windows=12, d=2, n=200).max() >= ENOUGH for seed in range(30)]
    # At most 5 %: 6 or more of 30 have a chance below 0.004.
    assert sum(alarms) < 6


@pytest.mark.parametrize(
    ("change", "within"),
    [
        (lambda x: x + np.array([0.0, 1.0, 0.0]), 4),
        (lambda x: x * np.array([1.0, 2.0, 1.0]), 8),
        (lambda x: x @ np.array([[1.0, 0.8, 0.0], [0.0, 0.6, 0.0], [0.0, 0.0, 1.0]]), 12),
    ],
    ids=["mean", "spread", "correlation"],
)
def test_changes_raise_it(change, within):
    for seed in range(3):
        assert evidence_of(seed, change, windows=within).max() >= ENOUGH


def test_a_known_wealth_continues_as_if_never_stopped():
    rng = np.random.default_rng(0)
    reference, rows = rng.normal(size=(200, 2)), rng.normal(0.3, 1.0, size=(5, 40, 2))
    whole, again = (AnytimeTest(reference, seed=3) for _ in range(2))
    course = [whole.add(i, x) for i, x in enumerate(rows)]
    for i, x in enumerate(rows[:3]):
        again.add(i, x, known=course[i])
    assert [again.add(i, rows[i]) for i in (3, 4)] == course[3:]
    assert again.log_evidence == whole.log_evidence


def test_without_columns_to_rank_by_the_learned_score_is_left():
    rng = np.random.default_rng(0)
    test = AnytimeTest(rng.normal(size=(300, 2)), seed=0, columns=np.empty(0, dtype=np.int64))
    scores = [test.add(i, rng.normal(1.0, 1.0, size=(50, 2))) for i in range(4)]
    assert scores[0].columns == ()
    assert test.log_evidence > ENOUGH
    assert likely_start(scores) == 0


def test_windows_of_a_few_rows_or_none_are_no_error():
    test = AnytimeTest(np.random.default_rng(0).normal(size=(50, 2)), seed=0)
    for number, rows in enumerate((0, 1, 3, 30)):
        test.add(number, np.zeros((rows, 2)))
    assert np.isfinite(test.log_evidence)

"""Evidence against equality of stream and reference, valid at any time (Y1)–(Y4)."""

from __future__ import annotations

import warnings
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
from jaxtyping import Float, Int
from scipy.special import logsumexp, ndtri
from sklearn.linear_model import RidgeCV
from sklearn.pipeline import Pipeline

from secant.exceptions import ConstantColumnWarning
from secant.tasks.column_bases import Basis, basis_size, logistic_pipeline

__all__ = [
    "AnytimeTest",
    "Evidence",
    "Wealth",
    "WindowScores",
    "likely_start",
    "rank_p_values",
]

# θ of (Y2). 0 is wealth that does not bet, and is not lost while nothing changes: it gets half.
_TILTS = np.array([0.0, 0.1, 0.2, 0.4, 0.8, 1.6, 3.2])
_SHARES = np.array([0.5, *[0.5 / 6] * 6])
_MOVED = 0.05  # share of the wealth that is redistributed before each window (Y3)
_MEMORY = 10  # windows to learn from, the present one included
_MOST_REFERENCE = 10_000  # rows, half to learn from and half to rank among
_MOST_ROWS = 2_000  # of a window, likewise
_FEWEST_ROWS = 8  # of the stream, to learn from
_MOST_FEATURES = 500
_RIDGES = (0.01, 0.1, 1.0, 10.0)  # times the rows, of features of unit variance
_AT_ONCE = 500  # rows ranked among each other

Rows = Float[np.ndarray, "n d"]


class _Score(Protocol):
    def predict(self, X: Rows) -> Float[np.ndarray, " n"]: ...


@dataclass(frozen=True)
class WindowScores:
    """The contribution of a window to the evidence: sums of normal scores Φ⁻¹(1 − p).

    Attributes:
        learned: the sum over the rows that are ranked by the learned score.
        n_learned: the number of those rows.
        columns: the sum over the rows ranked by each column.
        n_columns: the number of those rows.
        groups: like `learned`, for the learned score of each group of columns.
    """

    learned: float
    n_learned: int
    columns: tuple[float, ...] = field(repr=False)
    n_columns: int
    groups: tuple[float, ...] = ()


@dataclass(frozen=True, eq=False)
class Wealth:
    """Wealth of several tests, each on every tilt.

    Attributes:
        logs: (k, n_tilts) log wealth.
    """

    logs: Float[np.ndarray, "k tilts"]

    @classmethod
    def start(cls, k: int) -> Wealth:
        """The initial wealth of k tests, 1 each."""
        return cls(np.tile(np.log(_SHARES), (k, 1)))

    @property
    def log_totals(self) -> Float[np.ndarray, " k"]:
        """log wealth of each test."""
        return np.asarray(logsumexp(self.logs, axis=1))

    def after(self, sums: Float[np.ndarray, " k"], n: int) -> Wealth:
        """The wealth after bets on n p-values a test, whose normal scores have these sums.

        A bet is paid by (Y2), the density of a p-value whose normal score is shifted by θ. Before,
        a share of all wealth is redistributed over the tilts (Y3).
        """
        dealt = self.log_totals[:, None] + np.log(_MOVED * _SHARES)
        return Wealth(np.logaddexp(np.log1p(-_MOVED) + self.logs, dealt) + _paid(sums, n))


def _paid(
    sums: Float[np.ndarray, " k"], n: int | Int[np.ndarray, " k"]
) -> Float[np.ndarray, "k tilts"]:
    """Logarithm of the payoff of the bets on n p-values each (Y2)."""
    return np.asarray(_TILTS * sums[:, None] - 0.5 * _TILTS**2 * np.asarray(n)[..., None])


class Evidence:
    """Evidence of the learned test, of each column in either direction, and of groups (Y4)."""

    def __init__(self, n_columns: int, n_groups: int = 0) -> None:
        self._learned, self._columns = Wealth.start(1), Wealth.start(2 * n_columns)
        self._groups = Wealth.start(n_groups)

    def add(self, scores: WindowScores) -> float:
        """The evidence after a window."""
        self._learned = self._learned.after(np.array([scores.learned]), scores.n_learned)
        self._columns = self._columns.after(_both_ways(scores), scores.n_columns)
        self._groups = self._groups.after(np.array(scores.groups), scores.n_learned)
        return float(self._weighted.max())

    @property
    def strongest(self) -> int:
        """The test with the most: 0 is the learned one, then the columns up, down, groups."""
        return int(np.argmax(self._weighted))

    @property
    def _weighted(self) -> Float[np.ndarray, " k"]:
        """log wealth less what the number of tests costs: half for the learned one."""
        others = np.concatenate([self._columns.log_totals, self._groups.log_totals])
        return np.concatenate(
            [self._learned.log_totals - np.log(2.0), others - np.log(2.0 * max(others.size, 1))]
        )


def _both_ways(scores: WindowScores) -> Float[np.ndarray, " k"]:
    up = np.array(scores.columns, dtype=np.float64)
    return np.concatenate([up, -up])


def likely_start(windows: Sequence[WindowScores]) -> int:
    """The most likely window of the change: the strongest test gains most from it on."""
    first = windows[0]
    evidence = Evidence(len(first.columns), len(first.groups))
    for window in windows:
        evidence.add(window)
    k, of_column = evidence.strongest, range(1, 1 + 2 * len(first.columns))
    sums = np.array([(w.learned, *_both_ways(w), *w.groups)[k] for w in windows])
    counts = np.array([w.n_columns if k in of_column else w.n_learned for w in windows])
    gains = _paid(sums, counts)[:, 1:]
    from_each = np.cumsum(gains[::-1], axis=0)[::-1].max(axis=1)
    return int(np.argmax(np.where(counts > 0, from_each, -np.inf)))


def rank_p_values(
    pool: Float[np.ndarray, " n"], scores: Float[np.ndarray, " m"], rng: np.random.Generator
) -> Float[np.ndarray, " m"]:
    """The rank of each score from above, among the pool, the scores before it and itself (Y1).

    `(#{s_j > s_i} + U_i #{s_j = s_i})/N_i`, with U_i uniform: independent and uniform on (0, 1) if
    the rows are exchangeable.
    """
    found = []
    for start in range(0, scores.size, _AT_ONCE):
        some = scores[start : start + _AT_ONCE]
        before = np.sort(np.concatenate([pool, scores[:start]]))
        above = before.size - np.searchsorted(before, some, side="right")
        equal = before.size - np.searchsorted(before, some, side="left") - above
        earlier = np.tri(some.size, dtype=bool)  # itself included
        above = above + ((some[None, :] > some[:, None]) & earlier).sum(axis=1)
        equal = equal + ((some[None, :] == some[:, None]) & earlier).sum(axis=1)
        count = before.size + 1 + np.arange(some.size)
        found.append((above + rng.uniform(size=some.size) * equal) / count)
    return np.concatenate(found) if found else np.empty(0)


class AnytimeTest:
    """A test of exchangeability of reference and stream, window by window, stopped at any time.

    A score is learned from half of the reference and of each window; the other halves are ranked by
    it. No row that is ranked was used to learn the score, so bets on the ranks are fair (Y1). All
    rows are also ranked by each column, where nothing is learned.

    Args:
        reference: (n, d) rows.
        seed: of the halves and of ties.
        columns: numbers of the columns to rank by, chosen without looking at the rows; None is all.
        groups: numbers of the columns of each group, by whose own learned score rows are ranked.

    Examples:
        >>> rng = np.random.default_rng(0)
        >>> test = AnytimeTest(rng.normal(size=(1000, 3)), seed=0)
        >>> for number in range(2):
        ...     scores = test.add(number, rng.normal(0.5, 1.0, size=(200, 3)))
        >>> bool(test.log_evidence > np.log(20))
        True
    """

    def __init__(
        self,
        reference: Rows,
        *,
        seed: int,
        columns: Int[np.ndarray, " k"] | None = None,
        groups: Sequence[Sequence[int]] = (),
    ) -> None:
        self._seed = seed
        self._columns = np.arange(reference.shape[1]) if columns is None else columns
        self._groups = [list(group) for group in groups]
        self._learning_0, ranked = self._halves(reference, 0, _MOST_REFERENCE)
        self._learning_1: deque[Rows] = deque(maxlen=_MEMORY)
        self._pool = [ranked]
        self._all = [np.concatenate([self._learning_0, ranked])[:, self._columns]]
        self._evidence = Evidence(self._columns.size, len(self._groups))
        self.log_evidence = -float(np.log(2.0))

    def add(self, number: int, rows: Rows, known: WindowScores | None = None) -> WindowScores:
        """Bet on the rows of a window, or only store them if the scores are known.

        Args:
            number: of the window, from 0.
            rows: (m, d), in any order.
            known: the result of this call in an earlier run.
        """
        learning, ranked = self._halves(rows, number + 1, _MOST_ROWS)
        self._learning_1.append(learning)
        both = np.concatenate([learning, ranked])[:, self._columns]
        scores = self._scores(ranked, both, number) if known is None else known
        self._pool.append(ranked)
        self._all.append(both)
        self.log_evidence = self._evidence.add(scores)
        return scores

    def _scores(self, ranked: Rows, both: Rows, number: int) -> WindowScores:
        ties = np.random.default_rng([self._seed, number + 1, 1])
        learned = self._learned_sum(ranked, ties, slice(None))
        before = np.concatenate(self._all)
        columns = [_sum(a, b, ties) for a, b in zip(before.T, both.T, strict=True)]
        groups = [self._learned_sum(ranked, ties, group) or 0.0 for group in self._groups]
        n_learned = 0 if learned is None else len(ranked)
        return WindowScores(learned or 0.0, n_learned, tuple(columns), len(both), tuple(groups))

    def _learned_sum(
        self, ranked: Rows, ties: np.random.Generator, columns: slice | list[int]
    ) -> float | None:
        """The sum over ranked rows of a score learned on some columns; None without enough rows."""
        learning_1 = np.concatenate(self._learning_1)
        score = _learned(self._learning_0[:, columns], learning_1[:, columns])
        if score is None or not len(ranked):
            return None
        pool = score.predict(np.concatenate(self._pool)[:, columns])
        return _sum(pool, score.predict(ranked[:, columns]), ties)

    def _halves(self, rows: Rows, stream: int, most: int) -> tuple[Rows, Rows]:
        order = np.random.default_rng([self._seed, stream, 0]).permutation(len(rows))[:most]
        return rows[order[: len(order) // 2]], rows[order[len(order) // 2 :]]


def _sum(
    pool: Float[np.ndarray, " n"], scores: Float[np.ndarray, " m"], rng: np.random.Generator
) -> float:
    """The sum of the normal scores of the ranks; 0 for no rows."""
    p_values = rank_p_values(pool, scores, rng)
    return -float(ndtri(np.clip(p_values, 1e-300, 1.0 - 1e-16)).sum())


def _learned(x_0: Rows, x_1: Rows) -> _Score | None:
    """A least-squares classifier; its basis and penalty have the least leave-one-out error.

    Ranks do not need calibrated odds, so this is as good as a logistic regression and needs one
    decomposition for all penalties. None from too few rows.
    """
    if len(x_1) < _FEWEST_ROWS or len(x_0) < _FEWEST_ROWS:
        return None
    rows, labels = np.concatenate([x_0, x_1]), np.repeat([0.0, 1.0], [len(x_0), len(x_1)])
    with warnings.catch_warnings():
        # Of a column that never changes, every window would warn.
        warnings.simplefilter("ignore", ConstantColumnWarning)
        fits = [_fitted(basis, rows, labels) for basis in _bases(rows.shape[1])]
    return max(fits, key=lambda fit: float(fit[-1].best_score_))


def _bases(d: int) -> list[Basis]:
    every: tuple[Basis, ...] = ("linear", "quadratic", "additive")
    return [b for b in every if b == "linear" or basis_size(b, d) <= _MOST_FEATURES]


def _fitted(basis: Basis, rows: Rows, labels: Float[np.ndarray, " n"]) -> Pipeline:
    features = logistic_pipeline(basis, 1.0)[:-1]
    ridge = RidgeCV(alphas=[len(rows) * share for share in _RIDGES])
    return Pipeline([*features.steps, ("ridge", ridge)]).fit(rows, labels)

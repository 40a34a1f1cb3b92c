"""Evidence against "the stream is like the reference", valid however often one looks."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from jaxtyping import Float
from scipy.special import logsumexp, ndtri
from sklearn.linear_model import RidgeCV
from sklearn.pipeline import Pipeline

from secant.tasks.column_bases import Basis, basis_size, logistic_pipeline

__all__ = ["AnytimeTest", "Wealth", "rank_p_values"]

# θ of (Y2). 0 is wealth that does not bet, and is not lost while nothing changes: it gets half.
_TILTS = np.array([0.0, 0.1, 0.2, 0.4, 0.8, 1.6, 3.2])
_SHARES = np.array([0.5, *[0.5 / 6] * 6])
_MOVED = 0.05  # share of the wealth that is dealt out anew before each window (Y3)
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
class Wealth:
    """Wealth of bets against the hypothesis, starting from 1, by the tilt that it bets on.

    Attributes:
        logs: log wealth on each tilt.
    """

    logs: tuple[float, ...] = tuple(np.log(_SHARES).tolist())

    def __post_init__(self) -> None:
        if len(self.logs) != len(_TILTS):
            raise ValueError(f"`logs` must have {len(_TILTS)} numbers; got {len(self.logs)}.")

    @property
    def log_total(self) -> float:
        """log of the wealth, the evidence: P(ever ≥ log(1/α)) ≤ α under the hypothesis (Y4)."""
        return float(logsumexp(self.logs))

    def after(self, p_values: Float[np.ndarray, " m"]) -> Wealth:
        """The wealth after betting on the p-values of a window, small ones being expected.

        A bet is paid by (Y2), the density of a p-value whose normal score is shifted by θ. Before,
        a share of all wealth is dealt out to the tilts anew (Y3).
        """
        z = -ndtri(np.clip(p_values, 1e-300, 1.0 - 1e-16))
        paid = _TILTS * z.sum() - 0.5 * _TILTS**2 * z.size
        return Wealth(tuple((self._dealt() + paid).tolist()))

    def gains(self, after: Wealth) -> Float[np.ndarray, " k"]:
        """What a window has paid on each tilt that bets, from the wealth before and after it."""
        if after.logs == self.logs:
            return np.zeros(len(_TILTS) - 1)
        return (np.array(after.logs) - self._dealt())[1:]

    def _dealt(self) -> Float[np.ndarray, " k"]:
        dealt = self.log_total + np.log(_MOVED * _SHARES)
        return np.asarray(np.logaddexp(np.log1p(-_MOVED) + np.array(self.logs), dealt))


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

    Half of the reference and of each window teach a score; the other halves are ranked by it and
    bet on (Y1). Teaching never sees the rows that are ranked, so the bets are fair.

    Args:
        reference: (n, d) rows.
        seed: of the halves and of ties.

    Examples:
        >>> rng = np.random.default_rng(0)
        >>> test = AnytimeTest(rng.normal(size=(1000, 3)), seed=0)
        >>> for number in range(4):
        ...     wealth = test.add(number, rng.normal(0.5, 1.0, size=(200, 3)))
        >>> wealth.log_total > np.log(20)
        True
    """

    def __init__(self, reference: Rows, *, seed: int) -> None:
        self._seed = seed
        learn, ranked = self._halves(reference, 0, _MOST_REFERENCE)
        self._taught_0 = learn
        self._taught_1: deque[Rows] = deque(maxlen=_MEMORY)
        self._pool = [ranked]
        self.wealth = Wealth()

    def add(self, number: int, rows: Rows, known: Wealth | None = None) -> Wealth:
        """Bet on the rows of a window, or remember them where the outcome is known already.

        Args:
            number: of the window, from 0.
            rows: (m, d), in any order.
            known: the wealth after this window, from an earlier run.
        """
        learn, ranked = self._halves(rows, number + 1, _MOST_ROWS)
        self._taught_1.append(learn)
        self.wealth = self._after(ranked, number) if known is None else known
        self._pool.append(ranked)
        return self.wealth

    def _after(self, ranked: Rows, number: int) -> Wealth:
        score = _learned(self._taught_0, np.concatenate(self._taught_1))
        if score is None or not len(ranked):
            return self.wealth
        pool = score.predict(np.concatenate(self._pool))
        ties = np.random.default_rng([self._seed, number + 1, 1])
        return self.wealth.after(rank_p_values(pool, score.predict(ranked), ties))

    def _halves(self, rows: Rows, stream: int, most: int) -> tuple[Rows, Rows]:
        order = np.random.default_rng([self._seed, stream, 0]).permutation(len(rows))[:most]
        return rows[order[: len(order) // 2]], rows[order[len(order) // 2 :]]


def _learned(x_0: Rows, x_1: Rows) -> _Score | None:
    """A least-squares classifier; its basis and penalty have the least leave-one-out error.

    Ranks do not need calibrated odds, so this is as good as a logistic regression and needs one
    decomposition for all penalties. None from too few rows.
    """
    if len(x_1) < _FEWEST_ROWS or len(x_0) < _FEWEST_ROWS:
        return None
    rows, labels = np.concatenate([x_0, x_1]), np.repeat([0.0, 1.0], [len(x_0), len(x_1)])
    fits = [_fitted(basis, rows, labels) for basis in _bases(rows.shape[1])]
    return max(fits, key=lambda fit: float(fit[-1].best_score_))


def _bases(d: int) -> list[Basis]:
    every: tuple[Basis, ...] = ("linear", "quadratic", "additive")
    return [b for b in every if b == "linear" or basis_size(b, d) <= _MOST_FEATURES]


def _fitted(basis: Basis, rows: Rows, labels: Float[np.ndarray, " n"]) -> Pipeline:
    features = logistic_pipeline(basis, 1.0)[:-1]
    ridge = RidgeCV(alphas=[len(rows) * share for share in _RIDGES])
    return Pipeline([*features.steps, ("ridge", ridge)]).fit(rows, labels)

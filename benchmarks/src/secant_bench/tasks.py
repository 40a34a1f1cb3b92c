"""Tasks: a pair of distributions with exact log ratio, and the rows for an estimator."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import jax
import numpy as np
from jaxtyping import Array, Float

from secant.datasets import Pair, shuffled
from secant.estimators import ISADRE, SecantRatio
from secant.estimators.direct import HeldOutRatios
from secant.estimators.neural import PathMixin
from secant.integration import Integral, Rule

__all__ = ["Judgement", "Ratio", "Task"]

_ROWS_TO_HOLD = 100_000  # for methods that cannot draw fresh rows
_BRIDGE_ROWS = 8192  # the number that a fit holds out


class Ratio(Protocol):
    """The interface of an estimator in a benchmark."""

    def fit_samples(self, x_0: np.ndarray, x_1: np.ndarray) -> Any:  # noqa: ANN401 -- itself
        """Fit to rows of p_0 and of p_1."""

    def log_ratio(self, X: np.ndarray) -> Float[np.ndarray, " n"]:
        """log p_1(x) − log p_0(x) of other rows."""


@dataclass(frozen=True)
class Judgement:
    """Errors of the log ratio on fresh rows of both ends."""

    truth: float
    estimate: float
    error: float
    rmse_1: float
    rmse_0: float
    spread_1: float
    spread_0: float
    evaluations: int
    logistic: float
    bridges: float | None  # for methods that learn secants


@dataclass(frozen=True)
class Task:
    """A pair of distributions, the rows to fit and the rows to evaluate.

    Attributes:
        pair: the distributions.
        n_rows: rows of each sample; None for fresh rows at every step.
        y_columns: columns of x_1 that are shuffled to make x_0, as for mutual information.
        judge_rows: number of fresh rows of each end for the evaluation.
    """

    pair: Pair
    n_rows: int | None = None
    y_columns: tuple[int, ...] = ()
    judge_rows: int = 20_000

    @property
    def name(self) -> str:
        """The pair's name, with the number of rows if it is fixed."""
        if self.n_rows is None:
            return self.pair.name
        return f"{self.pair.name}, {self.n_rows // 1000}k rows"

    def fit(self, estimator: Ratio, seed: int) -> Ratio:
        """Fit on this task's rows, drawn by the seed."""
        if self.n_rows is None and hasattr(estimator, "fit_sampler"):
            fitted: Ratio = estimator.fit_sampler(self.pair.sample)
            return fitted
        key, key_shuffle = jax.random.split(jax.random.key(1000 + seed))
        x_0, x_1 = self.pair.sample(key, self.n_rows or _ROWS_TO_HOLD)
        if self.y_columns:
            x_0 = shuffled(x_1, self.y_columns, key_shuffle)
        estimator.fit_samples(np.asarray(x_0), np.asarray(x_1))
        return estimator

    def judge(self, estimator: Ratio, rule: Rule | None, seed: int) -> Judgement:
        """Compare with the exact log ratio on fresh rows.

        Args:
            estimator: fitted.
            rule: integration rule of a path method; None for its own rule.
            seed: of the fresh rows.
        """
        x_0, x_1 = self.pair.sample(jax.random.key(2_000_000 + seed), self.judge_rows)
        results, exact = [], []
        for x in (x_0, x_1):
            results.append(_answer(estimator, np.asarray(x), rule))
            exact.append(np.asarray(self.pair.log_ratio(x), dtype=np.float64))
        values = [np.asarray(r.value) for r in results]
        truth = self.pair.kl if self.pair.kl is not None else float(exact[1].mean())
        return Judgement(
            truth=truth,
            estimate=float(values[1].mean()),
            error=float(np.mean(values[1] - exact[1])),
            rmse_1=_rmse(values[1], exact[1]),
            rmse_0=_rmse(values[0], exact[0]),
            spread_1=_spread(exact[1]),
            spread_0=_spread(exact[0]),
            evaluations=results[1].evaluations,
            logistic=HeldOutRatios(values[0], values[1]).loss()[0],
            bridges=_bridges(estimator, x_0, x_1),
        )


def _answer(estimator: Ratio, x: Float[np.ndarray, "n d"], rule: Rule | None) -> Integral:
    if isinstance(estimator, PathMixin):
        return estimator.integrate(x, estimator.rule_ if rule is None else rule)
    # A method of another library may declare its evaluations per row.
    return Integral(estimator.log_ratio(x), getattr(estimator, "evaluations", 1), float("nan"))


def _bridges(estimator: Ratio, x_0: Float[Array, "n d"], x_1: Float[Array, "n d"]) -> float | None:
    if not isinstance(estimator, SecantRatio | ISADRE):
        return None
    return estimator.bridge_loss(*(np.asarray(x[:_BRIDGE_ROWS]) for x in (x_0, x_1)))


def _rmse(a: Float[np.ndarray, " n"], b: Float[np.ndarray, " n"]) -> float:
    """The root mean square over rows where the truth is finite; off the support of p_1 it is −∞."""
    finite = np.isfinite(b)
    return float(np.sqrt(np.mean((a[finite] - b[finite]) ** 2)))


def _spread(exact: Float[np.ndarray, " n"]) -> float:
    return float(exact[np.isfinite(exact)].std())

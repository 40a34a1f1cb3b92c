"""A real table under covariate shift: does weighting recover the mean of the population?

The population is scikit-learn's diabetes table, 442 patients. The source is a part of it in which
heavy patients are rare: a patient whose body mass index is z standard deviations above the mean is
kept with probability 0.1 + 0.8 σ(−2z). Disease progression is known for the source only. Its mean
over the population is estimated from the ten covariates of both.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from jaxtyping import Bool, Float
from scipy.special import expit
from sklearn.datasets import load_diabetes
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from secant.estimators import KernelRatio, RatioEstimator, SecantRatio, SklearnRatio
from secant.exceptions import OverlapWarning
from secant.tasks import importance_weights
from secant.tasks.model_choice import default_ratio
from secant.training import Training
from secant_bench.benchmark import Outcome
from secant_bench.products import Product
from secant_bench.rows import Job, Run, aligned, machine
from secant_bench.tables import figure, table

__all__ = ["METHODS", "ShiftRow", "ShiftSuite", "covariate_shift", "shares", "shift_table"]

METHODS: Mapping[str, Callable[[], RatioEstimator]] = {
    "default": lambda: default_ratio(230, 10),  # as importance_weights uses for so few rows
    "logistic regression": lambda: SklearnRatio(
        make_pipeline(StandardScaler(), LogisticRegression()), folds=None
    ),
    "logistic regression, quadratic": lambda: SklearnRatio(folds=None),
    "uLSIF": KernelRatio,
    "SecantRatio, 300 steps": lambda: SecantRatio(
        training=Training(steps=300, batch_size=128, evaluate_every=50, patience=3), progress=False
    ),
}


@dataclass(frozen=True)
class ShiftRow(Run):
    """One biased draw of the source: its plain and its weighted mean, with standard errors."""

    n_source: int
    n_target: int
    truth: float
    plain: float
    plain_error: float
    weighted: float | None = None
    weighted_error: float | None = None
    effective_sample_size: float | None = None
    pareto_shape: float | None = None
    seconds: float | None = None

    @property
    def numbers(self) -> str:
        """The plain and the weighted mean."""
        return (
            f"truth {aligned(self.truth)} plain {aligned(self.plain)}"
            f" weighted {aligned(self.weighted)} {aligned(self.seconds)} s"
        )

    @property
    def plain_z(self) -> float:
        """The error of the unweighted mean, in standard errors."""
        return (self.plain - self.truth) / self.plain_error

    @property
    def weighted_z(self) -> float:
        """The error of the weighted mean, in its standard errors; infinite for a failed fit."""
        if self.weighted is None or not self.weighted_error:
            return float("inf")
        return (self.weighted - self.truth) / self.weighted_error


def shares(rows: Iterable[ShiftRow]) -> tuple[float, float]:
    """The shares of rows with a plain mean more than 2 s.e. off, and a weighted mean within 2."""
    z = np.abs([(row.plain_z, row.weighted_z) for row in rows])
    return float(np.mean(z[:, 0] > 2.0)), float(np.mean(z[:, 1] < 2.0))


def shift_table(rows: Iterable[ShiftRow]) -> str:
    """A table of methods: how often and how far the weighted and the plain mean are off."""
    by_method: dict[str, list[ShiftRow]] = {}
    for row in rows:
        by_method.setdefault(row.method, []).append(row)
    lines = []
    for method, runs in by_method.items():
        off, within = shares(runs)
        errors = [abs(r.weighted - r.truth) for r in runs if r.weighted is not None]
        worth = [r.effective_sample_size for r in runs if r.effective_sample_size is not None]
        plain = float(np.mean([abs(r.plain - r.truth) for r in runs]))
        numbers = [plain, float(np.mean(errors)), float(np.mean(worth))]
        lines.append([method, f"{off:.0%}", f"{within:.0%}", *map(figure, numbers), str(len(runs))])
    header = ["ratio", "plain off by > 2 s.e.", "weighted within 2 s.e.", "plain error"]
    return table([*header, "weighted error", "effective rows", "seeds"], lines)


@dataclass(frozen=True)
class _Table:
    name: str


@dataclass(frozen=True)
class ShiftSuite(Product[_Table, Callable[[], RatioEstimator]]):
    """One table, weighted by several ratio estimators; a seed draws the source."""

    def blank(self, job: Job) -> ShiftRow:
        """The row with the means of the population and of the source."""
        return _drawn(self.name, job)[0]

    def run(self, job: Job) -> Outcome:
        """Weight the rows of the source and compute their mean."""
        row, source, target, y = _drawn(self.name, job)
        began = time.perf_counter()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", OverlapWarning)  # the row records it
            ratio = self.methods[job.method]()
            weights = importance_weights(source, target, estimator=ratio, random_state=job.seed)
        mean = weights.mean(y)
        found = replace(
            row,
            weighted=mean.estimate,
            weighted_error=mean.standard_error,
            effective_sample_size=weights.effective_sample_size,
            pareto_shape=weights.pareto_shape,
            seconds=time.perf_counter() - began,
            status="finished",
        )
        return Outcome([found])

    def _adapted(self, method: Any) -> Callable[[], RatioEstimator]:  # noqa: ANN401 -- a third party's
        """A class with `fit_samples` and `log_ratio`."""
        made: Callable[[], RatioEstimator] = method
        return made


def covariate_shift() -> ShiftSuite:
    """The diabetes table with its methods."""
    about = "the mean of a population, by weighting a biased part of it"
    task = _Table("diabetes, few heavy patients")
    return ShiftSuite("covariate-shift", about, (task,), METHODS, n_seeds=20)


def _drawn(
    suite: str, job: Job
) -> tuple[ShiftRow, Float[np.ndarray, "n d"], Float[np.ndarray, "m d"], Float[np.ndarray, " n"]]:
    """The row before weighting, the source and the target, and the outcomes of the source."""
    X, y = load_diabetes(return_X_y=True)
    kept = _biased(X[:, 2], np.random.default_rng(job.seed))
    of_source = y[kept]
    row = ShiftRow(
        suite,
        *job,
        n_source=of_source.size,
        n_target=y.size,
        truth=float(y.mean()),
        plain=float(of_source.mean()),
        plain_error=float(of_source.std(ddof=1) / np.sqrt(of_source.size)),
        machine=machine(),
    )
    return row, X[kept], X, of_source


def _biased(bmi: Float[np.ndarray, " n"], rng: np.random.Generator) -> Bool[np.ndarray, " n"]:
    z = (bmi - bmi.mean()) / bmi.std()
    return np.asarray(rng.uniform(size=bmi.size) < 0.1 + 0.8 * expit(-2.0 * z))

"""Closure of `secant.estimate_performance` on tables that scikit-learn bundles.

    python benchmarks/comparison/performance.py SHIFTS

Rows are new with a probability that depends on the columns, at most 0.85; their labels are hidden.
Of the others, one part fits a model and the rest is the reference. The interval of the estimate
should cover the metric on the hidden labels; without a shift, so would the interval of the plain
reference metric. One JSON row per shift is appended to `performance.jsonl` beside this file; shifts
in that file are skipped. Without arguments, the table is printed.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits
from sklearn.decomposition import PCA
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import get_scorer
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier
from stored import keep, kept

import secant

RESULTS = Path(__file__).with_suffix(".jsonl")
_DRAWS = 300
Rows = np.ndarray


class Case(NamedTuple):
    """A table, a model and a metric."""

    load: Callable[[], tuple[Rows, Rows]]
    model: BaseEstimator
    metric: str


def _digits() -> tuple[Rows, Rows]:
    """The first eight principal components of the pictures."""
    X, y = load_digits(return_X_y=True)
    return PCA(8, random_state=0).fit_transform(X), y


def _breast_cancer() -> tuple[Rows, Rows]:
    X, y = load_breast_cancer(return_X_y=True)
    return np.log1p(X[:, :10]), y


CASES = {
    "digits": Case(_digits, DecisionTreeClassifier(max_leaf_nodes=10, random_state=0), "accuracy"),
    "digits, probabilities": Case(
        _digits, make_pipeline(PCA(2), StandardScaler(), LogisticRegression()), "neg_log_loss"
    ),
    "breast cancer": Case(
        _breast_cancer, make_pipeline(StandardScaler(), KNeighborsClassifier(5)), "accuracy"
    ),
    "diabetes": Case(
        lambda: load_diabetes(return_X_y=True), KNeighborsRegressor(5), "neg_mean_absolute_error"
    ),
}


def shifts(n: int) -> Iterator[tuple[str, int]]:
    """The tables in turn, each with its own seed."""
    names = list(CASES)
    return ((names[i % len(names)], i) for i in range(n))


def measured(name: str, seed: int) -> dict[str, object]:
    """One shift: the truth, the estimate and the metric on the reference."""
    case, rng = CASES[name], np.random.default_rng(seed)
    X, y = case.load()
    is_new = _selected(X, rng)
    new, old = np.flatnonzero(is_new), rng.permutation(np.flatnonzero(~is_new))
    train, ref = np.split(old, [len(old) // 3])
    model = clone(case.model).fit(X[train], y[train])
    truth = get_scorer(case.metric)(model, X[new], y[new])
    row = {"table": name, "seed": seed, "metric": case.metric, "n_ref": len(ref), "n_new": len(new)}
    began = time.perf_counter()
    try:
        found = secant.estimate_performance(
            model, X[ref], y[ref], X[new], metric=case.metric, random_state=seed
        )
    except secant.OverlapError as error:
        return {**row, "truth": truth, "refused": str(error)}
    return {
        **row,
        "truth": truth,
        "refused": "",
        "estimate": found.estimate,
        "interval": found.interval,
        "reference": found.reference,
        "naive_interval": _naive(case.metric, model, X[ref], y[ref], len(new), rng),
        "effective_sample_size": found.effective_sample_size,
        "unlike": found.unlike,
        "seconds": time.perf_counter() - began,
    }


def _selected(X: Rows, rng: np.random.Generator) -> Rows:
    """New rows selected by a random direction of the columns, each with probability below 1."""
    z = StandardScaler().fit_transform(X)
    score = z @ rng.normal(size=z.shape[1])
    score = 3.0 * (score / score.std() - 0.3)
    return rng.uniform(size=len(X)) < 0.85 / (1.0 + np.exp(-score))


def _naive(
    metric: str, model: BaseEstimator, X: Rows, y: Rows, m: int, rng: np.random.Generator
) -> tuple[float, float]:
    """Bootstrap interval of the metric on the reference, with the noise of m new labels."""
    scorer = get_scorer(metric)

    def draw(k: int) -> float:
        rows = rng.integers(len(X), size=k)
        return float(scorer(model, X[rows], y[rows]))

    centre = float(scorer(model, X, y))
    both = [draw(len(X)) + draw(m) - centre for _ in range(_DRAWS)]
    low, high = np.quantile(both, [0.025, 0.975])
    return float(low), float(high)


def _covers(row: dict, interval: str) -> bool:
    low, high = row[interval]
    return bool(low <= row["truth"] <= high)


def main(n: int | None) -> None:
    """Measure what is missing, then print the table."""
    done = {(row["table"], row["seed"]) for row in kept(RESULTS)}
    for name, seed in shifts(n or 0):
        if (name, seed) not in done:
            keep(RESULTS, measured(name, seed))
    rows = kept(RESULTS)
    print("table          shifts refused  covered  naive   |error|  naive |error|  seconds")
    for name in [*CASES, "all"]:
        own = [r for r in rows if name in (r["table"], "all")]
        known = [r for r in own if not r["refused"]]
        if not known:
            continue
        covered, naive = (
            np.mean([_covers(r, key) for r in known]) for key in ("interval", "naive_interval")
        )
        errors = [
            np.mean([abs(r[k] - r["truth"]) for r in known]) for k in ("estimate", "reference")
        ]
        seconds = np.median([r["seconds"] for r in known])
        print(
            f"{name:<15}{len(own):>6}{len(own) - len(known):>8}{covered:>9.2f}{naive:>7.2f}"
            f"{errors[0]:>10.3g}{errors[1]:>15.3g}{seconds:>9.1f}"
        )


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else None)

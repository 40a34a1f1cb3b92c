"""Power of the test of `secant.compare` and of four others, and its p-values without a difference.

    python benchmarks/comparison/power.py RUNS [PAIR …]

One JSON row per run is appended to `power.jsonl` beside this file; runs in that file are skipped.
Without arguments the table is printed. Every method gets the same rows, so few that no test always
finds the difference. Ours rejects if its p-value is at most 0.05. The others use the ideal
threshold, unknown to users: the 95 % quantile of their statistic over as many pairs of samples
that are both from p_0.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
from pairs import NULLS, PAIRS, SIZES, Rows
from scipy.spatial.distance import pdist, squareform
from sklearn.base import ClassifierMixin
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from stored import keep, kept
from tables import power_table

from secant.tasks.cross_fitting import cross_fit
from secant.tasks.two_sample import tested

RESULTS = Path(__file__).with_suffix(".jsonl")
_FIRST_SEED = 5000  # smaller seeds were used to choose the numbers of rows
_PERMUTATIONS = 999
_ALIKE = 10_000  # added to the seed of samples that are both from p_0


def _classifier(model: ClassifierMixin) -> Callable[[Rows, Rows], float]:
    """Area under the curve of out-of-fold probabilities."""

    def statistic(rows: Rows, labels: Rows) -> float:
        folds = StratifiedKFold(min(5, int(labels.sum())), shuffle=True, random_state=0)
        chance = cross_val_predict(model, rows, labels, cv=folds, method="predict_proba")[:, 1]
        return float(roc_auc_score(labels, chance))

    return statistic


def energy_distance(rows: Rows, labels: Rows) -> float:
    """2 E|X − Y| − E|X − X'| − E|Y − Y'| of standardised columns."""
    return -_contrast(squareform(pdist(StandardScaler().fit_transform(rows))), labels)


def discrepancy(rows: Rows, labels: Rows) -> float:
    """Squared maximum mean discrepancy, Gaussian kernel of the median distance."""
    distance = squareform(pdist(StandardScaler().fit_transform(rows)))
    width = np.median(distance[np.triu_indices(len(rows), 1)])
    return _contrast(np.exp(-0.5 * (distance / width) ** 2), labels)


def _contrast(kernel: Rows, labels: Rows) -> float:
    signs = np.where(labels == 1, 1.0 / labels.sum(), -1.0 / (1 - labels).sum())
    return float(signs @ kernel @ signs)


OTHERS: dict[str, Callable[[Rows, Rows], float]] = {
    "logistic": _classifier(make_pipeline(StandardScaler(), LogisticRegression())),
    "boosted trees": _classifier(HistGradientBoostingClassifier(max_iter=50, random_state=0)),
    "energy distance": energy_distance,
    "MMD": discrepancy,
}


def ours(x_0: Rows, x_1: Rows, seed: int) -> tuple[float, str]:
    """The p-value of `secant.compare` and the model that it selected."""
    rng = np.random.RandomState(seed)
    n_folds = min(5, len(x_1) // 2)  # as in `compare`
    scores = cross_fit(None, x_0, x_1, n_folds=n_folds, random_state=rng)
    p_value = tested(scores, x_0, x_1, n_permutations=_PERMUTATIONS, rng=rng, singles=None).p_value
    return p_value, "" if scores.choice is None else scores.choice.name


def alike(name: str, sizes: tuple[int, int], seed: int) -> tuple[Rows, Rows]:
    """Two samples of p_0."""
    n, m = sizes
    rows, _ = PAIRS[name].draw(np.random.default_rng([seed + _ALIKE, n]), n + m, 1)
    return rows[:n], rows[n:]


def run(name: str, seed: int) -> dict[str, object]:
    """One row."""
    if name in NULLS:
        p_value, model = ours(*alike("null", NULLS[name], seed), seed)
        return {"pair": name, "seed": seed, "p_value": p_value, "model": model}
    sizes = SIZES[name]
    both = PAIRS[name].draw(np.random.default_rng([seed, *sizes]), *sizes)
    p_value, model = ours(*both, seed)
    labels = np.repeat([0, 1], sizes)
    found = {
        other: [statistic(np.concatenate(x), labels) for x in (both, alike(name, sizes, seed))]
        for other, statistic in OTHERS.items()
    }
    return {"pair": name, "seed": seed, "p_value": p_value, "model": model, **found}


def main(arguments: list[str]) -> None:
    """Run what is asked for, or print the table."""
    if not arguments:
        print(power_table(kept(RESULTS)))
        return
    names = arguments[1:] or [*(name for name in PAIRS if name != "null"), *NULLS]
    done = {(r["pair"], r["seed"]) for r in kept(RESULTS)}
    for seed in range(_FIRST_SEED, _FIRST_SEED + int(arguments[0])):
        for name in names:
            if (name, seed) not in done:
                keep(RESULTS, run(name, seed))


if __name__ == "__main__":
    main(sys.argv[1:])

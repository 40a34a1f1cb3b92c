"""Weights of `secant.importance_weights` and of hep_ml's reweighters against the true ones.

    python benchmarks/comparison/reweighting.py SEEDS [PAIR …]

2,000 rows of source and target of the pairs with a known ratio; all weights are out of fold, by two
folds. Measured on the source's rows: the share of weight in the wrong place, ½ mean |w − w*| with
weights of mean 1; χ² per degree of freedom of `secant.closure`, its mean over columns, against
20,000 fresh rows of the target; the effective sample size over that of the true weights; seconds.
hep_ml is no dependency of secant: install it beside it. One JSON row per run is appended to
`reweighting.jsonl`; runs in that file are skipped. Without arguments, the table of the guide is
printed.
"""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path

import numpy as np
from pairs import PAIRS
from stored import keep, kept

import secant
from secant.tasks.model_choice import boosted_trees

RESULTS = Path(__file__).with_suffix(".jsonl")
_ROWS, _FRESH, _FOLDS = 2_000, 20_000, 2
_NAMES = [name for name in PAIRS if name not in ("null", "unequal sizes")]
Rows = np.ndarray


def chosen(source: Rows, target: Rows, seed: int) -> Rows:
    """The default of secant."""
    found = secant.importance_weights(source, target, n_folds=_FOLDS, random_state=seed)
    return found.weights


def trees(source: Rows, target: Rows, seed: int) -> Rows:
    """Boosted trees in secant."""
    model = boosted_trees()
    found = secant.importance_weights(
        source, target, estimator=model, n_folds=_FOLDS, random_state=seed
    )
    return found.weights


def calibrated(source: Rows, target: Rows, seed: int) -> Rows:
    """Boosted trees in secant, calibrated by isotonic regression."""
    model = secant.IsotonicRatio(boosted_trees())
    found = secant.importance_weights(
        source, target, estimator=model, n_folds=_FOLDS, random_state=seed
    )
    return found.weights


def hep_ml(source: Rows, target: Rows, seed: int) -> Rows:
    """The gradient-boosted reweighter of hep_ml with its defaults, by its own folds."""
    from hep_ml.reweight import FoldingReweighter, GBReweighter

    model = FoldingReweighter(
        GBReweighter(gb_args={"random_state": seed}),
        n_folds=_FOLDS,
        random_state=seed,
        verbose=False,
    )
    model.fit(source, target)
    weights = model.predict_weights(source, vote_function=None)
    return np.asarray(weights / weights.mean())


METHODS: dict[str, tuple[Callable[[Rows, Rows, int], Rows], str]] = {
    "secant": (chosen, "secant, default"),
    "secant trees": (trees, "secant, boosted trees"),
    "secant isotonic": (calibrated, "the same, isotonic"),
    "hep_ml": (hep_ml, "hep_ml, GBReweighter"),
}


def measured(method: str, name: str, seed: int) -> dict[str, object]:
    """One run."""
    pair, rng = PAIRS[name], np.random.default_rng([seed, 7])
    source, target = pair.draw(rng, _ROWS, _ROWS)
    _, fresh = pair.draw(rng, 1, _FRESH)
    truth = np.exp(pair.log_ratio(source))
    truth = truth / truth.mean()
    began = time.process_time()
    weights = METHODS[method][0](source, target, seed)
    seconds = time.process_time() - began
    closed = secant.closure(source, fresh, weights)
    return {
        "pair": name,
        "method": method,
        "seed": seed,
        "version": version("hep_ml" if method == "hep_ml" else "secant"),
        "misplaced": round(float(0.5 * np.mean(np.abs(weights - truth))), 4),
        "chi2": round(float(np.mean([c.chi2 / c.freedom for c in closed.columns])), 3),
        "effective": round(float(np.sum(truth**2) / np.sum(weights**2)), 3),
        "cpu_seconds": round(seconds, 2),
    }


def table() -> str:
    """The table of the guide: share of weight in the wrong place, and χ² per degree of freedom."""
    lines = [f"| pair | {' | '.join(words for _, words in METHODS.values())} |"]
    lines.append("|---|" + "---:|" * len(METHODS))
    rows = kept(RESULTS)
    for name in _NAMES:
        cells = []
        for method in METHODS:
            own = [r for r in rows if (r["pair"], r["method"]) == (name, method)]
            means = [np.mean([r[key] for r in own]) for key in ("misplaced", "chi2")] if own else []
            cells.append(f"{100 * means[0]:.1f} %, {means[1]:.2f}" if own else "not measured")
        lines.append(f"| {name} | {' | '.join(cells)} |")
    seconds = [
        np.median([r["cpu_seconds"] for r in rows if r["method"] == method] or [np.nan])
        for method in METHODS
    ]
    lines.append(f"| seconds | {' | '.join(f'{s:.1f}' for s in seconds)} |")
    return "\n".join(lines)


def main(arguments: list[str]) -> None:
    """Measure what is missing, or print the table."""
    if not arguments:
        print(table())
        return
    warnings.simplefilter("ignore")
    done = {(row["pair"], row["method"], row["seed"]) for row in kept(RESULTS)}
    for seed in range(int(arguments[0])):
        for name in arguments[1:] or _NAMES:
            for method in METHODS:
                if (name, method, seed) not in done:
                    keep(RESULTS, measured(method, name, seed))


if __name__ == "__main__":
    main(sys.argv[1:])

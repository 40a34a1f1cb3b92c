"""Coverage of the intervals of `secant.compare` and p-values of its test, on ten pairs.

    python benchmarks/comparison/coverage.py ROWS RUNS [PAIR …]

One JSON row per run is appended to `coverage.jsonl` beside this file; runs in that file are
skipped. Without arguments, the table is printed.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

import numpy as np
from pairs import PAIRS, QUANTITIES, sizes, truth
from stored import keep, kept
from tables import coverage_table

from secant.tasks.cross_fitting import cross_fit
from secant.tasks.divergence_intervals import divergence_intervals
from secant.tasks.two_sample import tested

RESULTS = Path(__file__).with_suffix(".jsonl")
_FIRST_SEED = 2000  # smaller seeds were used during development of the intervals


def run(name: str, n: int, seed: int, exact: dict[str, float]) -> dict[str, object]:
    """One row."""
    x_0, x_1 = PAIRS[name].draw(np.random.default_rng([seed, n]), *sizes(name, n))
    rng, began = np.random.RandomState(seed), time.process_time()
    scores = cross_fit(None, x_0, x_1, random_state=rng)
    p_value = tested(scores, x_0, x_1, n_permutations=199, rng=rng, singles=None).p_value
    found = divergence_intervals(scores, x_0, x_1, confidence=0.95, p_value=p_value, rng=rng)
    row = {q: [round(float(v), 5) for v in (*found[q], exact[q])] for q in QUANTITIES}
    model = None if scores.choice is None else scores.choice.name
    seconds = round(time.process_time() - began, 2)
    return {"pair": name, "n": n, "seed": seed, "model": model, "p_value": p_value, **row} | {
        "cpu_seconds": seconds
    }


def main(arguments: list[str]) -> None:
    """Run what is asked for, or print the table."""
    if not arguments:
        print(coverage_table(kept(RESULTS)))
        return
    n, runs, names = int(arguments[0]), int(arguments[1]), arguments[2:] or list(PAIRS)
    rows = kept(RESULTS)
    done = {(r["pair"], r["n"], r["seed"]) for r in rows}
    known = {r["pair"]: {q: r[q][3] for q in QUANTITIES} for r in rows}
    exact = {name: known.get(name) or truth(PAIRS[name]) for name in names}
    for seed in range(_FIRST_SEED, _FIRST_SEED + runs):
        for name in names:
            if (name, n, seed) not in done:
                keep(RESULTS, run(name, n, seed, exact[name]))


if __name__ == "__main__":
    main(sys.argv[1:])

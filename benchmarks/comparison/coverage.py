"""Coverage of the intervals of `secant.compare` and p-values of its test, on ten pairs.

    python benchmarks/comparison/coverage.py ROWS RUNS [PAIR …]

One JSON row a run is appended to `coverage.jsonl` beside this file; runs that it holds are left
out. `python benchmarks/comparison/coverage.py` alone prints the table.
"""

from __future__ import annotations

import sys
import time
from collections import defaultdict
from pathlib import Path

import numpy as np
from pairs import PAIRS, QUANTITIES, keep, kept, sizes, truth

from secant.tasks.cross_fitting import cross_fit
from secant.tasks.divergence_intervals import divergence_intervals
from secant.tasks.two_sample import tested

RESULTS = Path(__file__).with_suffix(".jsonl")
_FIRST_SEED = 1000  # smaller ones served to choose the method


def run(name: str, n: int, seed: int, exact: dict[str, float]) -> dict[str, object]:
    """One row."""
    x_0, x_1 = PAIRS[name].draw(np.random.default_rng([seed, n]), *sizes(name, n))
    rng, began = np.random.RandomState(seed), time.process_time()
    scores = cross_fit(None, x_0, x_1, random_state=rng)
    p_value = tested(scores, x_0, x_1, n_permutations=199, rng=rng).p_value
    found = divergence_intervals(scores, x_0, x_1, confidence=0.95, p_value=p_value, rng=rng)
    row = {q: [round(float(v), 5) for v in (*found[q], exact[q])] for q in QUANTITIES}
    model = None if scores.choice is None else scores.choice.name
    seconds = round(time.process_time() - began, 2)
    return {"pair": name, "n": n, "seed": seed, "model": model, "p_value": p_value, **row} | {
        "cpu_seconds": seconds
    }


def table() -> str:
    """Coverage in per cent and rejections at 0.05, by pair and rows."""
    groups = defaultdict(list)
    for row in kept(RESULTS):
        groups[row["pair"], row["n"]].append(row)
    lines = ["| pair | n | runs | KL | reverse | JS | p ≤ 0.05 |", "|---|---|---|---|---|---|---|"]
    for (pair, n), rows in groups.items():
        covers = [
            100.0 * np.mean([r[q][1] <= r[q][3] + 1e-4 and r[q][3] <= r[q][2] for r in rows])
            for q in QUANTITIES
        ]
        found = 100.0 * np.mean([r["p_value"] <= 0.05 for r in rows])
        cells = " | ".join(f"{c:.0f}" for c in (*covers, found))
        lines.append(f"| {pair} | {n} | {len(rows)} | {cells} |")
    return "\n".join(lines)


def main(arguments: list[str]) -> None:
    """Make the rows that are asked for, or print the table."""
    if not arguments:
        print(table())
        return
    n, runs, names = int(arguments[0]), int(arguments[1]), arguments[2:] or list(PAIRS)
    done = {(r["pair"], r["n"], r["seed"]) for r in kept(RESULTS)}
    exact = {name: truth(PAIRS[name]) for name in names}
    for seed in range(_FIRST_SEED, _FIRST_SEED + runs):
        for name in names:
            if (name, n, seed) not in done:
                keep(RESULTS, run(name, n, seed, exact[name]))


if __name__ == "__main__":
    main(sys.argv[1:])

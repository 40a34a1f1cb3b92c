"""False alarms and delays of the alarm of `secant.monitor`, beside tests of each column.

    python benchmarks/comparison/alarms.py STREAMS [CHANGE …]

Streams of 50 windows; "none" has no change, the others change at window 10. Delays are counted in
windows; 1 is the first after the change. Two alarms by Kolmogorov–Smirnov tests of the columns are
measured on the same rows: `columns` at 0.05 over the columns of a window, as in tools for drift,
and `corrected` at 0.05 over the columns of all 50 windows. One JSON row per stream is appended to
`alarms.jsonl` beside this file; streams in that file are skipped. Without arguments, the table of
the guide is printed.
"""

from __future__ import annotations

import math
import sys
import time
from pathlib import Path

from scipy.stats import ks_2samp
from stored import keep, kept
from streams import CHANGES, LEVEL, WINDOWS, cell, sizes, start_of, stream

from secant.tasks.anytime import AnytimeTest

RESULTS = Path(__file__).with_suffix(".jsonl")
_METHODS = {
    "evidence": "evidence, any time",
    "corrected": "each column, corrected for 50 tests",
    "columns": "each column, every window by itself",
}


def measured(name: str, seed: int) -> dict[str, object]:
    """One stream: for each method, the first alarm before the change and the first one after it."""
    n, rows, d = sizes(name)
    starts, began = start_of(name), time.process_time()
    reference, windows = stream(name, seed)
    test = AnytimeTest(reference, seed=seed)
    alarms: dict[str, list[int]] = {method: [] for method in _METHODS}
    largest = 0.0
    for number, x in enumerate(windows):
        if not any(alarm >= starts for alarm in alarms["evidence"]):
            test.add(number, x)
            largest = max(largest, test.log_evidence)
        least = d * min(ks_2samp(a, b).pvalue for a, b in zip(reference.T, x.T, strict=True))
        raised = {
            "evidence": largest >= -math.log(LEVEL),
            "corrected": least <= LEVEL / WINDOWS,
            "columns": least <= LEVEL,
        }
        for method, is_raised in raised.items():
            alarms[method] += [number] * int(is_raised)
        ends = [max(alarms[method], default=-1) for method in ("evidence", "corrected")]
        if min(ends) >= starts:
            break
    return {
        "change": name,
        "seed": seed,
        "reference": n,
        "rows": rows,
        "columns": d,
        "false": {m: next((a for a in each if a < starts), None) for m, each in alarms.items()},
        "found": {m: next((a for a in each if a >= starts), None) for m, each in alarms.items()},
        "log_evidence": round(largest, 3),
        "cpu_seconds": round(time.process_time() - began, 2),
    }


def table() -> str:
    """The table of the guide."""
    rows = kept(RESULTS)
    lines = [f"| change | streams | {' | '.join(_METHODS.values())} |", "|---|---:|" + "---|" * 3]
    for name in CHANGES:
        own = [row for row in rows if row["change"] == name]
        if own:
            cells = " | ".join(cell(own, method) for method in _METHODS)
            lines.append(f"| {name} | {len(own)} | {cells} |")
    return "\n".join(lines)


def main(arguments: list[str]) -> None:
    """Measure what is missing, or print the table."""
    if not arguments:
        print(table())
        return
    done = {(row["change"], row["seed"]) for row in kept(RESULTS)}
    for name in arguments[1:] or list(CHANGES):
        for seed in range(int(arguments[0])):
            if (name, seed) not in done:
                keep(RESULTS, measured(name, seed))


if __name__ == "__main__":
    main(sys.argv[1:])

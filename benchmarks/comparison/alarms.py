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

import json
import math
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from scipy.stats import ks_2samp

from secant.tasks.anytime import AnytimeTest

RESULTS = Path(__file__).with_suffix(".jsonl")
_WINDOWS = 50
_CHANGE_AT = 10
_LEVEL = 0.05
_METHODS = {
    "evidence": "evidence, any time",
    "corrected": "each column, corrected for 50 tests",
    "columns": "each column, every window by itself",
}
Rows = np.ndarray


def shifted(shift: float) -> Callable[[Rows], Rows]:
    """A shift of the first column, in standard deviations."""
    return lambda x: x + shift * np.eye(1, x.shape[1])


def correlated(rho: float) -> Callable[[Rows], Rows]:
    """A correlation of two columns, whose margins do not change."""

    def change(x: Rows) -> Rows:
        y = x.copy()
        y[:, 1] = rho * x[:, 0] + math.sqrt(1.0 - rho**2) * x[:, 1]
        return y

    return change


CHANGES: dict[str, Callable[[Rows], Rows] | None] = {
    "none": None,
    "0.2 s.d.": shifted(0.2),
    "0.5 s.d.": shifted(0.5),
    "1 s.d.": shifted(1.0),
    "correlation 0.6": correlated(0.6),
}


def measured(name: str, seed: int) -> dict[str, object]:
    """One stream: for each method, the first alarm before the change and the first one after it."""
    change = CHANGES[name]
    # For false alarms, a small reference that is reused fifty times is the harder case.
    n, rows, d = (400, 60, 5) if change is None else (2000, 200, 20)
    starts = _WINDOWS if change is None else _CHANGE_AT
    rng, began = np.random.default_rng([seed, d]), time.process_time()
    reference = rng.normal(size=(n, d))
    test = AnytimeTest(reference, seed=seed)
    alarms: dict[str, list[int]] = {method: [] for method in _METHODS}
    largest = 0.0
    for number in range(_WINDOWS):
        x = rng.normal(size=(rows, d))
        x = x if change is None or number < starts else change(x)
        if not any(alarm >= starts for alarm in alarms["evidence"]):
            test.add(number, x)
            largest = max(largest, test.log_evidence)
        least = d * min(ks_2samp(a, b).pvalue for a, b in zip(reference.T, x.T, strict=True))
        raised = {
            "evidence": largest >= -math.log(_LEVEL),
            "corrected": least <= _LEVEL / _WINDOWS,
            "columns": least <= _LEVEL,
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


def kept() -> list[dict]:
    """The stored rows."""
    if not RESULTS.exists():
        return []
    return [json.loads(line) for line in RESULTS.read_text(encoding="utf-8").splitlines()]


def _cell(rows: list[dict], method: str) -> str:
    """The share of streams with an alarm without a change; the median delay with one."""
    early = 100 * float(np.mean([row["false"][method] is not None for row in rows]))
    if rows[0]["change"] == "none":
        return f"{early:.1f} % ever alarm"
    found = [row["found"][method] for row in rows]
    delays = [_WINDOWS if number is None else number - _CHANGE_AT + 1 for number in found]
    missed = sum(number is None for number in found)
    words = [f"{np.median(delays):g}"] if 2 * missed < len(found) else ["–"]
    words += [f"{100 * missed / len(found):.0f} % missed"] * (missed > 0)
    words += [f"{early:.0f} % false before"] * (early > 0)
    return ", ".join(words)


def table() -> str:
    """The table of the guide."""
    rows = kept()
    lines = [f"| change | streams | {' | '.join(_METHODS.values())} |", "|---|---:|" + "---|" * 3]
    for name in CHANGES:
        own = [row for row in rows if row["change"] == name]
        if own:
            cells = " | ".join(_cell(own, method) for method in _METHODS)
            lines.append(f"| {name} | {len(own)} | {cells} |")
    return "\n".join(lines)


def main(arguments: list[str]) -> None:
    """Measure what is missing, or print the table."""
    if not arguments:
        print(table())
        return
    done = {(row["change"], row["seed"]) for row in kept()}
    for name in arguments[1:] or list(CHANGES):
        for seed in range(int(arguments[0])):
            if (name, seed) not in done:
                with RESULTS.open("a", encoding="utf-8") as file:
                    file.write(json.dumps(measured(name, seed)) + "\n")


if __name__ == "__main__":
    main(sys.argv[1:])

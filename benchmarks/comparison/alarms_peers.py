"""Alarms of other tools on the streams of `alarms.py`.

    python benchmarks/comparison/alarms_peers.py METHOD STREAMS [CHANGE …]

METHOD is `evidently` (its preset for drift, each window against the reference) or `alibi-detect`
(`MMDDrift`, maximum mean discrepancy by permutation). Neither is a dependency of secant: install
them in an environment of their own, which needs nothing else. A window raises

- evidently: `any`, if a column drifts by the tool's defaults; `half`, if half of the columns do,
  its own threshold for a table;
- alibi-detect: `each`, if its p-value is at most 0.05; `corrected`, if it is at most 0.05/50, by
  999 permutations for windows with the least p-value of 99. A window of 200 rows takes it seconds,
  so windows before the change are tested in streams without one only.

One JSON row per stream is appended to `alarms_peers.jsonl`; streams in that file are skipped.
Without arguments, the table of the guide is printed.
"""

from __future__ import annotations

import logging
import sys
import time
import warnings
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path

import numpy as np
from stored import keep, kept
from streams import CHANGES, LEVEL, WINDOWS, cell, start_of, stream

RESULTS = Path(__file__).with_suffix(".jsonl")
_SLOW = {"alibi-detect"}
Rows = np.ndarray
Alarms = Callable[[Rows], dict[str, bool]]


def evidently(reference: Rows) -> Alarms:
    """The drift preset: Kolmogorov–Smirnov up to 1,000 rows, Wasserstein distance beyond."""
    import pandas as pd
    from evidently import Report
    from evidently.presets import DataDriftPreset

    names = [f"c{i}" for i in range(reference.shape[1])]
    old = pd.DataFrame(reference, columns=names)

    def raised(x: Rows) -> dict[str, bool]:
        found = Report([DataDriftPreset()]).run(pd.DataFrame(x, columns=names), old).dict()
        counted = found["metrics"][0]["value"]
        return {"any": counted["count"] >= 1, "half": counted["share"] >= 0.5}

    return raised


def alibi_detect(reference: Rows) -> Alarms:
    """Maximum mean discrepancy with a Gaussian kernel of median width, its default."""
    import torch
    from alibi_detect.cd import MMDDrift

    torch.set_num_threads(1)
    old = reference.astype(np.float32)
    quick, slow = (
        MMDDrift(old, backend="pytorch", n_permutations=n, device="cpu") for n in (99, 999)
    )

    def raised(x: Rows) -> dict[str, bool]:
        new = x.astype(np.float32)
        p_value = float(quick.predict(new)["data"]["p_val"])
        is_least = p_value == 0.0  # its p-value is the share of permutations, which can be none
        sure = is_least and float(slow.predict(new)["data"]["p_val"]) <= LEVEL / WINDOWS
        return {"each": p_value <= LEVEL, "corrected": sure}

    return raised


METHODS: dict[str, tuple[Callable[[Rows], Alarms], dict[str, str]]] = {
    "evidently": (
        evidently,
        {"any": "evidently, any column", "half": "evidently, half of the columns"},
    ),
    "alibi-detect": (
        alibi_detect,
        {
            "each": "alibi-detect MMD, every window by itself",
            "corrected": "alibi-detect MMD, corrected for 50 tests",
        },
    ),
}


def measured(method: str, name: str, seed: int) -> dict[str, object]:
    """One stream: for each alarm, the first one before the change and the first one after it."""
    make, alarms = METHODS[method]
    began, starts = time.process_time(), start_of(name)
    reference, windows = stream(name, seed)
    np.random.seed(seed)
    raised = make(reference)
    false: dict[str, int | None] = dict.fromkeys(alarms)
    found: dict[str, int | None] = dict.fromkeys(alarms)
    for number, x in enumerate(windows):
        if method in _SLOW and number < starts < WINDOWS:
            continue
        kept = false if number < starts else found
        for alarm, is_raised in raised(x).items():
            if is_raised and kept[alarm] is None:
                kept[alarm] = number
        if None not in found.values():
            break
    return {
        "method": method,
        "version": version(method),
        "change": name,
        "seed": seed,
        "false": false,
        "found": found,
        "cpu_seconds": round(time.process_time() - began, 2),
    }


def table() -> str:
    """The table of the guide."""
    columns = [(m, a, words) for m, (_, own) in METHODS.items() for a, words in own.items()]
    lines = [f"| change | {' | '.join(words for *_, words in columns)} |"]
    lines.append("|---|" + "---|" * len(columns))
    rows = kept(RESULTS)
    for name in CHANGES:
        cells = []
        for method, alarm, _ in columns:
            own = [r for r in rows if (r["change"], r["method"]) == (name, method)]
            cells.append(f"{cell(own, alarm)} ({len(own)})" if own else "not measured")
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return "\n".join(lines)


def main(arguments: list[str]) -> None:
    """Measure what is missing, or print the table."""
    if not arguments:
        print(table())
        return
    warnings.simplefilter("ignore")
    logging.disable(logging.WARNING)
    method, streams, *names = arguments
    done = {(row["method"], row["change"], row["seed"]) for row in kept(RESULTS)}
    for seed in range(int(streams)):
        for name in names or list(CHANGES):
            if (method, name, seed) not in done:
                keep(RESULTS, measured(method, name, seed))


if __name__ == "__main__":
    main(sys.argv[1:])

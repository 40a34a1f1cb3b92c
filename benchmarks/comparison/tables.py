"""Tables of the rows of coverage.py and power.py.

    python benchmarks/comparison/tables.py

writes them to docs/_generated/comparison.md, which the page of divergences includes.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path

import numpy as np
from pairs import NULLS, QUANTITIES, SIZES
from scipy import stats
from stored import kept

HERE = Path(__file__).parent
PAGE = HERE.parents[1] / "docs/_generated/comparison.md"
_LEVEL = 0.05
_FEWEST_RUNS = 10  # of a line of a table


def coverage_table(rows: Iterable[dict]) -> str:
    """Coverage in per cent and rejections at 0.05, by pair and rows."""
    groups = _grouped(rows, "n", "pair")
    lines = [
        "| rows | pair | runs | KL covers (%) | reverse KL (%) | JS (%) | p ≤ 0.05 (%) |",
        "|---|---|---|---|---|---|---|",
    ]
    for (n, pair), each in sorted(groups.items(), key=lambda item: item[0][0]):
        cells = " | ".join(
            f"{100.0 * np.mean([_covers(r, q) for r in each]):.0f}" for q in QUANTITIES
        )
        found = 100.0 * np.mean([r["p_value"] <= _LEVEL for r in each])
        lines.append(f"| {n:,} | {pair} | {len(each)} | {cells} | {found:.0f} |")
    return "\n".join(lines)


def _grouped(rows: Iterable[dict], *keys: str) -> dict[tuple, list[dict]]:
    """Rows grouped by the values of some keys, without small groups."""
    groups = defaultdict(list)
    for row in rows:
        groups[tuple(row[key] for key in keys)].append(row)
    return {key: each for key, each in groups.items() if len(each) >= _FEWEST_RUNS}


def _covers(row: dict, quantity: str) -> bool:
    _, low, high, exact = row[quantity]
    return bool(low <= exact + 1e-4 and exact <= high)


def powers(rows: list[dict]) -> dict[str, float]:
    """Shares of runs in which each method finds the difference, in per cent."""
    found = {"secant": 100.0 * float(np.mean([r["p_value"] <= _LEVEL for r in rows]))}
    for name in (name for name, value in rows[0].items() if isinstance(value, list)):
        differ, same = np.array([r[name] for r in rows]).T
        found[name] = 100.0 * float(np.mean(differ > np.quantile(same, 1.0 - _LEVEL)))
    return found


def power_table(rows: Iterable[dict]) -> str:
    """Power by pair, and the uniformity of p-values without a difference."""
    groups = {name: each for (name,), each in _grouped(rows, "pair").items()}
    found = {name: powers(each) for name, each in groups.items() if name not in NULLS}
    methods = list(next(iter(found.values()), {}))
    lines = [
        f"| pair | rows | runs | {' | '.join(f'{m} (%)' for m in methods)} |",
        "|---|---|---|" + "---|" * len(methods),
    ]
    for name, power in found.items():
        n, m = SIZES[name]
        cells = " | ".join(f"{value:.0f}" for value in power.values())
        lines.append(f"| {name} | {n} + {m} | {len(groups[name])} | {cells} |")
    lines += ["", "| same distribution | runs | p ≤ 0.05 (%) | p-value of uniformity (KS) |"]
    lines.append("|---|---|---|---|")
    for name in (name for name in groups if name in NULLS):
        n, m = NULLS[name]
        p_values = np.array([r["p_value"] for r in groups[name]])
        share, ks = 100.0 * np.mean(p_values <= _LEVEL), stats.kstest(p_values, "uniform").pvalue
        lines.append(f"| {n} + {m} rows | {p_values.size} | {share:.1f} | {ks:.2f} |")
    return "\n".join(lines)


def page() -> str:
    """The contents of docs/_generated/comparison.md."""
    coverage, power = (kept(HERE / f"{name}.jsonl") for name in ("coverage", "power"))
    return f"{coverage_table(coverage)}\n\n{power_table(power)}\n"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")

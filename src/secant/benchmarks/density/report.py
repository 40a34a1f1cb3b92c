"""Tables of densities, derived from committed rows."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from secant.benchmarks.density.rows import DensityRow
from secant.benchmarks.density.suites import DENSITY_SUITES
from secant.benchmarks.rows import read_rows
from secant.benchmarks.tables import figure, table

__all__ = ["density_sections", "density_summary"]

Rows = list[DensityRow]
Key = tuple[str, str, int]

_PREAMBLE = (
    "Negative log likelihood of rows not trained on, nats a row, **normalised**: log Ẑ is added, "
    "and stands beside it with its standard error. *secant* is `DensityEstimator()` as it comes, "
    "one network evaluation a row. On the plane the other methods share a trunk (width 128, three "
    "residual layers), a budget (6,000 steps of batch 512) and a Gaussian base."
)
_NOTES = {
    "density-2d": "*Excess* over the true density's likelihood on the same 50,000 test rows; the "
    "largest |log Ẑ| of the seeds beside it.",
    "density-tables": "POWER and BSDS300 as in the literature.",
    "density-miniboone": "A split of its own of 6.9k rows: it does not compare with "
    "published figures.",
    "density-evaluations": "One fit each, judged by rules of 1 to 50 evaluations, secants by equal "
    "steps, time scores by the trapezoid rule (one evaluation: the midpoint).",
}


def density_sections(results: Path) -> list[str]:
    """The sections on densities, of whichever suites have rows."""
    sections = []
    for name, build in DENSITY_SUITES.items():
        rows = read_rows(results / f"{name}.jsonl", DensityRow)
        if rows:
            about = build().about
            make = _excess if name == "density-2d" else _likelihoods
            heading = f"### {about[0].upper()}{about[1:]}"
            sections += [heading, _NOTES.get(name, ""), make(rows)]
    kept = [section for section in sections if section]
    return ["## Densities", _PREAMBLE, *kept] if kept else []


def density_summary(results: Path) -> str:
    """The README's tables: the plane, and real tables."""
    plane = read_rows(results / "density-2d.jsonl", DensityRow)
    real = [
        row
        for name in ("density-tables", "density-miniboone")
        for row in read_rows(results / f"{name}.jsonl", DensityRow)
    ]
    makers = ((_excess, plane), (_likelihoods, real))
    return "\n\n".join(make(rows) for make, rows in makers if rows)


def _grouped(rows: Rows) -> dict[Key, Rows]:
    groups: dict[Key, Rows] = {}
    for row in rows:
        groups.setdefault((row.task, row.method, row.evaluations), []).append(row)
    return groups


def _known(rows: Sequence[DensityRow], name: str) -> np.ndarray:
    values = [getattr(row, name) for row in rows]
    return np.array([v for v in values if v is not None], dtype=np.float64)


def _excess(rows: Rows) -> str:
    """Tasks down, methods across."""
    groups: dict[tuple[str, str], Rows] = {}
    for row in rows:
        groups.setdefault((row.task, row.method), []).append(row)
    tasks = list(dict.fromkeys(row.task for row in rows))
    methods = list(dict.fromkeys(row.method for row in rows))
    lines = []
    for task in tasks:
        truth = _known([r for r in rows if r.task == task], "truth")
        cells = [_excess_cell(groups.get((task, method), [])) for method in methods]
        lines.append([task, figure(float(truth.mean())), *cells])
    seconds = [_known([row for row in rows if row.method == m], "seconds") for m in methods]
    lines.append(["**seconds a fit**", "", *(figure(float(s.mean())) for s in seconds)])
    seeds = [len({row.seed for row in rows if row.method == m}) for m in methods]
    lines.append(["**seeds**", "", *map(str, seeds)])
    return table(["set", "truth", *methods], lines)


def _excess_cell(runs: Rows) -> str:
    excess = [r.nll - r.truth for r in runs if r.nll is not None and r.truth is not None]
    if not excess:
        return "–"
    mass = np.abs(_known(runs, "log_normalizer"))
    beside = f" ({figure(float(mass.max()))})" if mass.size else ""
    return f"{float(np.mean(excess)):+.3f}{beside}"


def _likelihoods(rows: Rows) -> str:
    lines = []
    for (task, method, evaluations), runs in _grouped(rows).items():
        nll = _known(runs, "nll")
        if not nll.size:
            lines.append([task, method, runs[0].status, *["–"] * 6])
            continue
        mass, error = _known(runs, "log_normalizer"), _known(runs, "log_normalizer_error")
        lines.append(
            [
                task,
                method.removesuffix(", by evaluations"),
                str(evaluations),
                figure(float(nll.mean())),
                f"{nll.min():.2f} … {nll.max():.2f}",
                f"{mass.mean():+.3f} ± {error.max():.3f}" if mass.size else "–",
                figure(float(_known(runs, "seconds").mean())),
                str(int(_known(runs, "peak_mib").max())),
                str(nll.size),
            ]
        )
    header = ["table", "method", "evaluations", "NLL", "least … most", "log Ẑ", "seconds"]
    return table([*header, "peak MiB", "seeds"], lines)

"""The section on densities, generated from committed rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from secant.datasets import toys
from secant_bench.catalogue import Recipe
from secant_bench.density.pictures import densities_figure
from secant_bench.density.rows import DensityRow
from secant_bench.panels import Point, panels
from secant_bench.rows import read_rows
from secant_bench.tables import figure, table

__all__ = ["density_sections", "density_summary"]

Rows = list[DensityRow]
Key = tuple[str, str, int]

_PREAMBLE = (
    "Held-out negative log likelihood, nats per row, **normalised**: log Ẑ is added, and shown "
    "with its standard error. *secant* is `DensityEstimator()` with all defaults, one network "
    "evaluation per row. The other methods share a trunk (width 128, three residual layers), a "
    "budget (batch 512, 2,500 steps on the plane and 20,000 on tables) and a Gaussian base."
)
_FIGURE = Path("docs/figures/paper-toy2d-densities.png")
_NOTES = {
    "paper-toy2d": (
        "*Excess* over the likelihood of the true density on the same 50,000 test rows, with the "
        "largest |log Ẑ| over seeds. ISADRE has 6,000 steps, the others 2,500, and its network "
        "starts with steeper units: their scale was chosen on *8gaussians*, and would also "
        "improve the others."
    ),
    "density-tables": (
        "POWER and BSDS300 as in the literature. *Atoms spread* is the NLL of test rows after "
        "adding uniform noise to the discrete minutes (POWER's time): a density with spikes at "
        "whole minutes would have a larger NLL there. *D3RE, annealed* is the method in the last "
        "table of this section with ten evaluations, with log Ẑ estimated along the path, as "
        "`DensityEstimator` does where importance sampling is unreliable. † marks an unreliable "
        "log Ẑ; it is almost always too small, so that the NLL is too low."
    ),
    "peers-density": (
        "MINIBOONE in a separate split of 6.9k rows, not comparable with published figures."
    ),
    "paper-tabular": (
        "One fit each, evaluated by rules of 1 to 50 evaluations: secants by equal steps, time "
        "scores by the trapezoid rule (one evaluation: the midpoint). Each cell has the mean NLL "
        "over seeds and the largest |log Ẑ| in brackets, estimated for every rule by annealing "
        "where importance sampling is unreliable; † marks an unreliable log Ẑ. The base is N(m, S) "
        "with 1.5 times the rows' standard deviations: with a base as narrow as the rows, the "
        "densities learned on BSDS300 have their mass where neither sample has rows."
    ),
}


def density_sections(results: Path) -> list[str]:
    """The sections on densities, for suites with rows."""
    sections = []
    for name in ("paper-toy2d", "density-tables", "peers-density", "paper-tabular"):
        rows = read_rows(results / f"{name}.jsonl", DensityRow)
        if rows:
            about = Recipe(name).build().about
            heading = f"### {about[0].upper()}{about[1:]}"
            sections += [heading, _NOTES.get(name, ""), _MAKERS.get(name, _likelihoods)(rows)]
            sections += [_picture(results)] if name == "paper-toy2d" else []
            sections += [_panels(name, rows), *_absent(rows)] if name in _DRAWN else []
    kept = [section for section in sections if section]
    return ["## Densities", _PREAMBLE, *kept] if kept else []


def _panels(name: str, rows: Rows) -> str:
    """The figure: likelihoods relative to the truth if it is known."""
    if any(row.truth is None for row in rows if row.nll is not None):
        return panels([_point(row, row.nll) for row in rows], name, "NLL, nats per row", log=False)
    excess = [_point(r, None if r.nll is None else r.nll - (r.truth or 0.0)) for r in rows]
    return panels(excess, name, "nats above the truth")


def _point(row: DensityRow, error: float | None) -> Point:
    return Point(row.task, row.method, row.evaluations, row.seconds, error, row.is_doubtful)


def _absent(rows: Rows) -> list[str]:
    """The reason for each skipped task."""
    skipped = {row.task: row.status for row in rows if row.status.startswith("skipped")}
    return [f"**{task}** {status}" for task, status in skipped.items()]


def _picture(results: Path) -> str:
    methods = list(dict.fromkeys(method for _, method in Recipe("paper-toy2d").build().pairs))
    drawn = densities_figure(toys(), methods, results / "paper-toy2d", _FIGURE)
    text = "Nine densities of the plane: the truth, then each method's, on one scale of colours"
    return "" if drawn is None else f"![{text}](figures/{_FIGURE.name})"


def density_summary(results: Path) -> str:
    """The tables for other pages: densities of the plane, and real tables."""
    plane = read_rows(results / "paper-toy2d.jsonl", DensityRow)
    real = [
        row
        for name in ("density-tables", "peers-density")
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
    lines.append(["**seconds per fit**", "", *(figure(float(s.mean())) for s in seconds)])
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
            lines.append([task, method, runs[0].status, *["–"] * 7])
            continue
        mass, error = _known(runs, "log_normalizer"), _known(runs, "log_normalizer_error")
        spread = _known(runs, "nll_spread")
        lines.append(
            [
                task,
                method,
                str(evaluations),
                figure(float(nll.mean())),
                f"{nll.min():.2f} … {nll.max():.2f}",
                f"{spread.mean():.3f}" if spread.size else "–",
                f"{mass.mean():+.3f} ± {error.max():.3f}{_dagger(runs)}" if mass.size else "–",
                figure(float(_known(runs, "seconds").mean())),
                str(int(_known(runs, "peak_mib").max())),
                str(nll.size),
            ]
        )
    header = ["table", "method", "evaluations", "NLL", "least … most", "atoms spread", "log Ẑ"]
    return table([*header, "seconds", "peak MiB", "seeds"], lines)


def _across_evaluations(rows: Rows) -> str:
    """Methods down, numbers of evaluations across."""
    groups = _grouped(rows)
    counts = sorted({row.evaluations for row in rows})
    methods = list(dict.fromkeys((row.task, row.method) for row in rows))
    lines = []
    for task, method in methods:
        cells = [_evaluations_cell(groups.get((task, method, count), [])) for count in counts]
        n_seeds = len({row.seed for row in rows if (row.task, row.method) == (task, method)})
        lines.append([task, method, *cells, str(n_seeds)])
    return table(["table", "method", *(f"{count}" for count in counts), "seeds"], lines)


def _evaluations_cell(runs: Rows) -> str:
    nll, mass = _known(runs, "nll"), np.abs(_known(runs, "log_normalizer"))
    if not nll.size:
        return "–"
    return f"{nll.mean():.2f} ({mass.max():.2f}{_dagger(runs)})"


def _dagger(runs: Rows) -> str:
    return "†" if any(row.is_doubtful for row in runs) else ""


_DRAWN = ("paper-toy2d", "peers-density", "paper-tabular")
_MAKERS: dict[str, Callable[[Rows], str]] = {
    "paper-toy2d": _excess,
    "paper-tabular": _across_evaluations,
}

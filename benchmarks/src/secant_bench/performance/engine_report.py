"""The section on the training engine, generated from committed rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from secant_bench.performance.engine import BY_HAND, OLDER, PRESENT, SECOND_PROCESS, EngineRow
from secant_bench.rows import groups, read_rows
from secant_bench.tables import figure, geometric_mean, table, whole

__all__ = ["engine_section"]

_Rows = Sequence[EngineRow]


def engine_section(results: Path) -> list[str]:
    """The section on the training engine, if there are rows."""
    found = read_rows(results / "performance-engine.jsonl", EngineRow)
    parts = groups([row for row in found if row.status == "finished"], lambda row: row.part)
    makers: dict[str, Callable[[_Rows], list[str]]] = {
        "cold": _cold,
        "warm": _warm,
        "grid": _grid,
        "defaults": _defaults,
    }
    made = [text for part, make in makers.items() if part in parts for text in make(parts[part])]
    return ["### The training engine", _ABOUT, *made] if made else []


_ABOUT = (
    f"This library against an earlier commit of it (*{OLDER}*), each fit in a new process that "
    "finds no compiled programs on disk, the two sides one after the other. *Speed-up* is the "
    "earlier time over the present one; a ratio of errors is the present error over the earlier "
    "one, so that below 1 is better. Seconds are of a fit and of scoring its rows, imports not "
    "counted; errors are of the log ratio on fresh rows of p_1 and of p_0, in nats."
)


@dataclass(frozen=True)
class _Sides:
    """One task: rows of the present and of the earlier library, for the seeds that both have."""

    task: str
    now: _Rows
    before: _Rows
    again: _Rows = ()  # of the present library, in a second process

    def of(self, name: str) -> tuple[float, float]:
        """A number of the present and of the earlier library."""
        return _mean(self.now, name), _mean(self.before, name)

    def speed_up(self, name: str) -> float:
        """Earlier over present."""
        now, before = self.of(name)
        return before / now if now > 0.0 else float("nan")

    def speed_up_again(self, name: str) -> float:
        """Earlier over present, with the cache of an earlier process for the present library."""
        again = _mean(self.again, name)
        return _mean(self.before, name) / again if again > 0.0 else float("nan")

    def growth(self, name: str) -> float:
        """Present over earlier."""
        now, before = self.of(name)
        return now / before if before > 0.0 else float("nan")


def _mean(rows: _Rows, name: str) -> float:
    """The number; NaN if it is unknown."""
    known = [value for row in rows if (value := getattr(row, name)) is not None]
    return float(np.mean(known)) if known else float("nan")


def _compared(rows: _Rows) -> list[_Sides]:
    found = []
    for task, runs in groups(rows, lambda row: row.task).items():
        now, before, again = (
            {r.seed: r for r in runs if r.method == side}
            for side in (PRESENT, OLDER, SECOND_PROCESS)
        )
        seeds = sorted(now.keys() & before.keys())
        if seeds:
            sides = ([side[s] for s in seeds if s in side] for side in (now, before, again))
            found.append(_Sides(task, *sides))
    return found


def _cold(rows: _Rows) -> list[str]:
    sides = groups(rows, lambda row: row.method)
    numbers = ("programs", "steps", "width", "seconds", "cpu_seconds", "rmse_1", "rmse_0")
    shown = (whole, whole, whole, figure, figure, figure, figure)
    lines = [
        [
            side,
            *(show(_mean(runs, name)) for name, show in zip(numbers, shown, strict=True)),
            str(len(runs)),
        ]
        for side, runs in sides.items()
    ]
    header = ["side", "programs", "steps", "width", "seconds", "CPU seconds"]
    return [
        f"**A first fit**, 2,000 rows of five columns. *{BY_HAND}* is one file of JAX and optax "
        "(`benchmarks/performance/by_hand.py`) with the same network, loss, optimiser, batch and "
        "number of steps in one compiled loop, but no anchor, nothing held out and no diagnostics.",
        table([*header, "RMSE on p_1", "RMSE on p_0", "runs"], lines),
        *_verdict_on_cold(sides),
    ]


def _verdict_on_cold(sides: dict[str, list[EngineRow]]) -> list[str]:
    now = _mean(sides.get(PRESENT, []), "seconds")
    times = {
        side: now / _mean(sides[side], "seconds") for side in (BY_HAND, OLDER) if side in sides
    }
    said = [f"{share:.2f} times as long as *{s}*" for s, share in times.items() if share > 0.0]
    return [f"A first fit takes {' and '.join(said)}."] if said else []


def _warm(rows: _Rows) -> list[str]:
    compared = _compared(rows)
    lines = [
        [
            sides.task.partition(": ")[2],
            *_both(sides, "warm_seconds"),
            figure(sides.speed_up("warm_seconds")),
            figure(sides.speed_up("warm_cpu_seconds")),
            _arrow(sides, "warm_steps", whole),
            _arrow(sides, "warm_programs", whole),
            _arrow(sides, "rmse_1"),
            _arrow(sides, "rmse_0"),
            str(len(sides.now)),
        ]
        for sides in compared
    ]
    header = ["rows", "seconds", "earlier", "speed-up", "of CPU seconds", "steps", "programs"]
    return [
        "**A second fit in a process**, with other rows and another seed. Steps, compiled programs "
        "and errors are the earlier → the present.",
        table([*header, "RMSE on p_1", "RMSE on p_0", "seeds"], lines),
    ] * bool(lines)


def _grid(rows: _Rows) -> list[str]:
    lines = [
        [
            side,
            *(whole(_mean(runs, name)) for name in ("programs", "loop_programs")),
            *(figure(_mean(runs, name)) for name in ("seconds", "cpu_seconds")),
            str(len(runs)),
        ]
        for side, runs in groups(rows, lambda row: row.method).items()
    ]
    header = ["side", "programs", "of the training loop", "seconds", "CPU seconds", "runs"]
    return [
        "**A grid of twelve settings** (learning rate × steps × patience) on one data set, one fit "
        "after the other.",
        table(header, lines),
    ]


def _defaults(rows: _Rows) -> list[str]:
    compared = _compared(rows)
    return [
        "**Defaults.** 20,000 rows of each sample for ratios; for mutual information 10,000 rows "
        "by two fits, uncorrected, judged by the absolute error of the estimate. *Cold* is the "
        "first fit of a process, *warm* the second; errors are over both. *Second process* is a "
        "cold fit with the compilation cache of an earlier process, as by default; the earlier "
        "library had no cache, so it is compared with its cold fit.",
        table(_HEADER, [_default(sides) for sides in compared]),
        *_verdict_on_defaults(compared),
    ] * bool(compared)


_HEADER = [
    "task",
    "cold, CPU seconds",
    "warm, CPU seconds",
    "warm steps",
    "speed-up, cold",
    "second process",
    "warm",
    "RMSE on p_1",
    "RMSE on p_0",
    "error of MI",
    "seeds",
]


def _default(sides: _Sides) -> list[str]:
    # CPU seconds, because others may use the machine at the same time.
    return [
        sides.task.partition(": ")[2],
        _arrow(sides, "cpu_seconds"),
        _arrow(sides, "warm_cpu_seconds"),
        _arrow(sides, "warm_steps", whole),
        figure(sides.speed_up("cpu_seconds")),
        figure(sides.speed_up_again("cpu_seconds")),
        figure(sides.speed_up("warm_cpu_seconds")),
        *(_arrow(sides, name) for name in ("rmse_1", "rmse_0", "error")),
        str(len(sides.now)),
    ]


def _verdict_on_defaults(compared: Sequence[_Sides]) -> list[str]:
    errors = {"RMSE on p_1": "rmse_1", "RMSE on p_0": "rmse_0", "error of MI": "error"}
    lines = [
        _summed("speed-up, cold", compared, "cpu_seconds", _Sides.speed_up),
        _summed("speed-up, second process", compared, "cpu_seconds", _Sides.speed_up_again),
        _summed("speed-up, warm", compared, "warm_cpu_seconds", _Sides.speed_up),
    ]
    lines += [_summed(k, compared, name, _Sides.growth) for k, name in errors.items()]
    return [table(["ratio", "geometric mean", "worst", "of", "tasks"], lines)]


def _summed(
    label: str, compared: Sequence[_Sides], name: str, ratio: Callable[[_Sides, str], float]
) -> list[str]:
    """The geometric mean over the tasks, and the worst task."""
    ratios = {sides.task.partition(": ")[2]: ratio(sides, name) for sides in compared}
    known = {task: value for task, value in ratios.items() if np.isfinite(value)}
    if not known:
        return [label, "–", "–", "–", "0"]
    worst = (max if ratio is _Sides.growth else min)(known, key=lambda task: known[task])
    mean = figure(geometric_mean(known.values()))
    return [label, mean, figure(known[worst]), worst, str(len(known))]


def _both(sides: _Sides, name: str) -> list[str]:
    return [figure(value) for value in sides.of(name)]


def _arrow(sides: _Sides, name: str, show: Callable[[float], str] = figure) -> str:
    """Earlier → present, or a dash if both are unknown."""
    now, before = sides.of(name)
    return "–" if np.isnan(now) and np.isnan(before) else f"{show(before)} → {show(now)}"

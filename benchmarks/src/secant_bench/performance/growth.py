"""Growth of cost: seconds and memory of a fit and of scoring, by rows, columns and width."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np

from secant.estimators import SecantRatio, Standardise
from secant.models import ResidualMLP, SpectralSecant
from secant.training import Training
from secant_bench.benchmark import Outcome
from secant_bench.performance.fresh_process import bytes_grown, called_alone
from secant_bench.products import Product
from secant_bench.rows import Job, Run, aligned, machine

__all__ = ["GrowthRow", "GrowthSuite", "exponent", "growth"]

_STEPS = 200
_PIECE = 1 << 16  # rows written, or scored, at a time


@dataclass(frozen=True)
class _Size:
    """The size of one fit, or of one scoring of rows on disk."""

    by: str  # the varied quantity
    value: int
    rows: int = 20_000
    columns: int = 8
    width: int = 128

    @property
    def name(self) -> str:
        return f"{self.by} {self.value}"


@dataclass(frozen=True)
class GrowthRow(Run):
    """Cost at one size. `mib` is the memory of the process beyond that of an idle JAX."""

    by: str
    value: int
    seconds: float | None = None
    mib: float | None = None

    @property
    def numbers(self) -> str:
        """Seconds and memory."""
        return f"{aligned(self.seconds)} s {aligned(self.mib)} MiB"


def exponent(rows: Sequence[GrowthRow], cost: Callable[[GrowthRow], float | None]) -> float:
    """The b of cost ∝ value^b, by least squares on logarithms over the larger half of the sizes."""
    points = sorted((row.value, cost(row)) for row in rows)
    known = [(v, c) for v, c in points if c is not None and c > 0.0]
    upper = known[len(known) // 2 :] if len(known) > 3 else known
    if len({value for value, _ in upper}) < 2:
        return float("nan")
    sizes, costs = np.log(np.array(upper, dtype=np.float64)).T
    return float(np.polyfit(sizes, costs, 1)[0])


@dataclass(frozen=True)
class _Cost:
    """A timed operation on the rows of a folder, and the quantities that are varied."""

    seconds: Callable[[_Size, Path], float]
    by: tuple[str, ...] = ("rows", "columns", "width")


@dataclass(frozen=True)
class GrowthSuite(Product[_Size, _Cost]):
    """Sizes × operations."""

    @property
    def pairs(self) -> Sequence[tuple[str, str]]:
        """Each operation at its sizes."""
        return [
            (task, method)
            for task, method in super().pairs
            if self.task(task).by in self.methods[method].by
        ]

    def blank(self, job: Job) -> GrowthRow:
        """The row before the run."""
        size = self.task(job.task)
        return GrowthRow(self.name, *job, by=size.by, value=size.value, machine=machine())

    def run(self, job: Job) -> Outcome:
        """Measure one operation in a new process."""
        size, cost = self.task(job.task), self.methods[job.method]
        with tempfile.TemporaryDirectory() as folder:
            _write(Path(folder), size, job.seed)
            seconds, grown = called_alone(_measured, cost.seconds, size, Path(folder))
        row = replace(self.blank(job), seconds=seconds, mib=grown / 2**20, status="finished")
        return Outcome([row])


def _measured(cost: Callable[[_Size, Path], float], size: _Size, folder: Path) -> tuple[float, int]:
    jax.block_until_ready(jnp.zeros(1))  # exclude the memory of an idle JAX
    taken: list[float] = []
    grown = bytes_grown(lambda: taken.append(cost(size, folder)))
    return taken[0], grown


def growth() -> GrowthSuite:
    """Rows from a thousand to ten million, columns from 2 to 1,000, width from 64 to 1,024."""
    sizes = (
        *(_Size("rows", 10**k, rows=10**k) for k in range(3, 8)),
        *(_Size("columns", d, columns=d) for d in (2, 8, 32, 128, 500, 1_000)),
        *(_Size("width", w, width=w) for w in (64, 128, 256, 512, 1_024)),
    )
    methods = {
        f"{_STEPS} steps, rows on disk": _Cost(_fit_from_disk),
        f"{_STEPS} steps, rows in memory": _Cost(_fit_from_memory, by=("rows",)),
        "scoring, rows on disk": _Cost(_score),
    }
    about = "seconds and memory against rows, columns and width"
    return GrowthSuite("performance-growth", about, sizes, methods, n_seeds=3, alone=True)


def _write(folder: Path, size: _Size, seed: int) -> None:
    """Write two files of normal rows, in blocks."""
    rng = np.random.default_rng(seed)
    for number in (0, 1):
        shape = (size.rows, size.columns)
        rows = np.lib.format.open_memmap(folder / f"x_{number}.npy", "w+", np.float32, shape)
        for start in range(0, size.rows, _PIECE):
            piece = rows[start : start + _PIECE]
            piece[:] = rng.standard_normal(piece.shape, dtype=np.float32) + 0.5 * number
        rows.flush()


def _read(folder: Path, *, on_disk: bool) -> list[np.ndarray]:
    files = [folder / f"x_{number}.npy" for number in (0, 1)]
    return [np.load(file, mmap_mode="r" if on_disk else None) for file in files]


def _estimator(size: _Size, steps: int) -> SecantRatio:
    return SecantRatio(
        SpectralSecant(trunk=ResidualMLP(size.width)),
        anchor=False,
        scaling=Standardise(),
        training=Training(steps=steps, patience=None, validation_rows=1_000),
        random_state=0,
    )


def _fit_from_disk(size: _Size, folder: Path) -> float:
    return _seconds_of_fit(size, _read(folder, on_disk=True))


def _fit_from_memory(size: _Size, folder: Path) -> float:
    return _seconds_of_fit(size, _read(folder, on_disk=False))


def _seconds_of_fit(size: _Size, rows: Sequence[np.ndarray]) -> float:
    began = time.perf_counter()
    _estimator(size, _STEPS).fit_samples(*rows)
    return time.perf_counter() - began


def _score(size: _Size, folder: Path) -> float:
    """Score in blocks, by a network after a few steps; training does not change the time."""
    rows = _read(folder, on_disk=True)
    ratio = _estimator(size, 1).fit_samples(*(np.array(x[:1_000]) for x in rows))
    began = time.perf_counter()
    for start in range(0, size.rows, _PIECE):
        ratio.log_ratio(rows[1][start : start + _PIECE])
    return time.perf_counter() - began

"""Tasks of density estimation: training rows and test rows."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import jax
import numpy as np
from jaxtyping import Float

from secant.datasets import Toy, toys
from secant.tasks.atoms import Dequantisation, columns_with_atoms
from secant_bench.density.pictures import Window
from secant_bench.real_tables import RealTable, bsds300, gas, hepmass, miniboone, power
from secant_bench.real_tables.catalogue import TABLES

__all__ = [
    "DensityTask",
    "Split",
    "bsds300_task",
    "data_folder",
    "gas_task",
    "hepmass_task",
    "miniboone_task",
    "power_task",
    "spread_power_task",
    "toy_tasks",
]

Rows = Float[np.ndarray, "n d"]

_TOY_ROWS = 50_000


@dataclass(frozen=True)
class Split:
    """Rows of one run.

    Attributes:
        train: training rows, of which a method may hold some out.
        test: test rows.
        truth: mean −log p over the test rows, if p is known.
        spread: the test rows with noise on columns with atoms (N4).
    """

    train: Rows
    test: Rows
    truth: float | None = None
    spread: Rows | None = None


@dataclass(frozen=True)
class DensityTask:
    """A named source of splits; where possible, a seed draws a new sample.

    Attributes:
        name: of the task.
        split: the rows of a seed.
        grid: rows at which the density is stored for a picture.
    """

    name: str
    split: Callable[[int], Split]
    grid: Callable[[], Rows] | None = None


def toy_tasks() -> tuple[DensityTask, ...]:
    """The nine densities of the plane, with 50,000 training and 50,000 test rows."""
    return tuple(DensityTask(toy.name, partial(_toy, toy), partial(_grid, toy)) for toy in toys())


def _toy(toy: Toy, seed: int) -> Split:
    rows = toy.draw(jax.random.key(7_000_000 + seed), 2 * _TOY_ROWS)
    test = rows[_TOY_ROWS:]
    truth = -float(np.asarray(toy.log_density(test), dtype=np.float64).mean())
    return Split(np.asarray(rows[:_TOY_ROWS]), np.asarray(test), truth)


def _grid(toy: Toy) -> Rows:
    return Window.of(toy).grid()


def data_folder(name: str) -> Path:
    """The folder of a table's original files: under $SECANT_DATA, or ../shared/data."""
    folder = Path(os.environ.get("SECANT_DATA", "../shared/data")) / name
    if not folder.is_dir():
        table = TABLES[name]
        raise FileNotFoundError(
            f"no folder {folder}. Obtain {table.files} from {table.home}, and set SECANT_DATA to "
            f"the folder that has them in {name}/."
        )
    return folder


def _table(name: str, load: Callable[[Path, int], RealTable]) -> DensityTask:
    def split(seed: int) -> Split:
        table = load(data_folder(name), seed)
        return Split(np.concatenate([table.train, table.validation]), table.test)

    return DensityTask(name, split)


def power_task() -> DensityTask:
    """Household power, 6 columns; a seed changes the fit only."""
    return _table("power", lambda folder, seed: power(folder))


def spread_power_task() -> DensityTask:
    """The same, also evaluated with uniform noise on its whole minutes."""
    plain = power_task()

    def split(seed: int) -> Split:
        rows = plain.split(seed)
        atoms = np.flatnonzero(columns_with_atoms(rows.train)).tolist()
        spread = Dequantisation.of(rows.train, atoms)(rows.test, np.random.default_rng(seed))
        return replace(rows, spread=spread)

    return DensityTask(plain.name, split)


def bsds300_task() -> DensityTask:
    """Patches of natural images, 63 columns; a seed draws new patches."""
    return _table("bsds300", lambda folder, seed: bsds300(folder, seed=seed))


def gas_task() -> DensityTask:
    """Gas sensors, 8 columns; a seed changes the fit only."""
    return _table("gas", lambda folder, seed: gas(folder))


def hepmass_task() -> DensityTask:
    """Particle collisions, 21 columns; a seed changes the fit only."""
    return _table("hepmass", lambda folder, seed: hepmass(folder))


def miniboone_task() -> DensityTask:
    """6.9k rows of 43 columns; a seed changes the fit only."""
    return _table("miniboone", lambda folder, seed: miniboone(folder))

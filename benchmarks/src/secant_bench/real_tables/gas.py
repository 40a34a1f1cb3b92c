"""GAS: sixteen chemical sensors in mixtures of ethylene and carbon monoxide."""

from itertools import compress
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from secant_bench.real_tables.files import find, missing
from secant_bench.real_tables.preparation import split, standardised
from secant_bench.real_tables.table import RealTable

__all__ = ["HOME", "gas"]

_FILE = "ethylene_CO.txt"
HOME = "UCI Machine Learning Repository, 'Gas sensor array under dynamic gas mixtures'"
_N_SETTINGS = 3  # time and the two concentrations, before the sensors
_MOST_CORRELATION = 0.98


def gas(folder: str | Path, *, fraction: float = 0.25, seed: int = 0) -> RealTable:
    """The sensors without near-duplicates, at a random quarter of the times.

    While a column correlates above 0.98 with another, the first such column is dropped. All rows
    together are standardised. The published table is a random quarter of the rows in a pickle; the
    seed of that draw is unknown, so the rows here are another random quarter.

    Args:
        folder: Contains `ethylene_CO.txt`, as downloaded.
        fraction: Share of the rows to draw, in (0, 1].
        seed: Of the draw.

    Returns:
        The table: 852,174 / 94,685 / 105,206 rows and 8 columns of the published file.

    Raises:
        FileNotFoundError: If the text file does not exist.
        ValueError: If only the pickle exists, or `fraction` is out of range.
    """
    if not 0 < fraction <= 1:
        raise ValueError(f"`fraction` must lie in (0, 1]; got {fraction}.")
    path = _text_file(folder)
    sensors = _drawn_rows(path, fraction, seed)
    kept = _distinct_columns(sensors)
    rows = sensors[:, kept]
    train, validation, test = standardised(split(rows), rows.mean(axis=0), rows.std(axis=0, ddof=1))
    names = tuple(f"sensor_{index + 1}" for index in kept)
    note = f"A random share {fraction:g} of the rows (seed {seed}), not the rows of the pickle."
    return RealTable("GAS", train, validation, test, names, note)


def _text_file(folder: str | Path) -> Path:
    path = find(folder, _FILE)
    if path is not None:
        return path
    if find(folder, "ethylene_CO.pickle") is not None:
        raise ValueError(
            f"Reading a pickle can run code that hides in it, so `ethylene_CO.pickle` in "
            f"{Path(folder).absolute()} is not read; put the original text file `{_FILE}` there. "
            f"Obtain it from: {HOME}."
        )
    raise missing(folder, f"`{_FILE}`", HOME)


def _drawn_rows(path: Path, fraction: float, seed: int) -> NDArray[np.float64]:
    """(m, 16) rows in random order; only their lines are parsed, to save time and memory."""
    with path.open("rb") as file:
        n = sum(1 for line in file if line.strip()) - 1  # without the header
    random = np.random.RandomState(seed)
    drawn = random.permutation(n)[: round(fraction * n)]
    is_drawn = np.zeros(n, dtype=bool)
    is_drawn[drawn] = True
    with path.open(encoding="utf-8") as file:
        next(file)
        lines = compress((line for line in file if line.strip()), is_drawn)
        rows = np.loadtxt(lines, ndmin=2)
    sensors = rows[:, _N_SETTINGS:]
    return sensors[random.permutation(len(sensors))]


def _distinct_columns(rows: NDArray[np.float64]) -> list[int]:
    """Indices of the columns that remain after repeatedly dropping the first correlated one."""
    too_close = np.asarray(np.corrcoef(rows, rowvar=False) > _MOST_CORRELATION)
    kept = list(range(rows.shape[1]))
    while True:
        crowded = (
            too_close[np.ix_(kept, kept)].sum(axis=1) > 1
        )  # every column correlates with itself
        if not crowded.any():
            return kept
        del kept[int(np.argmax(crowded))]

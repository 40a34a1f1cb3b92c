"""HEPMASS: collisions that make a new particle."""

import gzip
from pathlib import Path

import numpy as np
import pyarrow.compute as pc
from numpy.typing import NDArray
from pyarrow import csv

from secant_bench.real_tables.files import find, missing
from secant_bench.real_tables.preparation import has_ties_at_its_minimum, hold_out, standardised
from secant_bench.real_tables.table import RealTable

__all__ = ["HOME", "hepmass"]

HOME = "UCI Machine Learning Repository, 'HEPMASS'"


def hepmass(folder: str | Path) -> RealTable:
    """The signal rows, without the columns whose smallest value repeats more than five times.

    The last 10 % of the training file are validation; both files are standardised by the whole
    training file.

    Args:
        folder: Contains `1000_train.csv` and `1000_test.csv`, or either with `.gz`, as downloaded.

    Returns:
        The table: 315,123 training rows and 21 columns of the published files.

    Raises:
        FileNotFoundError: If a file does not exist.
        ValueError: If the test file lacks columns of the training file.
    """
    names, known = _signal_rows(_file(folder, "1000_train.csv"))
    test_names, test = _signal_rows(_file(folder, "1000_test.csv"))
    if test_names[: len(names)] != names:
        raise ValueError(
            f"`1000_test.csv` must have the {len(names)} columns of `1000_train.csv`, {names[0]} "
            f"to {names[-1]}; got {len(test_names)} columns, {test_names[0]} to {test_names[-1]}."
        )
    kept = np.flatnonzero(~has_ties_at_its_minimum(known))
    known, test = known[:, kept], test[:, kept]  # also drops the extra last column of the test file
    splits = (*hold_out(known), test)
    scaled = standardised(splits, known.mean(axis=0), known.std(axis=0, ddof=1))
    columns = tuple(names[index] for index in kept)
    return RealTable("HEPMASS", *scaled, columns, "Signal rows only.")


def _file(folder: str | Path, name: str) -> Path:
    path = find(folder, name, f"{name}.gz")
    if path is None:
        raise missing(folder, f"`{name}`", HOME)
    return path


def _signal_rows(path: Path) -> tuple[list[str], NDArray[np.float64]]:
    """Names and (n, d) values of the rows of label 1, without the label."""
    names = _column_names(path)
    options = csv.ReadOptions(column_names=names, skip_rows=1)
    table = csv.read_csv(path, read_options=options)
    signal = table.filter(pc.equal(table[names[0]], 1))
    columns = [signal[name].to_numpy().astype(np.float64) for name in names[1:]]
    return names[1:], np.column_stack(columns)


def _column_names(path: Path) -> list[str]:
    """The names of the header, and a name for each further field of the rows."""
    opened = gzip.open if path.suffix == ".gz" else open
    with opened(path, "rt", encoding="utf-8") as file:
        names, row = (next(file).strip().split(",") for _ in range(2))
    return names + [f"stray_{index}" for index in range(len(row) - len(names))]

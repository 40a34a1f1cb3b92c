"""POWER: a household's electricity, minute by minute."""

import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray
from pyarrow import csv

from secant_bench.real_tables.files import find, missing
from secant_bench.real_tables.preparation import split, standardised
from secant_bench.real_tables.table import RealTable

__all__ = ["HOME", "power"]

_STEM = "household_power_consumption"
HOME = "UCI Machine Learning Repository, 'Individual household electric power consumption'"
_COLUMNS = (
    "Global_active_power",
    "Voltage",
    "Sub_metering_1",
    "Sub_metering_2",
    "Sub_metering_3",
    "Time",
)
# Read to check whether a row is complete, then dropped.
_DROPPED = ("Global_reactive_power", "Global_intensity")
_SEED = 42  # of the order of the rows and their noise, as in the literature


def power(folder: str | Path, *, time_noise: float = 0.0) -> RealTable:
    """Six columns of the complete rows of the household's meter, with noise that breaks ties.

    Rows are shuffled, then get uniform noise of width 0.001 (active power), 0.01 (voltage) and 1
    (sub-meters), from one `RandomState(42)`; they are standardised by training and validation rows.

    Args:
        folder: Contains `household_power_consumption.zip` or `.txt`, as downloaded.
        time_noise: Width, in minutes, of uniform noise on the time of day. The published loader
            adds none, because the times in its file already have noise. The original file has 1440
            distinct times, at which a density has no upper bound; 1 makes the time continuous.

    Returns:
        The table: 1,659,917 / 184,435 / 204,928 rows of the published file.

    Raises:
        FileNotFoundError: If neither file exists.
        ValueError: If `time_noise` is negative.
    """
    if not time_noise >= 0:
        raise ValueError(f"`time_noise` must be at least 0; got {time_noise}.")
    path = find(folder, f"{_STEM}.zip", f"{_STEM}.txt")
    if path is None:
        raise missing(folder, f"`{_STEM}.zip` or `{_STEM}.txt`", HOME)
    rows = _with_noise(_complete_rows(path), time_noise)
    splits = split(rows)
    rest = rows[: len(rows) - len(splits[2])]
    train, validation, test = standardised(splits, rest.mean(axis=0), rest.std(axis=0))
    note = f"{len(rows):,} complete rows (published: 2,049,280); noise on time: {time_noise:g}."
    return RealTable("POWER", train, validation, test, _COLUMNS, note)


def _complete_rows(path: Path) -> NDArray[np.float64]:
    """(n, 6): the minutes without a missing value, in the order of the file."""
    numbers = dict.fromkeys((*_COLUMNS[:-1], *_DROPPED), pa.float64())
    with _opened(path) as file:
        table = csv.read_csv(
            file,
            parse_options=csv.ParseOptions(delimiter=";"),
            convert_options=csv.ConvertOptions(
                column_types={**numbers, "Time": pa.time32("s")},
                include_columns=[*_COLUMNS, *_DROPPED],
                null_values=["?", ""],
            ),
        )
    table = table.drop_null()
    minutes = pc.divide(pc.cast(table["Time"], pa.int32()), 60)
    columns = [table[name].to_numpy() for name in _COLUMNS[:-1]]
    return np.column_stack([*columns, minutes.to_numpy()])


@contextmanager
def _opened(path: Path) -> Iterator[IO[bytes]]:
    """The text file, or the one inside the archive, as a stream."""
    if path.suffix == ".txt":
        with path.open("rb") as file:
            yield file
    else:
        with zipfile.ZipFile(path) as archive, archive.open(f"{_STEM}.txt") as file:
            yield file


def _with_noise(rows: NDArray[np.float64], time_noise: float) -> NDArray[np.float64]:
    """Shuffled rows plus noise, drawn in the literature's order: voltage, power, sub-meters."""
    random, n = np.random.RandomState(_SEED), len(rows)
    rows = rows[random.permutation(n)]  # the same order as `random.shuffle(rows)`, but much faster
    rows[:, 1] += 0.01 * random.rand(n)
    rows[:, 0] += 0.001 * random.rand(n)
    rows[:, 2:5] += random.rand(n, 3)
    if time_noise > 0:  # last, so that it does not change the other noise
        rows[:, 5] += time_noise * random.rand(n)
    return rows

"""MINIBOONE: identification of electron neutrinos among muon neutrinos."""

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from secant_bench.real_tables.files import find, missing
from secant_bench.real_tables.preparation import has_ties_at_its_minimum, split, standardised
from secant_bench.real_tables.table import RealTable

__all__ = ["HOME", "miniboone"]

HOME = (
    "UCI Machine Learning Repository, 'MiniBooNE particle identification', for the text file; "
    "the data that accompany 'Masked Autoregressive Flow for Density Estimation' "
    "(Papamakarios and others, 2017) on Zenodo, for `data.npy`"
)
_WANTED = "`MiniBooNE_PID.txt`, `data.npy`, or `val.npy` with `test.npy`"
_FLAG = -100.0  # a lower value in the first column marks an event that was not reconstructed
_SEED = 0  # of the split of the 6.9k rows


def miniboone(folder: str | Path) -> RealTable:
    """The signal rows, without the columns whose smallest value repeats more than five times.

    The last 10 % are test, the last 10 % of the rest validation; standardised by training and
    validation rows. The first of these files that exists is read:

    - `MiniBooNE_PID.txt`, the original;
    - `data.npy`, with rows and columns already selected;
    - `val.npy` and `test.npy`, published splits without the training rows, which are shuffled and
      split again. Results on these **6.9k rows** are not comparable with published ones.

    Args:
        folder: Contains one of these.

    Returns:
        The table: 29,556 training rows and 43 columns of the original.

    Raises:
        FileNotFoundError: If none exists.
    """
    if (path := find(folder, "MiniBooNE_PID.txt")) is not None:
        names, rows = _original(path)
        return _table(names, rows, "Signal rows of the original file.")
    if (path := find(folder, "data.npy")) is not None:
        rows = _array(path)
        return _table(_numbered(rows.shape[1]), rows, "The published rows, all of them.")
    paths = find(folder, "val.npy"), find(folder, "test.npy")
    if paths[0] is None or paths[1] is None:
        raise missing(folder, _WANTED, HOME)
    rows = np.concatenate([_array(paths[0]), _array(paths[1])])
    rows = rows[np.random.RandomState(_SEED).permutation(len(rows))]
    label = f"{len(rows) / 1000:.1f}k rows"
    note = f"{label}: published validation and test rows, split again; results not comparable."
    return _table(_numbered(rows.shape[1]), rows, note, name=f"MINIBOONE ({label})")


def _table(
    names: tuple[str, ...], rows: NDArray[np.float64], note: str, *, name: str = "MINIBOONE"
) -> RealTable:
    """Split and standardise."""
    splits = split(rows)
    rest = rows[: len(rows) - len(splits[2])]
    train, validation, test = standardised(splits, rest.mean(axis=0), rest.std(axis=0))
    return RealTable(name, train, validation, test, names, note)


def _original(path: Path) -> tuple[tuple[str, ...], NDArray[np.float64]]:
    """Names and rows; the first line counts the signal rows, which come first, and the others."""
    with path.open(encoding="utf-8") as file:
        n_signal = int(next(file).split()[0])
        rows = np.loadtxt(file, max_rows=n_signal, ndmin=2)
    rows = rows[rows[:, 0] >= _FLAG]
    kept = np.flatnonzero(~has_ties_at_its_minimum(rows))
    return tuple(f"pid_{index}" for index in kept), rows[:, kept]


def _numbered(n_columns: int) -> tuple[str, ...]:
    """Numbered names, because the published arrays do not say which of the 50 columns remain."""
    return tuple(f"feature_{index}" for index in range(n_columns))


def _array(path: Path) -> NDArray[np.float64]:
    return np.load(path, allow_pickle=False).astype(np.float64)

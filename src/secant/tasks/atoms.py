"""Atoms, values that many rows share: found, given indicators, or spread by noise (N4)."""

from __future__ import annotations

import warnings
from collections.abc import Sequence

import equinox as eqx
import numpy as np
from jaxtyping import Bool, Float

from secant.exceptions import AtomsWarning

Rows = Float[np.ndarray, "n d"]

_ATOM_SHARE = 0.5  # share of rows whose value is not unique, from which on a column has atoms
_LEAST_SHARE = 0.01  # of the rows, for a value to get an indicator
_FEWEST_ROWS = 10
_MOST_ATOMS = 30  # of a column, the commonest


def columns_with_atoms(x: Rows) -> Bool[np.ndarray, " d"]:
    """Which columns hold values that most rows share with another row.

    Such a column has no density: the likelihood is unbounded at its values.
    """
    return np.array([_repeated(column) > _ATOM_SHARE for column in x.T])


def _repeated(column: Float[np.ndarray, " n"]) -> float:
    counts = np.unique(column, return_counts=True)[1]
    return float(counts[counts > 1].sum() / column.size)


def with_atoms(block: Float[np.ndarray, "n d"]) -> Float[np.ndarray, "n e"]:
    """The block and an indicator of each atom: functions of its columns, so no information is new.

    A network sees codes as positions on a line, and needs many rows to learn that neighbours have
    nothing in common, or that a density ends in an atom. Two values need no indicator beside their
    column, and k values only k − 1.
    """
    parts = [block]
    for column in block.T:
        values, counts = np.unique(column, return_counts=True)
        if values.size <= 2:
            continue
        common = counts >= max(_LEAST_SHARE * column.size, _FEWEST_ROWS)
        atoms = values[common][np.argsort(-counts[common])][:_MOST_ATOMS]
        atoms = atoms[: values.size - 1]
        parts.append((column[:, None] == atoms).astype(np.float64))
    return np.concatenate(parts, axis=1)


class Dequantisation(eqx.Module):
    """x + g u, u ~ U(0, 1), where g is the gap between neighbouring values of a column (N4).

    Averaged over the noise, the log density of such rows is a lower bound on the log probability
    of the values minus the log of the gaps.
    """

    gaps: Float[np.ndarray, " d"]  # 0 for columns left as they are
    origins: Float[np.ndarray, " d"]

    @classmethod
    def of(cls, x: Rows, columns: Sequence[int]) -> Dequantisation:
        """For these columns, with the smallest gap between their values."""
        gaps = np.zeros(x.shape[1])
        for column in columns:
            values = np.unique(x[:, column])
            gaps[column] = np.diff(values).min() if values.size > 1 else 1.0
        return cls(gaps, x.min(axis=0))

    def __call__(self, x: Rows, rng: np.random.Generator) -> Rows:
        """Rows with noise added to those columns."""
        if not self.gaps.any():
            return x
        return x + self.gaps * rng.random(x.shape)

    def floored(self, x: Rows) -> Rows:
        """Rows rounded down to the values of the columns."""
        spread = self.gaps > 0.0
        gaps = np.where(spread, self.gaps, 1.0)
        steps = np.floor((x - self.origins) / gaps + 1e-6)  # 0.3 is a little less than 3 · 0.1
        return np.where(spread, self.origins + steps * gaps, x)


def atoms_in(x: Rows, names: Sequence[str]) -> str:
    """A sentence that names the columns with atoms; empty if there are none."""
    found = np.flatnonzero(columns_with_atoms(x))
    if not found.size:
        return ""
    listed = ", ".join(names[i] for i in found[:5]) + (", …" if found.size > 5 else "")
    return (
        f"{found.size} of {x.shape[1]} columns ({listed}) hold values that most rows share: they "
        "have atoms and no density, and the likelihood can be raised without bound on them."
    )


def warn_of_atoms(x: Rows, names: Sequence[str]) -> None:
    """Issue an `AtomsWarning` that names the columns with atoms."""
    if text := atoms_in(x, names):
        warnings.warn(
            f"{text} Pass dequantise='auto', or name the columns, to spread their values over the "
            "gaps between them.",
            AtomsWarning,
            stacklevel=3,
        )

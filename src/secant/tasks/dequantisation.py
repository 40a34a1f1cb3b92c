"""Columns with atoms: found, and spread over the gaps between their values (N4)."""

from __future__ import annotations

import warnings
from collections.abc import Sequence

import equinox as eqx
import numpy as np
from jaxtyping import Bool, Float

from secant.exceptions import AtomsWarning

Rows = Float[np.ndarray, "n d"]

_ATOM_SHARE = 0.5  # of the rows that share their value with another, from which on there are atoms


def columns_with_atoms(x: Rows) -> Bool[np.ndarray, " d"]:
    """Which columns hold values that most rows share with another row.

    A continuous column repeats a value only by rounding. One that does so in half of its rows has
    no density: a likelihood can be raised without bound on its values.
    """
    return np.array([_repeated(column) > _ATOM_SHARE for column in x.T])


def _repeated(column: Float[np.ndarray, " n"]) -> float:
    counts = np.unique(column, return_counts=True)[1]
    return float(counts[counts > 1].sum() / column.size)


class Dequantisation(eqx.Module):
    """x + g u, u ~ U(0, 1), where g is the gap between neighbouring values of a column (N4).

    The log density of such rows, averaged over the noise, is at most the log probability of the
    values less the log of the gaps: a lower bound, in the units of a density.
    """

    gaps: Float[np.ndarray, " d"]  # 0 for columns left as they are
    origins: Float[np.ndarray, " d"]

    @classmethod
    def of(cls, x: Rows, columns: Sequence[int]) -> Dequantisation:
        """Of these columns, by the smallest gap between their values."""
        gaps = np.zeros(x.shape[1])
        for column in columns:
            values = np.unique(x[:, column])
            gaps[column] = np.diff(values).min() if values.size > 1 else 1.0
        return cls(gaps, x.min(axis=0))

    def __call__(self, x: Rows, rng: np.random.Generator) -> Rows:
        """Rows with noise in those columns."""
        if not self.gaps.any():
            return x
        return x + self.gaps * rng.random(x.shape)

    def floored(self, x: Rows) -> Rows:
        """Rows back at the values below them."""
        spread = self.gaps > 0.0
        gaps = np.where(spread, self.gaps, 1.0)
        steps = np.floor((x - self.origins) / gaps + 1e-6)  # 0.3 is a little less than 3 · 0.1
        return np.where(spread, self.origins + steps * gaps, x)


def atoms_in(x: Rows, names: Sequence[str]) -> str:
    """The columns that have no density, in words; nothing if all have one."""
    found = np.flatnonzero(columns_with_atoms(x))
    if not found.size:
        return ""
    listed = ", ".join(names[i] for i in found[:5]) + (", …" if found.size > 5 else "")
    return (
        f"{found.size} of {x.shape[1]} columns ({listed}) hold values that most rows share: they "
        "have atoms and no density, and the likelihood can be raised without bound on them."
    )


def warn_of_atoms(x: Rows, names: Sequence[str]) -> None:
    """Name the columns that have no density."""
    if text := atoms_in(x, names):
        warnings.warn(
            f"{text} Pass dequantise='auto', or name the columns, to spread their values over the "
            "gaps between them.",
            AtomsWarning,
            stacklevel=3,
        )

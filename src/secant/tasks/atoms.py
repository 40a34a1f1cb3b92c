"""Atoms: values that many rows share, such as the codes of categories or the zeros of rainfall."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float

_LEAST_SHARE = 0.01
_FEWEST_ROWS = 10
_MOST_ATOMS = 30  # of a column, the commonest


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

"""Rows of real data, split and standardised as in the literature."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["RealTable", "Rows"]

Rows = NDArray[np.float32]


@dataclass(frozen=True, eq=False)  # arrays neither compare nor hash
class RealTable:
    """A table of real data in three splits; its density is unknown.

    Attributes:
        name: Identifier, unique among the tables.
        train: (n, d) float32 rows.
        validation: (m, d), likewise.
        test: (k, d), likewise.
        columns: d names.
        note: How the rows were prepared, and whether published results are comparable.

    Raises:
        ValueError: If a split is not (n, d) float32 with d names and n ≥ 1.
    """

    name: str
    train: Rows
    validation: Rows
    test: Rows
    columns: tuple[str, ...]
    note: str

    def __post_init__(self) -> None:
        for name in ("train", "validation", "test"):
            rows, d = getattr(self, name), len(self.columns)
            if rows.ndim != 2 or rows.shape[1] != d or not len(rows) or rows.dtype != np.float32:
                raise ValueError(
                    f"`{name}` of {self.name} must be float32 of shape (n, {d}) with n >= 1; "
                    f"got {rows.dtype} of shape {rows.shape}."
                )

    def __repr__(self) -> str:
        sizes = f"{len(self.train)} / {len(self.validation)} / {len(self.test)}"
        return f"RealTable({self.name!r}, {sizes} rows, {len(self.columns)} columns)"

"""Two tables given as files, data frames or arrays, encoded with shared columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from jaxtyping import Float

from secant.diagnostics.drift import named_columns
from secant.estimators.checks import checked_rows
from secant.tables import Missing
from secant.tables.encoding import Encoding, encoded_pair
from secant.tables.files import read_table
from secant.tables.frames import frame_of


@dataclass(frozen=True, eq=False)
class GivenTables:
    """Two tables as numbers.

    Attributes:
        x_0: (n_0, d) rows of the first.
        x_1: (n_1, d) rows of the second.
        columns: names of the encoded columns, by column of the table.
        sample_names: names of the tables.
    """

    x_0: Float[np.ndarray, "n d"] = field(repr=False)
    x_1: Float[np.ndarray, "m d"] = field(repr=False)
    columns: Mapping[str, Sequence[str]]
    sample_names: tuple[str, str]

    @property
    def names(self) -> tuple[str, ...]:
        """Of the encoded columns, in order."""
        return tuple(name for names in self.columns.values() for name in names)

    @classmethod
    def of(
        cls,
        a: object,
        b: object,
        *,
        names: tuple[str, str] = ("a", "b"),
        missing: Missing | str = Missing.REFUSE,
        seed: int = 0,
    ) -> GivenTables:
        """From files, data frames or arrays.

        Args:
            a: the first; a path, a data frame of any kind, or an array (n, d).
            b: the second, with the same columns.
            names: of the caller's arguments, for errors.
            missing: treatment of missing values in files and data frames.
            seed: seed of the noise on categories.
        """
        called = _called(a, names[0]), _called(b, names[1])
        if not (is_table(a) and is_table(b)):
            rows_0 = checked_rows(a, names[0])  # type: ignore[arg-type]  # refuses what is no array
            rows_1 = checked_rows(b, names[1], n_features=rows_0.shape[1])  # type: ignore[arg-type]
            columns = {name: (name,) for name in named_columns(rows_0.shape[1])}
            return cls(rows_0, rows_1, columns, called)
        tables = [read_table(x) if isinstance(x, Path | str) else x for x in (a, b)]
        first, second = encoded_pair(tables, Missing(missing), labels=called, seed=seed)
        return cls(first.rows, second.rows, columns_of(first.encoding), called)


def columns_of(encoding: Encoding) -> dict[str, tuple[str, ...]]:
    """The encoded columns of each column of a table."""
    return {code.name: tuple(code.names) for code in encoding.codes}


def is_table(x: object) -> bool:
    """Whether this is a file or a data frame, whose columns have names and kinds."""
    return isinstance(x, Path | str) or frame_of(x) is not None


def _called(x: object, otherwise: str) -> str:
    return Path(x).name if isinstance(x, Path | str) else otherwise

"""Encoding of one column as numbers."""

from __future__ import annotations

import abc
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from jaxtyping import Float

from secant.tables.errors import TableError, counted, quoted, shown
from secant.tables.kinds import Kind, numbers, texts

_MOST_CATEGORIES = 100  # each is one more column
_FEW_CATEGORIES = 20  # allowed in tables of any length


@dataclass(frozen=True)
class ColumnCode(abc.ABC):
    """The encoding of one column.

    Attributes:
        name: The column.
        kind: The meaning of its values.
    """

    name: str
    kind: Kind

    @property
    @abc.abstractmethod
    def names(self) -> tuple[str, ...]:
        """Encoded columns."""

    @abc.abstractmethod
    def encode(self, column: pa.ChunkedArray) -> Float[np.ndarray, "n k"]:
        """Encoded rows, with missing values imputed.

        Raises:
            TableError: If a category was absent from the fit.
        """

    @abc.abstractmethod
    def to_json(self) -> dict[str, Any]:
        """JSON values from which `code_from_json` restores the code."""


@dataclass(frozen=True)
class Quantity(ColumnCode):
    """A number unchanged, or a time in days.

    Attributes:
        fill: Replaces missing values, if they are allowed.
    """

    fill: float | None = None

    @classmethod
    def of(cls, name: str, kind: Kind, columns: Sequence[pa.ChunkedArray]) -> Quantity:
        """Fit the fill value, the median over all tables."""
        values = np.concatenate([numbers(column) for column in columns])
        return cls(name, kind, float(np.nanmedian(values)))

    @property
    def names(self) -> tuple[str, ...]:
        """The name of the column, with the unit of times."""
        return (f"{self.name} (days)" if self.kind.is_temporal else self.name,)

    def encode(self, column: pa.ChunkedArray) -> Float[np.ndarray, "n 1"]:
        """Numbers of each row."""
        values = numbers(column)
        if self.fill is not None:
            values = np.where(np.isnan(values), self.fill, values)
        return values[:, None]

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        return {"name": self.name, "kind": self.kind.value, "fill": self.fill}


@dataclass(frozen=True)
class OneHot(ColumnCode):
    """1 in the column of the row's category and 0 in those of the others.

    Attributes:
        categories: Sorted texts; a final None represents missing values.
    """

    categories: tuple[str | None, ...] = ()

    @classmethod
    def of(
        cls, name: str, kind: Kind, columns: Sequence[pa.ChunkedArray], *, with_missing: bool
    ) -> OneHot:
        """Fit the categories over all tables.

        Raises:
            TableError: If there are too many categories, as of an identifier.
        """
        values = pa.chunked_array([c for column in columns for c in texts(column).chunks])
        found = pc.unique(values).drop_null()
        _check_categories(name, found, len(values))
        missing = (None,) if with_missing and values.null_count else ()
        present = ["false", "true"] if kind is Kind.BOOLEAN else sorted(found.to_pylist())
        return cls(name, kind, (*present, *missing))

    @property
    def names(self) -> tuple[str, ...]:
        """One column per category: "colour=red"."""
        shown_as = ("(missing)" if c is None else c for c in self.categories)
        return tuple(f"{self.name}={category}" for category in shown_as)

    def encode(self, column: pa.ChunkedArray) -> Float[np.ndarray, "n k"]:
        """One-hot rows."""
        values = texts(column)
        found = pc.index_in(values, value_set=pa.array(self.categories, pa.string()))
        if found.null_count:
            unknown = values.filter(pc.is_null(found))
            named = quoted(pc.unique(unknown).to_pylist())
            raise TableError(
                f"Column {shown(self.name)} holds values that were not there in the fit, in "
                f"{counted(len(unknown), 'row')}: {named}. Their ratio is unknown: leave "
                "these rows out, or fit again with them."
            )
        return np.eye(len(self.categories))[np.asarray(found, dtype=np.intp)]

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        return {"name": self.name, "kind": self.kind.value, "categories": list(self.categories)}


def _check_categories(name: str, found: pa.Array, rows: int) -> None:
    k = len(found)
    if k > _MOST_CATEGORIES or (k > _FEW_CATEGORIES and 2 * k > rows):
        raise TableError(
            f"Column {shown(name)} holds {k} different texts in {rows} rows (such as "
            f"{quoted(found[:3].to_pylist())}): names of rows rather than categories, of which "
            f"there may be {_MOST_CATEGORIES}. Leave it out ({shown('!' + name)} among the "
            "columns), or group its values first."
        )


def code_from_json(fields: Mapping[str, Any]) -> ColumnCode:
    """The code that `to_json` wrote."""
    try:
        name, kind = fields["name"], Kind(fields["kind"])
        if kind.is_categorical:
            return OneHot(_a_text(name), kind, tuple(_categories(fields["categories"])))
        if kind is Kind.EMPTY:
            raise ValueError("a column without values")
        return Quantity(_a_text(name), kind, _a_number(fields["fill"]))
    except (KeyError, TypeError, ValueError) as error:
        raise TableError(f"Not the code of a column: {shown(fields)} ({error}).") from None


def _categories(values: object) -> list[str | None]:
    if not isinstance(values, list) or not values or len(set(values)) < len(values):
        raise ValueError("categories must be a list of different texts")
    return [None if value is None else _a_text(value) for value in values]


def _a_text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError(f"expected text, got {type(value).__name__}")
    return value


def _a_number(value: object) -> float | None:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not np.isfinite(value):
        raise TypeError("expected a finite number or null")
    return float(value)

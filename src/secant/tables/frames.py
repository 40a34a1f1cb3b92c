"""Rows of data frames of any kind that narwhals knows: pandas, polars, Arrow and others."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import narwhals as nw
import numpy as np

if TYPE_CHECKING:
    import pyarrow as pa


Frame = nw.DataFrame[Any]


def frame_of(x: object) -> Frame | None:
    """The data frame; None for anything else, arrays and series included.

    Row labels, such as the index of pandas, are no columns. A pandas frame with repeated names is
    no frame here, since columns are taken by name; it is read as an array.
    """
    if nw.dependencies.is_pandas_dataframe(x) and not x.columns.is_unique:
        return None
    found = nw.from_native(x, eager_only=True, pass_through=True)
    return found if isinstance(found, nw.DataFrame) else None


def rows_of(frame: Frame) -> np.ndarray:
    """Numbers and booleans (n, d), of the type that holds all columns; NaN where one is missing.

    Raises:
        ValueError: If a column holds something else.
    """
    odd = {name: kind for name, kind in frame.schema.items() if not _is_number(kind)}
    if odd:
        shown = ", ".join(f"{name!r} ({kind})" for name, kind in list(odd.items())[:5])
        raise ValueError(f"Got columns that hold no numbers: {shown}.")
    if not frame.columns:
        return np.empty((len(frame), 0))
    return np.column_stack([_numbers(column) for column in frame.iter_columns()])


def needs_encoding(frame: Frame) -> bool:
    """Whether there are booleans, missing values or columns that hold no numbers."""
    if any(kind == nw.Boolean for kind in frame.schema.values()):
        return True
    try:
        rows = rows_of(frame)
    except (TypeError, ValueError):
        return True
    return rows.dtype.kind == "f" and bool(np.isnan(rows).any())


def _is_number(kind: nw.dtypes.DType) -> bool:
    return kind.is_numeric() or kind in (nw.Boolean, nw.Object)  # objects may be numbers


def _numbers(series: nw.Series[Any]) -> np.ndarray:
    if series.dtype == nw.Object:
        return series.to_numpy().astype(np.float64)
    if series.dtype == nw.Decimal or series.is_null().any():
        series = series.cast(nw.Float64)
    return series.to_numpy()


def arrow_table(x: object) -> pa.Table:
    """A data frame as an Arrow table."""
    import pyarrow as pa

    if isinstance(x, pa.Table):
        return x
    frame = frame_of(x)
    if frame is None:
        raise TypeError(f"A table must be a data frame or an Arrow table; got {type(x).__name__}.")
    # Arrow would take the row labels of pandas for columns.
    return frame.to_arrow().select(frame.columns)

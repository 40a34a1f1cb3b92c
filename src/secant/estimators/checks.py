"""Checks of what users pass in: what was expected, what came, what to do."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from jaxtyping import Float, Int
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_array

from secant.training.mapped_files import check_whole

__all__ = [
    "check_parts",
    "check_same_columns",
    "checked_labels",
    "checked_rows",
    "checked_weights",
    "column_names",
    "is_count",
]

_BLOCK = 1 << 16  # rows looked at together when an array lies on disk


def check_parts(estimator: object, parts: Iterable[tuple[str, str, type]]) -> None:
    """Refuse components of a wrong kind: (parameter, what it was resolved to, what it must be)."""
    for name, resolved, kind in parts:
        part = getattr(estimator, resolved)
        if not isinstance(part, kind):
            raise TypeError(f"`{name}` must be a {kind.__name__} or None; got {part!r}.")


def is_count(value: object, *, least: int) -> bool:
    """Whether this is an integer, of Python or NumPy, of at least so many."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer):
        return False
    return int(value) >= least


def column_names(x: ArrayLike) -> list[str]:
    """The names of a table's columns; none for an array."""
    # An Arrow table's `columns` are its data, a data frame's are its names.
    return list(getattr(x, "column_names", getattr(x, "columns", ())))


def check_same_columns(x_0: ArrayLike, x_1: ArrayLike, names: tuple[str, str]) -> None:
    """Refuse two tables whose columns differ in name or order; arrays have no names to compare."""
    found = [column_names(x) for x in (x_0, x_1)]
    if all(found) and found[0] != found[1]:
        raise ValueError(
            f"`{names[0]}` and `{names[1]}` must have the same columns in the same order; "
            f"got {found[0][:8]} and {found[1][:8]}."
        )


def checked_rows(
    x: ArrayLike, name: str, *, n_features: int | None = None, least: int = 2
) -> Float[np.ndarray, "n d"]:
    """A finite numeric array (n, d), untouched if it is a memory map."""
    rows: np.ndarray
    if isinstance(x, np.memmap):
        _check_mapped(x, name)
        rows = x
    else:
        rows = _in_memory(x, name)
    if rows.shape[0] < least:
        raise ValueError(
            f"`{name}` must have at least {least} rows; got {rows.shape[0]} sample(s) in shape "
            f"{rows.shape}. A ratio of densities needs several draws of each."
        )
    if n_features is not None and rows.shape[1] != n_features:
        raise ValueError(
            f"`{name}` must have shape (n, d) with d = {n_features}; got {rows.shape}. "
            "Both samples need the same columns in the same order."
        )
    return rows


def _in_memory(x: ArrayLike, name: str) -> Float[np.ndarray, "n d"]:
    try:
        rows: np.ndarray = check_array(x, dtype="numeric", input_name=name, ensure_min_samples=0)
    except (TypeError, ValueError) as error:
        raise type(error)(
            f"`{name}` must be a numeric array of shape (n, d) without NaN or infinity. {error}"
        ) from error
    if rows.dtype.kind not in "fiub":
        raise ValueError(f"`{name}` must be a numeric array of shape (n, d); got {rows.dtype}.")
    return rows if rows.dtype.kind == "f" else rows.astype(np.float64)


def _check_mapped(x: np.memmap, name: str) -> None:
    if x.ndim != 2 or x.dtype.kind not in "fiu":
        raise ValueError(
            f"`{name}` must be a numeric array of shape (n, d); got {x.dtype} of shape {x.shape}."
        )
    for start in range(0, x.shape[0], _BLOCK):
        check_whole(x)
        if not np.isfinite(x[start : start + _BLOCK]).all():
            raise ValueError(
                f"`{name}` contains NaN or infinity near row {start}; drop or impute those rows."
            )


def checked_weights(weight: ArrayLike | None, n: int, name: str) -> Float[np.ndarray, " n"] | None:
    """Non-negative weights (n,), or None for equal ones."""
    if weight is None:
        return None
    values = np.asarray(weight, dtype=np.float64)
    if values.ndim == 0:
        values = np.full(n, float(values))
    if values.shape != (n,):
        raise ValueError(f"`{name}` must have shape ({n},), one weight a row; got {values.shape}.")
    bad = np.flatnonzero(~(np.isfinite(values) & (values >= 0.0)))
    if bad.size:
        raise ValueError(
            f"`{name}` must be finite and non-negative; got {values[bad[0]]} at row {bad[0]} "
            f"({bad.size} such row(s))."
        )
    if values.sum() <= 0.0:
        raise ValueError(f"`{name}` must not be zero everywhere.")
    return None if np.ptp(values) == 0.0 else values


def checked_labels(y: ArrayLike | None, n: int) -> Int[np.ndarray, " n"]:
    """Labels (n,) that are 0 for rows of x_0 and 1 for rows of x_1, both present."""
    if y is None:
        raise ValueError(
            "requires y to be passed, but the target y is None: y says which sample each row of "
            "X belongs to, 0 for p_0 and 1 for p_1. With two arrays, use fit_samples(x_0, x_1)."
        )
    labels = np.asarray(y)
    if labels.ndim == 2 and labels.shape[1] == 1:
        labels = labels[:, 0]
    if labels.shape != (n,):
        raise ValueError(f"`y` must have shape ({n},), one label a row; got {labels.shape}.")
    if labels.dtype.kind not in "fiub":
        raise ValueError(
            "Unknown label type: `y` must hold the numbers 0 (rows of p_0) and 1 (rows of p_1); "
            f"got dtype {labels.dtype}."
        )
    found = np.unique(labels)
    if not (found.size == 2 and (found == [0, 1]).all()):
        shown = ", ".join(str(v) for v in found[:5].tolist())
        raise ValueError(
            "`y` must hold the labels 0 (rows of p_0) and 1 (rows of p_1), both of them; "
            f"got {found.size} distinct value(s): {shown}{', …' if found.size > 5 else ''}."
        )
    return labels.astype(np.int64)

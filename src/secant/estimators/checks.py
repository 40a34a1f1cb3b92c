"""Validation of user input."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

import numpy as np
from jaxtyping import Float, Int
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_array, check_is_fitted, column_or_1d, validate_data

from secant.exceptions import PrecisionWarning
from secant.tables.frames import Frame, frame_of, rows_of
from secant.training.sources import check_whole

_LARGEST_WHOLE = 1 << 53  # larger integers are not all distinct in double precision
_SMALLEST_WEIGHT, _LARGEST_WEIGHT = 1e-100, 1e100
_BLOCK = 1 << 16  # rows checked at a time for an array on disk


def is_count(value: object, *, least: int) -> bool:
    """Whether this is an integer, of Python or NumPy, of at least so many."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer):
        return False
    return int(value) >= least


def _frame(x: ArrayLike) -> Frame | None:
    return None if isinstance(x, np.ndarray) else frame_of(x)


def frame_columns(x: ArrayLike) -> list[str]:
    """The names of a data frame's columns; none for an array."""
    frame = _frame(x)
    return [] if frame is None else list(frame.columns)


def check_names(old: Sequence[str], new: Sequence[str], arguments: tuple[str, str]) -> None:
    """Refuse tables whose columns differ; an array has no names."""
    if not old or not new or list(old) == list(new):
        return
    missing, extra = [c for c in old if c not in new], [c for c in new if c not in old]
    differ = f" (missing {missing[:8]}, new {extra[:8]})" if missing or extra else ""
    raise ValueError(
        f"`{arguments[0]}` and `{arguments[1]}` must have the same columns in the same order; "
        f"got {list(old[:8])} and {list(new[:8])}{differ}."
    )


_ROWS = (
    "a numeric array of shape (n, d) without NaN or infinity; "
    "secant.tables.encoding makes one of a table with gaps, text, categories or dates"
)


def checked_rows(
    x: ArrayLike, name: str, *, n_features: int | None = None, least: int = 2
) -> Float[np.ndarray, "n d"]:
    """A finite numeric array (n, d); a memory map is returned unchanged."""
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
    with naming(name, _ROWS):
        check_unmasked(x)
        frame = _frame(x)
        given = x if frame is None else rows_of(frame)
        rows: np.ndarray = check_array(
            given, dtype="numeric", input_name=name, ensure_min_samples=0
        )
    return doubles(rows, name)


def validated(
    estimator: BaseEstimator, X: ArrayLike, *, reset: bool = True, least: int = 1
) -> np.ndarray:
    """scikit-learn's `validate_data` for numbers, which also reads every kind of data frame alike.

    Args:
        estimator: takes names and width of the columns from X, or compares them.
        X: an array or data frame (n, d).
        reset: whether to take rather than to compare.
        least: rows.
    """
    frame = _frame(X)
    if frame is not None:
        validate_data(estimator, frame.to_native(), reset=reset, skip_check_array=True)
        X = rows_of(frame)
        return check_array(
            X, dtype="numeric", input_name="X", estimator=estimator, ensure_min_samples=least
        )
    return validate_data(estimator, X, reset=reset, dtype="numeric", ensure_min_samples=least)


@contextmanager
def naming(name: str, expected: str) -> Iterator[None]:
    """A context in which errors name the argument and the expected value."""
    try:
        with np.errstate(over="ignore", invalid="ignore"):  # of sums that look for infinity
            yield
    except (TypeError, ValueError, OverflowError, LookupError, AttributeError) as error:
        # Not of the error's own type: some cannot be made of a text.
        kind = TypeError if isinstance(error, TypeError) else ValueError
        said = str(error)
        if isinstance(error, LookupError | AttributeError):  # whose text alone says nothing
            said = f"Reading it failed with {type(error).__name__}: {error}."
        raise kind(f"`{name}` must be {expected}. {said}") from error


def check_unmasked(x: object) -> None:
    """Raise an error for masked entries, whose hidden values would be used."""
    if isinstance(x, np.ma.MaskedArray) and np.ma.is_masked(x):
        count = int(np.ma.getmaskarray(x).sum())
        raise ValueError(f"Got a masked array with {count} masked entries; fill or drop them.")


def doubles(rows: np.ndarray, name: str) -> Float[np.ndarray, " *n"]:
    """Numbers as float64, or unchanged if float64 holds them; an error if they are too large."""
    if rows.dtype.kind not in "fiub":
        raise ValueError(f"`{name}` must be a numeric array of shape (n, d); got {rows.dtype}.")
    if rows.dtype.kind == "f" and rows.itemsize <= 8:
        return rows
    _warn_if_rounded(rows, name)
    with np.errstate(over="ignore"):
        found = rows.astype(np.float64)
    if not np.isfinite(found).all():
        raise ValueError(
            f"`{name}` must be a numeric array within double precision, up to 1.8e308; got "
            f"{rows.dtype} with larger numbers. Divide its columns by a constant."
        )
    return found


def _warn_if_rounded(x: np.ndarray, name: str) -> None:
    if x.dtype.kind not in "iu" or x.itemsize < 8 or x.size == 0:
        return
    largest = max(int(x.max()), -int(x.min()))
    if largest > _LARGEST_WHOLE:
        warnings.warn(
            f"`{name}` holds whole numbers of up to {largest:.3g}, beyond 2^53 = 9.01e15: in "
            "double precision, neighbours become one. Subtract a constant from such columns, or "
            "drop them if they are identifiers.",
            PrecisionWarning,
            stacklevel=2,
        )


def _check_mapped(x: np.memmap, name: str) -> None:
    if x.ndim != 2 or x.dtype.kind not in "fiu":
        raise ValueError(
            f"`{name}` must be a numeric array of shape (n, d); got {x.dtype} of shape {x.shape}."
        )
    if x.itemsize > 8:
        raise ValueError(f"`{name}` must hold numbers of at most 8 bytes on disk; got {x.dtype}.")
    for start in range(0, x.shape[0], _BLOCK):
        check_whole(x)
        _warn_if_rounded(x[start : start + _BLOCK], name)
        if not np.isfinite(x[start : start + _BLOCK]).all():
            raise ValueError(
                f"`{name}` contains NaN or infinity near row {start}; drop or impute those rows."
            )


def checked_weights(
    weight: ArrayLike | None, n: int, name: str, *, signed: bool = False
) -> Float[np.ndarray, " n"] | None:
    """Weights (n,), non-negative unless signed ones are allowed, or None for equal ones."""
    if weight is None:
        return None
    with naming(name, f"None, a number, or {n} numbers, one per row"):
        check_unmasked(weight)
        given = np.asarray(weight)
        if given.dtype.kind == "c":
            raise TypeError(f"Got complex numbers, {given.dtype}.")
        values = given.astype(np.float64)
    if values.ndim == 0:
        values = np.full(n, float(values))
    if values.shape != (n,):
        raise ValueError(
            f"`{name}` must have shape ({n},), one weight per row; got {values.shape}."
        )
    bad = np.flatnonzero(~(np.isfinite(values) & (signed | (values >= 0.0))))
    if bad.size:
        remedy = " For signed weights, take SignedRatio." if np.isfinite(values).all() else ""
        raise ValueError(
            f"`{name}` must be finite{'' if signed else ' and non-negative'}; got "
            f"{values[bad[0]]} at row {bad[0]} ({bad.size} such row(s)).{remedy}"
        )
    largest = np.abs(values).max(initial=0.0)
    if values.size and not _SMALLEST_WEIGHT <= largest <= _LARGEST_WEIGHT:
        # Scale by a power of two, which is exact, so that sums neither overflow nor vanish.
        values = np.ldexp(values, -np.frexp(largest)[1])
    if not values.any():
        raise ValueError(f"`{name}` must not be zero everywhere.")
    if values.sum() <= 0.0:
        raise ValueError(
            f"`{name}` must have a positive sum, the total of the sample; got {values.sum():.3g}."
        )
    return None if np.ptp(values) == 0.0 else values


def checked_labels(y: ArrayLike | None, n: int) -> Int[np.ndarray, " n"]:
    """Labels (n,) that are 0 for rows of x_0 and 1 for rows of x_1, both present."""
    if y is None:
        raise ValueError(
            "requires y to be passed, but the target y is None: `y` says which sample each row of "
            "X belongs to, 0 for p_0 and 1 for p_1. With two arrays, use fit_samples(x_0, x_1)."
        )
    with naming("y", "an array of shape (n,) of the numbers 0 and 1"):
        check_unmasked(y)
        labels = np.asarray(y)
    if labels.ndim == 2 and labels.shape[1] == 1:
        labels = column_or_1d(labels, warn=True)
    if labels.shape != (n,):
        raise ValueError(f"`y` must have shape ({n},), one label per row; got {labels.shape}.")
    if labels.dtype.kind not in "fiub":
        raise ValueError(
            "Unknown label type: `y` must hold the numbers 0 (rows of p_0) and 1 (rows of p_1); "
            f"got dtype {labels.dtype}."
        )
    found = np.unique(labels)
    if found.size == 1 and found[0] in (0, 1):
        raise ValueError(
            "`y` must hold both labels, 0 (rows of p_0) and 1 (rows of p_1); got one class only, "
            f"{found[0]:g}. In cross-validation, use StratifiedKFold: each of its folds has both."
        )
    if not (found.size == 2 and (found == [0, 1]).all()):
        shown = ", ".join(str(v) for v in found[:5].tolist())
        raise ValueError(
            "Unknown label type: `y` must hold the labels 0 (rows of p_0) and 1 (rows of p_1), "
            f"both of them; got {found.size} distinct value(s): {shown}"
            f"{', …' if found.size > 5 else ''}. Only binary classification is supported."
        )
    return labels.astype(np.int64)


def check_on_disk_or(
    otherwise: Callable[[ArrayLike], Float[np.ndarray, "n d"]],
    estimator: BaseEstimator,
    X: ArrayLike,
) -> Float[np.ndarray, "n d"]:
    """Checked rows for scoring; memory maps are read a few rows at a time."""
    if isinstance(X, np.memmap) and X.ndim == 2 and X.shape[0] > 0 and X.dtype.kind in "fiu":
        check_is_fitted(estimator)
        validate_data(estimator, X, reset=False, skip_check_array=True)
        return checked_rows(X, "X", least=1)
    return otherwise(X)  # which refuses odd ones

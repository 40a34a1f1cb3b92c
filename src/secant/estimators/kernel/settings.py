"""Validation of KernelRatio's settings."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from secant.estimators.checks import is_count
from secant.scaling import ScalingRule

if TYPE_CHECKING:
    from secant.estimators.kernel.estimator import KernelRatio

__all__ = ["LEAVE_ONE_OUT", "check_settings"]

LEAVE_ONE_OUT = "leave-one-out"
_METHODS = ("kliep", "kulsif", "rulsif", "ulsif")


def check_settings(estimator: KernelRatio) -> None:
    """Check the settings, and that the method has them."""
    if estimator.method not in list(_METHODS):  # a list: the value may not be hashable
        raise ValueError(f"`method` must be one of {list(_METHODS)}; got {estimator.method!r}.")
    _check_numbers(estimator)
    _check_that_it_applies(estimator)
    _check_selection(estimator)
    if not isinstance(estimator.scaling, ScalingRule | None):
        raise TypeError(f"`scaling` must be a ScalingRule or None; got {estimator.scaling!r}.")


def _check_numbers(estimator: KernelRatio) -> None:
    for name in ("n_centers", "iterations"):
        value = getattr(estimator, name)
        if not is_count(value, least=1):
            raise ValueError(f"`{name}` must be an integer of at least 1; got {value!r}.")
    for name in ("bandwidth", "ridge"):
        value = getattr(estimator, name)
        if value is not None and not _are_positive(value):
            raise ValueError(f"`{name}` must be a positive number, several or None; got {value!r}.")
    if not (_are_positive(estimator.floor) and estimator.floor < 1.0):
        raise ValueError(f"`floor` must lie in (0, 1); got {estimator.floor!r}.")
    if estimator.alpha is not None and not 0.0 <= estimator.alpha < 1.0:
        raise ValueError(f"`alpha` must lie in [0, 1); got {estimator.alpha!r}.")


def _are_positive(value: object) -> bool:
    numbers = np.asarray(value)
    if numbers.dtype.kind not in "fiu" or numbers.ndim > 1 or numbers.size == 0:
        return False
    return bool((np.isfinite(numbers) & (numbers > 0)).all())


def _check_that_it_applies(estimator: KernelRatio) -> None:
    given = {
        "alpha": estimator.alpha is not None,
        "ridge": estimator.ridge is not None,
        "iterations": estimator.iterations != 1,
        "nonnegative": estimator.nonnegative,
    }
    has = {
        "kliep": (),
        "kulsif": ("ridge", "iterations"),
        "rulsif": ("alpha", "ridge", "iterations", "nonnegative"),
        "ulsif": ("ridge", "iterations", "nonnegative"),
    }
    for name in (name for name, is_given in given.items() if is_given):
        if name not in has[estimator.method]:
            methods = [m for m, settings in has.items() if name in settings]
            raise ValueError(
                f"`{name}` applies to {methods} only; got {name}={getattr(estimator, name)!r} "
                f"with method={estimator.method!r}."
            )


def _check_selection(estimator: KernelRatio) -> None:
    value = estimator.selection
    is_number = is_count(value, least=2)
    if not (value is None or is_number or value == LEAVE_ONE_OUT):
        raise ValueError(
            f"`selection` must be {LEAVE_ONE_OUT!r}, a number of folds of at least 2, or None; "
            f"got {value!r}."
        )
    if value == LEAVE_ONE_OUT and (estimator.method == "kliep" or estimator.nonnegative):
        raise ValueError(
            f"`selection` must be a number of folds or None for KLIEP and for nonnegative=True, "
            f"which have no closed form for it; got {value!r}."
        )

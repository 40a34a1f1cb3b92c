"""Validation of KernelRatio's settings."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from secant.estimators.checks import is_count
from secant.scaling import ScalingRule

if TYPE_CHECKING:
    from secant.estimators.kernel.estimator import KernelRatio


LEAVE_ONE_OUT, LEPSKII = "leave-one-out", "lepskii"
_METHODS = ("kliep", "kulsif", "logistic", "rulsif", "ulsif")
_SCHEMES = ("cut-off", "flow", "ridge")


def check_settings(estimator: KernelRatio) -> None:
    """Check the settings, and that the method has them."""
    if estimator.method not in list(_METHODS):  # a list: the value may not be hashable
        raise ValueError(f"`method` must be one of {list(_METHODS)}; got {estimator.method!r}.")
    if estimator.regularisation not in list(_SCHEMES):
        raise ValueError(
            f"`regularisation` must be one of {list(_SCHEMES)}; got {estimator.regularisation!r}."
        )
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
        "regularisation": estimator.regularisation != "ridge",
    }
    least_squares = ("ridge", "iterations", "regularisation")
    has = {
        "kliep": (),
        "kulsif": least_squares,
        "logistic": ("ridge", "iterations"),
        "rulsif": ("alpha", "nonnegative", *least_squares),
        "ulsif": ("nonnegative", *least_squares),
    }
    for name in (name for name, is_given in given.items() if is_given):
        if name not in has[estimator.method]:
            methods = [m for m, settings in has.items() if name in settings]
            raise ValueError(
                f"`{name}` applies to {methods} only; got {name}={getattr(estimator, name)!r} "
                f"with method={estimator.method!r}."
            )

    if given["regularisation"] and given["iterations"]:
        raise ValueError(
            "`iterations` are of the ridge; got "
            f"iterations={estimator.iterations} with regularisation={estimator.regularisation!r}."
        )


def has_leave_one_out(estimator: KernelRatio) -> bool:
    """Whether there is a formula: (D9) of least squares by a ridge, or (H1) in one round."""
    if estimator.method == "logistic":
        return bool(estimator.iterations == 1)
    is_ridge = estimator.regularisation == "ridge" and not estimator.nonnegative
    return is_ridge and estimator.method != "kliep"


def _check_selection(estimator: KernelRatio) -> None:
    value = estimator.selection
    is_number = is_count(value, least=2)
    if not (value is None or is_number or value in (LEAVE_ONE_OUT, LEPSKII)):
        raise ValueError(
            f"`selection` must be {LEAVE_ONE_OUT!r}, {LEPSKII!r}, a number of folds of at least 2, "
            f"or None; got {value!r}."
        )
    if value == LEAVE_ONE_OUT and not has_leave_one_out(estimator):
        raise ValueError(
            "`selection` must be a number of folds or None for KLIEP, for nonnegative=True, for "
            "filters and for iterated logistic regression, which have no closed form for it; "
            f"got {value!r}."
        )
    if value == LEPSKII and not _has_one_ridge(estimator):
        raise ValueError(
            "`selection` 'lepskii' chooses the ridge of one round, without nonnegative=True; not "
            f"for method={estimator.method!r}, iterations={estimator.iterations}, "
            f"nonnegative={estimator.nonnegative}, regularisation={estimator.regularisation!r}."
        )


def _has_one_ridge(estimator: KernelRatio) -> bool:
    plain = estimator.iterations == 1 and estimator.regularisation == "ridge"
    return plain and not estimator.nonnegative and estimator.method != "kliep"

"""Common parts of exports, and the comparison with the model before a file is written."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import jax
import numpy as np
from jaxtyping import Float
from sklearn.utils.validation import check_is_fitted

from secant.deploy.export.densities import density_program
from secant.deploy.export.programs import ExportError, Program
from secant.deploy.export.ratios import fitted_part, ratio_program
from secant.estimators import RatioEstimator
from secant.tasks import DensityEstimator

Rows = Float[np.ndarray, "n d"]

_DTYPES = ("float64", "float32")
_ROWS = 64
_FARTHEST_OFF = 1e-3  # single precision with many columns: up to 1e-4


@dataclass(frozen=True)
class Exported:
    """Summary of an export.

    Attributes:
        estimator: class of the model.
        quantity: "log_ratio" or "log_density", the name of the output.
        columns: names of the inputs, in their order.
        dtype: of rows and answers.
        size: of the file, in bytes.
        difference: largest between the file's answers and the model's at a few rows, in units of
            the answer where that is above 1.
    """

    estimator: str
    quantity: str
    columns: tuple[str, ...]
    dtype: str
    size: int
    difference: float


def program_of(estimator: RatioEstimator | DensityEstimator) -> Program:
    """The program of a fitted estimator.

    Raises:
        ExportError: If a part of it cannot be exported.
    """
    if isinstance(estimator, DensityEstimator):
        check_is_fitted(estimator)
        return density_program(estimator)
    if isinstance(estimator, RatioEstimator):
        check_is_fitted(estimator)
        return ratio_program(estimator)
    raise ExportError(f"a ratio or a density can be exported; got a {type(estimator).__name__}.")


def checked_dtype(dtype: str) -> type[np.floating]:
    """The type of that name."""
    if dtype not in _DTYPES:
        raise ExportError(f"`dtype` must be one of {list(_DTYPES)}; got {dtype!r}.")
    return np.float64 if dtype == "float64" else np.float32


def input_names(
    estimator: RatioEstimator | DensityEstimator, given: Sequence[str] | None = None
) -> tuple[str, ...]:
    """Names of the inputs: those given, or seen in fit, or their numbers."""
    known = getattr(estimator, "feature_names_in_", None) if given is None else given
    names = range(estimator.n_features_in_) if known is None else known
    return tuple(str(name) for name in names)


def checked_export(
    estimator: RatioEstimator | DensityEstimator,
    program: Program,
    dtype: type[np.floating],
    size: int,
    answer: Callable[[Rows], Float[np.ndarray, " n"]],
    names: Sequence[str] | None = None,
) -> Exported:
    """The summary of an export, after comparing its program with the model.

    Raises:
        ExportError: If they differ.
    """
    rows = _likely_rows(estimator).astype(dtype)
    expected, found = _scores(estimator, rows), np.asarray(answer(rows), dtype=np.float64)
    gap = np.max(np.abs(found - expected) / np.maximum(np.abs(expected), 1.0))
    if not gap <= _FARTHEST_OFF:
        raise ExportError(
            f"the exported program must agree with the model; at {_ROWS} rows it differs by up "
            f"to {gap:.2g}, so nothing was written. Try the other format, and please report it."
        )
    columns = input_names(estimator, names)
    kind = type(estimator).__name__
    return Exported(kind, program.quantity, columns, dtype.__name__, size, float(gap))


def _scores(estimator: RatioEstimator | DensityEstimator, rows: Rows) -> Float[np.ndarray, " n"]:
    with warnings.catch_warnings():  # rows of numbers, for a model that knows its columns' names
        warnings.filterwarnings("ignore", "X does not have valid feature names", UserWarning)
        return estimator.score_samples(rows)


def _likely_rows(estimator: RatioEstimator | DensityEstimator) -> Rows:
    """Rows of the kind that the model was fitted to."""
    if isinstance(estimator, DensityEstimator):
        base = estimator.base_
        return base.chart.inverse(np.asarray(base.reference.sample(jax.random.key(0), _ROWS)))
    scaling = fitted_part(estimator).scaling_
    scale = np.where(np.isfinite(scaling.scale), scaling.scale, 0.0)  # a constant column
    return scaling.center + scale * np.random.default_rng(0).normal(size=(_ROWS, scale.size))

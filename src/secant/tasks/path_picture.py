"""The log density of typical rows along the path, with their secants."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from jaxtyping import Float, Int

from secant.estimators import RatioEstimator
from secant.estimators.neural import PathMixin
from secant.integration import SecantSteps
from secant.tasks.cross_fitting import CrossFit

_QUANTILES = (0.1, 0.5, 0.9)
_TIMES = 33


@dataclass(frozen=True, eq=False)
class PathLine:
    """log p_t − log p_0 of one row along the path.

    Attributes:
        sample: 0 for a row of x_0, 1 for one of x_1.
        row: its number in the sample.
        quantile: of its log ratio in the sample.
        rise: (k,) log p_t(x) − log p_0(x) = t·u(x, 0, t); the last is its log ratio.
    """

    sample: int
    row: int
    quantile: float
    rise: Float[np.ndarray, " k"] = field(repr=False)

    @property
    def log_ratio(self) -> float:
        """The value at the end of the path."""
        return float(self.rise[-1])


@dataclass(frozen=True, eq=False)
class PathPicture:
    """A few typical rows of each sample along the path, scored out of fold.

    Attributes:
        times: (k,) from 0 to 1.
        lines: one per row.
    """

    times: Float[np.ndarray, " k"] = field(repr=False)
    lines: tuple[PathLine, ...]


def path_picture(
    fits: CrossFit, x_0: Float[np.ndarray, "n d"], x_1: Float[np.ndarray, "m d"]
) -> PathPicture | None:
    """Rows at three quantiles of each sample's log ratio; None if no fit has a path."""
    paths = [_path(ensemble.members[0].in_use) for ensemble in fits.ensembles]
    if not any(path is not None for path in paths):
        return None
    times = np.linspace(0.0, 1.0, _TIMES)
    known = np.array([path is not None for path in paths])
    lines = []
    for sample, x, scores, folds in (
        (0, x_0, fits.log_ratio_0, fits.fold_0),
        (1, x_1, fits.log_ratio_1, fits.fold_1),
    ):
        rows = _at_quantiles(scores, np.flatnonzero(known[folds]))
        for quantile, row in zip(_QUANTILES, rows.tolist(), strict=True):
            path = paths[folds[row]]
            assert path is not None
            lines.append(PathLine(sample, row, quantile, _rise(path, x[row], times)))
    return PathPicture(times, tuple(lines))


def why_no_path(fits: CrossFit) -> str:
    """Why no fit has a path, as a sentence for reports."""
    fit = fits.ensembles[0].members[0]
    name = type(fit.in_use).__name__
    if fit.in_use is not fit:
        return (
            f"The samples overlap, so a classifier ({name}) was fitted, which has no path between "
            "them. For the picture, compare with estimator=secant.SecantRatio()."
        )
    return f"{name} has no secants along a path. For the picture, use secant.SecantRatio()."


def _path(fit: RatioEstimator) -> PathMixin | None:
    """The fit if it has secants; None if it learned only time scores."""
    return fit if isinstance(fit, PathMixin) and isinstance(fit.rule_, SecantSteps) else None


def _at_quantiles(
    scores: Float[np.ndarray, " n"], candidates: Int[np.ndarray, " k"]
) -> Int[np.ndarray, " q"]:
    order = candidates[np.argsort(scores[candidates], kind="stable")]
    places = np.rint(np.array(_QUANTILES) * (order.size - 1)).astype(np.int64)
    return np.asarray(order[places])


def _rise(
    path: PathMixin, row: Float[np.ndarray, " d"], times: Float[np.ndarray, " k"]
) -> Float[np.ndarray, " k"]:
    """t·u(x, 0, t), which is 0 at the start."""
    rises = [t * path.secant(row[None], 0.0, t)[0] for t in times[1:].tolist()]
    return np.array([0.0, *rises])

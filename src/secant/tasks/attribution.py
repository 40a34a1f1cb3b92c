"""Contributions of columns to the difference between two samples, from out-of-fold fits."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from secant.diagnostics import FeatureDrift
from secant.diagnostics.text import aligned
from secant.estimators.neural import NeuralMixin
from secant.tasks.column_parts import ColumnPart
from secant.tasks.cross_fitting import CrossFit, RatioEnsemble

_SHOWN = 5
_SHIFT = 0.1  # standard deviations; a smaller shift of the mean is not reported as the change
_DISTANCE = 0.1  # Kolmogorov–Smirnov distance from which on the shape counts as changed

_MOST_ROWS = 2000  # of x_1, over all folds
_FEWEST_PAIRS = 1000  # pairs of a row and a baseline; few rows get several baselines each


@dataclass(frozen=True)
class FeatureContribution:
    """The contribution of one column, or group of columns, to the difference, in nats.

    Attributes:
        name: of the column.
        gradient: mean integrated gradient from rows of x_0 to rows of x_1 (A1). The columns add up
            to Jeffreys' divergence. None for an estimator without gradients.
        gradient_error: its standard error.
        replacement: mean decrease of the log ratio of x_1's rows when the column is replaced by
            draws from x_0 (A2).
        replacement_error: its standard error.
        margin: the column by itself, without a model.
        n_columns: number of columns; more than one for a group.
    """

    name: str
    gradient: float | None
    gradient_error: float | None
    replacement: float
    replacement_error: float
    margin: FeatureDrift
    n_columns: int = 1

    @property
    def contribution(self) -> float:
        """The gradient, or the replacement if there is none; columns are ranked by it."""
        return self.replacement if self.gradient is None else self.gradient

    @property
    def contribution_error(self) -> float:
        """The standard error of the contribution."""
        return self.replacement_error if self.gradient_error is None else self.gradient_error

    def direction(self, sample: str) -> str:
        """How the column differs in a sample, in words: "1.25 s.d. higher in B"."""
        shift = self.margin.mean_shift
        if self.n_columns > 1:
            return f"{self.n_columns} columns, their score {shift:.2f} s.d. higher in {sample}"
        if abs(shift) >= _SHIFT:
            far = f"{abs(shift):.2f} s.d. " if math.isfinite(shift) else ""
            return f"{far}{'higher' if shift > 0.0 else 'lower'} in {sample}"
        if self.margin.ks_distance >= _DISTANCE:
            return f"another shape in {sample}"
        return f"related to other columns in another way in {sample}"


class _Pairs(NamedTuple):
    """Rows of x_1 in one fold, each paired with a row of x_0, and the fits on the other folds."""

    ensemble: RatioEnsemble
    x: Float[np.ndarray, "p d"]
    baseline: Float[np.ndarray, "p d"]


class _Mean(NamedTuple):
    value: Float[np.ndarray, " d"]
    error: Float[np.ndarray, " d"]


def feature_contributions(
    fits: CrossFit,
    x_0: Float[np.ndarray, "n d"],
    x_1: Float[np.ndarray, "m d"],
    parts: Sequence[ColumnPart],
    rng: np.random.RandomState,
) -> tuple[FeatureContribution, ...]:
    """The columns and groups, the largest contribution first; rows are scored out of fold."""
    folds = list(_pairs(fits, x_0, x_1, rng))
    n_rows = min(x_0.shape[0], x_1.shape[0], _MOST_ROWS)
    columns = [part.columns for part in parts]
    replaced = _mean([_falls(fold, columns) for fold in folds], n_rows)
    gradients = [_gradients(fold, columns) for fold in folds]
    known = [g for g in gradients if g is not None]
    integrated = _mean(known, n_rows) if len(known) == len(folds) else None
    found = (
        FeatureContribution(
            part.margin.name,
            None if integrated is None else float(integrated.value[i]),
            None if integrated is None else float(integrated.error[i]),
            float(replaced.value[i]),
            float(replaced.error[i]),
            part.margin,
            len(part.columns),
        )
        for i, part in enumerate(parts)
    )
    return tuple(sorted(found, key=lambda column: -column.contribution))


def _pairs(
    fits: CrossFit,
    x_0: Float[np.ndarray, "n d"],
    x_1: Float[np.ndarray, "m d"],
    rng: np.random.RandomState,
) -> Iterator[_Pairs]:
    most = max(1, _MOST_ROWS // fits.n_folds)
    repeats = max(1, _FEWEST_PAIRS // x_1.shape[0])
    for k, ensemble in enumerate(fits.ensembles):
        rows = rng.permutation(np.flatnonzero(fits.fold_1 == k))[:most]
        others = rng.permutation(np.flatnonzero(fits.fold_0 == k))
        pairs = np.repeat(rows, repeats)
        yield _Pairs(ensemble, x_1[pairs], x_0[np.resize(others, pairs.size)])


def _falls(fold: _Pairs, parts: Sequence[tuple[int, ...]]) -> Float[np.ndarray, "p k"]:
    """log r̂(x) − log r̂(x with the columns of part i replaced), for every i."""
    full = fold.ensemble.log_ratio(fold.x)
    falls = np.empty((len(fold.x), len(parts)))
    for i, columns in enumerate(parts):
        replaced = fold.x.copy()
        replaced[:, columns] = fold.baseline[:, columns]
        falls[:, i] = full - fold.ensemble.log_ratio(replaced)
    return falls


def _gradients(fold: _Pairs, parts: Sequence[tuple[int, ...]]) -> Float[np.ndarray, "p k"] | None:
    inner = [m.in_use for m in fold.ensemble.members]
    members = [m for m in inner if isinstance(m, NeuralMixin)]
    if len(members) < len(fold.ensemble.members):
        return None
    each = [m.integrated_gradients(fold.x, fold.baseline) for m in members]
    found = np.mean(each, axis=0)
    return np.stack([found[:, columns].sum(axis=1) for columns in parts], axis=1)


def _mean(parts: Sequence[Float[np.ndarray, "p d"]], n_rows: int) -> _Mean:
    """The mean over all pairs; its standard error counts distinct rows, not pairs."""
    pairs = np.concatenate(parts)
    return _Mean(pairs.mean(axis=0), pairs.std(axis=0) / np.sqrt(n_rows))


def feature_pairs(features: Sequence[FeatureContribution]) -> list[tuple[str, str]]:
    """Names and contributions of the first columns, as text."""
    return [
        (c.name, f"{c.contribution:.3f} ± {c.contribution_error:.3f} nats")
        for c in features[:_SHOWN]
    ]


def feature_lines(features: Sequence[FeatureContribution]) -> list[str]:
    """The first columns as an aligned table."""
    more = f", the first {_SHOWN} of {len(features)}" if len(features) > _SHOWN else ""
    header: tuple[str, ...] = (
        "column",
        "gradients (nats)",
        "replaced (nats)",
        "mean shift (s.d.)",
        "KS distance",
    )
    rows: list[tuple[str, ...]] = [
        (
            c.name,
            "" if c.gradient is None else f"{c.gradient:.3f} ± {c.gradient_error:.3f}",
            f"{c.replacement:.3f} ± {c.replacement_error:.3f}",
            f"{c.margin.mean_shift:+.2f}",
            f"{c.margin.ks_distance:.3f}",
        )
        for c in features[:_SHOWN]
    ]
    if all(c.gradient is None for c in features):
        header, rows = (header[0], *header[2:]), [(r[0], *r[2:]) for r in rows]
    return [
        f"columns by contribution{more}",
        *(f"  {line}" for line in aligned([header, *rows])),
    ]

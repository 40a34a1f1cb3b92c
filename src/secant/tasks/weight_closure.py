"""Closure of weights: does the weighted source look like the target, column by column?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from jaxtyping import Float, Int
from numpy.typing import ArrayLike
from scipy.stats import chi2

from secant._host.escaping import one_line
from secant._host.notebook import Summarised, fragment
from secant._host.provenance import versions
from secant.diagnostics.drift import named_columns
from secant.diagnostics.text import aligned
from secant.estimators.checks import check_names, checked_rows, checked_weights, frame_columns

__all__ = ["Closure", "ColumnClosure", "closure"]

_LEVEL = 0.01  # of the smallest p-value, after correction for the number of columns
_SHOWN = 10


@dataclass(frozen=True, eq=False)
class ColumnClosure:
    """One column of the weighted source against the target, in bins of the target's quantiles.

    Attributes:
        name: of the column.
        edges: (b + 1,) of the bins; values beyond are counted in the end bins.
        share_before: (b,) share of the source's weight in each bin, before reweighting.
        share_source: (b,) after it.
        share_target: (b,) share of the target's weight.
        pulls: (b,) (share_source − share_target)/standard error (W3).
        chi2: of all bins together (W3).
        chi2_before: the same before reweighting.
        freedom: degrees of freedom, b − 1.
        p_value: of `chi2`.
    """

    name: str
    edges: Float[np.ndarray, " b_and_1"] = field(repr=False)
    share_before: Float[np.ndarray, " b"] = field(repr=False)
    share_source: Float[np.ndarray, " b"] = field(repr=False)
    share_target: Float[np.ndarray, " b"] = field(repr=False)
    pulls: Float[np.ndarray, " b"] = field(repr=False)
    chi2: float
    chi2_before: float
    freedom: int
    p_value: float

    @property
    def largest_pull(self) -> float:
        """The pull that is farthest from 0; 0 for a constant column."""
        return float(max(self.pulls, key=abs, default=0.0))


@dataclass(frozen=True, eq=False)
class Closure(Summarised):
    """The weighted source against the target, column by column; `print` it.

    Attributes:
        columns: the largest χ² per degree of freedom first.
        sample_names: names of source and target.
        n_rows: rows of source and target.
        effective_rows: (Σw)²/Σw² of the weighted source and of the target.
        versions: of Python and the packages behind the numbers.
    """

    columns: tuple[ColumnClosure, ...]
    sample_names: tuple[str, str]
    n_rows: tuple[int, int]
    effective_rows: tuple[float, float]
    versions: dict[str, str] = field(repr=False)

    @property
    def p_value(self) -> float:
        """The smallest p-value times the number of columns, at most 1 (Bonferroni)."""
        return min(1.0, len(self.columns) * min(c.p_value for c in self.columns))

    @property
    def is_closed(self) -> bool:
        """Whether no column differs significantly, at 0.01 over all columns."""
        return self.p_value >= _LEVEL

    @property
    def verdict(self) -> str:
        """One sentence, with the worst column."""
        source, target = (one_line(name) for name in self.sample_names)
        worst = self.columns[0]
        ratio = (
            f"χ² {worst.chi2:.1f} on {worst.freedom}, before reweighting {worst.chi2_before:.1f}"
        )
        if self.is_closed:
            return (
                f"The weighted {source} agrees with {target} in every column; the largest "
                f"difference is in “{one_line(worst.name)}” ({ratio})."
            )
        bad = sum(c.p_value * len(self.columns) < _LEVEL for c in self.columns)
        return (
            f"The weighted {source} differs from {target} in {bad} of {len(self.columns)} columns, "
            f"most in “{one_line(worst.name)}” ({ratio})."
        )

    def __str__(self) -> str:
        header = ("column", "χ²", "d.o.f.", "before", "p-value", "largest pull")
        lines = aligned([header, *(self.cells(c) for c in self.columns[:_SHOWN])])
        hidden = len(self.columns) - _SHOWN
        return "\n".join(
            [
                self.verdict,
                "",
                *(line.rstrip() for line in lines),
                *([f"({hidden} columns that agree better are not shown)"] if hidden > 0 else []),
                f"effective rows: {self.effective_rows[0]:.0f} of {self.n_rows[0]} in the source, "
                f"{self.effective_rows[1]:.0f} of {self.n_rows[1]} in the target",
            ]
        )

    def cells(self, column: ColumnClosure) -> tuple[str, ...]:
        """A column as texts: name, χ², degrees of freedom, χ² before, p-value, largest pull."""
        return (
            one_line(column.name),
            f"{column.chi2:.1f}",
            str(column.freedom),
            f"{column.chi2_before:.1f}",
            f"{column.p_value:.2g}",
            f"{column.largest_pull:+.1f}",
        )

    def _repr_html_(self) -> str:
        """For notebooks."""
        return fragment(
            self.verdict, [(c.name, f"χ² {c.chi2:.1f} on {c.freedom}") for c in self.columns]
        )


def closure(
    source: ArrayLike,
    target: ArrayLike,
    weights: ArrayLike,
    *,
    source_weights: ArrayLike | None = None,
    target_weights: ArrayLike | None = None,
    feature_names: Sequence[str] | None = None,
    sample_names: tuple[str, str] = ("source", "target"),
    n_bins: int = 20,
) -> Closure:
    """Compare the weighted source with the target, column by column, by pulls (W3).

    The weights are taken as known. If they were fitted to these target rows, pulls are somewhat too
    small: use rows that the fit has not seen, or out-of-fold weights.

    Args:
        source: (n, d) rows.
        target: (m, d) rows, with the same columns.
        weights: (n,) of the source's rows after reweighting, such as `importance_weights`; for rows
            with weights of their own, the product. They may be negative.
        source_weights: (n,) before reweighting; None is equal.
        target_weights: (m,) of the target's rows; None is equal. They may be negative.
        feature_names: of the columns; None takes those of a data frame.
        sample_names: names of source and target in results.
        n_bins: maximum number of bins of a column.

    Examples:
        >>> import numpy as np, secant
        >>> rng = np.random.default_rng(0)
        >>> source, target = rng.normal(0, 1, (4000, 2)), rng.normal([0.5, 0], 1, (4000, 2))
        >>> ratio = np.exp(0.5 * source[:, 0] - 0.125)
        >>> secant.closure(source, target, ratio).is_closed
        True
        >>> secant.closure(source, target, np.ones(4000)).columns[0].name
        'column 0'
    """
    check_names(frame_columns(source), frame_columns(target), ("source", "target"))
    names = feature_names or frame_columns(source)
    rows = checked_rows(source, "source")
    goal = checked_rows(target, "target", n_features=rows.shape[1])
    if n_bins < 2:
        raise ValueError(f"`n_bins` must be at least 2; got {n_bins!r}.")
    w = _weights(np.asarray(weights), len(rows), "weights")
    before = _weights(source_weights, len(rows), "source_weights")
    v = _weights(target_weights, len(goal), "target_weights")
    columns = [
        _column(name, rows[:, j], goal[:, j], (w, before, v), n_bins)
        for j, name in enumerate(named_columns(rows.shape[1], names))
    ]
    return Closure(
        tuple(sorted(columns, key=lambda c: -c.chi2 / max(c.freedom, 1))),
        (str(sample_names[0]), str(sample_names[1])),
        (len(rows), len(goal)),
        (_effective(w), _effective(v)),
        versions(),
    )


def _weights(given: ArrayLike | None, n: int, name: str) -> Float[np.ndarray, " n"]:
    found = checked_weights(given, n, name, signed=True)
    return np.ones(n) if found is None else found


def _effective(weights: Float[np.ndarray, " n"]) -> float:
    return float(weights.sum() ** 2 / (weights**2).sum())


def _column(
    name: str,
    x: Float[np.ndarray, " n"],
    y: Float[np.ndarray, " m"],
    weights: tuple[Float[np.ndarray, " n"], Float[np.ndarray, " n"], Float[np.ndarray, " m"]],
    n_bins: int,
) -> ColumnClosure:
    w, before, v = weights
    edges = _edges(y, n_bins)
    in_x, in_y = (np.searchsorted(edges[1:-1], values, side="right") for values in (x, y))
    b = len(edges) - 1
    old, new, goal = (_Shares.of(i, u, b) for i, u in ((in_x, before), (in_x, w), (in_y, v)))
    value, pulls = new.against(goal)
    return ColumnClosure(
        name=name,
        edges=edges,
        share_before=old.share,
        share_source=new.share,
        share_target=goal.share,
        pulls=pulls,
        chi2=value,
        chi2_before=old.against(goal)[0],
        freedom=b - 1,
        p_value=float(chi2.sf(value, b - 1)) if b > 1 else 1.0,
    )


def _edges(y: Float[np.ndarray, " m"], n_bins: int) -> Float[np.ndarray, " b_and_1"]:
    """Quantiles of the target, fewer where it has ties; a bin of its own for each of few values."""
    values = np.unique(y)
    if values.size == 1:
        return np.array([values[0] - 0.5, values[0] + 0.5])
    if values.size <= n_bins:
        inner = (values[1:] + values[:-1]) / 2.0
    else:
        inner = np.unique(np.quantile(y, np.arange(1, n_bins) / n_bins))
        inner = inner[(inner > values[0]) & (inner <= values[-1])]
    return np.concatenate([[values[0]], inner, [values[-1]]])


@dataclass(frozen=True)
class _Shares:
    """Shares of weight in bins, and their covariance."""

    share: Float[np.ndarray, " b"]
    covariance: Float[np.ndarray, "b b"]

    @classmethod
    def of(
        cls, bins: Int[np.ndarray, " n"], weights: Float[np.ndarray, " n"], n_bins: int
    ) -> _Shares:
        total, squares = weights.sum(), weights**2
        share = np.bincount(bins, weights, n_bins) / total
        square = np.bincount(bins, squares, n_bins)
        # Σ w² (e − s)(e − s)ᵀ, with e the unit vector of a row's bin.
        cross = np.outer(square, share)
        covariance = np.diag(square) - cross - cross.T + squares.sum() * np.outer(share, share)
        return cls(share, covariance / total**2)

    def against(self, other: _Shares) -> tuple[float, Float[np.ndarray, " b"]]:
        """χ² of the difference, and the pull of every bin (W3)."""
        difference, covariance = self.share - other.share, self.covariance + other.covariance
        error = np.sqrt(np.maximum(np.diag(covariance), 0.0))
        pulls = np.where(error > 0.0, difference / np.where(error > 0.0, error, 1.0), 0.0)
        # The shares add up to 1, so the last bin is left out.
        free = covariance[:-1, :-1]
        return float(
            difference[:-1] @ np.linalg.pinv(free, hermitian=True) @ difference[:-1]
        ), pulls

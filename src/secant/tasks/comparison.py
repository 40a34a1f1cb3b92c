"""Compare two samples by one cross-fit."""

from __future__ import annotations

import time
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float, Int
from numpy.typing import ArrayLike
from sklearn.base import clone
from sklearn.utils import check_random_state

from secant._host.provenance import versions
from secant.diagnostics import calibration_curve
from secant.diagnostics.drift import named_columns
from secant.estimators import RatioEstimator
from secant.estimators.checks import check_names, checked_rows, frame_columns
from secant.exceptions import OverlapWarning
from secant.sizing import FEW_ROWS
from secant.tables.encoding import EncodedTable, Missing, frames_as_numbers
from secant.tables.groups import ColumnGroup, Groups, column_groups, single_columns
from secant.tasks.attribution import FeatureContribution, feature_contributions
from secant.tasks.column_parts import ColumnPart, column_parts
from secant.tasks.comparison_result import ColumnHistogram, Comparison, Degree, UnlikeRows
from secant.tasks.cross_fitting import (
    CrossFit,
    checked_estimator,
    cross_fit,
    fit_records,
    repr_line,
    resolved_settings,
)
from secant.tasks.divergence import divergence_of
from secant.tasks.divergence_intervals import divergence_intervals
from secant.tasks.inference import checked_confidence, checked_permutations
from secant.tasks.path_picture import path_picture, why_no_path
from secant.tasks.two_sample import tested

__all__ = ["Comparison", "Degree", "compare"]

_UNLIKE_ROWS = 25  # rows of each sample whose cells are stored
_MOST_PLACES = 7  # beyond, a power of ten reads better
_HISTOGRAMS = 4  # columns with the largest contributions
_LEAST_SHARE = 0.05  # of the largest contribution: a column with less has not visibly changed


def compare(
    x_0: ArrayLike,
    x_1: ArrayLike,
    *,
    feature_names: Sequence[str] | None = None,
    sample_names: tuple[str, str] = ("x_0", "x_1"),
    groups: Groups | None = None,
    missing: Missing | str = Missing.REFUSE,
    estimator: RatioEstimator | None = None,
    n_folds: int | None = None,
    n_permutations: int = 999,
    confidence: float = 0.95,
    random_state: int | np.random.RandomState | None = None,
    progress: bool | None = None,
) -> Comparison:
    """Compare two samples: how far they differ, in which columns and in which rows.

    One ratio is cross-fitted, and every row is scored out of fold. KL in both directions,
    Jensen–Shannon, the p-value, overlap, effective sample sizes, contributions of columns, unlike
    rows and calibration follow from it. Missing overlap is part of the result, not a warning.

    Data frames with text, categories, booleans, dates or missing values are encoded as on the
    command line (`secant.tables.encoding`); their columns are then matched by name.

    Args:
        x_0: (n_0, d) rows of p_0; an array or a data frame.
        x_1: (n_1, d) rows of p_1, of the same columns.
        feature_names: of the columns; None takes those of a data frame.
        sample_names: names of the samples in printed results.
        groups: columns that count and are reported as one, such as `{"emb": "e_*"}`: a name, and
            column names or globs.
        missing: of data frames: "refuse" raises an error with counts, "drop" leaves out rows with
            a missing value, "impute" takes the median, and a category of its own for text.
        estimator: cloned for each fold; None chooses by the loss on held-out rows, see `cross_fit`.
        n_folds: parts of the rows; None is 5 below 5,000 rows and 2 from there on.
        n_permutations: permutations for the p-value, which is at least 1/(1 + this).
        confidence: level of the intervals.
        random_state: random seed; None draws one, which the result stores.
        progress: a progress bar; None shows one on a terminal only.

    Examples:
        >>> import numpy as np, secant
        >>> rng = np.random.default_rng(0)
        >>> x_0, x_1 = rng.normal(size=(400, 3)), rng.normal(size=(300, 3))
        >>> x_1[:, 1] += 1.0
        >>> found = secant.compare(x_0, x_1, random_state=0)
        >>> found.degree.name, found.features[0].name
        ('STRONG', 'column 1')
    """
    began = time.perf_counter()
    checked_permutations(n_permutations)
    seed = _seed(random_state)
    tables = frames_as_numbers(x_0, x_1, missing, labels=("x_0", "x_1"), seed=seed)
    if tables is not None:
        x_0, x_1, feature_names = _encoded(tables, feature_names)
    inputs = None if tables is None else tables[0].encoding.columns
    rows_0 = checked_rows(x_0, "x_0")
    rows_1 = checked_rows(x_1, "x_1", n_features=rows_0.shape[1])
    given = _agreed_names(x_0, x_1, feature_names)
    n, d = min(rows_0.shape[0], rows_1.shape[0]), rows_0.shape[1]
    chosen = None if estimator is None else _shown(checked_estimator(estimator), progress=progress)
    folds = min(5 if n < FEW_ROWS else 2, max(n // 2, 2)) if n_folds is None else n_folds
    names = tuple(named_columns(d, given))
    plan = _Plan(
        (str(sample_names[0]), str(sample_names[1])),
        names,
        groups,
        column_groups(groups, {name: (name,) for name in names} if inputs is None else inputs),
        estimator,
        folds,
        n_permutations,
        confidence,
        Missing(missing),
        seed,
    )
    rng = check_random_state(plan.seed)
    with warnings.catch_warnings():
        # Missing overlap is part of the result.
        warnings.simplefilter("ignore", OverlapWarning)
        fits = cross_fit(chosen, rows_0, rows_1, n_folds=plan.n_folds, random_state=rng)
    found = _compared(fits, rows_0, rows_1, plan, rng)
    found = found if tables is None else found.with_cells(*tables)
    return replace(found, seconds=time.perf_counter() - began)


def _encoded(
    tables: tuple[EncodedTable, EncodedTable], feature_names: Sequence[str] | None
) -> tuple[Float[np.ndarray, "n d"], Float[np.ndarray, "m d"], tuple[str, ...]]:
    """Rows of both tables and the names of their encoded columns."""
    if feature_names is not None:
        raise ValueError(
            "`feature_names` must be None for data frames with text, categories, dates or missing "
            "values, whose own names are kept; rename their columns instead."
        )
    first, second = tables
    return first.rows, second.rows, first.encoding.names


@dataclass(frozen=True)
class _Plan:
    """The settings of a comparison."""

    sample_names: tuple[str, str]
    feature_names: tuple[str, ...]
    given_groups: Groups | None
    groups: tuple[ColumnGroup, ...]
    estimator: RatioEstimator | None
    n_folds: int
    n_permutations: int
    confidence: float
    missing: Missing
    seed: int

    def __post_init__(self) -> None:
        checked_confidence(self.confidence)

    @property
    def call(self) -> str:
        """The call of `compare` that repeats the comparison."""
        given = "" if self.missing is Missing.REFUSE else f"missing={self.missing.value!r}, "
        if self.groups:
            given = f"groups={dict(self.given_groups or {})!r}, {given}"
        if self.estimator is not None:
            given += f"estimator={repr_line(self.estimator)}, "
        return (
            f"secant.compare(x_0, x_1, {given}n_folds={self.n_folds}, "
            f"n_permutations={self.n_permutations}, confidence={self.confidence:g}, "
            f"random_state={self.seed})"
        )


def _compared(
    fits: CrossFit,
    x_0: Float[np.ndarray, "n d"],
    x_1: Float[np.ndarray, "m d"],
    plan: _Plan,
    rng: np.random.RandomState,
) -> Comparison:
    """The result, from the fits."""
    names, level = plan.feature_names, plan.confidence
    draws = np.random.RandomState(rng.randint(2**31 - 1))  # as in `kl_divergence`
    singles = single_columns(len(names), plan.groups)
    test = tested(
        fits, x_0, x_1, n_permutations=plan.n_permutations, rng=rng, singles=singles.tolist()
    )
    found = divergence_intervals(fits, x_0, x_1, confidence=level, p_value=test.p_value, rng=draws)
    parts = column_parts(
        x_0, x_1, names, plan.groups, n_permutations=plan.n_permutations, seed=plan.seed
    )
    features = feature_contributions(fits, x_0, x_1, parts, rng)
    path = path_picture(fits, x_0, x_1)
    zero, one = fits.log_ratio_0, fits.log_ratio_1
    return Comparison(
        sample_names=plan.sample_names,
        feature_names=names,
        test=test,
        kl=divergence_of("kl", fits, found, level),
        kl_reverse=divergence_of("kl_reverse", fits, found, level),
        jensen_shannon=divergence_of("jensen_shannon", fits, found, level),
        total_variation=divergence_of("total_variation", fits, found, level),
        features=features,
        calibration=calibration_curve(zero, one),
        unlike_0=_unlike(x_0, zero, np.argsort(zero, kind="stable"), names, singles),
        unlike_1=_unlike(x_1, one, np.argsort(-one, kind="stable"), names, singles),
        margins=_margins(features, parts),
        fits=fit_records(fits),
        path=path,
        why_no_path=why_no_path(fits) if path is None else "",
        settings=_settings(fits, plan.n_permutations),
        versions=versions(),
        call=plan.call,
        seed=plan.seed,
        seconds=0.0,
    )


def _margins(
    features: Sequence[FeatureContribution], parts: Sequence[ColumnPart]
) -> tuple[ColumnHistogram, ...]:
    """Histograms of the column with the largest contribution and of others that are significant."""
    least = _LEAST_SHARE * features[0].contribution
    others = [
        c
        for c in features[1:_HISTOGRAMS]
        if c.contribution > max(2.0 * c.contribution_error, least)
    ]
    by_name = {part.margin.name: part for part in parts}
    order = [by_name[c.name] for c in (features[0], *others)]
    return tuple(ColumnHistogram.of(p.margin.name, p.zero, p.one) for p in order)


def _seed(random_state: int | np.random.RandomState | None) -> int:
    """The given seed, or a drawn one, so that the comparison can be repeated."""
    if isinstance(random_state, int | np.integer):
        return int(random_state)
    return int(check_random_state(random_state).randint(2**31 - 1))


def _shown(estimator: RatioEstimator, *, progress: bool | None) -> RatioEstimator:
    """The estimator and its parts with the progress bar switched on or off."""
    if progress is None:
        return estimator
    names = [k for k in estimator.get_params() if k.split("__")[-1] == "progress"]
    shown: RatioEstimator = clone(estimator)
    return shown.set_params(**dict.fromkeys(names, progress))


def _unlike(
    x: Float[np.ndarray, "n d"],
    scores: Float[np.ndarray, " n"],
    order: Int[np.ndarray, " n"],
    names: tuple[str, ...],
    singles: Int[np.ndarray, " k"],
) -> UnlikeRows:
    """The first rows of an order, with the cells of the columns outside of groups."""
    numbers, x = order[:_UNLIKE_ROWS], x[:, singles]
    places = _places(x)
    cells = tuple(
        tuple(
            f"{v:.{k}f}" if k < _MOST_PLACES else f"{v:.4g}"
            for v, k in zip(x[i], places, strict=True)
        )
        for i in numbers
    )
    return UnlikeRows(numbers, scores[numbers], tuple(names[i] for i in singles), cells)


def _places(x: Float[np.ndarray, "n d"]) -> list[int]:
    """Decimals per column: a hundredth of its spread, or none for whole numbers."""
    spread = np.subtract(*np.quantile(x, [0.95, 0.05], axis=0))
    whole = (x == np.rint(x)).all(axis=0)
    known = np.where((spread > 0.0) & ~whole, spread, 100.0)
    return np.maximum(2 - np.floor(np.log10(known)), 0).astype(int).tolist()


def _settings(fits: CrossFit, n_permutations: int) -> dict[str, str]:
    return {
        "cross-fit folds": str(fits.n_folds),
        "permutations a fold": str(n_permutations),
        **resolved_settings(fits.ensembles[0].members[0]),
    }


def _agreed_names(
    x_0: ArrayLike, x_1: ArrayLike, given: Sequence[str] | None
) -> Sequence[str] | None:
    """Column names: those given, or those of the tables, which must agree; None for arrays."""
    old, new = frame_columns(x_0), frame_columns(x_1)
    check_names(old, new, ("x_0", "x_1"))
    if given is None:
        return old or new or None
    n_features = np.shape(x_0)[1]
    if len(given) != n_features:
        raise ValueError(
            f"`feature_names` must have {n_features} names, one per column; got {len(given)}."
        )
    return given

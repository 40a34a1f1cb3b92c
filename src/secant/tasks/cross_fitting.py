"""Cross-fitting: every row is scored by fits on other rows. Records of the fits."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

import numpy as np
from jaxtyping import Float, Int
from numpy.typing import ArrayLike
from sklearn.base import clone
from sklearn.utils import check_random_state

from secant.diagnostics import RatioDiagnostics
from secant.estimators import RatioEstimator
from secant.estimators.checks import check_names, checked_rows, frame_columns, is_count
from secant.estimators.neural import resolved_name
from secant.exceptions import UntrainedWarning
from secant.tasks.model_choice import ModelChoice, chosen_model
from secant.training.settings import Record, labelled


@dataclass(frozen=True)
class RatioEnsemble:
    """Fits of one estimator that differ in their seeds; their log ratios are averaged."""

    members: tuple[RatioEstimator, ...]

    @classmethod
    def fitted(
        cls,
        estimator: RatioEstimator,
        x_0: Float[np.ndarray, "n d"],
        x_1: Float[np.ndarray, "m d"],
        *,
        n_members: int,
        rng: np.random.RandomState,
    ) -> RatioEnsemble:
        """Fit clones of the estimator, each with its own seed.

        A fit that learned nothing gives no warning here: the samples may be equal.
        """
        fits = []
        for _ in range(n_members):
            member = clone(estimator)
            if "random_state" in member.get_params():
                member.set_params(random_state=int(rng.randint(2**31 - 1)))
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", UntrainedWarning)
                fits.append(member.fit_samples(x_0, x_1))
        return cls(tuple(fits))

    def log_ratio(self, x: Float[np.ndarray, "n d"]) -> Float[np.ndarray, " n"]:
        """The mean of the members' log ratios; this geometric mean of ratios is not normalised."""
        each = [member.log_ratio(x) for member in self.members]
        return np.asarray(np.mean(each, axis=0, dtype=np.float64))


@dataclass(frozen=True)
class CrossFit:
    """Out-of-fold log ratios of every row of two independent samples.

    Attributes:
        log_ratio_0: (n_0,) of x_0's rows.
        log_ratio_1: (n_1,) of x_1's rows.
        fold_0: (n_0,) the fold of each row.
        fold_1: (n_1,)
        ensembles: the fits, one entry per fold.
        choice: how the estimator was chosen; None if it was given by the caller.
    """

    log_ratio_0: Float[np.ndarray, " n_0"]
    log_ratio_1: Float[np.ndarray, " n_1"]
    fold_0: Int[np.ndarray, " n_0"]
    fold_1: Int[np.ndarray, " n_1"]
    ensembles: tuple[RatioEnsemble, ...]
    choice: ModelChoice | None = None

    @property
    def n_folds(self) -> int:
        """The number of folds."""
        return len(self.ensembles)

    @property
    def swapped(self) -> CrossFit:
        """The same with the samples exchanged: the log ratio changes its sign."""
        return replace(
            self,
            log_ratio_0=-self.log_ratio_1,
            log_ratio_1=-self.log_ratio_0,
            fold_0=self.fold_1,
            fold_1=self.fold_0,
            choice=None,
        )

    def by_fold(self) -> Iterator[tuple[Float[np.ndarray, " a"], Float[np.ndarray, " b"]]]:
        """The scores of x_0's and x_1's rows, fold by fold."""
        for k in range(self.n_folds):
            yield self.log_ratio_0[self.fold_0 == k], self.log_ratio_1[self.fold_1 == k]


def cross_fit(
    estimator: RatioEstimator | None,
    x_0: ArrayLike,
    x_1: ArrayLike,
    *,
    n_folds: int = 5,
    n_ensemble: int = 1,
    names: tuple[str, str] = ("x_0", "x_1"),
    random_state: int | np.random.RandomState | None = None,
) -> CrossFit:
    """Score every row of two samples out of fold.

    Args:
        estimator: cloned for each fold; None chooses among logistic regressions, boosted trees and
            networks by their loss on held-out rows (`chosen_model`).
        x_0: (n_0, d) rows of p_0.
        x_1: (n_1, d) rows of p_1.
        n_folds: number of folds.
        n_ensemble: fits per fold, whose log ratios are averaged.
        names: of the caller's arguments, for errors.
        random_state: random seed.
    """
    check_names(frame_columns(x_0), frame_columns(x_1), names)
    rows_0 = checked_rows(x_0, names[0])
    rows_1 = checked_rows(x_1, names[1], n_features=rows_0.shape[1])
    n = min(rows_0.shape[0], rows_1.shape[0])
    checked_folds(n_folds, n)
    checked_ensemble(n_ensemble)
    rng = check_random_state(random_state)
    choice = chosen_model(rows_0, rows_1, rng) if estimator is None else None
    chosen = checked_estimator(estimator) if choice is None else choice.estimator
    fold_0, fold_1 = (fold_numbers(x.shape[0], n_folds, rng) for x in (rows_0, rows_1))
    score_0, score_1 = np.empty(rows_0.shape[0]), np.empty(rows_1.shape[0])
    ensembles = []
    for k in range(n_folds):
        with labelled(f"fold {k + 1} of {n_folds}"):
            ensemble = RatioEnsemble.fitted(
                chosen,
                rows_0[fold_0 != k],
                rows_1[fold_1 != k],
                n_members=n_ensemble,
                rng=rng,
            )
        score_0[fold_0 == k] = ensemble.log_ratio(rows_0[fold_0 == k])
        score_1[fold_1 == k] = ensemble.log_ratio(rows_1[fold_1 == k])
        ensembles.append(ensemble)
    return CrossFit(score_0, score_1, fold_0, fold_1, tuple(ensembles), choice)


def checked_estimator(estimator: RatioEstimator | None) -> RatioEstimator:
    """Refuse anything but a ratio estimator."""
    if not isinstance(estimator, RatioEstimator):
        raise TypeError(
            "`estimator` must be a ratio estimator such as SecantRatio() or None; "
            f"got {estimator!r}. A classifier of scikit-learn goes in as SklearnRatio(classifier)."
        )
    return estimator


def checked_folds(n_folds: int, n: int) -> None:
    """Refuse a number of folds with fewer than two rows per fold."""
    if n < 4:
        raise ValueError(f"Cross-fitting needs at least 4 rows of either sample; got {n}.")
    if not is_count(n_folds, least=2) or n_folds > n // 2:
        raise ValueError(
            f"`n_folds` must be a whole number from 2 to {n // 2} (two rows per fold of the "
            f"{n} rows of the smaller sample); got {n_folds!r}."
        )


def checked_ensemble(n_ensemble: int) -> None:
    """Refuse an empty ensemble."""
    if not is_count(n_ensemble, least=1):
        raise ValueError(f"`n_ensemble` must be a whole number of at least 1; got {n_ensemble!r}.")


def fold_numbers(n: int, n_folds: int, rng: np.random.RandomState) -> Int[np.ndarray, " n"]:
    """A random fold for each of n rows; sizes differ by at most one."""
    return np.asarray(rng.permutation(np.arange(n) % n_folds))


_NOT_SETTINGS = ("progress", "random_state")


@dataclass(frozen=True)
class FitRecord:
    """One fit of a cross-fit.

    Attributes:
        fold: the fold that was held out.
        estimator: the name of its class.
        history: training history; empty for a fit without steps.
        diagnostics: on rows it was not trained on; None if there are none.
    """

    fold: int
    estimator: str
    history: tuple[Record, ...] = field(repr=False)
    diagnostics: RatioDiagnostics | None = field(repr=False)


def fit_records(fits: CrossFit) -> tuple[FitRecord, ...]:
    """One record per fit, fold by fold."""
    return tuple(
        fit_record(fold, member)
        for fold, ensemble in enumerate(fits.ensembles)
        for member in ensemble.members
    )


def fit_record(fold: int, fit: RatioEstimator) -> FitRecord:
    """The record of one fit."""
    inner = fit.in_use
    history = tuple(getattr(inner, "history_", ()))
    return FitRecord(fold, type(inner).__name__, history, getattr(inner, "diagnostics_", None))


def repr_line(value: object) -> str:
    """The repr of an object on one line."""
    text = " ".join(repr(value).split())
    return text.replace("( ", "(").replace(" )", ")").replace(",)", ")")


def resolved_settings(fit: RatioEstimator) -> dict[str, str]:
    """The parameters of a fitted estimator as text, with defaults filled in."""
    inner = fit.in_use
    found = {"estimator": type(inner).__name__}
    for name, given in inner.get_params(deep=False).items():
        if name not in _NOT_SETTINGS:
            found[name] = repr_line(getattr(inner, resolved_name(name), given))
    return found

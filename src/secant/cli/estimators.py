"""Estimators of commands, with the session's training settings and progress bar."""

from __future__ import annotations

import enum
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer

from secant.cli.session import JSON, Session

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator

    from secant.estimators import ChasmSwitch, RatioEstimator


Estimator = TypeVar("Estimator", bound="BaseEstimator")


class FitMethod(enum.Enum):
    """Methods to fit a ratio."""

    AUTO = "auto"
    SECANT = "secant"
    CLASSIFIER = "classifier"
    LOGISTIC = "logistic"  # logistic regression on columns, squares and products
    TREES = "trees"  # gradient boosting


class SavableMethod(enum.Enum):
    """Methods to fit a ratio that a model file can hold: networks."""

    AUTO = "auto"  # a classifier where the samples overlap, SecantRatio where they do not
    SECANT = "secant"
    CLASSIFIER = "classifier"


MethodOption = Annotated[
    FitMethod,
    typer.Option(
        help="auto: chosen for the data; secant and classifier: networks; logistic: logistic "
        "regression on columns, squares and products; trees: gradient boosting."
    ),
]
Folds = Annotated[int | None, typer.Option(min=2, help="Number of folds for out-of-fold scores.")]
Permutations = Annotated[
    int, typer.Option(min=1, max=1_000_000, help="Permutations for the p-value.")
]
SavableMethodOption = Annotated[
    SavableMethod,
    typer.Option(help="auto: a neural classifier where the tables overlap, SecantRatio elsewhere."),
]


def ratio_estimator(
    method: FitMethod, switch: ChasmSwitch, n: int, session: Session
) -> RatioEstimator:
    """The estimator of a method; `switch` is `auto`, and n counts the rows of the smaller table."""
    from secant.estimators import SecantRatio, SklearnRatio
    from secant.tasks.model_choice import boosted_trees

    assert switch.near is not None
    estimator: RatioEstimator = {
        FitMethod.AUTO: switch,
        FitMethod.SECANT: SecantRatio(),
        FitMethod.CLASSIFIER: switch.near,
        FitMethod.LOGISTIC: SklearnRatio(folds=None),
        FitMethod.TREES: boosted_trees(),
    }[method]
    return with_settings(estimator, n, session)


def wanted_estimator(
    method: FitMethod, rows: tuple[int, int], n_features: int, session: Session
) -> RatioEstimator | None:
    """The estimator of a comparison; None lets it choose by the loss on held-out rows."""
    if method is FitMethod.AUTO and not session.training:
        return None
    from secant.tasks.model_choice import default_ratio

    n = min(rows)
    return ratio_estimator(method, default_ratio(n, n_features), n, session)


def with_settings(estimator: Estimator, n: int, session: Session) -> Estimator:
    """The estimator and its parts with the session's training, progress and seed.

    Settings change the budget that the estimator would have for n rows.
    """
    parts = {"": estimator, **estimator.get_params(deep=True)}
    for name, value in tuple(parts.items())[1:]:
        owner, _, setting = name.rpartition("__")
        if setting == "training" and session.training:
            budget = parts[owner]._method(n, 1).training if value is None else value
            changed = replace(budget, **session.training)
            estimator.set_params(**{name: changed})
        elif setting == "progress" and session.quiet:
            estimator.set_params(**{name: False})
    estimator.set_params(random_state=session.seed)
    return estimator


def fit_status(ratio: RatioEstimator) -> dict[str, JSON]:
    """The name of the estimator that a fit uses, and how its training ended."""
    status = getattr(ratio.diagnostics_, "status", None)
    return {
        "estimator": type(getattr(ratio, "estimator_", ratio)).__name__,
        "status": "finished" if status is None else status.name.lower(),
    }

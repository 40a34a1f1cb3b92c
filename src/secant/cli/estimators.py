"""The estimators that commands fit, with the session's training and progress."""

from __future__ import annotations

import enum
from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

from secant.cli.session import Session

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator

    from secant.estimators import RatioEstimator

__all__ = ["Method", "ratio_estimator", "with_settings"]

Estimator = TypeVar("Estimator", bound="BaseEstimator")


class Method(enum.Enum):
    """By which a ratio is fitted."""

    AUTO = "auto"  # a classifier where the samples overlap, the secant where they do not
    SECANT = "secant"
    CLASSIFIER = "classifier"


def ratio_estimator(method: Method, n: int, d: int, session: Session) -> RatioEstimator:
    """The estimator of a method for n rows of d columns."""
    from secant.estimators import SecantRatio
    from secant.tasks.defaults import default_ratio, training_for

    if method is Method.SECANT:
        estimator: RatioEstimator = SecantRatio(training=training_for(n))
    else:
        switch = default_ratio(n, d)
        assert switch.near is not None
        estimator = switch if method is Method.AUTO else switch.near
    return with_settings(estimator, session)


def with_settings(estimator: Estimator, session: Session) -> Estimator:
    """The estimator and its parts with the session's training, progress and seed."""
    from secant.estimators import ChasmSwitch, SecantRatio
    from secant.training import Training

    if isinstance(estimator, ChasmSwitch) and estimator.far is None:
        estimator.set_params(far=SecantRatio())  # so that it gets the settings, too
    for name, value in estimator.get_params(deep=True).items():
        setting = name.rpartition("__")[2]
        if setting == "training" and session.training:
            changed = replace(value or Training(), **session.training)
            estimator.set_params(**{name: changed})
        elif setting == "progress" and session.quiet:
            estimator.set_params(**{name: False})
    estimator.set_params(random_state=session.seed)
    return estimator

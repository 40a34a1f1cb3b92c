"""What a fit leaves for a reader: its training, its diagnostics and its resolved settings."""

from __future__ import annotations

from dataclasses import dataclass, field

from secant.diagnostics import RatioDiagnostics
from secant.estimators import RatioEstimator
from secant.tasks.cross_fitting import CrossFit
from secant.training.settings import Record

__all__ = ["FitRecord", "fit_record", "fit_records", "one_line", "resolved_settings"]

# Parameters whose default is resolved under another name than their own with an underscore.
_RESOLVED = {"model": "builder_", "scaling": "scaling_rule_"}
_NOT_SETTINGS = ("progress", "random_state")


@dataclass(frozen=True)
class FitRecord:
    """One fit of a cross-fit.

    Attributes:
        fold: the fold it has not seen.
        estimator: the name of its class.
        history: of its training; empty for a fit without steps.
        diagnostics: on rows it was not trained on; None if it kept none.
    """

    fold: int
    estimator: str
    history: tuple[Record, ...] = field(repr=False)
    diagnostics: RatioDiagnostics | None = field(repr=False)


def fit_records(fits: CrossFit) -> tuple[FitRecord, ...]:
    """One record a fit, fold by fold."""
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


def one_line(value: object) -> str:
    """The repr of an object, its line breaks gone."""
    text = " ".join(repr(value).split())
    return text.replace("( ", "(").replace(" )", ")").replace(",)", ")")


def resolved_settings(fit: RatioEstimator) -> dict[str, str]:
    """The parameters of a fitted estimator, defaults filled in, as text."""
    inner = fit.in_use
    found = {"estimator": type(inner).__name__}
    for name, given in inner.get_params(deep=False).items():
        if name not in _NOT_SETTINGS:
            value = getattr(inner, _RESOLVED.get(name, f"{name}_"), given)
            found[name] = one_line(value)
    return found

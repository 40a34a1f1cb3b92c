"""Density estimators, ours and others', with one interface."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import dataclass
from functools import partial
from typing import Any

import jax
import numpy as np
from jaxtyping import Float
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KernelDensity

from secant.bases import Base, BaseRule, Copula, FullGaussian, Growth, Mixture
from secant.estimators import (
    D3RE,
    ISADRE,
    ClassifierRatio,
    DREInfinity,
    Identity,
    RatioEstimator,
    SecantRatio,
)
from secant.estimators.neural import PathMixin
from secant.integration import Rule, SecantSteps
from secant.models import AlignedSecant, ModulatedMLP, ResidualMLP, SpectralSecant, TangentNetwork
from secant.tasks import DensityEstimator
from secant.tasks.annealing import Annealing
from secant.tasks.learned_density import LearnedDensity
from secant.training import Training
from secant_bench.density.spline_flow import spline_flow
from secant_bench.suites.shared import EVALUATIONS, tangents

__all__ = ["METHODS", "Judge", "Judged", "Method", "Rows", "on_tables", "on_the_plane"]

Rows = Float[np.ndarray, "n d"]
Values = Float[np.ndarray, " n"]


@dataclass(frozen=True)
class Judged:
    """Log densities of the test rows, and the log normaliser subtracted from them."""

    log_density: Values
    log_normalizer: float | None = None
    log_normalizer_error: float | None = None
    normalised_by: str = "closed form"
    evaluations: int = 1


Judge = Callable[[Rows], Sequence[Judged]]
Method = Callable[[Rows, int], Judge]  # training rows, seed → scores of other rows


def _base_alone(rule: BaseRule) -> Method:
    def fit(train: Rows, seed: int) -> Judge:
        base = rule.fitted(train, seed)
        return lambda test: [Judged(base.log_prob(test), evaluations=0)]

    return fit


def _kernel_density(train: Rows, seed: int) -> Judge:
    del seed
    widths = {"bandwidth": np.geomspace(0.03, 1.0, 12)}
    found = GridSearchCV(KernelDensity(), widths, cv=3).fit(train)
    return lambda test: [Judged(found.best_estimator_.score_samples(test), evaluations=0)]


def _spline_flow(train: Rows, seed: int) -> Judge:
    log_density = spline_flow(train, seed)
    return lambda test: [Judged(log_density(test))]


def _density(make: Callable[[], DensityEstimator]) -> Method:
    def fit(train: Rows, seed: int) -> Judge:
        density = make().set_params(random_state=seed).fit(train)
        return lambda test: [_as_fitted(density, test)]

    return fit


def _as_fitted(density: DensityEstimator, test: Rows) -> Judged:
    found, ratio = density.normalizer_, density.ratio_
    evaluations = 1
    if isinstance(ratio, PathMixin):
        evaluations = ratio.integrate(density.base_.coordinates(test[:1]), ratio.rule_).evaluations
    value = density.score_samples(test)
    method = _named(found.method, found.doubt)
    return Judged(value, found.value, found.standard_error, method, evaluations)


def _named(method: str, doubt: str | None) -> str:
    """The method of a normaliser's estimate, and why it is unreliable if it is."""
    return method if doubt is None else f"{method} ({doubt})"


def _by_evaluations(make: Callable[[], RatioEstimator], rules: Sequence[Rule | None]) -> Method:
    """A ratio on a wide Gaussian base, one fit by several rules, each with its normaliser."""

    def fit(train: Rows, seed: int) -> Judge:
        base = _WIDE.fitted(train, seed)
        ratio = make().set_params(random_state=seed)
        pool = base.sample(jax.random.key(seed), min(4 * train.shape[0], _MOST_ROWS_OF_BASE))
        ratio.fit_samples(pool, base.coordinates(train))
        return lambda test: [_by_rule(base, ratio, test, rule, seed) for rule in rules]

    return fit


def _by_rule(base: Base, ratio: RatioEstimator, test: Rows, rule: Rule | None, seed: int) -> Judged:
    evaluations = 1
    if rule is not None and isinstance(ratio, PathMixin):
        ratio = copy(ratio)
        ratio.rule_ = rule
        evaluations = ratio.integrate(base.coordinates(test[:1]), rule).evaluations
    learned = LearnedDensity(base, ratio)
    found = learned.normaliser(jax.random.key(seed + 1), _FEWER_POPULATIONS)
    value = learned.log_density(test) - found.value
    method = _named(found.method, found.doubt)
    return Judged(value, found.value, found.standard_error, method, evaluations)


# At 1.5 times the rows' standard deviation the learned densities of BSDS300 have a mass; at 1,
# annealing finds exp(400) times too much of it where neither sample has rows.
_WIDE = FullGaussian(widening=1.5)
_MOST_ROWS_OF_BASE = 1_000_000
_FEWER_POPULATIONS = Annealing(n_populations=4)  # the fit is normalised once for every rule


# The comparison of methods: one trunk, one budget, one base.
_TRUNK = ResidualMLP(width=128, depth=3)
_RATIOS: dict[str, Callable[..., RatioEstimator]] = {
    "SecantRatio": partial(SecantRatio, SpectralSecant(trunk=_TRUNK)),
    "ISADRE": partial(ISADRE, AlignedSecant(ModulatedMLP(128, depth=3), order=8)),
    "D3RE": partial(D3RE, TangentNetwork(_TRUNK)),
    "DREInfinity": partial(DREInfinity, TangentNetwork(_TRUNK)),
    "NCE": partial(ClassifierRatio, "nce", trunk=_TRUNK),
    "PW-DRE": partial(ClassifierRatio, "pw", trunk=_TRUNK),
}


def _ratio(name: str, steps: int, **settings: Any) -> RatioEstimator:  # noqa: ANN401 -- as they take
    training = Training(steps=steps, patience=None)
    return _RATIOS[name](scaling=Identity(), training=training, **settings)


def _on_gaussian(name: str, steps: int, **settings: Any) -> DensityEstimator:  # noqa: ANN401
    return DensityEstimator(FullGaussian(), estimator=_ratio(name, steps, **settings))


def on_the_plane(names: Sequence[str], steps: int) -> dict[str, Method]:
    """Ratios on a Gaussian base, each with its default rule."""
    return {name: _density(partial(_on_gaussian, name, steps)) for name in names}


def on_tables(steps: int) -> dict[str, Method]:
    """Ratios on a Gaussian base, scored at several numbers of evaluations where possible."""
    secants, times = ([rule(m) for m in EVALUATIONS] for rule in (SecantSteps, tangents))
    rules: dict[str, Sequence[Rule | None]] = {
        "SecantRatio": secants[:1],  # exact for any number of secants
        "ISADRE": secants,
        "DREInfinity": times,
        "D3RE": times,
        "NCE": [None],
    }
    return {name: _by_evaluations(partial(_ratio, name, steps), r) for name, r in rules.items()}


METHODS: dict[str, Method] = {
    "secant": _density(DensityEstimator),
    "Gaussian": _base_alone(FullGaussian()),
    "Gaussian copula": _base_alone(Copula()),
    "mixture in copula space": _base_alone(Copula(Mixture(Growth()))),
    "kernel density": _kernel_density,
    "spline flow": _spline_flow,
    # By importance sampling its likelihood seems best; annealing estimates its mass more reliably.
    "D3RE, annealed": _density(partial(_on_gaussian, "D3RE", 6_000, rule=tangents(10))),
}

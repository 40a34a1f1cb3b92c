"""A density as a base times a ratio: log p̃, its normaliser, and sampling."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PRNGKeyArray

from secant._host.notebook import Summarised
from secant.bases import Base, Reference
from secant.diagnostics import Normaliser, log_normaliser
from secant.estimators import RatioEstimator
from secant.estimators.neural import NeuralMixin
from secant.integration import Rule, SecantSteps
from secant.models.secant_function import SecantFunction
from secant.scaling import Scaling
from secant.tasks.annealing import Annealed, Annealing, annealed

Rows = Float[np.ndarray, "n d"]
Values = Float[np.ndarray, " n"]

_ROWS_FOR_NORMALISER = 100_000
_CANDIDATES = 20  # rows of the base per row returned by importance resampling
_MOST_CANDIDATES = 2_000_000


@dataclass(frozen=True)
class LogNormalizer(Summarised):
    """log Ẑ = log ∫ r̂ p_0; it is 0 for the true ratio.

    Attributes:
        value: log Ẑ in nats, already subtracted in `score_samples`.
        standard_error: of `value`.
        method: the estimator used.
        importance: the plain estimate from rows of the base (Z1).
        doubt: why the estimate is unreliable; None if it is reliable.
    """

    value: float
    standard_error: float
    method: str
    importance: Normaliser
    doubt: str | None = None

    def __str__(self) -> str:
        value = f"log Z = {self.value:+.4f} ± {self.standard_error:.4f} nats, by {self.method}"
        return value if self.doubt is None else f"{value}; unreliable: {self.doubt}"


class _AnnealingPath(eqx.Module):
    """The densities along the path; p_0 r̂^t for a plain ratio.

    log p̃_t = log p_0 + Σ_m (t_{m+1} − t_m) u(·, t_m, t_{m+1}) over as many equal steps of [0, t] as
    the rule takes of [0, 1], so that p̃_1 is the density that is scored.
    """

    reference: Reference
    model: SecantFunction
    scaling: Scaling
    rule: Rule

    def __call__(self, y: Float[Array, "n d"], t: Float[Array, ""]) -> Float[Array, " n"]:
        return self.reference.log_prob(y) + self._log_ratio(self.scaling.traced(y), t)

    def _log_ratio(self, y: Float[Array, "n d"], t: Float[Array, ""]) -> Float[Array, " n"]:
        if isinstance(self.rule, SecantSteps):
            ends = t * jnp.linspace(0.0, 1.0, self.rule.n_steps + 1)
            rises = jax.vmap(partial(self._rise, y))(ends[:-1], ends[1:])
            return jnp.sum(rises, axis=0)
        return t * jnp.asarray(self.rule(self.model, y).value)

    def _rise(
        self, y: Float[Array, "n d"], l: Float[Array, ""], t: Float[Array, ""]
    ) -> Float[Array, " n"]:
        return (t - l) * self.model.secant(y, jnp.full(y.shape[0], l), jnp.full(y.shape[0], t))


@dataclass(frozen=True)
class LearnedDensity:
    """p̃(x) = r̂(x) p_0(x), with total mass Ẑ."""

    base: Base
    ratio: RatioEstimator

    def log_density(self, x: Rows) -> Values:
        """log p̃(x) of rows in the original columns."""
        y = self.base.coordinates(x)
        return (
            self.ratio.log_ratio(y)
            + self.base.reference_log_prob(y)
            + self.base.chart.log_volume(x)
        )

    def normaliser(self, key: PRNGKeyArray, annealing: Annealing) -> LogNormalizer:
        """log Ẑ by importance sampling from the base (Z1) or, if unreliable, by annealing (N3)."""
        key_base, key_path = jax.random.split(key)
        plain = log_normaliser(
            self.ratio.log_ratio(self.base.sample(key_base, _ROWS_FOR_NORMALISER))
        )
        if plain.is_reliable or self._path is None:
            method = "importance sampling from the base"
            return LogNormalizer(plain.log_value, plain.standard_error, method, plain, plain.doubt)
        found = self.annealed(key_path, annealing)
        method = "annealing along the path"
        return LogNormalizer(found.log_value, found.standard_error, method, plain, _doubt(found))

    def resampled(self, key: PRNGKeyArray, n: int) -> Rows:
        """n rows in the base's coordinates, by importance resampling from the base."""
        key_base, key_choice = jax.random.split(key)
        n_candidates = min(max(_CANDIDATES * n, 10_000), _MOST_CANDIDATES)
        candidates = self.base.sample(key_base, n_candidates)
        log_weights = self.ratio.log_ratio(candidates)
        weights = np.exp(log_weights - log_weights.max())
        rng = np.random.default_rng(int(jax.random.bits(key_choice)))
        return candidates[rng.choice(n_candidates, size=n, p=weights / weights.sum())]

    def annealed(self, key: PRNGKeyArray, annealing: Annealing) -> Annealed:
        """Rows and normaliser by annealing from the base to the learned density (N3)."""
        assert self._path is not None
        return annealed(self._path, self.base.reference.sample, annealing, key=key)

    @property
    def is_annealable(self) -> bool:
        """Whether the log ratio has a gradient, which Langevin steps need."""
        return self._path is not None

    @property
    def _path(self) -> _AnnealingPath | None:
        ratio = self.ratio.in_use
        if not isinstance(ratio, NeuralMixin):
            return None
        return _AnnealingPath(self.base.reference, ratio.model_, ratio.scaling_, ratio.rule_)


def _doubt(found: Annealed) -> str | None:
    if not found.standard_error < 0.5:
        return f"populations disagree, standard error {found.standard_error:.2f}"
    if not found.acceptance > 0.2:
        return f"{found.acceptance:.0%} of the moves were accepted"
    return None

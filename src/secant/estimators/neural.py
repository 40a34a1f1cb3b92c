"""Shared parts of estimators that train a network, whose parameters define a `Method`."""

from __future__ import annotations

import abc
import math
import sys
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any, Self

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator

from secant._host.jax_process import check_not_forked
from secant.anchoring import resolved_anchor
from secant.estimators.checks import check_on_disk_or, checked_labels, is_count
from secant.fitting import (
    Evaluation,
    Fitted,
    Method,
    evaluated,
    fit,
    held_out_score,
    one_behind,
    padded_blocks,
    self_checked,
)
from secant.integration import GaussLegendre, Integral, Rule, SelfCheck, secants, tangents
from secant.models.secant_function import SecantFunction
from secant.paths import Path
from secant.samples import Sample, Sampler
from secant.scaling import Scaling
from secant.targets.bridges import BRIDGES, bridge_loss
from secant.training.checkpoints import Folder, resuming
from secant.training.settings import Training

if TYPE_CHECKING:
    from secant.estimators._base import RatioEstimator as _Estimator
else:
    _Estimator = object


def resolved_name(parameter: str) -> str:
    """The attribute with the value of a parameter in use; `model_` and `scaling_` are fitted."""
    return {"model": "builder_", "scaling": "scaling_rule_"}.get(parameter, f"{parameter}_")


def composed(estimator: object, **defaults: Any) -> Method:  # noqa: ANN401, a part each
    """The parameters of an estimator as a method; parts it leaves out have their defaults.

    Args:
        estimator: its parameters have the names of the parts; None stands for the default.
        **defaults: defaults other than those of `Method`.
    """
    given = {part.name: getattr(estimator, part.name, None) for part in fields(Method)}
    if hasattr(estimator, "anchor"):
        given["anchor"] = resolved_anchor(estimator.anchor)
    return Method(**(defaults | {name: part for name, part in given.items() if part is not None}))


class NeuralMixin(_Estimator):
    """Fit, evaluation, gradients and score of an estimator whose parameters define a `Method`."""

    _pools_rows = True

    model_: SecantFunction
    scaling_: Scaling
    rule_: Rule
    path_: Path
    training_: Training
    progress: bool | None

    @abc.abstractmethod
    def _method(self, n_rows: float, n_features: int) -> Method:
        """The parameters as a method, for so many rows of the smaller sample and columns."""

    def _fitted(self, method: Method, samples: Any, seed: int) -> Fitted:  # noqa: ANN401
        """Run the fit; with several stages, return the last."""
        names = getattr(self, "feature_names_in_", None)
        return fit(method, samples, seed, names=names, progress=self.progress)

    def fit_sampler(self, sampler: Sampler, *, resume: Folder | None = None) -> Self:
        """Fit on rows drawn by a JAX-traceable function (key, n) → (x_0, x_1).

        The function is compiled into the training loop, so no row is used twice.

        Args:
            sampler: the function.
            resume: a folder for checkpoints, as for `fit_samples`.
        """
        seed = self._drawn_seed()
        n_features = jax.eval_shape(lambda key: sampler(key, 2), jax.random.key(0))[0].shape[1]
        with resuming(resume, self.random_state):
            self._learn(sampler, math.inf, n_features, seed)
        self.n_features_in_, self.class_prior_ = n_features, 0.5
        return self

    def _fit(self, sample_0: Sample, sample_1: Sample, seed: int) -> None:
        n_rows = min(s.rows.shape[0] for s in (sample_0, sample_1))
        self._learn((sample_0, sample_1), n_rows, sample_0.rows.shape[1], seed)

    def _learn(self, samples: Any, n_rows: float, n_features: int, seed: int) -> None:  # noqa: ANN401
        check_not_forked()
        fitted = self._fitted(self._method(n_rows, n_features), samples, seed)
        for part in fields(fitted.method):
            setattr(self, resolved_name(part.name), getattr(fitted.method, part.name))
        self.model_, self.scaling_, self.history_ = fitted.model, fitted.scaling, fitted.history
        assert fitted.diagnostics is not None  # there is a rule
        self.diagnostics_ = fitted.diagnostics

    def __sklearn_is_fitted__(self) -> bool:
        """Whether the estimator is fitted; a failed fit may leave `n_features_in_`."""
        return hasattr(self, "diagnostics_")

    def __repr__(self, N_CHAR_MAX: int = 700) -> str:
        """The constructor call; after a fit, with the parts that stood for None."""
        if not self.__sklearn_is_fitted__():
            return str(super().__repr__(N_CHAR_MAX))
        parts = {
            name: getattr(self, resolved_name(name), None) if value is None else value
            for name, value in self.get_params(deep=False).items()
        }
        return str(BaseEstimator.__repr__(type(self)(**parts), sys.maxsize))

    def _checked_input(self, X: ArrayLike) -> Float[np.ndarray, "n d"]:
        check_not_forked()
        return check_on_disk_or(super()._checked_input, self, X)

    def _log_ratio(self, X: Float[np.ndarray, "n d"]) -> Float[np.ndarray, " n"]:
        return np.asarray(evaluated(self.model_, X, self.rule_, scaling=self.scaling_).value)

    def _integrated(self, X: ArrayLike, rule: Evaluation) -> Integral:
        """A rule over rows as a user has them."""
        rows = self._checked_input(X)  # first: an unfitted estimator has no scaling yet
        return evaluated(self.model_, rows, rule, scaling=self.scaling_)

    def _scaled_input(self, X: ArrayLike) -> Float[np.ndarray, "n d"]:
        """Checked rows in scaled coordinates."""
        rows = self._checked_input(X)
        return self.scaling_(rows)

    def score(self, X: ArrayLike, y: ArrayLike) -> float:
        """Minus the held-out loss on the given rows: higher is better."""
        rows = self._scaled_input(X)
        labels = checked_labels(y, rows.shape[0])
        method = replace(self._method(math.inf, rows.shape[1]), path=self.path_)
        return -held_out_score(method, self.model_, rows[labels == 0], rows[labels == 1])

    def log_ratio_gradient(self, X: ArrayLike) -> Float[np.ndarray, "n d"]:
        """∂ log r̂(x)/∂x_i for each row and column, in nats per unit of the original column.

        The network's gradient times the slope of the scaling. A column given a normal margin has a
        slope with steps (its table is piecewise linear): for the contribution of a column, use
        `integrated_gradients`, which needs no slope. Adaptive rules are replaced by 16
        Gauss–Legendre nodes.
        """
        rows = self._checked_input(X)
        scaled = self._gradient(self.scaling_(rows))
        return scaled * self.scaling_.slope(rows)

    def integrated_gradients(
        self, X: ArrayLike, baseline: ArrayLike, *, n_nodes: int = 16
    ) -> Float[np.ndarray, "n d"]:
        """The contribution of each column to log r̂(x) − log r̂(b), in nats (A1).

        `(z_i − b_i) ∫_0^1 ∂_i log r̂(b + s(z − b)) ds`, rows summing to the difference; z and b are
        the rows in scaled columns. The line between them is straight there, so no unit matters.

        Args:
            X: rows (n, d).
            baseline: one row, or one per row of X.
            n_nodes: Gauss–Legendre nodes along the line, one gradient each.

        References:
            [@sundararajan2017axiomatic]
        """
        if not is_count(n_nodes, least=1):
            raise ValueError(f"`n_nodes` must be a whole number of at least 1; got {n_nodes!r}.")
        x = self.scaling_(self._checked_input(X))
        start = self.scaling_(self._checked_input(np.atleast_2d(np.asarray(baseline))))
        if start.shape[0] not in (1, x.shape[0]):
            raise ValueError(
                f"`baseline` must have 1 row, or {x.shape[0]}, as X has; got {start.shape[0]}."
            )
        start = np.broadcast_to(start, x.shape)
        nodes, weights = np.polynomial.legendre.leggauss(n_nodes)
        mean = np.zeros(x.shape)
        for s, weight in zip((nodes + 1.0) / 2.0, weights / 2.0, strict=True):
            mean += weight * self._gradient((start + s * (x - start)).astype(np.float32))
        return (x.astype(np.float64) - start) * mean

    def _gradient(self, scaled: Float[np.ndarray, "n d"]) -> Float[np.ndarray, "n d"]:
        """In scaled columns."""
        rule = self.rule_ if self.rule_.has_fixed_nodes else GaussLegendre()

        def total(x: Float[Array, "m d"]) -> Float[Array, ""]:
            return jnp.sum(jnp.asarray(rule(self.model_, x).value))

        blocks = one_behind(jax.grad(total)(block) for block in padded_blocks(scaled))
        return np.concatenate([np.asarray(block) for block in blocks])[: scaled.shape[0]].astype(
            np.float64
        )


class PathMixin(NeuralMixin):
    """Methods of a ratio learned along a path: log p_t − log p_l for all l ≤ t."""

    def integrate(self, X: ArrayLike, rule: Rule) -> Integral:
        """The log ratio by any rule, with its number of evaluations and error estimate."""
        return self._integrated(X, rule)

    def self_check(self, X: ArrayLike, n_steps: int = 8) -> SelfCheck:
        """One step against 2·n_steps steps on the same rows."""
        rows = self._scaled_input(X)  # first: an unfitted estimator has no model yet
        return self_checked(self.model_, rows, n_steps)

    def bridge_loss(self, x_0: ArrayLike, x_1: ArrayLike) -> float:
        """Mean of (K2) over long and short intervals, on new rows; lower is better.

        Unlike J it also evaluates off the path. Compare models of one path and scaling only.
        """
        rows_0, rows_1 = (jnp.asarray(self._scaled_input(x)) for x in (x_0, x_1))
        n = min(rows_0.shape[0], rows_1.shape[0])
        key = jax.random.key(0)
        losses = [
            bridge_loss(self.model_, self.path_, rows_0[:n], rows_1[:n], jnp.asarray(m), key=key)
            for m in BRIDGES
        ]
        return float(jnp.mean(jnp.stack(losses)))

    def secant(self, X: ArrayLike, l: ArrayLike, t: ArrayLike) -> Float[np.ndarray, " n"]:
        """u(x, l, t) = (log p_t(x) − log p_l(x)) / (t − l) for each row, 0 ≤ l ≤ t ≤ 1.

        Args:
            X: rows (n, d).
            l: start of the interval, one for all rows or one per row.
            t: its end, likewise; where l = t, the secant is the time score.
        """
        rows = self._scaled_input(X)
        ends = [_one_a_row(name, time, rows.shape[0]) for name, time in (("l", l), ("t", t))]
        # Written so that NaN fails too.
        if not np.all((ends[0] >= 0.0) & (ends[0] <= ends[1]) & (ends[1] <= 1.0)):
            raise ValueError(f"`l` and `t` must satisfy 0 <= l <= t <= 1; got l={l!r}, t={t!r}.")
        return np.asarray(evaluated(self.model_, np.column_stack([rows, *ends]), secants).value)

    def time_score(self, X: ArrayLike, t: ArrayLike) -> Float[np.ndarray, " n"]:
        """s(x, t) = ∂_t log p_t(x) for each row.

        Args:
            X: rows (n, d).
            t: the time, one for all rows or one per row.
        """
        rows = self._scaled_input(X)
        times = _one_a_row("t", t, rows.shape[0])
        if not np.all((times >= 0.0) & (times <= 1.0)):  # NaN is refused too
            raise ValueError(f"`t` must lie in [0, 1]; got {t!r}.")
        return np.asarray(evaluated(self.model_, np.column_stack([rows, times]), tangents).value)


def _one_a_row(name: str, time: ArrayLike, n: int) -> Float[np.ndarray, " n"]:
    """A time for each of n rows."""
    try:
        given = np.asarray(time, dtype=np.float64)
    except (TypeError, ValueError):
        raise TypeError(f"`{name}` must be a number or one per row; got {time!r}.") from None
    if given.shape not in ((), (1,), (n,)):
        raise ValueError(
            f"`{name}` must be a number or have one entry per row, shape ({n},); got shape "
            f"{given.shape}."
        )
    return np.broadcast_to(given, (n,))

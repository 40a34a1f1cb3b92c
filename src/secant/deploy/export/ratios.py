"""Programs of ratio estimators."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from secant.deploy.export.programs import ExportError, Inputs, Program
from secant.estimators import KernelRatio, RatioEstimator
from secant.estimators.kernel.linear_model import GaussianBasis
from secant.estimators.neural import NeuralMixin
from secant.integration import Quadrature, Rule, SecantSteps
from secant.models.secant_function import SecantFunction
from secant.scaling import FARTHEST, LEVELS, Scaling, tail

Rows = Float[Array, "n d"]


def fitted_part(estimator: RatioEstimator) -> NeuralMixin | KernelRatio:
    """The fitted estimator in use, if one selects among others.

    Raises:
        ExportError: If an estimator of this kind cannot be exported.
    """
    found = estimator.in_use
    if not isinstance(found, NeuralMixin | KernelRatio):
        raise ExportError(
            f"a {type(found).__name__} cannot be exported: it uses code outside secant. "
            "Fit a ClassifierRatio, a SecantRatio or a KernelRatio."
        )
    return found


def ratio_program(estimator: RatioEstimator) -> Program:
    """log r̂ as a program.

    Raises:
        ExportError: If a part of the estimator cannot be exported.
    """
    found = fitted_part(estimator)
    if isinstance(found, KernelRatio):
        return _kernel_program(found)
    model, rule, scaling = found.model_, found.rule_, found.scaling_
    _check_rule(rule)
    return Program(
        "log_ratio",
        found.n_features_in_,
        lambda x: Inputs((scaled(x, scaling),)),
        lambda x: _integral(model, rule, x),
    )


def scaled(x: Rows, scaling: Scaling) -> Rows:
    """`Scaling.precise` as a program in float64."""
    y = jnp.clip((x - scaling.center) / scaling.scale, -FARTHEST, FARTHEST)
    if not any(scaling.tabulated):
        return y
    tables = ColumnTables.of(list(scaling.knots))
    knots, levels = scaling.knots, np.broadcast_to(LEVELS, scaling.knots.shape)
    k = tables.interval(y)
    slope = tables.at(k, np.diff(levels) / np.diff(knots))
    inner = jnp.clip(y, knots[:, 0], knots[:, -1])
    inside = tables.at(k, levels) + slope * (inner - tables.at(k, knots))
    mapped = inside + tail(y, knots[:, 0], knots[:, -1], jnp)
    return jnp.where(np.array(scaling.tabulated), mapped, y)


def _check_rule(rule: Rule) -> None:
    if not isinstance(rule, SecantSteps | Quadrature):
        raise ExportError(
            f"the rule {rule!r} cannot be exported: its evaluations depend on the rows. Fit with "
            "fixed evaluations, such as rule=GaussLegendre(32)."
        )


def _integral(model: SecantFunction, rule: Rule, x: Rows) -> Float[Array, " n"]:
    if not isinstance(rule, Quadrature):
        return jnp.asarray(rule(model, x).value)

    # A loop, because converting fifty copies of a network takes half a minute.
    def step(
        total: Float[Array, " n"], node: tuple[Float[Array, ""], ...]
    ) -> tuple[Float[Array, " n"], None]:
        time, weight = node
        return total + weight * model.time_score(x, jnp.full(x.shape[0], time, x.dtype)), None

    nodes = [jnp.asarray(values, x.dtype) for values in rule.nodes()]
    return jax.lax.scan(step, jnp.zeros(x.shape[0], x.dtype), tuple(nodes))[0]


def _kernel_program(estimator: KernelRatio) -> Program:
    """The whole program is in double precision, because large coefficients cancel."""
    scaling, link = estimator.scaling_, estimator.link_
    centers, coefficients = estimator.centers_, estimator.coefficients_
    basis = GaussianBasis(centers, estimator.bandwidth_)

    def prepare(x: Rows) -> Inputs:
        y = scaled(x, scaling)
        squares = jnp.sum(y**2, axis=1)[:, None] - 2.0 * (y @ centers.T) + np.sum(centers**2, 1)
        relative = basis.at(jnp.maximum(squares, 0.0), jnp) @ coefficients
        return Inputs((), link.log_ratio(relative, jnp))

    return Program("log_ratio", estimator.n_features_in_, prepare, None)


@dataclass(frozen=True)
class ColumnTables:
    """Look-up of intervals in tables of increasing edges, one table per column.

    Attributes:
        edges: (d, m), each row padded with its last edge.
        last: number of each column's last interval.
    """

    edges: Float[np.ndarray, "d m"]
    last: Int[np.ndarray, " d"]

    @classmethod
    def of(cls, edges: Sequence[Float[np.ndarray, " k"]]) -> ColumnTables:
        """From the edges of each column, at least two."""
        return cls(filled_up(edges), np.array([e.size - 2 for e in edges], dtype=np.int32))

    def interval(self, y: Float[Array, "n d"]) -> Int[Array, "n d"]:
        """The number k of the interval [e_k, e_{k+1}) of each value; the first or last beyond.

        By bisection: a few look-ups per value, without a loop.
        """
        k = jnp.zeros(y.shape, dtype=np.int32)
        edges = jnp.asarray(self.edges)  # once, because every constant is stored in the file
        step = 1 << (self.edges.shape[1] - 1).bit_length()
        while step:
            further = jnp.minimum(k + np.int32(step), self.last)
            k = jnp.where(y >= self.at(further, edges), further, k)
            step //= 2
        return k

    def at(
        self, k: Int[Array, "n d"], values: Float[np.ndarray, "d m"] | Float[Array, "d m"]
    ) -> Float[Array, "n d"]:
        """`values[i, k]` for each k in column i."""
        d, m = values.shape
        first = m * np.arange(d, dtype=np.int32)
        return jnp.take(jnp.asarray(values.reshape(-1)), first + k, mode="clip")


def filled_up(rows: Sequence[Float[np.ndarray, " k"]]) -> Float[np.ndarray, "d m"]:
    """Rows of different lengths as one array, each with its last value repeated."""
    m = max(row.size for row in rows)
    return np.stack([np.pad(row, (0, m - row.size), mode="edge") for row in rows])

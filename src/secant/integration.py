"""Integration rules: from a secant or a time score to the log ratio."""

from __future__ import annotations

import abc
from collections.abc import Callable
from functools import partial
from itertools import pairwise
from typing import ClassVar, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float
from scipy.integrate import solve_ivp

from secant._host.jax_process import quickly_compiled
from secant.models.secant_function import SecantFunction

__all__ = [
    "Adaptive",
    "GaussLegendre",
    "Integral",
    "Quadrature",
    "Rule",
    "RungeKutta",
    "SecantSteps",
    "SelfCheck",
    "Trapezoid",
    "quickly_compiled_steps",
    "secants",
    "self_check",
    "tangents",
]

# The activations of a block fit into a core's cache: with blocks of 8192 rows, width 256 and an
# anchor of four pairs took 1.8 times as long per row.
_TILE = 1024


class Integral(NamedTuple):
    """log p_t(x) − log p_l(x) for each row, with its number of evaluations and error estimate."""

    value: Float[Array, " n"] | Float[np.ndarray, " n"]
    evaluations: int  # network evaluations per row
    error: float  # largest difference from the rule's coarser answer; nan if it has none


class Rule(eqx.Module):
    """A way to integrate a model's time score over [l, t] at fixed x."""

    has_fixed_nodes: ClassVar[bool] = True  # whether its times are independent of the rows

    @abc.abstractmethod
    def __call__(
        self, model: SecantFunction, x: Float[Array, "n d"], l: float = 0.0, t: float = 1.0
    ) -> Integral:
        """The integral for each row."""


# Only one evaluation is compiled: the whole rule would have a copy of the network for each node.
@eqx.filter_jit
def _plus_time_score(
    total: Float[Array, " n"],
    model: SecantFunction,
    x: Float[Array, "n d"],
    t: Float[Array, ""],
    weight: Float[Array, ""],
) -> Float[Array, " n"]:
    return total + weight * model.time_score(x, jnp.full(x.shape[0], t, x.dtype))


def _with_rise(
    total: Float[Array, " n"],
    model: SecantFunction,
    x: Float[Array, "n d"],
    l: Float[Array, ""],
    t: Float[Array, ""],
) -> Float[Array, " n"]:
    ends = (jnp.full(x.shape[0], time, x.dtype) for time in (l, t))
    return total + (t - l).astype(x.dtype) * model.secant(x, *ends)


_plus_rise = eqx.filter_jit(_with_rise)
_plus_rise_for_few_rows = quickly_compiled(_with_rise, level=0)


@eqx.filter_jit
def _log_ratio(model: SecantFunction, x: Float[Array, "n d"]) -> Float[Array, " n"]:
    n: object = x.shape[0]  # not an integer in a program that is exported for any number of rows
    if jax.default_backend() != "cpu" or not isinstance(n, int) or n <= _TILE or n % _TILE:
        return model.log_ratio(x)
    return jax.lax.map(model.log_ratio, x.reshape(-1, _TILE, x.shape[1])).reshape(n)


def _nothing(x: Float[Array, "n d"]) -> Float[Array, " n"]:
    """An empty sum, on the host unless the number of rows is symbolic."""
    n: object = x.shape[0]
    if isinstance(n, int):
        return jax.device_put(np.zeros(n, x.dtype))
    return jnp.zeros(x.shape[:1], x.dtype)


def _weighted_scores(
    model: SecantFunction, x: Float[Array, "n d"], times: np.ndarray, weights: np.ndarray
) -> Float[Array, " n"]:
    total = _nothing(x)
    for node in zip(times.astype(x.dtype), weights.astype(x.dtype), strict=True):
        total = _plus_time_score(total, model, x, *jax.device_put(node))
    return total


def _check_steps(name: str, n_steps: object, least: int) -> None:
    if not isinstance(n_steps, int | np.integer) or isinstance(n_steps, bool):
        raise TypeError(f"{name} needs a whole number of steps; got {n_steps!r}.")
    if n_steps < least:
        raise ValueError(f"{name} needs at least {least} step(s); got {n_steps}.")


class SecantSteps(Rule):
    """Σ_m (t_{m+1} − t_m) u(x, t_m, t_{m+1}) over equal steps; one step is the one-pass ratio."""

    n_steps: int = 1

    def __check_init__(self) -> None:
        _check_steps("SecantSteps", self.n_steps, 1)

    def __call__(
        self, model: SecantFunction, x: Float[Array, "n d"], l: float = 0.0, t: float = 1.0
    ) -> Integral:
        """The integral for each row."""
        if self.n_steps == 1 and (l, t) == (0.0, 1.0):
            return Integral(_log_ratio(model, x), model.secant_evaluations, float("nan"))
        return _risen(model, x, np.linspace(l, t, self.n_steps + 1), _plus_rise)


def quickly_compiled_steps(
    n_steps: int,
) -> Callable[[SecantFunction, Float[Array, "n d"]], Integral]:
    """`SecantSteps(n_steps)` by programs that take half as long to compile: for few rows."""
    ends = np.linspace(0.0, 1.0, n_steps + 1)
    return partial(_risen, ends=ends, plus=_plus_rise_for_few_rows)


def _risen(
    model: SecantFunction,
    x: Float[Array, "n d"],
    ends: Float[np.ndarray, " m"],
    plus: Callable[..., Float[Array, " n"]],
) -> Integral:
    total = _nothing(x)
    for left, right in pairwise(ends):
        ends_of_step = np.asarray([left, right], dtype=x.dtype)
        total = plus(total, model, x, *jax.device_put(tuple(ends_of_step)))
    return Integral(total, (len(ends) - 1) * model.secant_evaluations, float("nan"))


class Quadrature(Rule):
    """A weighted sum of time scores at times that do not depend on the rows."""

    @abc.abstractmethod
    def nodes(
        self, l: float = 0.0, t: float = 1.0
    ) -> tuple[Float[np.ndarray, " m"], Float[np.ndarray, " m"]]:
        """Times in [l, t] and their weights."""

    def __call__(
        self, model: SecantFunction, x: Float[Array, "n d"], l: float = 0.0, t: float = 1.0
    ) -> Integral:
        """The integral for each row."""
        times, weights = self.nodes(l, t)
        return Integral(_weighted_scores(model, x, times, weights), times.size, float("nan"))


class Trapezoid(Quadrature):
    """The trapezoid rule with `n_evaluations` equally spaced time scores."""

    n_evaluations: int = 50

    def __check_init__(self) -> None:
        _check_steps("Trapezoid", self.n_evaluations, 2)

    def nodes(
        self, l: float = 0.0, t: float = 1.0
    ) -> tuple[Float[np.ndarray, " m"], Float[np.ndarray, " m"]]:
        """Times in [l, t] and their weights."""
        weights = np.full(self.n_evaluations, (t - l) / (self.n_evaluations - 1))
        weights[[0, -1]] *= 0.5
        return np.linspace(l, t, self.n_evaluations), weights


class GaussLegendre(Quadrature):
    """Gauss–Legendre with `n_evaluations` nodes: exact for polynomials of degree 2n − 1 in t."""

    n_evaluations: int = 16

    def __check_init__(self) -> None:
        _check_steps("GaussLegendre", self.n_evaluations, 1)

    def nodes(
        self, l: float = 0.0, t: float = 1.0
    ) -> tuple[Float[np.ndarray, " m"], Float[np.ndarray, " m"]]:
        """Times in [l, t] and their weights."""
        nodes, weights = np.polynomial.legendre.leggauss(self.n_evaluations)
        return l + 0.5 * (t - l) * (nodes + 1.0), 0.5 * (t - l) * weights


class Adaptive(Rule):
    """Gauss–Legendre with nodes doubled until two answers agree, over all rows at once.

    Attributes:
        tolerance: largest difference between two successive answers, in nats.
        max_evaluations: give up (and report the difference reached) at this many nodes.
    """

    has_fixed_nodes: ClassVar[bool] = False

    tolerance: float = 1e-3
    max_evaluations: int = 256

    def __check_init__(self) -> None:
        if self.tolerance <= 0.0:
            raise ValueError(f"Adaptive needs tolerance > 0; got {self.tolerance}.")
        _check_steps("Adaptive", self.max_evaluations, 8)

    def __call__(
        self, model: SecantFunction, x: Float[Array, "n d"], l: float = 0.0, t: float = 1.0
    ) -> Integral:
        """The integral for each row; the error is the last difference."""
        nodes, spent = 4, 4
        value = GaussLegendre(nodes)(model, x, l, t).value
        error = float("inf")
        while error > self.tolerance and 2 * nodes <= self.max_evaluations:
            nodes *= 2
            spent += nodes
            finer = GaussLegendre(nodes)(model, x, l, t).value
            error = float(np.max(np.abs(np.asarray(finer) - np.asarray(value)), initial=0.0))
            value = finer
        return Integral(value, spent, error)


class RungeKutta(Rule):
    """The adaptive Dormand–Prince solver (SciPy's RK45) on ∂_t log p_t(x) = s(x, t), x fixed.

    With x fixed the solution is an integral, so `Adaptive` reaches the same accuracy with fewer
    evaluations. This solver is used in the papers on DRE-∞ and its successors.

    Attributes:
        tolerance: absolute and relative, in nats.
    """

    has_fixed_nodes: ClassVar[bool] = False

    tolerance: float = 1e-3

    def __check_init__(self) -> None:
        if not self.tolerance > 0.0:
            raise ValueError(f"RungeKutta needs tolerance > 0; got {self.tolerance}.")

    def __call__(
        self, model: SecantFunction, x: Float[Array, "n d"], l: float = 0.0, t: float = 1.0
    ) -> Integral:
        """The integral for each row; all rows share one step size."""

        def rate(time: float, _: np.ndarray) -> np.ndarray:
            return np.asarray(_weighted_scores(model, x, np.array([time]), np.ones(1)), np.float64)

        start = np.zeros(x.shape[0])
        answer = solve_ivp(
            rate, (l, t), start, method="RK45", rtol=self.tolerance, atol=self.tolerance
        )
        return Integral(answer.y[:, -1], int(answer.nfev), float("nan"))


def tangents(model: SecantFunction, rows: Float[Array, "n d_plus_1"]) -> Integral:
    """s(x, t) of rows (x, t), as an `Integral`."""
    return Integral(_tangents(model, rows), 1, float("nan"))


@eqx.filter_jit
def _tangents(model: SecantFunction, rows: Float[Array, "n d_plus_1"]) -> Float[Array, " n"]:
    return model.time_score(rows[:, :-1], rows[:, -1])


def secants(model: SecantFunction, rows: Float[Array, "n d_plus_2"]) -> Integral:
    """u(x, l, t) of rows (x, l, t), as an `Integral`; the time score where l = t."""
    return Integral(_secants(model, rows), model.secant_evaluations, float("nan"))


@eqx.filter_jit
def _secants(model: SecantFunction, rows: Float[Array, "n d_plus_2"]) -> Float[Array, " n"]:
    x, l, t = rows[:, :-2], rows[:, -2], rows[:, -1]
    return jnp.where(l < t, model.secant(x, l, t), model.time_score(x, t))


class SelfCheck(NamedTuple):
    """Difference between the one-step and the many-step log ratio, in nats."""

    mean: float
    root_mean_square: float
    evaluations: int

    @classmethod
    def of(cls, one: Integral, many: Integral) -> SelfCheck:
        """The difference between two integrals of the same rows."""
        gap = np.asarray(one.value) - np.asarray(many.value)
        rms = float(np.sqrt(np.mean(gap**2)))
        return cls(float(gap.mean()), rms, one.evaluations + many.evaluations)


def self_check(model: SecantFunction, x: Float[Array, "n d"], n_steps: int = 8) -> SelfCheck:
    """One step against 2M steps at the same rows; zero for an exactly additive secant (K1)."""
    return SelfCheck.of(SecantSteps(1)(model, x), SecantSteps(2 * n_steps)(model, x))

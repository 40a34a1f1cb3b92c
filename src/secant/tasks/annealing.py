"""Sequential Monte Carlo from a base to a learned density: its normaliser, and samples (N3)."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PRNGKeyArray
from scipy.special import logsumexp

Rows = Float[Array, "n d"]
Values = Float[Array, " n"]
LogPath = Callable[[Rows, Float[Array, ""]], Values]  # log p̃_t(y), normalised at t = 0

_WANTED_ACCEPTANCE = 0.6
_ADAPTATION = 1.0  # how fast the step size follows the acceptance


class Annealing(eqx.Module):
    """Settings of annealing along the path.

    Attributes:
        n_stages: number of times after 0 = t_0 < … < t_K = 1.
        n_moves: Langevin moves at each time.
        n_rows: rows of one population.
        n_populations: independent populations; their spread gives the standard error.
    """

    n_stages: int = 60
    n_moves: int = 4
    n_rows: int = 512
    n_populations: int = 8

    def for_rows(self, n: int) -> Annealing:
        """The same settings with enough populations for n rows."""
        return eqx.tree_at(lambda a: a.n_populations, self, -(-n // self.n_rows))


@dataclass(frozen=True)
class Annealed:
    """Rows of the learned density and its log normaliser.

    Attributes:
        rows: (n, d) equally weighted, in the base's coordinates.
        log_value: log Ẑ.
        standard_error: from the spread of independent populations.
        acceptance: mean share of accepted moves.
    """

    rows: Float[np.ndarray, "n d"]
    log_value: float
    standard_error: float
    acceptance: float


class _Population(NamedTuple):
    y: Rows
    log_weights: Values  # normalised
    log_z: Float[Array, ""]
    step: Float[Array, ""]


def annealed(
    log_path: LogPath,
    start: Callable[[PRNGKeyArray, int], Rows],
    annealing: Annealing,
    *,
    key: PRNGKeyArray,
) -> Annealed:
    """Sequential Monte Carlo along the densities log p̃_t, from t = 0 to t = 1 (N3).

    Args:
        log_path: log p̃_t(y) for rows and a time; an equinox module or function of JAX.
        start: draws rows of p̃_0, which is normalised.
        annealing: stages, moves and rows.
        key: random key.

    References:
        [@delmoral2006sequential]
    """
    found = [
        _population(log_path, start, annealing, k)
        for k in jax.random.split(key, annealing.n_populations)
    ]
    log_z = np.array([float(f[1]) for f in found])
    log_value = float(logsumexp(log_z) - math.log(log_z.size))
    spread = np.exp(log_z - log_value).std(ddof=1) if log_z.size > 1 else math.nan
    rng = np.random.default_rng(np.asarray(jax.random.bits(key)).item())
    return Annealed(
        _gathered([np.asarray(f[0]) for f in found], np.exp(log_z - log_value), rng),
        log_value,
        float(spread / math.sqrt(log_z.size)),
        float(np.mean([float(f[2]) for f in found])),
    )


def _gathered(
    populations: list[Float[np.ndarray, "n d"]],
    masses: Float[np.ndarray, " p"],
    rng: np.random.Generator,
) -> Float[np.ndarray, "m d"]:
    """Rows of all populations in random order, in proportion to their estimates of the mass."""
    n = populations[0].shape[0]
    counts = rng.multinomial(n * len(populations), masses / masses.sum())
    parts = [
        rows[np.resize(rng.permutation(n), count)]
        for rows, count in zip(populations, counts, strict=True)
    ]
    return rng.permutation(np.concatenate(parts))


@eqx.filter_jit
def _population(
    log_path: LogPath,
    start: Callable[[PRNGKeyArray, int], Rows],
    annealing: Annealing,
    key: PRNGKeyArray,
) -> tuple[Rows, Float[Array, ""], Float[Array, ""]]:
    key_start, key_stages, key_last = jax.random.split(key, 3)
    n = annealing.n_rows
    y = start(key_start, n)
    first = _Population(y, jnp.full(n, -math.log(n)), jnp.zeros(()), jnp.asarray(0.1))
    times = jnp.linspace(0.0, 1.0, annealing.n_stages + 1)
    keys = jax.random.split(key_stages, annealing.n_stages)
    stage = partial(_stage, log_path, annealing.n_moves)
    last, accepted = jax.lax.scan(stage, first, (times[:-1], times[1:], keys))
    key_last, key_apart = jax.random.split(key_last)
    rows = last.y[_systematic(key_last, last.log_weights)]
    # Moved once more, so that rows resampled twice differ.
    rows, _, _ = _moved(
        lambda y: log_path(y, times[-1]), rows, last.step, 2 * annealing.n_moves, key_apart
    )
    return rows, last.log_z, jnp.mean(accepted)


def _stage(
    log_path: LogPath,
    n_moves: int,
    state: _Population,
    now: tuple[Float[Array, ""], Float[Array, ""], PRNGKeyArray],
) -> tuple[_Population, Float[Array, ""]]:
    """Reweight to the next density, resample if few rows carry the weight, then move."""
    before, after, key = now
    key_resample, key_moves = jax.random.split(key)
    rise = log_path(state.y, after) - log_path(state.y, before)
    log_weights = state.log_weights + rise
    gain = jax.nn.logsumexp(log_weights)
    log_weights = log_weights - gain
    n = state.y.shape[0]
    few = jnp.exp(-jax.nn.logsumexp(2.0 * log_weights)) < 0.5 * n
    index = jnp.where(few, _systematic(key_resample, log_weights), jnp.arange(n))
    log_weights = jnp.where(few, -math.log(n), log_weights)
    y, step, accepted = _moved(
        lambda y: log_path(y, after), state.y[index], state.step, n_moves, key_moves
    )
    return _Population(y, log_weights, state.log_z + gain, step), accepted


def _systematic(key: PRNGKeyArray, log_weights: Values) -> Array:
    n = log_weights.size
    places = (jnp.arange(n) + jax.random.uniform(key)) / n
    return jnp.clip(jnp.searchsorted(jnp.cumsum(jnp.exp(log_weights)), places), 0, n - 1)


def _moved(
    density: Callable[[Rows], Values],
    y: Rows,
    step: Float[Array, ""],
    n_moves: int,
    key: PRNGKeyArray,
) -> tuple[Rows, Float[Array, ""], Float[Array, ""]]:
    """Metropolis-adjusted Langevin moves; the step size adapts to the acceptance rate."""

    def value_and_slope(y: Rows) -> tuple[Values, Rows]:
        value, back = jax.vjp(density, y)
        return value, back(jnp.ones_like(value))[0]

    def move(
        state: tuple[Rows, Values, Rows, Float[Array, ""]], key: PRNGKeyArray
    ) -> tuple[tuple[Rows, Values, Rows, Float[Array, ""]], Float[Array, ""]]:
        y, value, slope, step = state
        key_noise, key_accept = jax.random.split(key)
        noise = jax.random.normal(key_noise, y.shape)
        there = y + 0.5 * step**2 * slope + step * noise
        value_there, slope_there = value_and_slope(there)
        back = (y - there - 0.5 * step**2 * slope_there) / step
        log_odds = value_there - value + 0.5 * jnp.sum(noise**2 - back**2, axis=1)
        chance = jnp.exp(jnp.minimum(jnp.nan_to_num(log_odds, nan=-jnp.inf), 0.0))
        accept = jax.random.uniform(key_accept, chance.shape) < chance
        y = jnp.where(accept[:, None], there, y)
        slope = jnp.where(accept[:, None], slope_there, slope)
        value = jnp.where(accept, value_there, value)
        step = step * jnp.exp(_ADAPTATION * (jnp.mean(chance) - _WANTED_ACCEPTANCE))
        return (y, value, slope, step), jnp.mean(chance)

    start = (y, *value_and_slope(y), step)
    (y, _, _, step), accepted = jax.lax.scan(move, start, jax.random.split(key, n_moves))
    return y, step, jnp.mean(accepted)

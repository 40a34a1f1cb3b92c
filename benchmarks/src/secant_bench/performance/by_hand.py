"""A ratio fit written by hand in JAX and optax, in one file, as a lower reference for the cost.

Residual SiLU network with a spectral head, the velocity form E[f² − 2 ẋ·∇f] on the trigonometric
interpolant, clipped Adam with warm-up and cosine decay, averaged weights; all steps in one compiled
loop, then scoring. It does not import the library. It prints one line of JSON.
"""

from __future__ import annotations

import argparse
import json
import time
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax
from jaxtyping import Array, Float, PRNGKeyArray

__all__ = ["Settings", "fit", "log_ratio", "losses", "rows", "true_log_ratio"]

ORDER = 12  # number of Legendre polynomials of the head
N_ROWS, N_COLUMNS = 2_000, 5
SHIFT, CORRELATION = 0.5, 0.5
AVERAGE = 0.999
_COMPILED = "/jax/core/compile/backend_compile_duration"
_JUDGE_ROWS, _JUDGE_SEED = 20_000, 2_000_000

Numbers = Array | np.ndarray
Weights = list[tuple[Numbers, Numbers]]  # of the entry, of each residual layer, of the head


class Settings(NamedTuple):
    """Settings of the network and its training."""

    steps: int = 6000
    batch_size: int = 512
    width: int = 256
    depth: int = 2
    learning_rate: float = 1e-3
    warmup: int = 200


def covariance(d: int = N_COLUMNS) -> Float[np.ndarray, "d d"]:
    """The covariance of p_1: unit variances, all columns equally correlated."""
    return (1.0 - CORRELATION) * np.eye(d) + CORRELATION


def rows(seed: int, n: int = N_ROWS) -> tuple[Float[np.ndarray, "n d"], Float[np.ndarray, "n d"]]:
    """Rows of p_0 = N(0, I), and of p_1, shifted and correlated."""
    rng = np.random.default_rng(seed)
    factor = np.linalg.cholesky(covariance())
    x_0, z = rng.standard_normal((2, n, N_COLUMNS))
    return x_0, SHIFT + z @ factor.T


def true_log_ratio(x: Float[np.ndarray, "n d"]) -> Float[np.ndarray, " n"]:
    """log p_1 − log p_0 in closed form."""
    moved = x - SHIFT
    quadratic = np.sum(moved @ np.linalg.inv(covariance()) * moved, axis=1)
    return 0.5 * (np.sum(x**2, axis=1) - quadratic - np.linalg.slogdet(covariance())[1])


def fresh_weights(d: int, settings: Settings, seed: int) -> Weights:
    """Normal weights at half the He scale, a head of zeros."""
    rng = np.random.default_rng(seed)
    shapes = [(d, settings.width), *[(settings.width, settings.width)] * settings.depth]
    drawn = [0.5 * np.sqrt(2.0 / i) * rng.standard_normal((i, o)) for i, o in shapes]
    layers = [*drawn, np.zeros((settings.width, ORDER))]
    return [(w.astype(np.float32), np.zeros(w.shape[1], np.float32)) for w in layers]


def coefficients(weights: Weights, x: Float[Array, "n d"]) -> Float[Array, "n order"]:
    """h_0(x) … h_{order−1}(x); the first is the log ratio."""
    (entry, bias), *layers, (head, head_bias) = weights
    h = jax.nn.silu(x @ entry + bias)
    for weight, bias in layers:
        h = h + jax.nn.silu(h @ weight + bias)
    return h @ head + head_bias


def legendre(t: Float[Array, " n"]) -> Float[Array, "n order"]:
    """Orthonormal Legendre polynomials on [0, 1]."""
    y = 2.0 * t - 1.0
    values = [jnp.ones_like(y), y]
    for k in range(1, ORDER - 1):
        values.append(((2 * k + 1) * y * values[k] - k * values[k - 1]) / (k + 1))
    return jnp.stack(values, axis=-1) * np.sqrt(2.0 * np.arange(ORDER) + 1.0).astype(np.float32)


def losses(
    weights: Weights, x_0: Float[Array, "n d"], x_1: Float[Array, "n d"], t: Float[Array, " n"]
) -> Float[Array, " n"]:
    """f² − 2 ẋ_t·∇f at x_t = cos(πt/2) x_0 + sin(πt/2) x_1, in one JVP."""
    cos, sin = jnp.cos(0.5 * jnp.pi * t)[:, None], jnp.sin(0.5 * jnp.pi * t)[:, None]
    x_t, velocity = cos * x_0 + sin * x_1, 0.5 * jnp.pi * (cos * x_1 - sin * x_0)
    basis = legendre(t)

    def time_score(x: Float[Array, "n d"]) -> Float[Array, " n"]:
        return jnp.sum(coefficients(weights, x) * basis, axis=-1)

    value, along = jax.jvp(time_score, (x_t,), (velocity,))
    return value**2 - 2.0 * along


def optimiser(settings: Settings) -> optax.GradientTransformation:
    """Clipped Adam with warm-up and cosine decay."""
    warmup = min(settings.warmup, settings.steps // 2)
    rate = optax.warmup_cosine_decay_schedule(0.0, settings.learning_rate, warmup, settings.steps)
    return optax.chain(optax.clip_by_global_norm(1.0), optax.adam(rate))


def fit(
    x_0: Float[np.ndarray, "n d"],
    x_1: Float[np.ndarray, "n d"],
    settings: Settings,
    seed: int,
) -> Weights:
    """The averaged weights after all steps."""
    rule = optimiser(settings)

    def step(
        data: tuple[Array, Array],
        state: Any,  # noqa: ANN401 -- a pytree
        number: Array,
    ) -> tuple[Any, Array]:
        weights, average, memory, key = state
        key, key_rows, key_times = jax.random.split(key, 3)
        batch = drawn(key_rows, key_times, data, settings.batch_size)
        loss, slope = jax.value_and_grad(lambda w: jnp.mean(losses(w, *batch)))(weights)
        updates, memory = rule.update(slope, memory, weights)
        weights = optax.apply_updates(weights, updates)
        decay = jnp.minimum(AVERAGE, (1.0 + number) / (10.0 + number))
        average = optax.incremental_update(weights, average, 1.0 - decay)
        return (weights, average, memory, key), loss

    @jax.jit
    def train(weights: Weights, bits: Array, data: tuple[Array, Array]) -> Weights:
        state = (weights, weights, rule.init(weights), jax.random.wrap_key_data(bits))
        (_, average, *_), _ = jax.lax.scan(partial(step, data), state, jnp.arange(settings.steps))
        return average

    data = (x_0.astype(np.float32), x_1.astype(np.float32))
    bits = np.array([0, seed], np.uint32)
    trained: Weights = train(fresh_weights(x_0.shape[1], settings, seed), bits, data)
    return trained


def drawn(
    key_rows: PRNGKeyArray, key_times: PRNGKeyArray, data: tuple[Array, Array], n: int
) -> tuple[Array, Array, Array]:
    """n rows of each sample with replacement, and stratified times."""
    first, second = jax.random.randint(key_rows, (2, n), 0, data[0].shape[0])
    t = (jnp.arange(n) + jax.random.uniform(key_times, (n,))) / n
    return data[0][first], data[1][second], t


@jax.jit
def log_ratio(weights: Weights, x: Float[Array, "n d"]) -> Float[Array, " n"]:
    """h_0(x)."""
    return coefficients(weights, x)[:, 0]


def measured(settings: Settings, seed: int) -> dict[str, Any]:
    """The cost of a fit and of scoring its rows, and the errors on fresh rows."""
    x_0, x_1 = rows(seed)
    programs: list[float] = []

    def heard(event: str, duration_secs: float, **kwargs: str | int) -> None:
        del kwargs
        if event == _COMPILED:
            programs.append(duration_secs)

    jax.monitoring.register_event_duration_secs_listener(heard)
    jax.devices()  # exclude the start of JAX
    cpu, wall = time.process_time(), time.perf_counter()
    pooled = np.concatenate([x_0, x_1])
    mean, scale = pooled.mean(axis=0), pooled.std(axis=0)
    weights = fit((x_0 - mean) / scale, (x_1 - mean) / scale, settings, seed)
    np.asarray(log_ratio(weights, ((x_1 - mean) / scale).astype(np.float32)))
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    found = {"seconds": wall, "cpu_seconds": cpu, "programs": len(programs)}
    for number, x in enumerate(rows(_JUDGE_SEED + seed, _JUDGE_ROWS)):
        miss = log_ratio(weights, ((x - mean) / scale).astype(np.float32)) - true_log_ratio(x)
        found[f"rmse_{number}"] = float(np.sqrt(np.mean(miss**2)))
    shape = ("steps", "batch_size", "width", "depth")
    return {**found, **{name: getattr(settings, name) for name in shape}}


def main() -> None:
    """Measure one fit."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=0)
    for name, value in Settings()._asdict().items():
        parser.add_argument(f"--{name.replace('_', '-')}", type=type(value), default=value)
    chosen = vars(parser.parse_args())
    seed = chosen.pop("seed")
    print(json.dumps(measured(Settings(**chosen), seed)))


if __name__ == "__main__":
    main()

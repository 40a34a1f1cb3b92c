"""Fits by the source tree on Python's path, measured in this process; prints one line of JSON.

`PYTHONPATH=TREE/src python -P engine_fits.py "warm: 500 rows, d=2"`. This file measures both the
present tree and an older one, so it uses only names that both have.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial
from itertools import product
from typing import Any, TypeVar

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

import secant
from secant import SecantRatio, Training, mutual_information
from secant.datasets import (
    Pair,
    asinh,
    block_gaussians,
    bmi_tasks,
    gaussian_pair,
    half_cube,
    inverse_asinh,
    inverse_half_cube,
    mixture_2d,
    mixture_8d,
    narrow_gaussian,
    shuffled,
    student_pair,
    through,
)

try:
    from secant.tasks.model_choice import default_ratio
except ModuleNotFoundError:  # the name in the older commit
    from secant.tasks.defaults import default_ratio  # type: ignore[import-not-found, no-redef]

__all__ = ["COLD", "GRID", "FitProblem", "Measure", "tasks"]

LOOP = "run_steps"  # the jitted function of the training loop
COLD, GRID = "cold: 2000 rows, d=5", "grid: 12 settings"
INFORMATION = (  # of the forty tasks, one or two of each kind
    "1v1-normal-0.75",
    "1v1-additive-0.1",
    "swissroll_x-normal_cdf-1v1-normal-0.75",
    "student-identity-1-1-1",
    "asinh-student-identity-3-3-2",
    "multinormal-dense-5-5-0.5",
    "multinormal-sparse-25-25-2-2.0",
    "spiral-normal_cdf-multinormal-sparse-5-5-2-2.0",
)
_COMPILED = "/jax/core/compile/backend_compile_duration"
_ROWS, _ROWS_OF_INFORMATION, _ROWS_OF_GRID, _JUDGE_ROWS = 20_000, 10_000, 2_000, 20_000
_JUDGE_SEED = 2_000_000

_T = TypeVar("_T")
Rows = Float[np.ndarray, "n d"]
Make = Callable[[int], Any]  # random_state → estimator
Measure = Callable[[int], dict[str, Any]]  # seed → numbers by name


@dataclass(frozen=True)
class FitProblem:
    """Two samples and their exact log ratio.

    Attributes:
        n_rows: of each sample.
        draw: seed and number of rows → both samples.
        log_ratio: the exact one.
        y_columns: p_0's rows for a fit are p_1's with these columns shuffled.
    """

    n_rows: int
    draw: Callable[[int, int], tuple[Rows, Rows]]
    log_ratio: Callable[[Array], Array]
    y_columns: tuple[int, ...] = ()

    def rows(self, seed: int) -> tuple[Rows, Rows]:
        """The rows of a fit."""
        x_0, x_1 = self.draw(seed, self.n_rows)
        if self.y_columns:
            x_0 = np.asarray(shuffled(jnp.asarray(x_1), self.y_columns, jax.random.key(seed)))
        return x_0, x_1

    def squared_misses(self, estimator: Any, seed: int) -> tuple[float, float]:  # noqa: ANN401
        """Mean squared error of a log ratio on fresh rows of p_0 and of p_1."""
        misses = []
        for x in self.draw(_JUDGE_SEED + seed, _JUDGE_ROWS):
            exact = np.asarray(self.log_ratio(jnp.asarray(x)), dtype=np.float64)
            finite = np.isfinite(exact)  # off the support of p_1 it is −∞
            misses.append(float(np.mean((estimator.log_ratio(x) - exact)[finite] ** 2)))
        return misses[0], misses[1]


def correlated(n_rows: int, d: int) -> FitProblem:
    """N(0, I) against a shifted normal of equal correlations, drawn without JAX."""
    mean, covariance = np.full(d, 0.5), 0.5 * np.eye(d) + 0.5
    pair = gaussian_pair(np.zeros(d), np.eye(d), mean, covariance)
    factor = np.linalg.cholesky(covariance)

    def draw(seed: int, n: int) -> tuple[Rows, Rows]:
        x_0, z = np.random.default_rng(seed).standard_normal((2, n, d))
        return x_0, mean + z @ factor.T

    return FitProblem(n_rows, draw, pair.log_ratio)


def of_pair(pair: Pair, y_columns: tuple[int, ...] = ()) -> FitProblem:
    """20,000 rows of a pair of the library."""

    def draw(seed: int, n: int) -> tuple[Rows, Rows]:
        x_0, x_1 = pair.sample(jax.random.key(1_000 + seed), n)
        return np.asarray(x_0), np.asarray(x_1)

    return FitProblem(_ROWS, draw, pair.log_ratio, y_columns)


@cache
def compiled() -> list[str]:
    """Names of the programs that XLA compiles from now on, in a list that grows."""
    names: list[str] = []

    def heard(event: str, duration_secs: float, **kwargs: str | int) -> None:
        del duration_secs
        if event == _COMPILED:
            names.append(str(kwargs.get("fun_name", "")))

    jax.monitoring.register_event_duration_secs_listener(heard)
    return names


def cost_of(run: Callable[[], _T]) -> tuple[_T, dict[str, Any]]:
    """The result of a function, with its seconds and its compiled programs."""
    names = compiled()
    before, cpu, wall = len(names), time.process_time(), time.perf_counter()
    found = run()
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    new = names[before:]
    of_loop = sum(LOOP in name for name in new)
    cost = {"seconds": wall, "cpu_seconds": cpu, "programs": len(new), "loop_programs": of_loop}
    return found, cost


def of_ratio(problem: FitProblem, make: Make, seed: int, *, n_fits: int = 2) -> dict[str, Any]:
    """Fits in one process, each with its own rows and seed: the first is cold, the second warm.

    A fit is timed with the scoring of its rows of p_1. Errors are over all fits.
    """
    found: list[dict[str, Any]] = []
    squares = []
    for number in range(n_fits * seed, n_fits * (seed + 1)):
        estimator, (x_0, x_1) = make(number), problem.rows(number)
        _, cost = cost_of(partial(_fit_and_score, estimator, x_0, x_1))
        found.append({**cost, "steps": getattr(estimator.diagnostics_, "steps", None)})
        squares.append(problem.squared_misses(estimator, number))
    rmse_0, rmse_1 = np.sqrt(np.mean(squares, axis=0)).tolist()
    return {**_named(found), "rmse_0": rmse_0, "rmse_1": rmse_1, **_network(estimator)}


def _fit_and_score(estimator: Any, x_0: Rows, x_1: Rows) -> None:  # noqa: ANN401
    estimator.fit_samples(x_0, x_1).log_ratio(x_1)


def _named(found: list[dict[str, Any]]) -> dict[str, Any]:
    first, *later = found
    return {**first, **{f"warm_{name}": v for other in later for name, v in other.items()}}


def _network(estimator: Any) -> dict[str, int | None]:  # noqa: ANN401
    """The resolved batch size, width and depth, if the estimator trained a network itself."""
    if not hasattr(estimator, "model_"):
        return {}
    d = estimator.n_features_in_
    shapes = [leaf.shape for leaf in jax.tree.leaves(estimator.model_) if np.ndim(leaf) == 2]
    # Square ones are rotations of the anchor.
    width = next((n_out for n_in, n_out in shapes if n_in == d != n_out), None)
    depth = None if width is None else shapes.count((width, width))
    return {"batch_size": int(estimator.training_.batch_size), "width": width, "depth": depth}


def of_information(name: str, seed: int) -> dict[str, Any]:
    """Two estimates of mutual information by the default ratio, uncorrected; their mean error."""
    task = next(task for task in bmi_tasks() if task.name == name)
    found: list[dict[str, Any]] = []
    errors = []
    for number in (2 * seed, 2 * seed + 1):
        x, y = task.sample(jax.random.key(5_000_000 + number), _ROWS_OF_INFORMATION)
        estimate = partial(mutual_information, correct=False, second_opinion=False)
        run = partial(estimate, np.asarray(x), np.asarray(y), random_state=number)
        answer, cost = cost_of(run)
        steps = [getattr(fit, "steps", 0) for fit in answer.diagnostics]
        found.append({**cost, "steps": sum(steps)})
        errors.append(abs(answer.estimate - task.mutual_information))
    return {**_named(found), "error": float(np.mean(errors))}


def of_grid(seed: int) -> dict[str, Any]:
    """A small search over settings of the training."""
    rows = correlated(_ROWS_OF_GRID, 5).rows(seed)
    settings = [
        Training(steps=steps, learning_rate=rate, patience=patience, evaluate_every=20)
        for rate, steps, patience in product((3e-4, 1e-3), (60, 100, 140), (2, None))
    ]

    def search() -> list[SecantRatio]:
        makes = (SecantRatio(training=training, random_state=seed) for training in settings)
        return [ratio.fit_samples(*rows) for ratio in makes]

    fitted, cost = cost_of(search)
    return {**cost, "steps": sum(ratio.diagnostics_.steps for ratio in fitted)}


def _secant_ratio(seed: int) -> SecantRatio:
    return SecantRatio(random_state=seed)


def _default_ratio(n_features: int, seed: int) -> Any:  # noqa: ANN401
    return default_ratio(_ROWS, n_features).set_params(random_state=seed)


def _of_peers() -> list[Pair]:
    near = gaussian_pair(
        np.zeros(5), np.eye(5), np.full(5, 0.5), 0.8 * np.eye(5), name="near-gaussians-5d"
    )
    return [near, student_pair(), mixture_8d(), block_gaussians(10), block_gaussians(40)]


def _of_shoot_out() -> list[Pair]:
    """Pairs that the suite of peers does not have."""
    return [block_gaussians(2), block_gaussians(160), mixture_2d(), narrow_gaussian(2)]


def _mapped() -> list[tuple[Pair, tuple[int, ...]]]:
    maps = (("half-cube", half_cube, inverse_half_cube), ("asinh", asinh, inverse_asinh))
    pair, every_second = block_gaussians(40), tuple(range(1, 40, 2))
    return [(through(pair, f, g, f"{name} blocks d=40"), every_second) for name, f, g in maps]


def tasks() -> dict[str, Measure]:
    """All measurements by name; the word before the colon is the part of the suite."""
    cold = partial(of_ratio, correlated(2_000, 5), _secant_ratio, n_fits=1)
    found: dict[str, Measure] = {COLD: cold}
    for n, d in ((500, 2), (2_000, 5), (20_000, 10)):
        found[f"warm: {n} rows, d={d}"] = partial(of_ratio, correlated(n, d), _secant_ratio)
    found[GRID] = of_grid
    peers = _of_peers()
    plain: list[tuple[Pair, tuple[int, ...]]] = [(pair, ()) for pair in (*peers, *_of_shoot_out())]
    for pair, y_columns in (*plain, *_mapped()):
        problem = of_pair(pair, y_columns)
        found[f"defaults: SecantRatio, {pair.name}"] = partial(of_ratio, problem, _secant_ratio)
    for pair in peers:
        make = partial(_default_ratio, pair.n_features)
        found[f"defaults: default_ratio, {pair.name}"] = partial(of_ratio, of_pair(pair), make)
    for name in INFORMATION:
        found[f"defaults: information, {name}"] = partial(of_information, name)
    return found


def main() -> None:
    """Measure one task."""
    measures = tasks()
    parser = argparse.ArgumentParser(description=__doc__, epilog="; ".join(measures))
    parser.add_argument("task", choices=list(measures), metavar="TASK")
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    warnings.simplefilter("ignore")  # some tasks have no overlap
    jax.devices()  # exclude the start of JAX
    found = measures[chosen.task](chosen.seed)
    print(json.dumps({**found, "source": secant.__file__}))


if __name__ == "__main__":
    main()

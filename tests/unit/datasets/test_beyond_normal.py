"""The benchmark's forty tasks: published truths, shapes, and samples that carry their truth."""

import math
import pickle
from collections.abc import Callable
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jaxtyping import Array, PRNGKeyArray
from scipy import stats

from secant.datasets import (
    DependentPair,
    additive_noise,
    asinh_student,
    bmi_tasks,
    geometric_tasks,
    half_cube,
    mixture_2d,
    swiss_roll,
    wiggly_x,
    wiggly_y,
)

Map = Callable[[Array], Array]
TASKS = {task.name: task for task in (*bmi_tasks(), *geometric_tasks())}
NORMAL, SPARSE = "1v1-normal-0.75", "multinormal-sparse-{0}-{0}-2-2.0"
N_ROWS = 20_000
STANDARD_ERRORS = 4.5  # for the largest of many entries

TRUTHS = {
    **dict.fromkeys(
        [
            NORMAL,
            f"normal_cdf-{NORMAL}",
            "1v1-bimodal-0.75",
            f"wiggly-{NORMAL}",
            f"half_cube-{NORMAL}",
            f"swissroll_x-normal_cdf-{NORMAL}",
            "multinormal-dense-3-3-0.5",
        ],
        0.4133,
    ),
    "1v1-additive-0.1": 1.7094,
    "1v1-additive-0.75": 0.3333,
    "student-identity-1-1-1": 0.2242,
    "asinh-student-identity-1-1-1": 0.2242,
    "multinormal-dense-2-2-0.5": 0.2939,
    "multinormal-dense-5-5-0.5": 0.5928,
    "multinormal-dense-25-25-0.5": 1.2922,
    "multinormal-dense-50-50-0.5": 1.6243,
    **{SPARSE.format(dim): 1.0217 for dim in (2, 3, 5, 25)},
    **{
        prefix + SPARSE.format(dim): 1.0217
        for prefix in ("normal_cdf-", "half_cube-", "spiral-", "spiral-normal_cdf-")
        for dim in (3, 5, 25)
    },
    "student-identity-2-2-1": 0.4319,
    "asinh-student-identity-2-2-1": 0.4319,
}


def rows_of(name: str, key: PRNGKeyArray) -> tuple[np.ndarray, np.ndarray]:
    """Rows of a task in float64."""
    x, y = jax.jit(partial(TASKS[name].sample, n=N_ROWS))(key)
    return np.asarray(x, float), np.asarray(y, float)


def test_forty_tasks_of_distinct_names() -> None:
    assert len({task.name for task in bmi_tasks()}) == len(bmi_tasks()) == 40


@pytest.mark.parametrize("name", TRUTHS)
def test_truth_of_the_benchmark(name: str) -> None:
    assert TASKS[name].mutual_information == pytest.approx(TRUTHS[name], abs=5e-5)


@pytest.mark.parametrize(("dim", "df"), [(2, 2), (3, 2), (3, 3), (5, 2), (5, 3)])
def test_student_truth_by_quadrature(dim: int, df: int) -> None:
    # MI = h(x) + h(y) − h(x, y), and h = −E log p needs one integral: (1 + ‖x‖²/ν)⁻¹ follows
    # Beta(ν/2, d/2).
    def entropy(d: int) -> float:
        constant = math.lgamma(df / 2) - math.lgamma((df + d) / 2) + d / 2 * math.log(df * math.pi)
        return constant - (df + d) / 2 * stats.beta(df / 2, d / 2).expect(np.log)

    truth = 2 * entropy(dim) - entropy(2 * dim)
    name = f"student-identity-{dim}-{dim}-{df}"
    assert TASKS[name].mutual_information == pytest.approx(truth, abs=1e-6)
    if df == 2 and dim > 2:
        assert TASKS[f"asinh-{name}"].mutual_information == pytest.approx(truth, abs=1e-6)


@pytest.mark.parametrize("name", TASKS)
def test_shapes_under_tracing(name: str) -> None:
    task = TASKS[name]
    x, y = jax.eval_shape(partial(task.sample, n=7), jax.random.key(0))
    assert (x.shape, y.shape) == ((7, task.dim_x), (7, task.dim_y))
    assert x.dtype == y.dtype == np.float32


def test_dimensions_are_those_of_the_name() -> None:
    for name, task in TASKS.items():
        sizes = [int(part) for part in name.split("-") if part.isdigit()][:2]
        assert [task.dim_x, task.dim_y] == (sizes or [1 + name.startswith("swissroll"), 1])


@pytest.mark.parametrize("name", [NORMAL, "1v1-bimodal-0.75", "asinh-student-identity-2-2-1"])
def test_same_key_same_rows(name: str, key: PRNGKeyArray) -> None:
    task = pickle.loads(pickle.dumps(TASKS[name]))
    first, sample = (jax.jit(partial(t.sample, n=50)) for t in (TASKS[name], task))
    other = sample(jax.random.key(1, impl="rbg"))
    for x, again, x_other in zip(first(key), sample(key), other, strict=True):
        np.testing.assert_array_equal(x, again)
        assert not np.array_equal(x, x_other)
        assert np.isfinite(x).all()


@pytest.mark.parametrize("dim", [2, 3])
@pytest.mark.parametrize("kind", ["dense", "sparse"])
def test_correlations(kind: str, dim: int, key: PRNGKeyArray) -> None:
    expected = np.eye(2 * dim)
    if kind == "dense":
        expected[~np.eye(2 * dim, dtype=bool)] = 0.5
        name = f"multinormal-dense-{dim}-{dim}-0.5"
    else:
        expected[[0, 1, dim, dim + 1], [dim, dim + 1, 0, 1]] = 0.8
        name = SPARSE.format(dim)
    covariance = np.cov(np.hstack(rows_of(name, key)), rowvar=False)
    errors = np.sqrt((1 + expected**2) / N_ROWS)
    assert (np.abs(covariance - expected) < STANDARD_ERRORS * errors).all()


@pytest.mark.parametrize("name", [NORMAL, f"normal_cdf-{NORMAL}", "1v1-bimodal-0.75"])
def test_increasing_maps_keep_kendalls_tau(name: str, key: PRNGKeyArray) -> None:
    # τ = (2/π) asin ρ for a binormal, whatever increasing map follows;
    # independence, with variance 4/9n, is the worst case of its standard error.
    x, y = rows_of(name, key)
    tau = stats.kendalltau(x[:, 0], y[:, 0]).statistic
    assert abs(tau - 2 / math.pi * math.asin(0.75)) < 4 * math.sqrt(4 / 9 / N_ROWS)


def test_margins_of_the_one_dimensional_tasks(key: PRNGKeyArray) -> None:
    def mixture(weight: float, low: float, high: float) -> Callable[[np.ndarray], np.ndarray]:
        return lambda w: weight * stats.norm.cdf(w - low) + (1 - weight) * stats.norm.cdf(w - high)

    margins = {
        f"normal_cdf-{NORMAL}": (stats.uniform.cdf, stats.uniform.cdf),
        "1v1-bimodal-0.75": (mixture(0.3, 0, 5), mixture(0.5, -1, 3)),
        "student-identity-1-1-1": (stats.cauchy.cdf, stats.cauchy.cdf),
    }
    for name, cdfs in margins.items():
        for columns, cdf in zip(rows_of(name, key), cdfs, strict=True):
            assert stats.kstest(columns[:, 0], cdf).pvalue > 1e-4


@pytest.mark.parametrize(
    ("name", "base", "map_x", "map_y"),
    [
        (f"half_cube-{NORMAL}", NORMAL, half_cube, half_cube),
        (f"wiggly-{NORMAL}", NORMAL, wiggly_x, wiggly_y),
        (f"swissroll_x-normal_cdf-{NORMAL}", f"normal_cdf-{NORMAL}", swiss_roll, jnp.asarray),
        ("asinh-student-identity-1-1-1", "student-identity-1-1-1", jnp.arcsinh, jnp.arcsinh),
    ],
)
def test_maps_act_on_the_rows_of_the_base(
    name: str, base: str, map_x: Map, map_y: Map, key: PRNGKeyArray
) -> None:
    x, y = TASKS[base].sample(key, 50)
    mapped_x, mapped_y = TASKS[name].sample(key, 50)
    np.testing.assert_array_equal(mapped_x, map_x(x))
    np.testing.assert_array_equal(mapped_y, map_y(y))


def test_spirals_turn_different_planes_by_the_mean_square(key: PRNGKeyArray) -> None:
    base, turned = rows_of(SPARSE.format(3), key), rows_of("spiral-" + SPARSE.format(3), key)
    for z, w, (i, j), fixed in zip(base, turned, [(0, 1), (1, 2)], [2, 0], strict=True):
        turn = np.exp(1j * (z**2).mean(axis=1)) * (z[:, i] + 1j * z[:, j])
        np.testing.assert_allclose(w[:, i] + 1j * w[:, j], turn, atol=1e-4)
        np.testing.assert_array_equal(w[:, fixed], z[:, fixed])


def test_geometric_tasks() -> None:
    ridges = [-0.5 * math.log(1 - rho**2) for rho in (0.9, 0.99, 0.999)]
    truths = [asinh_student().kl, additive_noise(0.1).kl, -0.5 * math.log(1 - 0.75**2), *ridges]
    assert [task.mutual_information for task in geometric_tasks()] == pytest.approx(truths)
    assert {(task.dim_x, task.dim_y) for task in geometric_tasks()} == {(1, 1)}


def test_ridges_have_their_correlation(key: PRNGKeyArray) -> None:
    for rho in (0.9, 0.999):
        x, y = rows_of(f"edge-singular-gauss-{rho}", key)
        correlation = np.corrcoef(x[:, 0], y[:, 0])[0, 1]
        assert abs(correlation - rho) < 4 * (1 - rho**2) / math.sqrt(N_ROWS)


def test_from_pair_splits_the_joint(key: PRNGKeyArray) -> None:
    pair = asinh_student(2, 3, df=2.0)
    task = DependentPair.from_pair(pair, 2)
    x, y = task.sample(key, 10)
    np.testing.assert_array_equal(jnp.hstack([x, y]), pair.draw_1(key, 10))
    assert (task.name, task.dim_x, task.dim_y) == (pair.name, 2, 3)
    assert task.mutual_information == pair.kl


def test_bad_parameters_are_named() -> None:
    with pytest.raises(ValueError, match="kl"):
        DependentPair.from_pair(mixture_2d(), 1)
    for dim_x in (0, 2):
        with pytest.raises(ValueError, match="dim_x"):
            DependentPair.from_pair(additive_noise(0.1), dim_x)

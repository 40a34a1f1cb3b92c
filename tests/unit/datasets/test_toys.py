"""The nine densities of the plane against quadrature, SciPy and their own draws."""

import itertools
import math
import pickle
from collections.abc import Callable
from functools import cache, partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jaxtyping import PRNGKeyArray
from scipy import integrate, stats

from secant.datasets import Toy, toys
from secant.datasets.toys import toy as toy_module
from secant.datasets.toys.tree import _branches, _log_normal_mass

NAMES = [
    "swissroll",
    "circles",
    "rings",
    "moons",
    "8gaussians",
    "pinwheel",
    "2spirals",
    "checkerboard",
    "tree",
]
BY_NAME = {toy.name: toy for toy in toys()}
every_toy = pytest.mark.parametrize("toy", toys(), ids=NAMES)
# Divides the squares of the checkerboard, and is 0.8 times the narrowest noise: a sum over such
# a grid errs by 2 exp(−2π²/0.8²) = 1e-13 of the density. The spacing of `Toy.entropy`, too: one
# program serves both.
SPACING = 1 / 16
CELL = 8  # grid points along a cell of the histogram
N_DRAWS = 20_000


@cache
def grid_masses(toy: Toy) -> np.ndarray:
    """(192, 192) masses of the cells of [−6, 6]²."""
    axis = np.arange(-6 + SPACING / 2, 6, SPACING)
    x = np.stack(np.meshgrid(axis, axis, indexing="ij"), axis=-1).reshape(-1, 2)
    log_p = np.asarray(jax.jit(toy.log_density)(x), float)
    return SPACING**2 * np.exp(log_p).reshape(len(axis), len(axis))


@cache
def draws(toy: Toy) -> tuple[jax.Array, jax.Array]:
    """Rows, one that is far out, and their log densities."""

    @jax.jit
    def drawn(key: PRNGKeyArray) -> tuple[jax.Array, jax.Array]:
        x = jnp.concatenate([toy.draw(key, N_DRAWS), jnp.array([[30.0, -40.0]])])
        return x, toy.log_density(x)

    return drawn(jax.random.key(0, impl="rbg"))


def test_the_nine_sets_of_the_paper() -> None:
    assert [toy.name for toy in toys()] == NAMES


@every_toy
def test_density_integrates_to_one(toy: Toy) -> None:
    # float32: a log density of a few units carries about 1e-6, and cells err alike.
    assert grid_masses(toy).sum() == pytest.approx(1, abs=2e-5)


@every_toy
def test_draws_follow_the_density(toy: Toy) -> None:
    n_cells = 192 // CELL
    cells = N_DRAWS * grid_masses(toy).reshape(n_cells, CELL, n_cells, CELL).sum(axis=(1, 3))
    edges = np.linspace(-6, 6, n_cells + 1)
    x = np.asarray(draws(toy)[0][:N_DRAWS], float)
    counts = np.histogram2d(x[:, 0], x[:, 1], bins=[edges, edges])[0]
    filled = cells > 5
    observed = np.append(counts[filled], N_DRAWS - counts[filled].sum())
    # All other cells are one; the checkerboard has none, and 1e-3 stands for its rounding.
    expected = np.append(cells[filled], N_DRAWS - cells[filled].sum() + 1e-3)
    chi_square = np.sum((observed - expected) ** 2 / expected)
    assert stats.chi2.sf(chi_square, filled.sum()) > 1e-4


@every_toy
def test_log_density_is_finite_at_draws_and_never_nan(toy: Toy) -> None:
    x, log_p = draws(toy)
    assert x.shape == (N_DRAWS + 1, 2)
    assert log_p.shape == (N_DRAWS + 1,)
    assert log_p.dtype == x.dtype
    assert np.isfinite(log_p[:N_DRAWS]).all()
    assert log_p[N_DRAWS] < -100


@every_toy
def test_toys_can_be_pickled(toy: Toy) -> None:
    assert pickle.loads(pickle.dumps(toy)).name == toy.name


@pytest.mark.parametrize(
    ("name", "entropy"),
    [
        ("swissroll", 2.6697),
        ("circles", 3.2681),
        ("rings", 2.6232),
        ("moons", 2.3939),
        ("8gaussians", 2.8319),
        ("pinwheel", 2.3206),
        ("2spirals", 2.5406),
        ("checkerboard", math.log(8)),
        ("tree", 1.9236),
    ],
)
def test_entropy_by_two_routes(name: str, entropy: float) -> None:
    toy = BY_NAME[name]
    assert toy.entropy() == pytest.approx(entropy, abs=1e-4)
    values = -np.asarray(draws(toy)[1][:N_DRAWS], float)
    # 4 standard errors; 1e-6 for the rounding of the constant density, whose error is 0.
    assert abs(values.mean() - toy.entropy()) < 4 * values.std() / math.sqrt(N_DRAWS) + 1e-6


def test_entropy_estimate_has_a_standard_error(key: PRNGKeyArray) -> None:
    toy = BY_NAME["8gaussians"]
    estimate = toy.entropy_estimate(key, 10_000)
    assert abs(estimate.value - toy.entropy()) < 4 * estimate.standard_error
    # The log density of a Gaussian in the plane has variance 1.
    assert estimate.standard_error == pytest.approx(0.01, rel=0.05)


@pytest.mark.parametrize("name", ["rings", "pinwheel", "tree"])
def test_entropy_does_not_depend_on_the_grid(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    coarse = BY_NAME[name].entropy()
    monkeypatch.setattr(toy_module, "_SPACING", 0.04)
    assert BY_NAME[name].entropy() == pytest.approx(coarse, abs=1e-5)


def test_entropy_of_separate_gaussians() -> None:
    # Neighbours are 6.1 scales apart: log 8 more than one Gaussian, less an overlap of 0.003.
    gaussian = 1 + math.log(2 * math.pi * (0.5 / 1.414) ** 2)
    gap = math.log(8) + gaussian - BY_NAME["8gaussians"].entropy()
    assert 0 < gap < 0.02


def test_entropy_names_a_density_that_leaves_the_square() -> None:
    wide = Toy("wide", BY_NAME["moons"].draw, lambda x: jnp.full(len(x), -math.log(400)))
    with pytest.raises(ValueError, match=r"`wide` must integrate to 1 .* got 0\.36"):
        wide.entropy()


def test_entropy_estimate_needs_two_rows(key: PRNGKeyArray) -> None:
    with pytest.raises(ValueError, match="`n` must be at least 2"):
        BY_NAME["moons"].entropy_estimate(key, 1)


def curve_log_density(
    curve: Callable[[float], complex], x: np.ndarray, noise: float
) -> list[float]:
    """log ∫_0^1 N(x; c(u), σ²) du at the rows of x, by adaptive quadrature."""

    def density(u: float, point: complex) -> float:
        squared = abs(point - curve(u)) ** 2
        return math.exp(-squared / (2 * noise**2)) / (2 * math.pi * noise**2)

    pieces = np.linspace(0, 1, 21)
    return [
        math.log(
            sum(
                integrate.quad(density, a, b, args=(complex(*point),), limit=100)[0]
                for a, b in itertools.pairwise(pieces)
            )
        )
        for point in x
    ]


CURVES = {
    "swissroll": (
        [lambda u: 1.5 * math.pi * (1 + 2 * u) * np.exp(1.5j * math.pi * (1 + 2 * u)) / 5],
        0.2,
    ),
    "circles": ([lambda u, r=r: r * np.exp(2j * math.pi * u) for r in (3, 1.5)], 0.24),
    "rings": ([lambda u, r=r: r * np.exp(2j * math.pi * u) for r in (3, 2.25, 1.5, 0.75)], 0.08),
    "moons": (
        [
            lambda u: 2 * np.exp(1j * math.pi * u) - 1 - 0.2j,
            lambda u: 1 + 0.8j - 2 * np.exp(1j * math.pi * u),
        ],
        0.2,
    ),
    "2spirals": (
        [
            lambda u, sign=sign: (
                -sign * math.pi * math.sqrt(u) * np.exp(-3j * math.pi * math.sqrt(u))
            )
            for sign in (1, -1)
        ],
        0.1,
    ),
}


@pytest.mark.usefixtures("float64")
@pytest.mark.parametrize("name", CURVES)
def test_noisy_curves_by_adaptive_quadrature(name: str) -> None:
    curves, noise = CURVES[name]
    random = np.random.default_rng(0)
    on_curves = np.array([curve(u) for curve in curves for u in random.uniform(size=3)])
    ends = np.array([curve(u) for curve in curves for u in (0.0, 1.0)])
    points = np.concatenate([on_curves, ends])
    x = np.stack([points.real, points.imag], axis=1) + noise * random.normal(size=(len(points), 2))
    each = [curve_log_density(curve, x, noise) for curve in curves]
    oracle = np.logaddexp.reduce(each, axis=0) - math.log(len(curves))
    np.testing.assert_allclose(jax.jit(BY_NAME[name].log_density)(x), oracle, atol=1e-7)


@pytest.mark.usefixtures("float64")
def test_tree_by_adaptive_quadrature() -> None:
    starts, vectors = (v[:, 0] + 1j * v[:, 1] for v in _branches(np.random.RandomState(1)))
    assert len(starts) == 31
    random = np.random.default_rng(0)
    points = starts + random.uniform(-0.2, 1.2, 31) * vectors
    x = np.stack([points.real, points.imag], axis=1)[::4] + 0.08 * random.normal(size=(8, 2))
    lengths = np.abs(vectors)
    grid = (np.arange(4_000) + 0.5) / 4_000
    along = starts[:, None] + grid * vectors[:, None]
    squared = np.abs((x[:, 0] + 1j * x[:, 1])[:, None, None] - along) ** 2
    kernel = np.exp(-squared / (2 * 0.08**2)).mean(axis=2) / (2 * math.pi * 0.08**2)
    oracle = np.log(kernel @ (lengths / lengths.sum()))
    # Midpoints of 4 000 cells of at most 2: (h/σ)²/24 = 2e-6 at an end of a branch.
    np.testing.assert_allclose(jax.jit(BY_NAME["tree"].log_density)(x), oracle, atol=5e-6)


@pytest.mark.usefixtures("float64")
def test_log_normal_mass_keeps_both_tails() -> None:
    # On the left of the middle both terms are tails of SciPy's; the right mirrors it.
    a, length = np.array([-30.0, -1.0, 2.0]), 4.0
    upper, lower = stats.norm.logcdf(a), stats.norm.logcdf(a - length)
    oracle = upper + np.log1p(-np.exp(lower - upper))
    mass = jax.jit(_log_normal_mass)
    np.testing.assert_allclose(mass(a, length), oracle, rtol=1e-10)
    np.testing.assert_allclose(mass(length - a, length), oracle, rtol=1e-10)


@pytest.mark.usefixtures("float64")
def test_pinwheel_by_the_change_of_variables() -> None:
    def blade(z: jax.Array, k: int) -> jax.Array:
        turn = -(2 * jnp.pi * k / 5 + 0.25 * jnp.exp(jnp.linalg.norm(z)))
        point = 2 * (z[0] + 1j * z[1]) * jnp.exp(1j * turn)
        return jnp.stack([point.real, point.imag])

    z = np.array([1.0, 0.0]) + np.array([0.3, 0.1]) * np.random.default_rng(0).normal(size=(6, 2))
    x = jax.jit(jax.vmap(partial(blade, k=3)))(z)
    volume = np.abs(np.linalg.det(jax.jit(jax.vmap(jax.jacfwd(partial(blade, k=3))))(z)))
    log_z = stats.norm.logpdf(z, [1, 0], [0.3, 0.1]).sum(axis=1)
    # Near its middle one blade counts: the others are more than 7 tangential scales away.
    near_middle = np.abs(z[:, 0] - 1) < 0.4
    assert near_middle.sum() >= 3
    oracle = log_z - np.log(volume) - math.log(5)
    ours = np.asarray(jax.jit(BY_NAME["pinwheel"].log_density)(x))
    np.testing.assert_allclose(ours[near_middle], oracle[near_middle], atol=1e-6)


def test_checkerboard_is_flat_and_alternates() -> None:
    board = BY_NAME["checkerboard"]
    corners = np.stack(np.meshgrid(np.arange(-3, 3), np.arange(-3, 3), indexing="ij"), axis=-1)
    log_p = np.asarray(jax.jit(board.log_density)(corners.reshape(-1, 2) + 0.5)).reshape(6, 6)
    on_board = np.zeros((6, 6), bool)
    on_board[1:5, 1:5] = np.indices((4, 4)).sum(axis=0) % 2 == 0
    np.testing.assert_allclose(log_p[on_board], -math.log(8), rtol=1e-6)
    assert on_board.sum() == 8
    assert np.isneginf(log_p[~on_board]).all()


def test_the_ratio_to_a_normal_is_that_of_the_densities() -> None:
    moons = BY_NAME["moons"]
    pair = moons.from_normal()
    x_0, x_1 = jax.jit(partial(pair.sample, n=500))(jax.random.key(3, impl="rbg"))
    normal = stats.multivariate_normal(np.zeros(2))
    log_density, log_ratio = jax.jit(moons.log_density), jax.jit(pair.log_ratio)
    for x in (x_0, x_1):
        expected = np.asarray(log_density(x)) - normal.logpdf(np.asarray(x))
        np.testing.assert_allclose(log_ratio(x), expected, rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(np.asarray(x_0).std(axis=0), 1.0, atol=4.5 / 1000**0.5)

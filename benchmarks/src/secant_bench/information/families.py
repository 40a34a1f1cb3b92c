"""Ten families of dependence that no default was tuned to, with truths by quadrature."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache, partial

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PRNGKeyArray
from scipy.integrate import quad
from scipy.special import k0
from scipy.stats import norm

from secant.datasets import DependentPair, additive_noise, asinh_student, edge_singular_gauss
from secant.datasets.injections import mixture_quantile_of_normal

__all__ = ["families"]

_NORMAL_ENTROPY = 0.5 * math.log(2.0 * math.pi * math.e)
_SHARES = (0.5, 0.3, 0.2)  # of the categories
_MEANS = (0.0, 2.0, -1.5)
_SPREADS = (1.0, 0.5, 1.5)

Drawn = tuple[Float[Array, "n a"], Float[Array, "n b"]]


@cache
def families() -> tuple[DependentPair, ...]:
    """Gaussian, Student, bimodal, additive and multiplicative noise, and five less common ones."""
    normal = DependentPair.from_pair(edge_singular_gauss(0.6), 1, name="gaussian")
    bent = partial(mixture_quantile_of_normal, weights=(0.5, 0.5), means=(-3.0, 3.0))
    return (
        normal,
        DependentPair.from_pair(asinh_student(2, 2, df=2.0), 2, name="student"),
        normal.through(bent, bent, "bimodal"),
        DependentPair.from_pair(additive_noise(0.4), 1, name="additive-noise"),
        DependentPair("heteroscedastic", 1, 1, _heteroscedastic, heteroscedastic_information(0.8)),
        DependentPair("multiplicative", 1, 1, _multiplicative, multiplicative_information(0.5)),
        DependentPair("sign-flips", 2, 2, _sign_flips, sign_flip_information(0.8)),
        DependentPair("sparse-5x5", 5, 5, _sparse, -math.log(1.0 - 0.7**2)),
        DependentPair("interaction-3x1", 3, 1, _interaction, interaction_information(0.7, 0.5)),
        DependentPair("category-and-number", 1, 1, _category, category_information()),
    )


def _normals(key: PRNGKeyArray, n: int, d: int) -> Float[Array, "n d"]:
    return jax.random.normal(key, (n, d))


def _heteroscedastic(key: PRNGKeyArray, n: int, rate: float = 0.8) -> Drawn:
    """y | x ~ N(0, e^{2 rate x})."""
    x, z = jnp.split(_normals(key, n, 2), 2, axis=1)
    return x, jnp.exp(rate * x) * z


def heteroscedastic_information(rate: float) -> float:
    """h(y) − h(y | x), h(y | x) = E[rate x] + ½ log 2πe; y is symmetric, so over log |y|."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(100)
    weights = weights / weights.sum()

    def integrand(u: float) -> float:
        density = float(weights @ norm.pdf(math.exp(u), scale=np.exp(rate * nodes)))
        return -2.0 * density * math.log(density) * math.exp(u) if density > 0.0 else 0.0

    return _integral(integrand, -16.0, 6.0) - _NORMAL_ENTROPY


def _multiplicative(key: PRNGKeyArray, n: int, noise: float = 0.5) -> Drawn:
    """y = x e^{noise z}."""
    x, z = jnp.split(_normals(key, n, 2), 2, axis=1)
    return x, x * jnp.exp(noise * z)


def multiplicative_information(noise: float) -> float:
    """log 2 for the sign, and h(log |x| + noise z) − h(noise z)."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(100)
    weights = weights / weights.sum()

    def integrand(u: float) -> float:
        size = np.exp(u - noise * nodes)
        density = float(weights @ (2.0 * size * norm.pdf(size)))
        return -density * math.log(density) if density > 0.0 else 0.0

    return math.log(2.0) + _integral(integrand, -25.0, 5.0) - _NORMAL_ENTROPY - math.log(noise)


def _sign_flips(key: PRNGKeyArray, n: int, rho: float = 0.8) -> Drawn:
    """y = ±ρ x + noise, with one sign for both columns of a row: no correlation."""
    key_rows, key_sign = jax.random.split(key)
    x, z = jnp.split(_normals(key_rows, n, 4), 2, axis=1)
    return x, rho * jax.random.rademacher(key_sign, (n, 1)) * x + math.sqrt(1.0 - rho**2) * z


def sign_flip_information(rho: float) -> float:
    """−log(1 − ρ²) − log 2 + E log(1 + e^{−2w}), w = ρ x·y/(1 − ρ²) given the sign +.

    x·y is the difference of two exponential variables of means 1 + ρ and 1 − ρ.
    """
    rate = rho / (1.0 - rho**2)

    def integrand(d: float) -> float:
        density = 0.5 * math.exp(-d / (1.0 + rho) if d > 0.0 else d / (1.0 - rho))
        return density * float(np.logaddexp(0.0, -2.0 * rate * d))

    folded = _integral(integrand, -20.0, 0.0) + _integral(integrand, 0.0, 60.0)
    return -math.log(1.0 - rho**2) - math.log(2.0) + folded


def _sparse(key: PRNGKeyArray, n: int, rho: float = 0.7) -> Drawn:
    """Two of five columns are correlated with two of five."""
    x, y = jnp.split(_normals(key, n, 10), 2, axis=1)
    return x, y.at[:, :2].set(rho * x[:, :2] + math.sqrt(1.0 - rho**2) * y[:, :2])


def _interaction(key: PRNGKeyArray, n: int, slope: float = 0.7, noise: float = 0.5) -> Drawn:
    """y = x_1 x_2 + slope x_3 + noise z."""
    x, z = jnp.split(_normals(key, n, 4), [3], axis=1)
    return x, x[:, :1] * x[:, 1:2] + slope * x[:, 2:] + noise * z


def interaction_information(slope: float, noise: float) -> float:
    """h(y) − h(noise z): y is a product of normals, of density K_0(|u|)/π, blurred."""
    # In u = v³ the logarithmic pole of K_0 is harmless.
    nodes, weights = np.polynomial.legendre.leggauss(400)
    v = 1.6 * (nodes + 1.0)
    mass = 1.6 * weights * 3.0 * v**2 * k0(v**3) / math.pi
    blur = math.hypot(slope, noise)

    def integrand(y: float) -> float:
        density = float(mass @ (norm.pdf(y - v**3, scale=blur) + norm.pdf(y + v**3, scale=blur)))
        return -density * math.log(density) if density > 0.0 else 0.0

    return 2.0 * _integral(integrand, 0.0, 25.0) - _NORMAL_ENTROPY - math.log(noise)


def _category(key: PRNGKeyArray, n: int) -> Drawn:
    """x is one of three codes, y | x is normal."""
    key_code, key_rows = jax.random.split(key)
    code = jax.random.choice(key_code, 3, (n, 1), p=jnp.asarray(_SHARES))
    y = jnp.asarray(_MEANS)[code] + jnp.asarray(_SPREADS)[code] * _normals(key_rows, n, 1)
    return code.astype(y.dtype), y


def category_information() -> float:
    """h(y) − Σ_k share_k h(y | k)."""

    def integrand(y: float) -> float:
        density = float(np.dot(_SHARES, norm.pdf(y, _MEANS, _SPREADS)))
        return -density * math.log(density)

    inside = _NORMAL_ENTROPY + float(np.dot(_SHARES, np.log(_SPREADS)))
    return _integral(integrand, -14.0, 14.0) - inside


def _integral(integrand: Callable[[float], float], low: float, high: float) -> float:
    return float(quad(integrand, low, high, limit=400, epsabs=1e-8)[0])

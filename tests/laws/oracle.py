"""Linear-Gaussian paths in closed form: the truth against which losses and models are judged."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from secant.models import SecantFunction
from secant.paths import Moments, Path
from secant.targets import Batch

N_DIRECTIONS = 5


class Oracle(SecantFunction):
    """The exact secant between diagonal Gaussians on any path, pushed off it by θ.

    u = u_true + Σ_j θ_j g_j(x, l, t) with g = (1, x, x², t x, l x²), coordinate by coordinate, so
    the slope of a loss in θ at 0 is its derivative in five directions at the truth.
    """

    path: Path
    mean_0: jax.Array
    variance_0: jax.Array
    mean_1: jax.Array
    variance_1: jax.Array
    theta: jax.Array

    def pushed(self, theta):
        return eqx.tree_at(lambda oracle: oracle.theta, self, theta)

    def log_density(self, x, t):
        """log N(x_i; m_t, S_t) of every coordinate."""
        (alpha, beta), gamma = self.path.schedule(t), self.path.noise_scale(t)
        alpha, beta, gamma = alpha[:, None], beta[:, None], gamma[:, None]
        variance = alpha**2 * self.variance_0 + beta**2 * self.variance_1 + gamma**2
        gap = x - alpha * self.mean_0 - beta * self.mean_1
        return -0.5 * (gap**2 / variance + jnp.log(2 * jnp.pi * variance))

    def true_tangent(self, x, t):
        return jax.jvp(lambda time: self.log_density(x, time), (t,), (jnp.ones_like(t),))[1]

    def true_secant(self, x, l, t):
        short = (t - l < 1e-6)[:, None]
        length = jnp.where(short, 1.0, (t - l)[:, None])
        difference = (self.log_density(x, t) - self.log_density(x, l)) / length
        return jnp.where(short, self.true_tangent(x, t), difference)

    def push(self, x, l, t):
        l, t = l[:, None], t[:, None]
        directions = jnp.stack([jnp.ones_like(x), x, x**2, t * x, l * x**2], axis=-1)
        return directions @ self.theta

    def parts(self, x, l, t):
        return self.true_secant(x, l, t) + self.push(x, l, t)

    def time_score(self, x, t):
        return jnp.sum(self.true_tangent(x, t) + self.push(x, t, t), axis=-1)


class FlowSecant(SecantFunction):
    """The secant along the probability flow of N(0, 1) → N(0, v): where the trajectory frame leads.

    A point moves as σ_t, so s(X_τ, τ) = (σ̇_τ/σ_τ)(x²/σ_t² − 1) along the flow that ends in x at t,
    and the mean of it over [l, t] is (log σ_t − log σ_l)(x²/σ_t² − 1)/(t − l).
    """

    oracle: Oracle

    def pushed(self, theta):
        return FlowSecant(self.oracle.pushed(theta))

    def parts(self, x, l, t):
        def log_scale(time):
            alpha, beta = self.oracle.path.schedule(time)
            return 0.5 * jnp.log(alpha**2 + beta**2 * self.oracle.variance_1[0])

        rise = (log_scale(t) - log_scale(l)) / (t - l)
        shape = x**2 / jnp.exp(2 * log_scale(t))[:, None] - 1
        return rise[:, None] * shape + self.oracle.push(x, l, t)

    def time_score(self, x, t):
        return self.oracle.time_score(x, t)


# NumPy outside, JAX inside what is compiled: every eager operation is a program of its own.


def oracle(path, *, standard=True):
    """Two dimensions; p_0 is N(0, I) (`standard`) or another diagonal Gaussian."""
    return Oracle(
        path,
        mean_0=np.zeros(2) if standard else np.array([0.3, -0.5]),
        variance_0=np.ones(2) if standard else np.array([0.6, 1.5]),
        mean_1=np.array([1.0, -0.5]),
        variance_1=np.array([0.3, 1.8]),
        theta=np.zeros(N_DIRECTIONS),
    )


def narrow_oracle(path, variance=0.1):
    """N(0, 1) → N(0, v) in one dimension (erratum 1)."""
    zero, one = np.zeros(1), np.ones(1)
    return Oracle(path, zero, one, zero, variance * one, np.zeros(N_DIRECTIONS))


def moments(truth):
    """The exact moments of both ends."""
    square_0 = np.sum(truth.variance_0 + truth.mean_0**2)
    square_1 = np.sum(truth.variance_1 + truth.mean_1**2)
    return Moments(float(square_0), float(square_1), float(truth.mean_0 @ truth.mean_1))


def batch(truth, time_range=(0.0, 1.0), *, n=20_000, seed=0, tangent_share=0.25):
    """Independent rows: both ends, noise, t uniform, l uniform before it or, for some, equal."""
    rng = np.random.default_rng(seed)
    x_0, x_1, z = rng.standard_normal((3, n, truth.mean_0.size))
    low, high = time_range
    t = low + (high - low) * rng.uniform(size=n)
    l = low + (t - low) * rng.uniform(size=n)
    l = np.where(rng.uniform(size=n) < tangent_share, t, l)
    x_0 = truth.mean_0 + np.sqrt(truth.variance_0) * x_0
    x_1 = truth.mean_1 + np.sqrt(truth.variance_1) * x_1
    return Batch(x_0, x_1, z, l, t)


@eqx.filter_jit
def slopes(target, model, path, rows, theta):
    """d loss / dθ of every row, (n, 5)."""
    return jax.jacfwd(lambda theta: target.losses(model.pushed(theta), path, rows))(theta)


def slope_z(target, model, rows, *, theta=0.0):
    """Mean slope of the loss in each direction, in standard errors."""
    path = model.oracle.path if isinstance(model, FlowSecant) else model.path
    per_row = slopes(target, model, path, rows, np.full(N_DIRECTIONS, float(theta)))
    return z_scores(per_row)


def z_scores(rows):
    """Mean over the first axis in standard errors; 0 where every row is exactly 0."""
    rows = np.asarray(rows)
    error = rows.std(axis=0) / np.sqrt(rows.shape[0])
    return rows.mean(axis=0) / np.where(error > 0, error, 1.0)

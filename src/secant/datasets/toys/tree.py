"""A branching tree of line segments with isotropic Gaussian noise: `tree`."""

import math
from dataclasses import dataclass

import jax
import jax.numpy as jnp
import numpy as np
from jax.scipy.special import log_ndtr
from jaxtyping import Array, PRNGKeyArray
from numpy.typing import NDArray

from secant.datasets.toys.toy import Toy

_LEVELS = 5
_SEED = 1  # of the angles and lengths; the tree is the same in every run


def tree() -> Toy:
    """A fixed random tree of 31 branches in five levels, uniform along its length, noise 0.08."""
    noisy = _NoisySegments(*_branches(np.random.RandomState(_SEED)), noise=0.08)
    return Toy("tree", noisy.draw, noisy.log_density)


@dataclass(frozen=True, eq=False)  # JAX hashes what it compiles, and arrays do not hash
class _NoisySegments:
    """Uniform on segments from `s_k` along `v_k`, both (K, 2), by length, and N(0, σ² I).

    With ℓ = ‖v‖, a the coordinate of x − s along v, b that across, and Λ the total length:
    `p(x) = (1/Λ) Σ_k [Φ(a/σ) − Φ((a − ℓ)/σ)] N(b; 0, σ²)`.
    """

    starts: NDArray[np.float64]
    vectors: NDArray[np.float64]
    noise: float

    def draw(self, key: PRNGKeyArray, n: int) -> Array:
        """(n, 2) rows."""
        segment_key, place_key, noise_key = jax.random.split(key, 3)
        noise = self.noise * jax.random.normal(noise_key, (n, 2))
        starts, vectors = (jnp.asarray(v, noise.dtype) for v in (self.starts, self.vectors))
        log_lengths = np.log(np.linalg.norm(self.vectors, axis=1))
        segment = jax.random.categorical(segment_key, log_lengths, shape=(n,))
        place = jax.random.uniform(place_key, (n, 1))
        return starts[segment] + place * vectors[segment] + noise

    def log_density(self, x: Array) -> Array:
        """(n, 2) → (n,)."""
        x, lengths = jnp.asarray(x), np.linalg.norm(self.vectors, axis=1)
        u = self.vectors / lengths[:, None]
        starts, u_x, u_y, ends = (
            jnp.asarray(v, x.dtype) for v in (self.starts, u[:, 0], u[:, 1], lengths / self.noise)
        )
        from_start = (x[:, None, :] - starts) / self.noise
        along = u_x * from_start[..., 0] + u_y * from_start[..., 1]
        across = u_x * from_start[..., 1] - u_y * from_start[..., 0]
        log_each = _log_normal_mass(along, ends) - across**2 / 2
        normaliser = math.log(lengths.sum() * self.noise * math.sqrt(2 * math.pi))
        return jax.nn.logsumexp(log_each, axis=1) - normaliser


def _log_normal_mass(a: Array, length: Array) -> Array:
    """`log[Φ(a) − Φ(a − ℓ)]`, from the nearer end, because far beyond one both terms round to 1."""
    nearer = jnp.minimum(a, length - a)
    upper, lower = log_ndtr(nearer), log_ndtr(nearer - length)
    return upper + jnp.log1p(-jnp.exp(lower - upper))


def _branches(random: np.random.RandomState) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Starts and vectors, level by level: each branch ends in two, shorter and spread apart."""
    starts, vectors = [np.array([[0.0, -3.0]])], [np.array([[0.0, 2.0]])]
    for _ in range(_LEVELS - 1):
        ends = np.repeat(starts[-1] + vectors[-1], 2, axis=0)
        turns = np.tile([-1.0, 1.0], len(ends) // 2) * random.uniform(0.3, 0.7, len(ends))
        shrinks = random.uniform(0.65, 0.85, len(ends))
        parents = np.repeat(vectors[-1], 2, axis=0)
        heading = np.arctan2(parents[:, 1], parents[:, 0]) + turns
        lengths = shrinks * np.linalg.norm(parents, axis=1)
        starts.append(ends)
        vectors.append(lengths[:, None] * np.stack([np.cos(heading), np.sin(heading)], axis=1))
    return np.concatenate(starts), np.concatenate(vectors)

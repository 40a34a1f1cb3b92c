"""`pinwheel` and `checkerboard`."""

import math

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, PRNGKeyArray

from secant.datasets.toys.toy import Toy

_BLADES = 5
_CENTRE = np.array([1.0, 0.0])
_SCALES = np.array([0.3, 0.1])
_SIZE = 2.0
_RATE = 0.25


def pinwheel() -> Toy:
    """`x = 2 R(−2πk/5 − ¼ e^{‖z‖}) z`, k uniform, `z ~ N((1, 0), diag(0.3², 0.1²))`.

    R(φ) rotates by φ. A rotation by an angle that depends on the radius alone preserves areas and
    has a closed-form inverse: `p(x) = ¼ · (1/5) Σ_k N(R(2πk/5 + ¼ e^{‖x/2‖}) x/2)`.

    The usual definition rotates by `¼ e^{z_1}`, whose inverse has no closed form; z_1
    and ‖z‖ differ by about z_2²/2 = 0.005.
    """
    return Toy("pinwheel", _draw_blades, _log_density_of_blades)


def _draw_blades(key: PRNGKeyArray, n: int) -> Array:
    """(n, 2) rows."""
    blade_key, noise_key = jax.random.split(key)
    blade = jax.random.randint(blade_key, (n,), 0, _BLADES)
    noise = jax.random.normal(noise_key, (n, 2))
    z = jnp.asarray(_CENTRE, noise.dtype) + jnp.asarray(_SCALES, noise.dtype) * noise
    return _SIZE * _turned(z, -_angle(blade, z))


def _log_density_of_blades(x: Array) -> Array:
    """(n, 2) → (n,)."""
    y = jnp.asarray(x) / _SIZE
    blades = [_turned(y, _angle(jnp.full(y.shape[0], blade), y)) for blade in range(_BLADES)]
    centre, scales = (jnp.asarray(v, y.dtype) for v in (_CENTRE, _SCALES))
    z = (jnp.stack(blades, axis=1) - centre) / scales
    normaliser = math.log(2 * math.pi * _SCALES.prod() * _SIZE**2 * _BLADES)
    return jax.nn.logsumexp(-0.5 * jnp.sum(z**2, axis=-1), axis=1) - normaliser


def _angle(blade: Array, z: Array) -> Array:
    """(n,) and (n, 2) → (n,): the angle of a blade, plus the rotation by its radius."""
    return 2 * math.pi / _BLADES * blade + _RATE * jnp.exp(jnp.hypot(z[:, 0], z[:, 1]))


def _turned(z: Array, angle: Array) -> Array:
    """(n, 2) and (n,) → (n, 2)."""
    cos, sin = jnp.cos(angle), jnp.sin(angle)
    return jnp.stack([cos * z[:, 0] - sin * z[:, 1], sin * z[:, 0] + cos * z[:, 1]], axis=1)


def checkerboard() -> Toy:
    """Uniform on the unit squares of [−2, 2]² whose lower left corners have an even sum: H = log 8.

    log p is −log 8 there and **−∞** elsewhere. The literature also draws it at twice the size.
    """
    return Toy("checkerboard", _draw_squares, _log_density_of_squares, exact_entropy=math.log(8))


def _draw_squares(key: PRNGKeyArray, n: int) -> Array:
    """(n, 2) rows: a column, one of its two squares, and a place in the square."""
    column_key, square_key, place_key = jax.random.split(key, 3)
    column = jax.random.randint(column_key, (n,), -2, 2)
    row = 2 * jax.random.randint(square_key, (n,), -1, 1) + column % 2
    corner = jnp.stack([column, row], axis=1)
    return corner + jax.random.uniform(place_key, (n, 2))


def _log_density_of_squares(x: Array) -> Array:
    """(n, 2) → (n,)."""
    x = jnp.asarray(x)
    on_board = jnp.all((x >= -2) & (x < 2), axis=1)
    is_even = jnp.sum(jnp.floor(x), axis=1) % 2 == 0
    return jnp.where(on_board & is_even, -math.log(8), -jnp.inf).astype(x.dtype)

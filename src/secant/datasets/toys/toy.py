"""A two-dimensional distribution with exact log density."""

from dataclasses import dataclass

import jax
import numpy as np
from jax.scipy.stats import norm
from jaxtyping import Array, Float, PRNGKeyArray
from numpy.typing import NDArray

from secant.datasets.pair import Draw, Estimate, LogRatio, Pair

LogDensity = LogRatio

# The quadrature's square contains all but 1e-8 of each distribution here. The narrowest noise is
# 0.08: with a spacing of 4/5 of that, a sum over the grid is exact up to the rounding of float32.
_HALF_WIDTH = 6.0
_SPACING = 1 / 16
_MASS_TOLERANCE = 1e-3


@dataclass(frozen=True)
class Toy:
    """A two-dimensional distribution whose log density is known.

    `H = −E_p[log p]`, in nats: a lower bound on the expected negative log likelihood of any model.

    Attributes:
        name: Identifier, unique among the sets of a benchmark.
        draw: `(key, n) → (n, 2)` rows, traceable by JAX with `n` static.
        log_density: `(n, 2) → (n,)`, normalised, traceable by JAX.
        exact_entropy: H from a closed form; `None` if there is none. See `entropy`.

    Examples:
        >>> from secant.datasets import toys
        >>> checkerboard = toys()[7]
        >>> x = checkerboard.draw(jax.random.key(0), 100)
        >>> x.shape, round(checkerboard.entropy(), 4)
        ((100, 2), 2.0794)
    """

    name: str
    draw: Draw
    log_density: LogDensity
    exact_entropy: float | None = None

    def entropy(self) -> float:
        """H in closed form where there is one, else by quadrature on the square [−6, 6]².

        `H ≈ −h² Σ_ij p(x_ij) log p(x_ij)` at spacing h = 1/16: correct to 1e-4 for densities
        smooth at the scale of 0.08. For others see `entropy_estimate`.

        Returns:
            H in nats.

        Raises:
            ValueError: If the density does not integrate to 1 on the square.
        """
        if self.exact_entropy is not None:
            return self.exact_entropy
        log_p = np.asarray(jax.jit(self.log_density)(_grid()), dtype=np.float64)
        masses = _SPACING**2 * np.exp(log_p)
        if abs(masses.sum() - 1) > _MASS_TOLERANCE:
            raise ValueError(
                f"The density of `{self.name}` must integrate to 1 on [-6, 6]^2; got "
                f"{masses.sum():.4f}. Use `entropy_estimate` for wider or sharper densities."
            )
        # p log p is 0 where p is, though log p may be −∞ there.
        return float(-np.sum(masses * np.where(masses > 0, log_p, 0)))

    def from_normal(self) -> Pair:
        """The pair of N(0, I) and this one: `log r(x) = log p(x) − log N(x; 0, I)`."""

        def log_ratio(x: Float[Array, "n 2"]) -> Float[Array, " n"]:
            return self.log_density(x) - norm.logpdf(x).sum(axis=1)

        def draw_0(key: PRNGKeyArray, n: int) -> Float[Array, "n 2"]:
            return jax.random.normal(key, (n, 2))

        return Pair(f"{self.name} from normal", 2, draw_0, self.draw, log_ratio)

    def entropy_estimate(self, key: PRNGKeyArray, n: int) -> Estimate:
        """Monte Carlo estimate of H: `−(1/n) Σ_i log p(x_i)`, `x_i ~ p`.

        Args:
            key: JAX random key.
            n: Number of rows, at least 2.

        Returns:
            The mean and its standard error, in nats.

        Raises:
            ValueError: If `n < 2`.
        """
        return Estimate.over(
            lambda n: jax.jit(lambda key: -self.log_density(self.draw(key, n)))(key), n
        )


def _grid() -> NDArray[np.float64]:
    """(36 864, 2): the centres of the cells."""
    axis = np.arange(-_HALF_WIDTH + _SPACING / 2, _HALF_WIDTH, _SPACING)
    return np.stack(np.meshgrid(axis, axis, indexing="ij"), axis=-1).reshape(-1, 2)

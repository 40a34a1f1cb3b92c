"""Pairs of distributions with known log ratio."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple

import jax
import numpy as np
from jaxtyping import Array, PRNGKeyArray

Draw = Callable[[PRNGKeyArray, int], Array]
LogRatio = Callable[[Array], Array]
Map = Callable[[Array], Array]

_SWAPPED = "-swapped"


class Estimate(NamedTuple):
    """A Monte Carlo mean with its standard error."""

    value: float
    standard_error: float

    @classmethod
    def over(cls, drawn: Callable[[int], Array], n: int) -> "Estimate":
        """The mean of n independent values, at least two.

        Raises:
            ValueError: If `n < 2`.
        """
        if n < 2:
            raise ValueError(f"`n` must be at least 2 for a standard error; got {n}.")
        # float64 sums: a float32 mean of 10^6 terms is off by more than its standard error.
        values = np.asarray(drawn(n), dtype=np.float64)
        return cls(float(values.mean()), float(values.std(ddof=1) / np.sqrt(n)))


@dataclass(frozen=True)
class Pair:
    """Two distributions p_0 and p_1 whose log ratio is known exactly.

    `log r(x) = log p_1(x) − log p_0(x)`, `KL = E_{p_1}[log r]`, `reverse KL = E_{p_0}[−log r]`,
    all in nats.

    Attributes:
        name: Identifier of the pair, unique among the pairs of a benchmark.
        n_features: Number of columns d.
        draw_0: `(key, n) → (n, d)` rows of p_0, traceable by JAX with `n` static.
        draw_1: The same for p_1.
        log_ratio: `(n, d) → (n,)` exact log ratio, traceable by JAX.
        kl: KL(p_1 ‖ p_0) from a closed form (or a one-dimensional quadrature); `None` if there is
            none. See `kl_estimate`.
        reverse_kl: KL(p_0 ‖ p_1), likewise.

    Examples:
        >>> import jax
        >>> from secant.datasets import block_gaussians
        >>> pair = block_gaussians(4)
        >>> x_0, x_1 = pair.sample(jax.random.key(0), 100)
        >>> x_1.shape, pair.log_ratio(x_1).shape
        ((100, 4), (100,))
    """

    name: str
    n_features: int
    draw_0: Draw
    draw_1: Draw
    log_ratio: LogRatio
    kl: float | None = None
    reverse_kl: float | None = None

    def sample(self, key: PRNGKeyArray, n: int) -> tuple[Array, Array]:
        """Draw independent samples of both distributions.

        Args:
            key: JAX random key.
            n: Number of rows of each sample.

        Returns:
            `x_0` and `x_1`, each of shape (n, d).
        """
        key_0, key_1 = jax.random.split(key)
        return self.draw_0(key_0, n), self.draw_1(key_1, n)

    def swapped(self) -> "Pair":
        """The pair with p_0 and p_1 exchanged: its log ratio is `−log r`."""
        swapped_already = self.name.endswith(_SWAPPED)
        return replace(
            self,
            name=self.name.removesuffix(_SWAPPED) if swapped_already else self.name + _SWAPPED,
            draw_0=self.draw_1,
            draw_1=self.draw_0,
            log_ratio=partial(_negated, self.log_ratio),
            kl=self.reverse_kl,
            reverse_kl=self.kl,
        )

    def kl_estimate(self, key: PRNGKeyArray, n: int) -> Estimate:
        """Monte Carlo estimate of KL(p_1 ‖ p_0), for pairs without a closed form.

        `(1/n) Σ_i log r(x_i)`, `x_i ~ p_1`. The reverse is `pair.swapped().kl_estimate(key, n)`.

        Args:
            key: JAX random key.
            n: Number of rows, at least 2.

        Returns:
            The mean and its standard error, in nats.

        Raises:
            ValueError: If `n < 2`.
        """
        return Estimate.over(lambda n: jax.jit(self.log_ratio)(self.draw_1(key, n)), n)


def _negated(log_ratio: LogRatio, x: Array) -> Array:
    """A module-level function, so that a swapped pair can be pickled."""
    return -log_ratio(x)

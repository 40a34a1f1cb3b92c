"""Bregman losses (D0): a convex φ gives E_{p_0}[φ'(r) r − φ(r)] − E_{p_1}[φ'(r)].

Each is minimised by r = p_1/p_0, including its constant factor.
"""

from __future__ import annotations

import abc
import math
from typing import ClassVar

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from secant.targets.batch import Batch
from secant.targets.direct import DirectLoss


class Bregman(DirectLoss):
    """(D0) φ'(r) r − φ(r) at x_0 minus φ'(r) at x_1, both as functions of g = log r.

    They satisfy d(φ' r − φ)/dg = e^g dφ'/dg, which is sufficient for (D0).
    """

    @abc.abstractmethod
    def slope(self, g: Float[Array, " n"]) -> Float[Array, " n"]:
        """φ'(e^g)."""

    @abc.abstractmethod
    def conjugate(self, g: Float[Array, " n"]) -> Float[Array, " n"]:
        """φ'(r) r − φ(r) at r = e^g."""

    def compared(
        self, on_0: Float[Array, " n"], on_1: Float[Array, " n"], batch: Batch
    ) -> Float[Array, " n"]:
        """The losses, given the log ratio at the rows of x_0 and of x_1."""
        del batch
        return self.pair_losses(on_0, on_1)

    def pair_losses(self, on_0: Float[Array, " n"], on_1: Float[Array, " n"]) -> Float[Array, " n"]:
        """The losses for any log ratio; losses of (D0) do not depend on the rows."""
        return self.conjugate(on_0) - self.slope(on_1)


class ContinuedBregman(Bregman):
    """A member of (D0) made of powers of r, which would overflow for large |g|.

    Above `top` and below `bottom` φ'' is continued as in the logistic loss, ∝ 1/r² and ∝ 1/r: the
    loss then grows linearly in g, stays in the family, and is still minimised by the true ratio.

    With powers of r the limits also keep φ' below about 200. Otherwise a row of x_1 far from all
    rows of x_0 could lower the mean without bound: on 1,000 held-out rows a network trained with
    φ'' = e^{2r} reached −3e5, where the true ratio has −0.3, and was selected as the best state.
    """

    top: ClassVar[float]
    bottom: ClassVar[float] = -math.inf

    @abc.abstractmethod
    def inner_slope(self, g: Float[Array, " *n"]) -> Float[Array, " *n"]:
        """φ'(e^g) between the limits."""

    @abc.abstractmethod
    def inner_conjugate(self, g: Float[Array, " *n"]) -> Float[Array, " *n"]:
        """φ'(r) r − φ(r) between the limits."""

    def slope(self, g: Float[Array, " n"]) -> Float[Array, " n"]:
        """φ'(e^g): beyond the limits its derivative in g falls as e^(−g), or is constant."""
        inside, above, below = self._split(g)
        rise = self._rate(self.top) * -jnp.expm1(-above)
        return self.inner_slope(inside) + rise + self._rate(self.bottom) * below

    def conjugate(self, g: Float[Array, " n"]) -> Float[Array, " n"]:
        """φ'(r) r − φ(r): beyond the limits the integral of the slope."""
        inside, above, below = self._split(g)
        rise = math.exp(self.top) * self._rate(self.top) * above
        fall = math.exp(self.bottom) * self._rate(self.bottom) * jnp.expm1(below)
        return self.inner_conjugate(inside) + rise + fall

    def _split(
        self, g: Float[Array, " n"]
    ) -> tuple[Float[Array, " n"], Float[Array, " n"], Float[Array, " n"]]:
        """g within the limits, and by how much it is above (≥ 0) and below (≤ 0) them."""
        inside = jnp.clip(g, self.bottom, self.top)
        return inside, jnp.maximum(g - self.top, 0.0), jnp.minimum(g - self.bottom, 0.0)

    def _rate(self, g: float) -> Float[Array, ""]:
        """dφ'/dg = φ''(r) r at one point."""
        point = jnp.asarray(g, dtype=float)
        return jax.jvp(self.inner_slope, (point,), (jnp.ones_like(point),))[1]


class Logistic(Bregman):
    """Noise-contrastive estimation: softplus(−g(x_1)) + K softplus(g(x_0)), g = log r − log K (D0).

    Batches contain equally many rows of both samples; K is the weight of x_0 in the loss.

    Attributes:
        noise_ratio: K, rows of x_0 per row of x_1.
    """

    noise_ratio: float = 1.0

    def __check_init__(self) -> None:
        self._check_positive("noise_ratio")

    def slope(self, g: Float[Array, " n"]) -> Float[Array, " n"]:
        """φ' = −log(1 + K/r)."""
        return -jax.nn.softplus(math.log(self.noise_ratio) - g)

    def conjugate(self, g: Float[Array, " n"]) -> Float[Array, " n"]:
        """K log(1 + r/K)."""
        return self.noise_ratio * jax.nn.softplus(g - math.log(self.noise_ratio))


class SquaredRatio(ContinuedBregman):
    """Neural KuLSIF, Pearson's χ²: ½ r(x_0)² − r(x_1) (D0), φ = r²/2."""

    top: ClassVar[float] = math.log(100.0)

    def inner_slope(self, g: Float[Array, " *n"]) -> Float[Array, " *n"]:
        """φ' = r."""
        return jnp.exp(g)

    def inner_conjugate(self, g: Float[Array, " *n"]) -> Float[Array, " *n"]:
        """r²/2."""
        return 0.5 * jnp.exp(2.0 * g)


class KullbackLeibler(ContinuedBregman):
    """The NWJ bound on KL: r(x_0) − log r(x_1) (D0), φ = r log r − r."""

    top: ClassVar[float] = 20.0

    def inner_slope(self, g: Float[Array, " *n"]) -> Float[Array, " *n"]:
        """φ' = log r."""
        return g

    def inner_conjugate(self, g: Float[Array, " *n"]) -> Float[Array, " *n"]:
        """The ratio itself."""
        return jnp.exp(g)


class Hellinger(ContinuedBregman):
    """√r(x_0) + 1/√r(x_1) (D0), φ = −2√r."""

    top: ClassVar[float] = 20.0
    bottom: ClassVar[float] = -20.0

    def inner_slope(self, g: Float[Array, " *n"]) -> Float[Array, " *n"]:
        """φ' = −1/√r."""
        return -jnp.exp(-0.5 * g)

    def inner_conjugate(self, g: Float[Array, " *n"]) -> Float[Array, " *n"]:
        """√r."""
        return jnp.exp(0.5 * g)


class ExponentialWeight(ContinuedBregman):
    """EW: φ'' ∝ e^{2r}; with y = e^{2r}/2, ½ y (log 2y − 1) at x_0 minus y at x_1 (D0).

    ½ log 2y is the ratio, not its logarithm. The loss is divided by e², so that φ'' = 1 where the
    samples agree: gradients are clipped by their norm, and clipping all of them would add bias.
    """

    top: ClassVar[float] = math.log(3.0)

    def inner_slope(self, g: Float[Array, " *n"]) -> Float[Array, " *n"]:
        """φ' = e^{2r − 2}/2."""
        return 0.5 * jnp.exp(2.0 * (jnp.exp(g) - 1.0))

    def inner_conjugate(self, g: Float[Array, " *n"]) -> Float[Array, " *n"]:
        """e^{2r − 2} (2r − 1)/4."""
        return 0.5 * self.inner_slope(g) * (2.0 * jnp.exp(g) - 1.0)


class PolynomialWeight(ContinuedBregman):
    """PW: φ'' = r^k; r^{k+2}/(k+2) at x_0 minus r^{k+1}/(k+1) at x_1 (D0). k = 0: neural KuLSIF.

    Attributes:
        power: k.
    """

    top: ClassVar[float] = math.log(12.0)

    power: float = 1.0

    def __check_init__(self) -> None:
        if not 0.0 <= self.power <= 4.0:  # r^(k+2) must stay within single precision at the limit
            raise ValueError(f"PolynomialWeight needs 0 <= power <= 4; got {self.power}.")

    def inner_slope(self, g: Float[Array, " *n"]) -> Float[Array, " *n"]:
        """φ' = r^{k+1}/(k+1)."""
        return jnp.exp((self.power + 1.0) * g) / (self.power + 1.0)

    def inner_conjugate(self, g: Float[Array, " *n"]) -> Float[Array, " *n"]:
        """r^{k+2}/(k+2)."""
        return jnp.exp((self.power + 2.0) * g) / (self.power + 2.0)


class Trimmed(DirectLoss):
    """(X1) A member of (D0) at min(g, c), with c a quantile of g over the rows of x_1.

    A few rows of x_1 far from all rows of x_0 then hardly affect the fit. The loss is minimised by
    every g with min(g, c) = min(log r, c): ratios above the threshold are extrapolated.

    Attributes:
        loss: the member.
        share: of the rows of x_1 in a batch that are trimmed, in (0, 1).

    References:
        [@liu2017trimmed]
    """

    loss: Bregman = KullbackLeibler()
    share: float = 0.05

    def __check_init__(self) -> None:
        if not isinstance(self.loss, Bregman):
            raise TypeError(f"Trimmed needs a Bregman loss; got {self.loss!r}.")
        if not 0.0 < self.share < 1.0:
            raise ValueError(f"Trimmed needs 0 < share < 1; got {self.share}.")

    def compared(
        self, on_0: Float[Array, " n"], on_1: Float[Array, " n"], batch: Batch
    ) -> Float[Array, " n"]:
        """The losses, given the log ratio at the rows of x_0 and of x_1."""
        del batch
        threshold = jax.lax.stop_gradient(jnp.quantile(on_1, 1.0 - self.share))
        return self.loss.pair_losses(jnp.minimum(on_0, threshold), jnp.minimum(on_1, threshold))

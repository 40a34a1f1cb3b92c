"""Anchors (G1): a closed-form Gaussian path, or a mixture of them, whose residual is learned."""

from __future__ import annotations

import abc
from collections.abc import Sequence

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float
from scipy.linalg import eigh

from secant.models.secant_function import SecantFunction, on_device
from secant.paths import Path


class Anchor(eqx.Module):
    """A path of densities in closed form: log q_t(x), up to a constant free of x and t."""

    @abc.abstractmethod
    def log_density(self, x: Float[Array, "n d"], t: Float[Array, " #n"]) -> Float[Array, " n"]:
        """log q_t(x) for each row, at one time per row or one time for all rows."""

    def log_ratio(self, x: Float[Array, "n d"]) -> Float[Array, " n"]:
        """log q_1(x) − log q_0(x), with moments computed once for all rows."""
        ends = (jnp.ones(1, x.dtype), jnp.zeros(1, x.dtype))
        one, zero = (self.log_density(x, t) for t in ends)
        return one - zero

    @abc.abstractmethod
    def mean_velocity(self, x: Float[Array, "n d"], t: Float[Array, " n"]) -> Float[Array, "n d"]:
        """v̄(x, t) = E[ẋ_t | x_t = x] of the anchor's own path."""

    def time_score(self, x: Float[Array, "n d"], t: Float[Array, " n"]) -> Float[Array, " n"]:
        """∂_t log q_t(x)."""
        return jax.jvp(lambda time: self.log_density(x, time), (t,), (jnp.ones_like(t),))[1]

    def secant(
        self, x: Float[Array, "n d"], l: Float[Array, " n"], t: Float[Array, " n"]
    ) -> Float[Array, " n"]:
        """(log q_t(x) − log q_l(x)) / (t − l), the time score where t = l."""
        # Below this length float32 loses the difference; the midpoint tangent errs by O(length²).
        short = t - l < 1e-3
        length = jnp.where(short, 1.0, t - l)
        difference = (self.log_density(x, t) - self.log_density(x, l)) / length
        return jnp.where(short, self.time_score(x, 0.5 * (l + t)), difference)


class GaussianAnchor(Anchor):
    """log N(x; m_t, S_t) along the path, S_t = α_t² S_0 + β_t² S_1 + γ_t² I (G1).

    One rotation W with W S_0 Wᵀ = I and W S_1 Wᵀ = diag(v) makes S_t diagonal at every t, so a row
    costs one product with W and then O(d). The path's own noise γ_t² I becomes γ_t² W Wᵀ; only its
    diagonal is kept. This is exact when γ = 0, or when S_0 and S_1 commute and v has no repeated
    entries; otherwise the network learns the difference.
    """

    rotation: Float[Array, "d d"]
    rotation_back: Float[Array, "d d"]  # its inverse
    mean_0: Float[Array, " d"]  # in rotated coordinates, as all below
    mean_1: Float[Array, " d"]
    variance_1: Float[Array, " d"]
    noise: Float[Array, " d"]
    log_volume: Float[Array, ""]  # log |det W|, which mixtures of such paths need
    path: Path

    @classmethod
    def fitted(
        cls,
        mean_0: Float[np.ndarray, " d"],
        covariance_0: Float[np.ndarray, "d d"],
        mean_1: Float[np.ndarray, " d"],
        covariance_1: Float[np.ndarray, "d d"],
        path: Path,
    ) -> GaussianAnchor:
        """The anchor of two sets of moments; covariances must be positive definite."""
        variance_1, vectors = eigh(covariance_1, covariance_0)
        rotation = vectors.T
        return cls(
            rotation=on_device(rotation),
            rotation_back=on_device(covariance_0 @ vectors),
            mean_0=on_device(rotation @ mean_0),
            mean_1=on_device(rotation @ mean_1),
            variance_1=on_device(variance_1),
            noise=on_device(np.sum(rotation**2, axis=1)),
            log_volume=on_device(np.linalg.slogdet(rotation)[1]),
            path=path,
        )

    def log_density(self, x: Float[Array, "n d"], t: Float[Array, " #n"]) -> Float[Array, " n"]:
        """log N(x; m_t, S_t) + (d/2) log 2π."""
        mean, variance = self._moments(t)
        gap = x @ self.rotation.T - mean
        # Separately, so that with one time for all rows the logarithms are computed once.
        log_determinant = jnp.sum(jnp.log(variance), axis=-1)
        return self.log_volume - 0.5 * (jnp.sum(gap**2 / variance, axis=-1) + log_determinant)

    def mean_velocity(self, x: Float[Array, "n d"], t: Float[Array, " n"]) -> Float[Array, "n d"]:
        """ṁ_t + ½ Ṡ_t S_t⁻¹ (x − m_t): S_t is diagonal in rotated coordinates."""
        (mean, variance), (mean_rate, variance_rate) = jax.jvp(
            self._moments, (t,), (jnp.ones_like(t),)
        )
        gap = x @ self.rotation.T - mean
        return (mean_rate + 0.5 * variance_rate / variance * gap) @ self.rotation_back.T

    def _moments(self, t: Float[Array, " n"]) -> tuple[Float[Array, "n d"], Float[Array, "n d"]]:
        """m_t and the diagonal of S_t, in rotated coordinates."""
        alpha, beta = (c[:, None] for c in self.path.schedule(t))
        noise = self.path.noise_scale(t)[:, None] ** 2 * self.noise
        mean = alpha * self.mean_0 + beta * self.mean_1
        return mean, alpha**2 + beta**2 * self.variance_1 + noise


class MixtureAnchor(Anchor):
    """The path between two Gaussian mixtures, itself a mixture of Gaussian paths (G1).

    With x_0 ~ Σ_i w_i N_i and x_1 ~ Σ_j v_j M_j drawn independently, x_t is a mixture over the
    pairs (i, j) of the Gaussian paths from N_i to M_j, with weights w_i v_j.
    """

    pairs: GaussianAnchor  # every array with a leading axis, one entry per pair
    log_weights: Float[Array, " pairs"]

    @classmethod
    def of(cls, pairs: Sequence[GaussianAnchor], weights: Float[np.ndarray, " p"]) -> MixtureAnchor:
        """The mixture of these paths."""
        stacked = jax.tree.map(
            lambda *leaves: _stacked(leaves) if eqx.is_array(leaves[0]) else leaves[0], *pairs
        )
        return cls(stacked, on_device(np.log(weights)))

    def log_density(self, x: Float[Array, "n d"], t: Float[Array, " #n"]) -> Float[Array, " n"]:
        """log Σ_p weight_p N(x; m_t^p, S_t^p) + (d/2) log 2π."""
        return jax.nn.logsumexp(self._log_terms(x, t), axis=0)

    def mean_velocity(self, x: Float[Array, "n d"], t: Float[Array, " n"]) -> Float[Array, "n d"]:
        """The velocities of the pairs, weighted by the probability of each pair given x at t."""
        each = eqx.filter_vmap(lambda pair: pair.mean_velocity(x, t))(self.pairs)
        shares = jax.nn.softmax(self._log_terms(x, t), axis=0)
        return jnp.einsum("pn,pnd->nd", shares, each)

    def _log_terms(self, x: Float[Array, "n d"], t: Float[Array, " #n"]) -> Float[Array, "p n"]:
        each = eqx.filter_vmap(lambda pair: pair.log_density(x, t))(self.pairs)
        return each + self.log_weights[:, None]


def _stacked(leaves: Sequence[Array]) -> Array:
    return on_device(np.stack([np.asarray(leaf) for leaf in leaves]))


class Anchored(SecantFunction):
    """A model that learns the residual of an anchor."""

    anchor: Anchor
    residual: SecantFunction

    def parts(
        self, x: Float[Array, "n d"], l: Float[Array, " n"], t: Float[Array, " n"]
    ) -> Float[Array, "n parts"]:
        """The residual's parts, with the anchor's secant divided evenly over them."""
        rest = self.residual.parts(x, l, t)
        return rest + self.anchor.secant(x, l, t)[:, None] / rest.shape[-1]

    def log_ratio(self, x: Float[Array, "n d"]) -> Float[Array, " n"]:
        """The anchor's log ratio plus the residual's."""
        return self.anchor.log_ratio(x) + self.residual.log_ratio(x)

    def time_score(self, x: Float[Array, "n d"], t: Float[Array, " n"]) -> Float[Array, " n"]:
        """s(x, t)."""
        return self.anchor.time_score(x, t) + self.residual.time_score(x, t)

    def learned_time_score(
        self, x: Float[Array, "n d"], t: Float[Array, " n"]
    ) -> Float[Array, " n"]:
        """The residual's time score."""
        return self.residual.time_score(x, t)

    def fixed_time_score(self, x: Float[Array, "n d"], t: Float[Array, " n"]) -> Float[Array, " n"]:
        """The anchor's time score."""
        return self.anchor.time_score(x, t)

    def tangent_parts(
        self, x: Float[Array, "n d"], t: Float[Array, " n"]
    ) -> Float[Array, "n parts"]:
        """The residual's parts, with the anchor's time score divided evenly over them."""
        rest = self.residual.tangent_parts(x, t)
        return rest + self.anchor.time_score(x, t)[:, None] / rest.shape[-1]

    def implied_tangent(
        self, x: Float[Array, "n d"], l: Float[Array, " n"], t: Float[Array, " n"]
    ) -> Float[Array, " n"]:
        """The anchor's exact time score plus what the residual's secant implies."""
        return self.anchor.time_score(x, t) + self.residual.implied_tangent(x, l, t)

    @property
    def secant_evaluations(self) -> int:
        """Network evaluations per secant; the anchor is closed form."""
        return self.residual.secant_evaluations

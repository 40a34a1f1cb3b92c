"""Curricula: how the intervals [l, t] of a batch change during training."""

from __future__ import annotations

import abc

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

__all__ = ["ContractionIntervalAnnealing", "Curriculum", "FullIntervals", "SecantTangentShare"]


class Curriculum(eqx.Module):
    """A rule that moves the left ends l of the drawn intervals towards t."""

    @abc.abstractmethod
    def left_ends(
        self,
        key: PRNGKeyArray,
        l: Float[Array, " n"],
        t: Float[Array, " n"],
        progress: Float[Array, ""],
    ) -> Float[Array, " n"]:
        """The left ends to train with, l ≤ result ≤ t, at this training progress, 0 to 1."""

    @property
    def tangents_only(self) -> bool:
        """Whether no interval with l < t is ever trained."""
        return False

    @property
    def settled_at(self) -> float:
        """The share of the training after which the intervals no longer change."""
        return 0.0


class FullIntervals(Curriculum):
    """No curriculum: intervals as drawn."""

    def left_ends(
        self,
        key: PRNGKeyArray,
        l: Float[Array, " n"],
        t: Float[Array, " n"],
        progress: Float[Array, ""],
    ) -> Float[Array, " n"]:
        """The left ends as drawn."""
        del key, t, progress
        return l


class ContractionIntervalAnnealing(Curriculum):
    """CIA: every interval is shrunk towards t by a factor that grows from 0 to 1.

    The correction term (t − l) ∂_t u bootstraps on the model itself; short intervals first keep
    that map a contraction. The factor reaches 1 after `anneal_share` of the training.
    """

    anneal_share: float = 0.5

    def __check_init__(self) -> None:
        if not 0.0 < self.anneal_share <= 1.0:
            raise ValueError(f"anneal_share must lie in (0, 1]; got {self.anneal_share}.")

    def left_ends(
        self,
        key: PRNGKeyArray,
        l: Float[Array, " n"],
        t: Float[Array, " n"],
        progress: Float[Array, ""],
    ) -> Float[Array, " n"]:
        """t − w (t − l) with w = min(1, progress / anneal_share)."""
        del key
        width = jnp.minimum(1.0, progress / self.anneal_share)
        return t - width * (t - l)

    @property
    def settled_at(self) -> float:
        """When the factor has reached 1."""
        return self.anneal_share


class SecantTangentShare(Curriculum):
    """STS: a fixed share of the rows is trained on the tangent (l = t), the rest as drawn."""

    tangent_share: float = 0.5

    def __check_init__(self) -> None:
        if not 0.0 <= self.tangent_share <= 1.0:
            raise ValueError(f"tangent_share must lie in [0, 1]; got {self.tangent_share}.")

    def left_ends(
        self,
        key: PRNGKeyArray,
        l: Float[Array, " n"],
        t: Float[Array, " n"],
        progress: Float[Array, ""],
    ) -> Float[Array, " n"]:
        """The right end t with probability `tangent_share`, else l."""
        del progress
        tangent = jax.random.bernoulli(key, self.tangent_share, t.shape)
        return jnp.where(tangent, t, l)

    @property
    def tangents_only(self) -> bool:
        """Whether no interval with l < t is ever trained."""
        return self.tangent_share == 1.0

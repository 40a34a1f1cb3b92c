"""Optimisers: how gradients become steps."""

from __future__ import annotations

import abc

import equinox as eqx
import optax

__all__ = ["Adam", "Optimiser"]


class Optimiser(eqx.Module):
    """A rule of optax's at a learning rate that follows a schedule.

    To bring your own, subclass this; clipping, warm-up and decay are the training's.
    """

    @abc.abstractmethod
    def at(self, rate: optax.Schedule) -> optax.GradientTransformation:
        """The rule with this learning rate."""


class Adam(Optimiser):
    """Adam with optax's own moments."""

    def at(self, rate: optax.Schedule) -> optax.GradientTransformation:
        """The rule with this learning rate."""
        return optax.adam(rate)

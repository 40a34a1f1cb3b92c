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
    """Adam with optax's own moments.

    On all weights as one vector: the same numbers, from a program that compiles a tenth faster.
    """

    def at(self, rate: optax.Schedule) -> optax.GradientTransformation:
        """The rule with this learning rate."""
        return optax.flatten(optax.adam(rate))

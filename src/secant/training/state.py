"""The state of a training run: everything a next step depends on."""

from __future__ import annotations

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import optax
from jaxtyping import Array, Int, PRNGKeyArray, PyTree

from secant.models.anchor import Anchor
from secant.training.optimisers import Optimiser
from secant.training.settings import Training

__all__ = ["TrainingState", "scheduled", "split"]


class TrainingState(eqx.Module):
    """Weights, their moving average, the optimiser's memory, the step and the random key."""

    weights: PyTree
    average: PyTree
    memory: Any
    step: Int[Array, ""]
    key: PRNGKeyArray

    @classmethod
    def start(
        cls, weights: PyTree, training: Training, rule: Optimiser, *, key: PRNGKeyArray
    ) -> TrainingState:
        """The state before the first step."""
        memory = scheduled(rule, training).init(weights)
        # Buffers of their own: the loop donates them all, and the model may be trained again.
        own, average = (jax.tree.map(jnp.array, weights) for _ in range(2))
        return cls(own, average, memory, jnp.zeros((), dtype=jnp.int32), key)

    @property
    def arrays(self) -> PyTree:
        """The same as plain arrays, the key by its bits."""
        bits = jax.random.key_data(self.key)
        return self.weights, self.average, self.memory, self.step, bits

    def with_arrays(self, arrays: PyTree) -> TrainingState:
        """A state of this kind with other `arrays`."""
        weights, average, memory, step, bits = arrays
        key = jax.random.wrap_key_data(bits, impl=jax.random.key_impl(self.key))
        return TrainingState(weights, average, memory, step, key)


def scheduled(rule: Optimiser, training: Training) -> optax.GradientTransformation:
    """The rule with clipped gradients, warm-up and cosine decay to nothing."""
    rate = optax.warmup_cosine_decay_schedule(
        init_value=0.0,
        peak_value=training.learning_rate,
        warmup_steps=min(training.warmup, training.steps // 2),
        decay_steps=training.steps,
    )
    return optax.chain(optax.clip_by_global_norm(training.clip), rule.at(rate))


def split(model: PyTree) -> tuple[PyTree, PyTree]:
    """Trainable weights and the rest. The anchor is closed form: none of it is trained."""
    spec = jax.tree.map(
        lambda leaf: not isinstance(leaf, Anchor) and eqx.is_inexact_array(leaf),
        model,
        is_leaf=lambda node: isinstance(node, Anchor),
    )
    return eqx.partition(model, spec)

"""The interface of models: a function u(x, l, t) with its tangent u(x, t, t)."""

from __future__ import annotations

import abc
from typing import TYPE_CHECKING, Any, ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PRNGKeyArray

if TYPE_CHECKING:
    from secant.models.anchor import Anchor


def on_device(values: Float[np.ndarray, ...]) -> Float[Array, ...]:
    """Numbers as a JAX array of default precision, without compilation."""
    return jax.device_put(np.asarray(values, dtype=jax.dtypes.canonicalize_dtype(float)))


class SecantFunction(eqx.Module):
    """A model of the secant u(x, l, t) and the time score s(x, t) = u(x, t, t), row by row.

    A model may answer in several *parts* whose sum is the secant; the vectorised conditional
    target trains one part per coordinate.
    """

    @abc.abstractmethod
    def parts(
        self, x: Float[Array, "n d"], l: Float[Array, " n"], t: Float[Array, " n"]
    ) -> Float[Array, "n parts"]:
        """Summands of u(x, l, t)."""

    @abc.abstractmethod
    def time_score(self, x: Float[Array, "n d"], t: Float[Array, " n"]) -> Float[Array, " n"]:
        """s(x, t)."""

    def learned_time_score(
        self, x: Float[Array, "n d"], t: Float[Array, " n"]
    ) -> Float[Array, " n"]:
        """The part of s(x, t) that is trained."""
        return self.time_score(x, t)

    def fixed_time_score(self, x: Float[Array, "n d"], t: Float[Array, " n"]) -> Float[Array, " n"]:
        """The remaining part, in closed form."""
        del x
        return jnp.zeros_like(t)

    def secant(
        self, x: Float[Array, "n d"], l: Float[Array, " n"], t: Float[Array, " n"]
    ) -> Float[Array, " n"]:
        """u(x, l, t)."""
        return jnp.sum(self.parts(x, l, t), axis=-1)

    def log_ratio(self, x: Float[Array, "n d"]) -> Float[Array, " n"]:
        """u(x, 0, 1), by a shorter formula if the model has one."""
        n = x.shape[0]
        return self.secant(x, jnp.zeros(n, x.dtype), jnp.ones(n, x.dtype))

    def tangent_parts(
        self, x: Float[Array, "n d"], t: Float[Array, " n"]
    ) -> Float[Array, "n parts"]:
        """Summands of s(x, t)."""
        return self.parts(x, t, t)

    def implied_tangent(
        self, x: Float[Array, "n d"], l: Float[Array, " n"], t: Float[Array, " n"]
    ) -> Float[Array, " n"]:
        """The time score that the secant implies by (S1): ∂_t [(t − l) u(x, l, t)].

        The held-out loss evaluates it to detect a secant that disagrees with its tangent.
        """

        def rise(time: Float[Array, " n"]) -> Float[Array, " n"]:
            return (time - l) * self.secant(x, l, time)

        return jax.jvp(rise, (t,), (jnp.ones_like(t),))[1]

    @property
    def secant_evaluations(self) -> int:
        """Network evaluations per secant."""
        return 1


class ModelBuilder(eqx.Module):
    """Settings of a model, built once the number of features is known.

    `needs_alignment` says whether (S1) must train its secants, because they do not follow from its
    tangent.
    """

    needs_alignment: ClassVar[bool] = False

    @abc.abstractmethod
    def build(self, n_features: int, *, key: PRNGKeyArray) -> Any:  # noqa: ANN401
        """A model with fresh parameters: a `SecantFunction`, unless its target trains another."""

    def anchored(self, model: Any, anchor: Anchor) -> Any:  # noqa: ANN401
        """The model on an anchor, whose residual it learns."""
        from secant.models.anchor import Anchored  # the anchored model is such a function, too

        return Anchored(anchor, model)


class Shifted(SecantFunction):
    """log r(x) − c, with c divided evenly over time; for losses that leave a constant open."""

    inner: SecantFunction
    constant: Float[Array, ""]

    def parts(
        self, x: Float[Array, "n d"], l: Float[Array, " n"], t: Float[Array, " n"]
    ) -> Float[Array, "n parts"]:
        """The inner model's parts, each less its share of the constant."""
        parts = self.inner.parts(x, l, t)
        return parts - self.constant / parts.shape[-1]

    def time_score(self, x: Float[Array, "n d"], t: Float[Array, " n"]) -> Float[Array, " n"]:
        """s(x, t)."""
        return self.inner.time_score(x, t) - self.constant

    def log_ratio(self, x: Float[Array, "n d"]) -> Float[Array, " n"]:
        """log r(x) − c."""
        return self.inner.log_ratio(x) - self.constant

    @property
    def secant_evaluations(self) -> int:
        """Network evaluations per secant."""
        return self.inner.secant_evaluations

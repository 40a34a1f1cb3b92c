"""A model with a constant subtracted from its log ratio."""

from __future__ import annotations

from jaxtyping import Array, Float

from secant.models.secant_function import SecantFunction

__all__ = ["Shifted"]


class Shifted(SecantFunction):
    """log r(x) − c, spread evenly over time, for losses that do not determine the constant."""

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

"""Telescoping heads: one logit per bridge, all from one trunk; their sum is the log ratio."""

from __future__ import annotations

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from secant.models.networks import ResidualMLP, Trunk, TrunkBuilder
from secant.models.secant_function import ModelBuilder, SecantFunction


class TelescopingHeads(ModelBuilder):
    """h_m(x) ≈ log p_{(m+1)/M}(x) − log p_{m/M}(x), m < M, from one trunk with M outputs (R1).

    Attributes:
        n_bridges: M, one more than the waymarks between the samples.
        trunk: the network.
    """

    n_bridges: int = 8
    trunk: TrunkBuilder = ResidualMLP()

    def __check_init__(self) -> None:
        if self.n_bridges < 1:
            raise ValueError(f"TelescopingHeads needs n_bridges >= 1; got {self.n_bridges}.")

    def build(self, n_features: int, *, key: PRNGKeyArray) -> TelescopingFunction:
        """A model with fresh parameters."""
        return TelescopingFunction(
            self.trunk.build(n_features, self.n_bridges, key=key), self.n_bridges
        )


class TelescopingFunction(SecantFunction):
    """Secants for log p_t linear in t between two waymarks: exact and additive."""

    trunk: Trunk
    n_bridges: int = eqx.field(static=True)

    def bridges(self, x: Float[Array, "n d"]) -> Float[Array, "n bridges"]:
        """The logit of every bridge."""
        return jax.vmap(self.trunk)(x)

    def parts(
        self, x: Float[Array, "n d"], l: Float[Array, " n"], t: Float[Array, " n"]
    ) -> Float[Array, "n bridges"]:
        """Each bridge's logit times its share within [l, t], divided by t − l."""
        # At l = t, an interval of one bridge's length: the tangent of the bridge that contains t.
        start = jnp.minimum(l, 1.0 - 1.0 / self.n_bridges)
        short = t - l < 1e-6
        begin = jnp.where(short, jnp.floor(start * self.n_bridges) / self.n_bridges, l)
        end = jnp.where(short, begin + 1.0 / self.n_bridges, t)
        share = self._crossed(end) - self._crossed(begin)
        return self.bridges(x) * share / (end - begin)[:, None]

    def _crossed(self, t: Float[Array, " n"]) -> Float[Array, "n bridges"]:
        """The share of each bridge that lies before t."""
        return jnp.clip(self.n_bridges * t[:, None] - jnp.arange(self.n_bridges), 0.0, 1.0)

    def log_ratio(self, x: Float[Array, "n d"]) -> Float[Array, " n"]:
        """The sum of all bridges."""
        return jnp.sum(self.bridges(x), axis=-1)

    def time_score(self, x: Float[Array, "n d"], t: Float[Array, " n"]) -> Float[Array, " n"]:
        """M h_m(x) of the bridge that contains t."""
        return self.secant(x, t, t)

"""Normalising flows of flowjax as bases."""

from __future__ import annotations

from typing import Protocol

import equinox as eqx
from jaxtyping import Array, Float, PRNGKeyArray

__all__ = ["FlowJAX"]


class _Flow(Protocol):
    """The methods of a `flowjax.distributions.AbstractDistribution` that are used."""

    def sample(self, key: PRNGKeyArray, sample_shape: tuple[int, ...]) -> Float[Array, "n d"]: ...

    def log_prob(self, x: Float[Array, "n d"]) -> Float[Array, " n"]: ...


class FlowJAX(eqx.Module):
    """A distribution of flowjax, trained or not, as a base: `DensityEstimator(FlowJAX(flow))`.

    The ratio then corrects the flow. Install the extra `flows` for flowjax.

    Attributes:
        flow: any distribution of flowjax over rows of d columns.
    """

    flow: _Flow

    def sample(self, key: PRNGKeyArray, n: int) -> Float[Array, "n d"]:
        """n independent rows."""
        return self.flow.sample(key, (n,))

    def log_prob(self, x: Float[Array, "n d"]) -> Float[Array, " n"]:
        """The log density of each row."""
        return self.flow.log_prob(x)

"""Pairings: which row of x_1 a row of x_0 is joined with by the path."""

from __future__ import annotations

import abc
import warnings
from types import ModuleType

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PRNGKeyArray, UInt32

__all__ = ["OptimalTransport", "Pairing"]

Rows = Float[Array, "n d"]


class Pairing(eqx.Module):
    """A coupling of equally many rows of both samples; either sample by itself stays as it was."""

    @abc.abstractmethod
    def __call__(self, x_0: Rows, x_1: Rows, *, key: PRNGKeyArray) -> tuple[Rows, Rows]:
        """The rows in pairs."""

    def in_blocks(
        self, x_0: Float[np.ndarray, "n d"], x_1: Float[np.ndarray, "n d"], size: int
    ) -> tuple[Float[np.ndarray, "n d"], Float[np.ndarray, "n d"]]:
        """Pairs within blocks of a batch's size, always the same: for rows held out."""
        pairs = [
            _paired(self, *jax.device_put((x_0[some], x_1[some], np.array([0, i], np.uint32))))
            for i, some in ((i, slice(i, i + size)) for i in range(0, x_0.shape[0], size))
        ]
        first, second = (
            np.concatenate([np.asarray(x) for x in side]) for side in zip(*pairs, strict=True)
        )
        return first, second


@eqx.filter_jit
def _paired(
    pairing: Pairing, x_0: Rows, x_1: Rows, words: UInt32[Array, " 2"]
) -> tuple[Rows, Rows]:
    return pairing(x_0, x_1, key=jax.random.wrap_key_data(words, impl="threefry2x32"))


class OptimalTransport(Pairing):
    """Pairs drawn from the entropic optimal-transport plan of the batch (Sinkhorn, by `ott-jax`).

    Every row of x_0 draws its partner from its row of the plan, whose columns sum to equal shares
    too: near rows are paired, and a batch of x_1 is still a sample of p_1.

    Attributes:
        epsilon: entropic regularisation, in units of the mean squared distance.
        iterations: at most so many Sinkhorn iterations a batch.
    """

    epsilon: float = 0.05
    iterations: int = 100

    def __check_init__(self) -> None:
        if not self.epsilon > 0.0 or self.iterations < 1:
            raise ValueError(
                "OptimalTransport needs epsilon > 0 and iterations >= 1; "
                f"got {self.epsilon}, {self.iterations}."
            )
        _solver()  # a missing extra is told here, not in the middle of a fit

    def __call__(self, x_0: Rows, x_1: Rows, *, key: PRNGKeyArray) -> tuple[Rows, Rows]:
        """x_0 as it came, with a partner from x_1 for each row."""
        geometry, linear = _solver()
        squares = [jnp.sum(x**2, axis=-1) for x in (x_0, x_1)]
        cost = squares[0][:, None] + squares[1][None, :] - 2.0 * x_0 @ x_1.T
        cost = cost / jnp.mean(cost)
        # Taking the least of a row or a column off it changes no plan, and leaves every row and
        # column a kernel entry of 1: plain scaling is then safe, and much faster than in logs.
        cost = cost - jnp.min(cost, axis=1, keepdims=True)
        cost = cost - jnp.min(cost, axis=0, keepdims=True)
        problem = geometry.Geometry(cost_matrix=cost, epsilon=self.epsilon)
        plan = linear.solve(problem, max_iterations=self.iterations, lse_mode=False).matrix
        partner = jax.random.categorical(key, jnp.log(plan + 1e-30), axis=-1)
        return x_0, x_1[partner]


def _solver() -> tuple[ModuleType, ModuleType]:
    try:
        with warnings.catch_warnings():  # ott-jax imports JAXopt, which says it is not maintained
            warnings.simplefilter("ignore", DeprecationWarning)
            from ott.geometry import geometry
            from ott.solvers import linear
    except ImportError as error:
        raise ImportError(
            "OptimalTransport needs the package `ott-jax`; install it with "
            "`pip install 'secant[transport]'`."
        ) from error
    return geometry, linear

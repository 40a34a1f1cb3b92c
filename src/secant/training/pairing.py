"""Pairings: which rows of x_0 and x_1 the path connects."""

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
    """A coupling of equally many rows of both samples that keeps both margins."""

    @abc.abstractmethod
    def __call__(self, x_0: Rows, x_1: Rows, *, key: PRNGKeyArray) -> tuple[Rows, Rows]:
        """The rows in pairs."""

    def in_blocks(
        self, x_0: Float[np.ndarray, "n d"], x_1: Float[np.ndarray, "n d"], size: int
    ) -> tuple[Float[np.ndarray, "n d"], Float[np.ndarray, "n d"]]:
        """Fixed pairs within blocks of the batch size, for held-out rows."""
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

    Every row of x_0 draws its partner from its row of the plan. Nearby rows are paired, and because
    the columns of the plan have equal sums, the partners are still a sample of p_1.

    Attributes:
        epsilon: entropic regularisation, in units of the mean squared distance.
        iterations: maximum number of Sinkhorn iterations per batch.
    """

    epsilon: float = 0.05
    iterations: int = 100

    def __check_init__(self) -> None:
        if not self.epsilon > 0.0 or self.iterations < 1:
            raise ValueError(
                "OptimalTransport needs epsilon > 0 and iterations >= 1; "
                f"got {self.epsilon}, {self.iterations}."
            )
        _solver()  # report a missing extra here, not during a fit

    def __call__(self, x_0: Rows, x_1: Rows, *, key: PRNGKeyArray) -> tuple[Rows, Rows]:
        """x_0 unchanged, with a partner from x_1 for each row."""
        geometry, linear = _solver()
        squares = [jnp.sum(x**2, axis=-1) for x in (x_0, x_1)]
        cost = squares[0][:, None] + squares[1][None, :] - 2.0 * x_0 @ x_1.T
        cost = cost / jnp.mean(cost)
        # Subtracting the minimum of a row or column does not change the plan, and gives each of
        # them a kernel entry of 1: plain scaling is then stable, and much faster than in logs.
        cost = cost - jnp.min(cost, axis=1, keepdims=True)
        cost = cost - jnp.min(cost, axis=0, keepdims=True)
        problem = geometry.Geometry(cost_matrix=cost, epsilon=self.epsilon)
        plan = linear.solve(problem, max_iterations=self.iterations, lse_mode=False).matrix
        partner = jax.random.categorical(key, jnp.log(plan + 1e-30), axis=-1)
        return x_0, x_1[partner]


def _solver() -> tuple[ModuleType, ModuleType]:
    try:
        with (
            warnings.catch_warnings()
        ):  # ott-jax imports JAXopt, which warns that it is not maintained
            warnings.simplefilter("ignore", DeprecationWarning)
            from ott.geometry import geometry
            from ott.solvers import linear
    except ImportError as error:
        raise ImportError(
            "OptimalTransport needs the package `ott-jax`; install it with "
            "`pip install 'secant[transport]'`."
        ) from error
    return geometry, linear

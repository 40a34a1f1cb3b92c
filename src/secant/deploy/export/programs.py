"""Exported programs: a function of rows in two parts, in double and in single precision.

As in secant, columns are scaled in float64 and networks run in float32.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.extend.core import jaxpr_as_fun
from jaxtyping import Array, Float

Function = Callable[..., tuple[Array, ...]]
RowCount = Any  # a whole number or a symbol: JAX has no public name for its type
Preparation = Callable[[Float[Array, "n d"]], "Inputs"]


class ExportError(ValueError):
    """A model cannot be exported; the message names the part and a remedy."""


@dataclass(frozen=True)
class Inputs:
    """The output of the double-precision part.

    Attributes:
        inputs: arrays (n, …) for the network; empty if there is none.
        offset: added to the network's output (n,); None for none.
    """

    inputs: tuple[Float[Array, "n d"], ...]
    offset: Float[Array, " n"] | None = None


@dataclass(frozen=True)
class Program:
    """x ↦ network(inputs in float32) + offset, where (inputs, offset) = prepare(x in float64).

    Attributes:
        quantity: the output: "log_ratio" or "log_density".
        n_features: d.
        prepare: the part in double precision.
        network: the part in single precision; None if there is none.
    """

    quantity: str
    n_features: int
    prepare: Preparation
    network: Callable[..., Float[Array, " n"]] | None

    def prepared(self, x: Float[Array, "n d"]) -> tuple[Array, ...]:
        """Inputs and offset in one tuple, the offset last."""
        found = self.prepare(x)
        return found.inputs if found.offset is None else (*found.inputs, found.offset)

    def staged_network(self, n: RowCount) -> Function | None:
        """The network for n rows, traced in single precision in any mode of JAX."""
        if self.network is None:
            return None
        with jax.enable_x64(True):
            found = jax.eval_shape(lambda x: self.prepare(x).inputs, self._rows(n, np.float64))
        inputs = [jax.ShapeDtypeStruct(x.shape, np.float32) for x in found]
        network = self.network
        with jax.enable_x64(False):
            return staged(lambda *arrays: (network(*arrays),), *inputs)

    def whole(self, n: RowCount) -> Callable[[Float[Array, "n d"]], Float[Array, " n"]]:
        """Rows to answers of the same type; to be traced in double precision."""
        network = self.staged_network(n)

        def answer(x: Float[Array, "n d"]) -> Float[Array, " n"]:
            found = self.prepare(x.astype(np.float64))
            total = jnp.zeros(x.shape[0], np.float64) if found.offset is None else found.offset
            if network is not None:
                (values,) = network(*(rows.astype(np.float32) for rows in found.inputs))
                total = total + values.astype(np.float64)
            return total.astype(x.dtype)

        return answer

    def _rows(self, n: RowCount, dtype: type[np.floating]) -> jax.ShapeDtypeStruct:
        return jax.ShapeDtypeStruct((n, self.n_features), dtype)


def n_rows() -> RowCount:
    """A symbolic number of rows."""
    return jax.export.symbolic_shape("n")[0]


def staged(function: Function, *inputs: jax.ShapeDtypeStruct) -> Function:
    """The function as a sequence of primitive operations."""
    return jaxpr_as_fun(jax.make_jaxpr(function)(*inputs))

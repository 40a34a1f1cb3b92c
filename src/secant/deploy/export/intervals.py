"""Columns looked up in tables, by operations that every runtime has."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

__all__ = ["ColumnTables"]


@dataclass(frozen=True)
class ColumnTables:
    """Increasing edges of every column, and values that belong to them.

    Attributes:
        edges: (d, m), each row filled up with its last edge.
        last: number of each column's last interval.
    """

    edges: Float[np.ndarray, "d m"]
    last: Int[np.ndarray, " d"]

    @classmethod
    def of(cls, edges: Sequence[Float[np.ndarray, " k"]]) -> ColumnTables:
        """Of columns with at least two edges each."""
        return cls(filled_up(edges), np.array([e.size - 2 for e in edges], dtype=np.int32))

    def interval(self, y: Float[Array, "n d"]) -> Int[Array, "n d"]:
        """The number k of the interval [e_k, e_{k+1}) of each value; the first or last beyond.

        By bisection: a few look-ups a value, and no loop.
        """
        k = jnp.zeros(y.shape, dtype=np.int32)
        edges = jnp.asarray(self.edges)  # once, for every constant takes its place in the file
        step = 1 << (self.edges.shape[1] - 1).bit_length()
        while step:
            further = jnp.minimum(k + np.int32(step), self.last)
            k = jnp.where(y >= self.at(further, edges), further, k)
            step //= 2
        return k

    def at(
        self, k: Int[Array, "n d"], values: Float[np.ndarray, "d m"] | Float[Array, "d m"]
    ) -> Float[Array, "n d"]:
        """`values[i, k]` for each k in column i."""
        d, m = values.shape
        first = m * np.arange(d, dtype=np.int32)
        return jnp.take(jnp.asarray(values.reshape(-1)), first + k, mode="clip")


def filled_up(rows: Sequence[Float[np.ndarray, " k"]]) -> Float[np.ndarray, "d m"]:
    """Rows of different lengths as one array, each with its last value repeated."""
    m = max(row.size for row in rows)
    return np.stack([np.pad(row, (0, m - row.size), mode="edge") for row in rows])

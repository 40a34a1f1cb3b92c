"""Rows in blocks of a few sizes, so that odd numbers of rows compile nothing anew.

Blocks are made one at a time: whatever the number of rows, two of them are in memory.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from secant.training.mapped_files import check_whole

__all__ = ["ROWS_AT_ONCE", "one_behind", "padded_blocks"]

ROWS_AT_ONCE = 8192
_FEWEST_ROWS = 256

_Item = TypeVar("_Item")
_Preparation = Callable[[Float[np.ndarray, "n d"]], Float[np.ndarray, "n e"]]


def padded_blocks(
    x: Float[np.ndarray, "n d"], prepared: _Preparation = np.asarray
) -> Iterator[Float[Array, "m e"]]:
    """Blocks of fixed sizes (powers of two up to a maximum), the last one padded with zeros.

    Args:
        x: rows, of which a block is read at a time.
        prepared: what becomes of a block before it is padded.
    """
    for start in range(0, max(x.shape[0], 1), ROWS_AT_ONCE):
        check_whole(x)
        block = prepared(x[start : start + ROWS_AT_ONCE]).astype(np.float32, copy=False)
        yield jnp.asarray(_padded(block))


def _padded(block: Float[np.ndarray, "n e"]) -> Float[np.ndarray, "m e"]:
    n, width = block.shape
    size = max(_FEWEST_ROWS, 1 << (max(n, 1) - 1).bit_length())
    if n == size:
        return block
    return np.concatenate([block, np.zeros((size - n, width), dtype=np.float32)])


def one_behind(items: Iterable[_Item]) -> Iterator[_Item]:
    """The same items, each once the next has been made.

    JAX returns before it has computed: the next block is prepared meanwhile. Without a limit, all
    blocks would be prepared, and kept, while the first is computed.
    """
    waiting: deque[_Item] = deque()
    for item in items:
        waiting.append(item)
        if len(waiting) > 1:
            yield waiting.popleft()
    yield from waiting

"""Held-out rows for model selection."""

from __future__ import annotations

import numpy as np
from jaxtyping import Int

__all__ = ["set_aside"]

_SHARE = 0.1
_MOST = 20_000


def set_aside(
    n: int, rng: np.random.Generator
) -> tuple[Int[np.ndarray, " a"], Int[np.ndarray, " b"]]:
    """Indices of training rows, and of a tenth (1 to 20,000 rows) held out for selection."""
    order = rng.permutation(n)
    n_held = min(max(round(_SHARE * n), 1), _MOST)
    return order[n_held:], order[:n_held]

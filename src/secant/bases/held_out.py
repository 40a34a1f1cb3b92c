"""Rows set aside, to choose by."""

from __future__ import annotations

import numpy as np
from jaxtyping import Int

__all__ = ["set_aside"]

_SHARE = 0.1
_MOST = 20_000


def set_aside(
    n: int, rng: np.random.Generator
) -> tuple[Int[np.ndarray, " a"], Int[np.ndarray, " b"]]:
    """Row numbers to fit to, and a tenth of all (at least one, at most 20,000) to choose by."""
    order = rng.permutation(n)
    n_held = min(max(round(_SHARE * n), 1), _MOST)
    return order[n_held:], order[:n_held]

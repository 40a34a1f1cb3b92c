"""How much of the two samples is common ground."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from jaxtyping import Float

__all__ = ["Overlap", "estimated_overlap"]


class Overlap(NamedTuple):
    """∫ min(p_0, p_1), the share of either distribution that the other has too (O1).

    Attributes:
        share: 0 where they have nothing in common, 1 where they are the same.
        standard_error: of the share, from the number of rows.
    """

    share: float
    standard_error: float


def estimated_overlap(
    log_ratio_0: Float[np.ndarray, " n"], log_ratio_1: Float[np.ndarray, " m"]
) -> Overlap:
    """1 − TV(p_0, p_1) from held-out log ratios of both samples (O1).

    `P_0(log r̂ > 0) + P_1(log r̂ ≤ 0)`, ties counting half: the two error rates of the best guess
    at which sample a row is from. A poor ratio guesses worse than the true one, so this can only
    be too large, but for chance. Only the sign of log r̂ matters, so no outlier spoils it.
    """
    wrong_0, wrong_1 = _positive(log_ratio_0), _positive(-log_ratio_1)
    share = float(wrong_0.mean() + wrong_1.mean())
    error = math.sqrt(wrong_0.var() / wrong_0.size + wrong_1.var() / wrong_1.size)
    return Overlap(min(max(share, 0.0), 1.0), error)


def _positive(values: Float[np.ndarray, " n"]) -> Float[np.ndarray, " n"]:
    return np.asarray((np.sign(values) + 1.0) / 2.0)

"""Overlap of the two samples."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from jaxtyping import Float

__all__ = ["Overlap", "estimated_overlap"]


class Overlap(NamedTuple):
    """∫ min(p_0, p_1), the overlap of the two distributions (O1).

    Attributes:
        share: 0 for disjoint distributions, 1 for equal ones.
        standard_error: of the share, from the number of rows.
    """

    share: float
    standard_error: float


def estimated_overlap(
    log_ratio_0: Float[np.ndarray, " n"], log_ratio_1: Float[np.ndarray, " m"]
) -> Overlap:
    """1 − TV(p_0, p_1) from held-out log ratios of both samples (O1).

    `P_0(log r̂ > 0) + P_1(log r̂ ≤ 0)`, ties counting half: the sum of the two error
    rates of a classifier with threshold 0. A poor ratio has larger error rates, so the estimate is
    biased upwards, if at all. Only the sign of log r̂ enters, so outliers have no effect.
    """
    wrong_0, wrong_1 = _positive(log_ratio_0), _positive(-log_ratio_1)
    share = float(wrong_0.mean() + wrong_1.mean())
    error = math.sqrt(wrong_0.var() / wrong_0.size + wrong_1.var() / wrong_1.size)
    return Overlap(min(max(share, 0.0), 1.0), error)


def _positive(values: Float[np.ndarray, " n"]) -> Float[np.ndarray, " n"]:
    return np.asarray((np.sign(values) + 1.0) / 2.0)

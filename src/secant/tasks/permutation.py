"""Permutation tests on held-out scores, and how the folds' p-values become one."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float
from numpy.typing import ArrayLike

__all__ = ["combined_p_value", "p_value_of_difference", "permutation_p_value"]


def permutation_p_value(observed: float, permuted: Float[np.ndarray, " b"]) -> float:
    """(1 + #{permuted ≥ observed}) / (1 + b): never 0, and valid for any b (Phipson & Smyth)."""
    # Sums over the same rows in another order differ in the last bit: those are ties.
    slack = 1e-12 * max(abs(observed), 1.0)
    return float((1 + np.count_nonzero(permuted >= observed - slack)) / (1 + permuted.size))


def p_value_of_difference(
    score_0: Float[np.ndarray, " n"],
    score_1: Float[np.ndarray, " m"],
    *,
    n_permutations: int,
    rng: np.random.RandomState,
) -> float:
    """Of mean(score_1) − mean(score_0), one-sided, under permutations of the labels."""
    both, m = np.concatenate([score_0, score_1]), score_1.size
    # With the total fixed, the difference of means grows with the sum over the second sample.
    permuted = np.array([rng.permutation(both)[:m].sum() for _ in range(n_permutations)])
    return permutation_p_value(float(score_1.sum()), permuted)


def combined_p_value(p_values: ArrayLike) -> float:
    """One p-value of several, dependent ones, by the Cauchy combination.

    `½ − arctan(mean tan((½ − p_k) π)) / π`. Scores of two folds are dependent, for the rows of one
    have trained the fit that scores the other: the sum of the folds' statistics has more variance
    than permuting each fold shows. The tail of the Cauchy mean does not care about dependence.

    References:
        Liu & Xie (2020), Cauchy combination test.
    """
    p = np.asarray(p_values, dtype=np.float64)
    # At p = 1 the tangent is −∞, and one fold with nothing to say would silence all others.
    p = np.minimum(p, 0.99)
    return float(0.5 - np.arctan(np.mean(np.tan((0.5 - p) * np.pi))) / np.pi)

"""Permutation tests on held-out scores, and how the folds' p-values become one."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from jaxtyping import Float
from numpy.typing import ArrayLike
from scipy.special import expit

from secant.estimators.checks import is_count

__all__ = [
    "checked_permutations",
    "combined_p_value",
    "fold_p_values",
    "p_value_of_difference",
    "permutation_p_value",
]


def checked_permutations(n_permutations: int) -> None:
    """Refuse no permutations, before anything is fitted."""
    if not is_count(n_permutations, least=1):
        raise ValueError(
            f"`n_permutations` must be a whole number of at least 1; got {n_permutations!r}."
        )


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


def fold_p_values(
    folds: Iterable[tuple[Float[np.ndarray, " n"], Float[np.ndarray, " m"]]],
    *,
    n_permutations: int,
    rng: np.random.RandomState,
) -> Float[np.ndarray, " folds"]:
    """Of p_0 = p_1 in each fold, from the out-of-fold log ratios of its rows (J5).

    The scores are σ(log r̂), bounded: a few rows with a wild log ratio would drown the others.
    """
    return np.array(
        [
            p_value_of_difference(expit(zero), expit(one), n_permutations=n_permutations, rng=rng)
            for zero, one in folds
        ]
    )


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

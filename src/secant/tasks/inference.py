"""Normal intervals, and permutation tests of held-out scores or of the pooled rows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from statistics import NormalDist

import numpy as np
from jaxtyping import Float
from numpy.typing import ArrayLike
from scipy.spatial.distance import pdist
from scipy.special import expit
from scipy.stats import rankdata

from secant.estimators.checks import is_count
from secant.tasks.column_bases import Basis, basis_size, design, logistic_pipeline

_MOST_ROWS = 5_000  # of each sample, in the pooled test
_MOST_FEATURES = 500
_AT_ONCE = 100  # permutations
_FREQUENCIES = 64
_ROWS_FOR_WIDTH = 500  # for the median distance
# Directions with less variance than this are shrunk; features have unit variance. The quadratic
# basis has many directions, of which few matter.
_SHRINKAGE: dict[Basis, float] = {"linear": 0.01, "quadratic": 0.3, "additive": 0.05}


def checked_permutations(n_permutations: int) -> None:
    """Check the number of permutations."""
    if not is_count(n_permutations, least=1):
        raise ValueError(
            f"`n_permutations` must be a whole number of at least 1; got {n_permutations!r}."
        )


def checked_confidence(confidence: float) -> None:
    """Refuse a level that is no probability."""
    if not 0.0 < confidence < 1.0:
        raise ValueError(
            f"`confidence` must lie between 0 and 1, such as 0.95; got {confidence!r}."
        )


def normal_reach(confidence: float) -> float:
    """z, the standard errors on either side that a normal interval of this level has."""
    return NormalDist().inv_cdf(0.5 + 0.5 * confidence)


def normal_interval(estimate: float, error: float, confidence: float) -> tuple[float, float]:
    """estimate ± z · error at this level."""
    z = normal_reach(confidence)
    return estimate - z * error, estimate + z * error


def permutation_p_value(observed: float, permuted: Float[np.ndarray, " b"]) -> float:
    """(1 + #{permuted ≥ observed}) / (1 + b): never 0, and valid for any b (Phipson & Smyth)."""
    # Sums over the same rows in another order differ by rounding; these count as ties.
    slack = 1e-12 * max(abs(observed), 1.0)
    return float((1 + np.count_nonzero(permuted >= observed - slack)) / (1 + permuted.size))


def p_value_of_difference(
    score_0: Float[np.ndarray, " n"],
    score_1: Float[np.ndarray, " m"],
    *,
    n_permutations: int,
    rng: np.random.RandomState,
) -> float:
    """The one-sided p-value of mean(score_1) − mean(score_0), by permutation of the labels."""
    both, m = np.concatenate([score_0, score_1]), score_1.size
    # The total is fixed, so the difference of means increases with the sum over the second sample.
    permuted = np.array([rng.permutation(both)[:m].sum() for _ in range(n_permutations)])
    return permutation_p_value(float(score_1.sum()), permuted)


def p_value_of_pairing(
    scores: Float[np.ndarray, "n n"], *, n_permutations: int, rng: np.random.RandomState
) -> float:
    """The p-value of the mean score of pairs (i, i) among pairs (i, π(i)), with π at random."""
    rows = np.arange(len(scores))
    permuted = [scores[rows, rng.permutation(rows.size)].mean() for _ in range(n_permutations)]
    return permutation_p_value(float(scores[rows, rows].mean()), np.array(permuted))


def fold_p_values(
    folds: Iterable[tuple[Float[np.ndarray, " n"], Float[np.ndarray, " m"]]],
    *,
    n_permutations: int,
    rng: np.random.RandomState,
) -> Float[np.ndarray, " folds"]:
    """The p-value of p_0 = p_1 in each fold, from its out-of-fold log ratios (J5).

    The scores σ(log r̂) are bounded, so that a few extreme log ratios do not dominate.
    """
    return np.array(
        [
            p_value_of_difference(expit(zero), expit(one), n_permutations=n_permutations, rng=rng)
            for zero, one in folds
        ]
    )


def combined_p_value(p_values: ArrayLike) -> float:
    """Combine dependent p-values into one, by the Cauchy combination.

    `½ − arctan(mean tan((½ − p_k) π)) / π`. Scores of two folds are dependent, because the rows of
    one train the fit that scores the other. The tail of the Cauchy mean is insensitive to
    dependence.

    References:
        Liu & Xie (2020), Cauchy combination test.
    """
    return float(0.5 - np.arctan(_cauchy_mean(np.asarray(p_values, dtype=np.float64))) / np.pi)


def _cauchy_mean(p_values: Float[np.ndarray, "*b k"]) -> Float[np.ndarray, "*b"]:
    # At p = 1 the tangent is −∞, and one fold would dominate all others.
    return np.asarray(np.mean(np.tan((0.5 - np.minimum(p_values, 0.99)) * np.pi), axis=-1))


def pooled_p_value(
    x_0: Float[np.ndarray, "n d"],
    x_1: Float[np.ndarray, "m d"],
    *,
    n_permutations: int,
    rng: np.random.RandomState,
    singles: Iterable[int] | None = None,
) -> float:
    """The exact p-value of p_0 = p_1, from four statistics of the pooled rows (J9).

    Each is ‖mean_1(f) − mean_0(f)‖² of features that do not depend on the labels: whitened columns
    (Hotelling's T²), whitened squares and products, the largest over columns of whitened hinges,
    and random Fourier features (maximum mean discrepancy). Their permutation p-values are combined
    by the Cauchy combination, whose p-value is again its rank among the permutations. Nothing is
    refitted, so all rows are used at once. The smallest p-value is 1/(n_permutations + 1).

    Args:
        x_0: rows of p_0; at most 5,000 are used.
        x_1: rows of p_1, likewise.
        n_permutations: permutations of the labels.
        rng: random numbers.
        singles: columns whose hinges count; None is all. Those of a group do not.
    """
    some_0, some_1 = (x[rng.permutation(len(x))[:_MOST_ROWS]] for x in (x_0, x_1))
    alone = range(x_0.shape[1]) if singles is None else singles
    groups = [each for each in _statistics(some_0, some_1, alone, rng) if each]
    contrast = np.repeat([-1.0 / len(some_0), 1.0 / len(some_1)], [len(some_0), len(some_1)])
    found = [_values(contrast[None], groups)]
    shuffled = np.random.default_rng(rng.randint(2**31 - 1)).permuted
    for start in range(0, n_permutations, _AT_ONCE):
        several = min(_AT_ONCE, n_permutations - start)
        found.append(_values(shuffled(np.tile(contrast, (several, 1)), axis=1), groups))
    values = np.concatenate(found)
    # For each statistic, the share of permutations with at least this value.
    p_values = rankdata(-np.round(values, 12), method="max", axis=0) / len(values)
    combined = _cauchy_mean(p_values)
    return permutation_p_value(float(combined[0]), combined[1:])


Group = list[Float[np.ndarray, "n k"]]


def _statistics(
    x_0: Float[np.ndarray, "n d"],
    x_1: Float[np.ndarray, "m d"],
    singles: Iterable[int],
    rng: np.random.RandomState,
) -> Iterator[Group]:
    """Features of each statistic; with several matrices, the largest norm counts."""
    d = x_0.shape[1]
    rows = np.concatenate([x_0, x_1])
    linear = _features("linear", rows)
    yield [_whitened(linear, _SHRINKAGE["linear"])]
    if basis_size("quadratic", d) <= _MOST_FEATURES:
        yield [_whitened(_features("quadratic", rows), _SHRINKAGE["quadratic"])]
    yield [_whitened(_features("additive", rows[:, [j]]), _SHRINKAGE["additive"]) for j in singles]
    some = linear[rng.permutation(len(linear))[:_ROWS_FOR_WIDTH]]
    width = max(float(np.median(pdist(some))), 1e-12)
    phase = linear @ (rng.normal(size=(d, _FREQUENCIES)) / width)
    yield [_centred(np.concatenate([np.cos(phase), np.sin(phase)], axis=1))]


def _features(basis: Basis, rows: Float[np.ndarray, "n d"]) -> Float[np.ndarray, "n k"]:
    """Features of a basis, scaled independently of the labels."""
    return design(logistic_pipeline(basis, 1.0), rows, rows)[: len(rows)]


def _centred(features: Float[np.ndarray, "n k"]) -> Float[np.ndarray, "n k"]:
    return features - features.mean(axis=0)


def _whitened(features: Float[np.ndarray, "n k"], shrinkage: float) -> Float[np.ndarray, "n k"]:
    left, scale, _ = np.linalg.svd(_centred(features), full_matrices=False)
    variance = scale**2 / len(features)
    return np.asarray(left * np.sqrt(variance / (variance + shrinkage)))


def _values(
    contrasts: Float[np.ndarray, "b n"], groups: list[Group]
) -> Float[np.ndarray, "b groups"]:
    norms = [[((contrasts @ f) ** 2).sum(axis=1) for f in group] for group in groups]
    return np.stack([np.max(each, axis=0) for each in norms], axis=1)

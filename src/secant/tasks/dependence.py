"""Dependence as a ratio of the joint distribution p_1 to the product p_0 of its blocks' margins.

`KL(p_1 ‖ p_0)` is the mutual information of two blocks of columns, and the total correlation of
more. Rows of p_0 are made by permuting blocks among the rows: among the training rows of a fit, or
among the rows that evaluate it, but never across the two.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int
from scipy.special import logsumexp, ndtri
from scipy.stats import rankdata

from secant.diagnostics import LARGEST_SHAPE, pareto_shape
from secant.estimators import RatioEstimator
from secant.exceptions import OverlapWarning
from secant.tasks.cross_fitting import RatioEnsemble, fold_numbers
from secant.tasks.inference import (
    combined_p_value,
    p_value_of_pairing,
    permutation_p_value,
)
from secant.training.settings import labelled

Blocks = Sequence[Float[np.ndarray, "n _"]]

_REPAIRINGS_TO_TRAIN = 8  # rows of p_0 per row of the joint, which cost no data
_MOST_ROWS_TO_TRAIN = 100_000
_MOST_ROWS_TO_JUDGE = 5_000  # of a fold, with all its permutations
_FEWEST_ROWS_TO_JUDGE = 1_000  # if they suffice for the p-value and the normaliser
_CLEAR = 6.0  # standard deviations of a permuted mean; chance reaches this in 1e-9 of the folds
_SMALL = 0.2  # error of log Ẑ relative to the sampling error; it adds 2 % to the total error
_MOST_NUMBERS_TO_JUDGE = 40_000_000  # rows × columns × permutations, for wide tables
_CANDIDATES = 50  # candidates per row that is resampled from a fitted joint


def normal_scores(block: Float[np.ndarray, "n d"]) -> Float[np.ndarray, "n d"]:
    """Normal scores of each column, Φ⁻¹((rank − ½)/n); ties share a score.

    Mutual information is invariant under strictly increasing maps of the columns, so this removes
    scale and tails. Only the order within each column is used, so the scores of held-out rows
    reveal nothing about their dependence.
    """
    ranks = rankdata(block, axis=0)
    return np.asarray(ndtri((ranks - 0.5) / block.shape[0]))


def repaired(
    blocks: Blocks, n_repeats: int, rng: np.random.RandomState
) -> Float[np.ndarray, "repeats n d"]:
    """Rows of p_0: blocks of different rows combined, `n_repeats` times.

    Each repeat places the rows on a circle at random and rotates each block except the first by a
    different distance, so no two blocks of a new row come from the same old row.
    """
    n = blocks[0].shape[0]
    circle = rng.permutation(n)
    repeats = []
    for turns in _turns(n, len(blocks), n_repeats, rng):
        parts = [b[np.roll(circle, -turn)] for b, turn in zip(blocks, turns, strict=True)]
        repeats.append(np.concatenate(parts, axis=1)[np.argsort(circle)])
    return np.stack(repeats)


def _turns(
    n: int, n_blocks: int, n_repeats: int, rng: np.random.RandomState
) -> list[Int[np.ndarray, " blocks"]]:
    """Rotation distance of each block, 0 for the first; for two blocks all repeats differ."""
    if n_blocks == 2:
        distances = 1 + rng.permutation(n - 1)[:n_repeats]
        return [np.array([0, distance]) for distance in distances]
    others = (1 + rng.permutation(n - 1)[: n_blocks - 1] for _ in range(n_repeats))
    return [np.concatenate([[0], turn]) for turn in others]


@dataclass(frozen=True)
class CrossFitPlan:
    """Settings of the cross-fit of a dependence.

    Attributes:
        estimator: cloned for each fit.
        n_folds: number of folds.
        n_ensemble: fits per fold.
        n_permutations: permutations of a fold's rows; p-values are at least 1/(1 + this).
        normal_margins: whether the blocks are normal scores, which resampled rows then are too.
    """

    estimator: RatioEstimator
    n_folds: int = 5
    n_ensemble: int = 1
    n_permutations: int = 199
    normal_margins: bool = True


@dataclass(frozen=True)
class DependenceFit:
    """One fold, scored by a fit on the other folds.

    Attributes:
        rows: row numbers of the fold.
        log_ratio: their log ratio, not normalised.
        log_normaliser: log Ẑ = log E_{p_0}[r̂] over permutations of the fold's rows.
        normaliser_error: its standard error.
        shape: Pareto shape of the ratios behind log Ẑ, which is unreliable from 0.7 on.
        p_value: of the fold's mean log ratio among its permutations.
        ensemble: the fit.
    """

    rows: Int[np.ndarray, " m"]
    log_ratio: Float[np.ndarray, " m"]
    log_normaliser: float
    normaliser_error: float
    shape: float
    p_value: float
    ensemble: RatioEnsemble


@dataclass(frozen=True)
class Dependence:
    """Cross-fitted log p(blocks) − Σ log p(block) at every row, in nats.

    The mean over rows of `log r̂ − log Ẑ` is the Donsker–Varadhan form (J1). It is below
    KL(p_1‖p_0) by `KL(p_1‖ r̂ p_0/Ẑ)`, which is of second order in the error of log r̂. If Ẑ is
    unreliable (`is_normalised` is False), the values are log r̂, not normalised.
    """

    pointwise: Float[np.ndarray, " n"]
    is_normalised: bool
    folds: tuple[DependenceFit, ...]

    @property
    def estimate(self) -> float:
        """The mean over rows."""
        return float(self.pointwise.mean())

    @property
    def standard_error(self) -> float:
        """Standard error of the mean, including that of the normalisers."""
        variance = self.pointwise.var(ddof=1) / self.pointwise.size
        if self.is_normalised:
            shares = [fold.rows.size / self.pointwise.size for fold in self.folds]
            errors = [fold.normaliser_error for fold in self.folds]
            variance += sum((s * e) ** 2 for s, e in zip(shares, errors, strict=True))
        return float(np.sqrt(variance))

    @property
    def p_value(self) -> float:
        """The p-value of independence, combined from the folds' permutation p-values."""
        return combined_p_value([fold.p_value for fold in self.folds])

    @classmethod
    def fitted(cls, blocks: Blocks, plan: CrossFitPlan, rng: np.random.RandomState) -> Dependence:
        """Cross-fit the ratio of the joint distribution to the product of its margins."""
        n = blocks[0].shape[0]
        number = fold_numbers(n, plan.n_folds, rng)
        folds = []
        for k in range(plan.n_folds):
            with labelled(f"fold {k + 1} of {plan.n_folds}"):
                ensemble = _trained([b[number != k] for b in blocks], plan, rng)
            rows = np.flatnonzero(number == k)
            held = [b[rows] for b in blocks]
            folds.append(_judged(held, rows, ensemble, plan.n_permutations, rng))
        return _gathered(n, tuple(folds))

    def shortfall(self, blocks: Blocks, plan: CrossFitPlan, rng: np.random.RandomState) -> float:
        """The bias of the estimate, by parametric bootstrap.

        Rows are drawn from the fitted joint r̂ p_0, where log r̂ is the exact log ratio. The result
        is the mean of log r̂ over these rows minus the estimate of the same cross-fit on them.
        """
        drawn, exact = zip(*(_drawn(blocks, fold, rng) for fold in self.folds), strict=True)
        resampled = [np.concatenate(block) for block in zip(*drawn, strict=True)]
        if plan.normal_margins:
            resampled = [normal_scores(block) for block in resampled]
        with labelled("correction"):
            again = Dependence.fitted(resampled, plan, rng)
        return float(np.concatenate(exact).mean()) - again.estimate


def _trained(blocks: Blocks, plan: CrossFitPlan, rng: np.random.RandomState) -> RatioEnsemble:
    n = blocks[0].shape[0]
    repeats = int(np.clip(_MOST_ROWS_TO_TRAIN // n, 1, min(_REPAIRINGS_TO_TRAIN, n - 1)))
    x_0 = np.concatenate(list(repaired(blocks, repeats, rng)))
    x_1 = np.concatenate(blocks, axis=1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", OverlapWarning)  # `is_normalised` reports it for all folds
        return RatioEnsemble.fitted(plan.estimator, x_0, x_1, n_members=plan.n_ensemble, rng=rng)


def _judged(
    blocks: Blocks,
    rows: Int[np.ndarray, " m"],
    ensemble: RatioEnsemble,
    n_permutations: int,
    rng: np.random.RandomState,
) -> DependenceFit:
    joint_rows = np.concatenate(blocks, axis=1)
    joint = ensemble.log_ratio(joint_rows)
    most = _MOST_NUMBERS_TO_JUDGE // (joint_rows.shape[1] * max(n_permutations, 1)) + 1
    some = rng.permutation(rows.size)[: min(_MOST_ROWS_TO_JUDGE, most)]
    if some.size > _FEWEST_ROWS_TO_JUDGE:
        once = ensemble.log_ratio(repaired([b[some] for b in blocks], 1, rng)[0])
        some = some[: _rows_to_judge(joint, once, n_permutations)]
    held = [b[some] for b in blocks]
    if len(held) == 2 and some.size <= n_permutations:
        # Fewer rows than permutations: all pairs are scored once.
        pairs = _all_pairs(held[0], held[1], ensemble)
        p_value = p_value_of_pairing(pairs, n_permutations=n_permutations, rng=rng)
        turned = (np.arange(some.size) + np.arange(1, some.size)[:, None]) % some.size
        scores = pairs[np.arange(some.size), turned]
    else:
        others = repaired(held, n_permutations, rng)
        repeats, n, d = others.shape
        scores = ensemble.log_ratio(others.reshape(-1, d)).reshape(repeats, n)
        p_value = permutation_p_value(float(joint[some].mean()), scores.mean(axis=1))
    log_normaliser = float(logsumexp(scores) - np.log(scores.size))
    # Permutations are nearly uncorrelated: for every y, the mean of r over x is 1.
    means = np.exp(logsumexp(scores, axis=1) - np.log(scores.shape[1]) - log_normaliser)
    return DependenceFit(
        rows,
        joint,
        log_normaliser,
        float(means.std(ddof=1) / np.sqrt(means.size)) if means.size > 1 else np.inf,
        pareto_shape(scores.ravel()),
        p_value,
        ensemble,
    )


def _all_pairs(
    first: Float[np.ndarray, "m a"], second: Float[np.ndarray, "m b"], ensemble: RatioEnsemble
) -> Float[np.ndarray, "m m"]:
    """The log ratio of each row of the first block with each of the second."""
    m = len(first)
    rows = np.concatenate([np.repeat(first, m, axis=0), np.tile(second, (m, 1))], axis=1)
    return ensemble.log_ratio(rows).reshape(m, m)


def _rows_to_judge(
    joint: Float[np.ndarray, " m"], once: Float[np.ndarray, " n"], n_permutations: int
) -> int:
    """How many rows suffice to evaluate a fold, from its log ratios and those of one permutation.

    Enough that the mean over the joint clearly exceeds those over permutations, and that log Ẑ is
    more accurate than the mean; all rows if the dependence is not that clear.
    """
    gap = float(joint.mean() - once.mean())
    if gap <= 0.0:
        return once.size
    ratios = np.exp(once - once.max())
    sampling_error = joint.std() / np.sqrt(joint.size)
    for_p_value = (_CLEAR * once.std() / gap) ** 2
    relative_spread = ratios.std() / ratios.mean()
    for_normaliser = (relative_spread / (_SMALL * sampling_error)) ** 2 / max(n_permutations, 1)
    needed = max(for_p_value, for_normaliser, _FEWEST_ROWS_TO_JUDGE)
    return int(min(needed, once.size))


def _drawn(
    blocks: Blocks, fold: DependenceFit, rng: np.random.RandomState
) -> tuple[list[Float[np.ndarray, "m _"]], Float[np.ndarray, " m"]]:
    """As many rows as the fold has, drawn from its fitted joint, with their exact log ratios.

    By importance resampling of random pairs of the fold's rows, weighted by the ratio.
    """
    m = fold.rows.size
    picks = rng.randint(m, size=(_CANDIDATES * m, len(blocks)))
    parts = [b[fold.rows][pick] for b, pick in zip(blocks, picks.T, strict=True)]
    scores = fold.ensemble.log_ratio(np.concatenate(parts, axis=1))
    log_total = logsumexp(scores)
    chosen = rng.choice(scores.size, size=m, p=np.exp(scores - log_total))
    log_normaliser = log_total - np.log(scores.size)
    return [part[chosen] for part in parts], scores[chosen] - log_normaliser


def _gathered(n: int, folds: tuple[DependenceFit, ...]) -> Dependence:
    # All folds have the same tail, and the mean of their shapes is a better estimate.
    is_normalised = bool(np.mean([fold.shape for fold in folds]) < LARGEST_SHAPE)
    pointwise = np.empty(n)
    for fold in folds:
        pointwise[fold.rows] = fold.log_ratio - (fold.log_normaliser if is_normalised else 0.0)
    return Dependence(pointwise, is_normalised, folds)

"""Mutual information, conditional mutual information and total correlation."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from jaxtyping import Float
from numpy.typing import ArrayLike
from scipy.stats import norm
from sklearn.base import clone
from sklearn.utils import check_random_state

from secant.estimators import PathEntropy, RatioEstimator
from secant.estimators.checks import checked_rows
from secant.tables.frames import frame_of
from secant.tasks.atoms import with_atoms
from secant.tasks.cross_fitting import fold_numbers
from secant.tasks.dependence import Dependence, normal_scores, repaired
from secant.tasks.information import MIOptions, MutualInformation, OnPath, Unit, unit_of
from secant.training.settings import labelled

_FEWEST_ROWS = 20
_NATS_OF_OVERLAP = 3.0  # below this, permuted rows can be resampled to follow the joint


def mutual_information(
    x: ArrayLike,
    y: ArrayLike,
    z: ArrayLike | None = None,
    *,
    estimator: RatioEstimator | PathEntropy | None = None,
    n_folds: int | None = None,
    n_ensemble: int = 1,
    n_permutations: int = 199,
    normal_margins: bool = True,
    correct: bool = True,
    second_opinion: bool | PathEntropy = True,
    base: Unit = "nats",
    confidence: float = 0.95,
    random_state: int | np.random.RandomState | None = None,
) -> MutualInformation:
    """I(x; y) = KL(p(x, y) ‖ p(x) p(y)) or, given z, I(x; y | z) = I(x; (y, z)) − I(x; z).

    Rows of p(x) p(y) are made by permutation; every row is scored out of fold.

    Args:
        x: (n,) or (n, m).
        y: (n,) or (n, k), in the order of x.
        z: variables to condition on, (n,) or (n, l); None for none.
        estimator: this and all following arguments are as in `MIOptions`.
        n_folds: number of folds.
        n_ensemble: fits per fold.
        n_permutations: permutations for the p-value.
        normal_margins: whether columns are replaced by their normal scores.
        correct: whether to add a bias correction.
        second_opinion: whether to estimate along the path as well.
        base: "nats" or "bits".
        confidence: level of the interval.
        random_state: random seed.

    Returns:
        The estimate with its standard error, interval, p-value and pointwise values.

    Examples:
        >>> import numpy as np, secant
        >>> rng = np.random.default_rng(0)
        >>> x = rng.normal(size=500)
        >>> y = 0.8 * x + 0.6 * rng.normal(size=500)  # 0.51 nats
        >>> found = secant.mutual_information(
        ...     x, y, correct=False, second_opinion=False, random_state=0
        ... )
        >>> low, high = found.interval
        >>> bool(low < 0.51 < high), found.p_value < 0.05
        (True, True)
    """
    options = MIOptions(
        estimator=estimator,
        n_folds=n_folds,
        n_ensemble=n_ensemble,
        n_permutations=n_permutations,
        normal_margins=normal_margins,
        correct=correct,
        second_opinion=second_opinion,
        base=base,
        confidence=confidence,
    )
    rng = check_random_state(random_state)
    if z is None:
        found = _estimated(_blocks({"x": x, "y": y}), options, rng)
    else:
        block_x, block_y, block_z = _blocks({"x": x, "y": y, "z": z})
        found = _conditional(block_x, block_y, block_z, options, rng)
    return replace(found, settings=options.as_text(random_state))


def total_correlation(
    variables: ArrayLike | Sequence[ArrayLike],
    *,
    options: MIOptions | None = None,
    random_state: int | np.random.RandomState | None = None,
) -> MutualInformation:
    """KL(p(v_1, …, v_m) ‖ p(v_1) … p(v_m)): the dependence among several variables.

    Args:
        variables: one array (n, m) whose columns are the variables, or a list of arrays (n,) or
            (n, k), each a variable of its own.
        options: None is `MIOptions()`.
        random_state: random seed.

    Returns:
        As `mutual_information`; of two variables it is the same.
    """
    several = isinstance(variables, list | tuple)
    rows = list(variables) if several else _columns(variables)  # type: ignore[arg-type]
    if len(rows) < 2:
        raise ValueError(f"`variables` must hold at least two variables; got {len(rows)}.")
    blocks = _blocks({f"variables[{i}]": v for i, v in enumerate(rows)})
    chosen = options or MIOptions()
    found = _estimated(blocks, chosen, check_random_state(random_state))
    return replace(found, settings=chosen.as_text(random_state))


def _columns(variables: ArrayLike) -> list[Float[np.ndarray, "n 1"]]:
    rows = checked_rows(variables, "variables", least=_FEWEST_ROWS)
    return [rows[:, i : i + 1] for i in range(rows.shape[1])]


def _blocks(named: dict[str, ArrayLike]) -> list[Float[np.ndarray, "n _"]]:
    """Checked arrays (n, k), one per variable, with equally many rows."""
    blocks = []
    for name, values in named.items():
        flat = frame_of(values) is None and np.ndim(values) == 1
        rows = np.asarray(values)[:, None] if flat else values
        blocks.append(checked_rows(rows, name, least=_FEWEST_ROWS))
    counts = {name: block.shape[0] for name, block in zip(named, blocks, strict=True)}
    if len(set(counts.values())) > 1:
        shown = ", ".join(f"{name} {n}" for name, n in counts.items())
        raise ValueError(f"All variables must have the same rows in the same order; got {shown}.")
    return blocks


def _estimated(
    blocks: list[Float[np.ndarray, "n _"]], options: MIOptions, rng: np.random.RandomState
) -> MutualInformation:
    if options.normal_margins:
        blocks = [normal_scores(b) for b in blocks]
    if isinstance(options.estimator, PathEntropy):
        return _along_path(blocks, options.estimator, options, rng)
    plan = options.plan(blocks[0].shape[0])
    columns = [with_atoms(b) for b in blocks]
    found = Dependence.fitted(columns, plan, rng)
    shortfall = 0.0
    if options.correct and found.is_normalised and found.estimate < _NATS_OF_OVERLAP:
        shortfall = found.shortfall(columns, plan, rng)
    entropy = options.path_entropy()
    opinion = None
    if entropy is not None and all(_has_density(column) for b in blocks for column in b.T):
        opinion = _opinion(blocks, entropy, found.standard_error, rng)
    return _result(found, shortfall, opinion, options)


def _result(
    found: Dependence, shortfall: float, opinion: OnPath | None, options: MIOptions
) -> MutualInformation:
    unit = unit_of(options.base)
    return MutualInformation(
        estimate=(found.estimate + shortfall) / unit,
        standard_error=math.hypot(found.standard_error, 0.5 * shortfall) / unit,
        p_value=found.p_value,
        pointwise=(found.pointwise + shortfall) / unit,
        correction=shortfall / unit,
        base=options.base,
        confidence=options.confidence,
        is_normalised=found.is_normalised,
        diagnostics=tuple(
            member.diagnostics_
            for fold in found.folds
            for member in fold.ensemble.members
            if member.diagnostics_ is not None  # a fit that held no rows out has none
        ),
        on_path=opinion and OnPath(opinion.estimate / unit, opinion.standard_error / unit),
    )


def _has_density(column: Float[np.ndarray, " n"]) -> bool:
    """Whether nearly all values are distinct; with atoms, the estimate along a path is useless."""
    return np.unique(column).size > 0.9 * column.size


def _opinion(
    blocks: list[Float[np.ndarray, "n _"]],
    entropy: PathEntropy,
    sampling_error: float,
    rng: np.random.RandomState,
) -> OnPath:
    """One fit along the path; its error includes the sampling error of the ratio."""
    entropy.set_params(random_state=int(rng.randint(2**31 - 1)))
    joint = np.concatenate(blocks, axis=1)
    others = np.concatenate(list(repaired(blocks, 2, rng)))
    found = entropy.fit_samples(others, joint).difference_
    return OnPath(found.value, math.hypot(found.standard_error, sampling_error))


def _along_path(
    blocks: list[Float[np.ndarray, "n _"]],
    entropy: PathEntropy,
    options: MIOptions,
    rng: np.random.RandomState,
) -> MutualInformation:
    """The cross-fitted estimate (F1); its error is from the spread over folds."""
    n = blocks[0].shape[0]
    folds = replace(options, estimator=None).plan(n).n_folds
    number = fold_numbers(n, folds, rng)
    values, errors = [], []
    for k in range(folds):
        fit = clone(entropy).set_params(random_state=int(rng.randint(2**31 - 1)))
        pairs = [
            (repaired(part, 1, rng)[0], np.concatenate(part, axis=1))
            for part in ([b[number != k] for b in blocks], [b[number == k] for b in blocks])
        ]
        with labelled(f"path entropy, fold {k + 1} of {folds}"):
            found = fit.fit_samples(*pairs[0]).entropy_difference(*pairs[1])
        values.append(found.value)
        errors.append(found.standard_error)
    unit = unit_of(options.base)
    error = math.hypot(np.std(values, ddof=1), np.sqrt(np.mean(np.square(errors)))) / folds**0.5
    return MutualInformation(
        estimate=float(np.mean(values)) / unit,
        standard_error=error / unit,
        p_value=math.nan,
        pointwise=None,
        correction=0.0,
        base=options.base,
        confidence=options.confidence,
        is_normalised=False,
        diagnostics=(),
    )


def _conditional(
    x: Float[np.ndarray, "n _"],
    y: Float[np.ndarray, "n _"],
    z: Float[np.ndarray, "n _"],
    options: MIOptions,
    rng: np.random.RandomState,
) -> MutualInformation:
    """The chain rule, row by row, so that errors shared by the two terms cancel.

    Permutation would make x and y independent, not conditionally independent; so the p-value is
    from the normal distribution of the estimate.
    """
    seed = int(rng.randint(2**31 - 1))  # the same folds for both terms
    options = replace(options, second_opinion=False)
    both, alone = (
        _estimated([x, given], options, np.random.RandomState(seed))
        for given in (np.concatenate([y, z], axis=1), z)
    )
    if both.pointwise is None or alone.pointwise is None:
        estimate, pointwise = both.estimate - alone.estimate, None
        error = math.hypot(both.standard_error, alone.standard_error)
    else:
        pointwise = both.pointwise - alone.pointwise
        estimate = float(pointwise.mean())
        spread = float(pointwise.std(ddof=1) / np.sqrt(pointwise.size))
        error = math.hypot(spread, 0.5 * (both.correction - alone.correction))
    return replace(
        both,
        estimate=estimate,
        standard_error=error,
        p_value=float(norm.sf(estimate / error)) if error > 0.0 else math.nan,
        pointwise=pointwise,
        correction=both.correction - alone.correction,
        is_normalised=both.is_normalised and alone.is_normalised,
        diagnostics=both.diagnostics + alone.diagnostics,
    )


@dataclass(frozen=True)
class MIEstimator:
    """`estimate(x, y) -> float`, the protocol of the `benchmark-mi` package.

    Attributes:
        options: by default without the second opinion, which `estimate` does not return.
        random_state: random seed.

    Examples:
        >>> import numpy as np, secant
        >>> x = np.random.default_rng(0).normal(size=(400, 1))
        >>> estimator = secant.MIEstimator(MIOptions(correct=False, second_opinion=False))
        >>> bool(abs(estimator.estimate(x, -x[::-1])) < 0.1)
        True
    """

    options: MIOptions = field(default_factory=lambda: MIOptions(second_opinion=False))
    random_state: int | np.random.RandomState | None = 0

    def estimate(self, x: ArrayLike, y: ArrayLike) -> float:
        """I(x; y), a plain number."""
        return self.estimate_with_info(x, y).estimate

    def estimate_with_info(self, x: ArrayLike, y: ArrayLike) -> MutualInformation:
        """The whole result."""
        return mutual_information(x, y, random_state=self.random_state, **vars(self.options))

    def parameters(self) -> dict[str, object]:
        """The settings, by name."""
        return dict(vars(self.options))

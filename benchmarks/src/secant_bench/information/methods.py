"""Estimators of mutual information, ours and others', with one interface."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Literal

import numpy as np
from jaxtyping import Float
from scipy.special import logsumexp

from secant.estimators import (
    CTSM,
    D3RE,
    ISADRE,
    ClassifierRatio,
    DREInfinity,
    GaussianMoments,
    PathEntropy,
    RatioEstimator,
    SklearnRatio,
)
from secant.models import AlignedSecant, ModulatedMLP, ResidualMLP, TangentNetwork
from secant.tasks import mutual_information, two_sample_test
from secant.tasks.dependence import repaired
from secant.training import Training
from secant_bench.ksg import ksg
from secant_bench.suites.shared import tangents

__all__ = ["METHODS", "Answer", "Array", "Method", "score_based"]

Array = Float[np.ndarray, "n _"]


@dataclass(frozen=True)
class Answer:
    """An estimate, with its error, p-value and interval if the method has them."""

    estimate: float | None = None
    standard_error: float | None = None
    low: float | None = None
    high: float | None = None
    p_value: float | None = None
    correction: float | None = None
    evaluations: int | None = None


Method = Callable[[Array, Array, int], Answer]


def _secant(
    x: Array, y: Array, seed: int, *, correct: bool = True, normal_margins: bool = True
) -> Answer:
    found = mutual_information(
        x,
        y,
        correct=correct,
        normal_margins=normal_margins,
        second_opinion=False,
        random_state=seed,
    )
    low, high = found.interval
    return Answer(
        found.estimate,
        found.standard_error,
        low,
        high,
        found.p_value,
        found.correction,
        evaluations=1,
    )


def _uncorrected(x: Array, y: Array, seed: int) -> Answer:
    return _secant(x, y, seed, correct=False)


def _as_they_are(x: Array, y: Array, seed: int) -> Answer:
    return _secant(x, y, seed, correct=False, normal_margins=False)


def _path_entropy(x: Array, y: Array, seed: int) -> Answer:
    model = PathEntropy(anchor=GaussianMoments())
    found = mutual_information(x, y, estimator=model, random_state=seed)
    return Answer(found.estimate, found.standard_error)


def _ksg(x: Array, y: Array, seed: int) -> Answer:
    del seed
    return Answer(ksg(x, y))


def _variational(loss: Literal["dv", "infonce"], x: Array, y: Array, seed: int) -> Answer:
    """Train on half of the rows, evaluate the method's own bound on the other half.

    Rows are re-paired many times, as these methods do at every step: with a single re-pairing the
    network learns which pairs are absent, and MINE estimated −2 nats for half-cubed normals.
    """
    rng = np.random.RandomState(seed)
    order = rng.permutation(x.shape[0])
    train, test = np.array_split(order, 2)
    joint = np.concatenate([x, y], axis=1)
    fit = ClassifierRatio(loss, random_state=seed)
    fit.fit_samples(np.concatenate(repaired([x[train], y[train]], _REPEATS, rng)), joint[train])
    if loss == "dv":
        on_margins = fit.log_ratio(np.concatenate(repaired([x[test], y[test]], _REPEATS, rng)))
        # In batches, as in training: over all rows at once, a few re-paired rows with extreme
        # outputs made the estimate −23 nats for a plain bivariate normal.
        batches = on_margins[: on_margins.size // _BATCH * _BATCH].reshape(-1, _BATCH)
        log_means = logsumexp(batches, axis=1) - math.log(_BATCH)
        bound = float(fit.log_ratio(joint[test]).mean() - log_means.mean())
        return Answer(bound, evaluations=1)
    test = test[:_ROWS_FOR_INFONCE]
    others = repaired([x[test], y[test]], _BATCH, rng)
    scores = fit.log_ratio(others.reshape(-1, others.shape[-1])).reshape(_BATCH, -1)
    on_joint = fit.log_ratio(joint[test])
    everyone = np.logaddexp(on_joint, logsumexp(scores, axis=0))
    return Answer(float(np.mean(on_joint - everyone)) + math.log(_BATCH + 1), evaluations=1)


_REPEATS = 20  # re-pairings of each row, as a sample of the product of the margins
_ROWS_FOR_INFONCE = 2_000
_BATCH = 255  # of InfoNCE, which compares a row with 255 others and cannot exceed log 256


def _mine(x: Array, y: Array, seed: int) -> Answer:
    return _variational("dv", x, y, seed)


def _infonce(x: Array, y: Array, seed: int) -> Answer:
    return _variational("infonce", x, y, seed)


def _two_sample(x: Array, y: Array, seed: int) -> Answer:
    found = two_sample_test(x, y, n_permutations=199, random_state=seed)
    return Answer(found.statistic, p_value=found.p_value)


def _two_sample_logistic(x: Array, y: Array, seed: int) -> Answer:
    quick = SklearnRatio(folds=None)  # the level of the test does not depend on the estimator
    found = two_sample_test(x, y, estimator=quick, n_permutations=199, random_state=seed)
    return Answer(found.statistic, p_value=found.p_value)


def score_based(steps: int) -> dict[str, Method]:
    """The path methods compared in the paper, on re-paired rows.

    ISADRE has five evaluations, the others ten.
    """
    trunk = ResidualMLP(128, depth=2)
    tangent, rule = TangentNetwork(trunk), tangents(10)
    aligned = AlignedSecant(ModulatedMLP(128, depth=2), order=8)
    made: dict[str, tuple[Callable[..., RatioEstimator], int]] = {
        "ISADRE": (partial(ISADRE, aligned, n_steps=5), 5),
        "DREInfinity": (partial(DREInfinity, tangent, rule=rule), 10),
        "D3RE": (partial(D3RE, tangent, rule=rule), 10),
        "CTSM": (partial(CTSM, tangent, vectorised=False, rule=rule), 10),
    }
    training = Training(steps=steps)
    return {
        name: partial(_by_ratio, partial(make, training=training), evaluations)
        for name, (make, evaluations) in made.items()
    }


def _by_ratio(
    make: Callable[..., RatioEstimator], evaluations: int, x: Array, y: Array, seed: int
) -> Answer:
    found = mutual_information(
        x, y, estimator=make(), correct=False, second_opinion=False, random_state=seed
    )
    return Answer(found.estimate, found.standard_error, evaluations=evaluations)


METHODS: dict[str, Method] = {
    "secant": _secant,
    "secant, uncorrected": _uncorrected,
    "secant, uncorrected, margins as they are": _as_they_are,
    "path entropy": _path_entropy,
    "KSG": _ksg,
    "MINE": _mine,
    "InfoNCE": _infonce,
    "two-sample test": _two_sample,
    "two-sample test, logistic regression": _two_sample_logistic,
}

"""BootstrapRatio: the log ratio with a standard error for every row."""

from __future__ import annotations

import warnings
from dataclasses import KW_ONLY, dataclass

import numpy as np
from jaxtyping import Float
from numpy.typing import ArrayLike
from sklearn.base import clone

from secant.estimators._base import RatioEstimator
from secant.estimators.checks import is_count
from secant.estimators.classifier import classifier_unless
from secant.exceptions import OverlapWarning, UntrainedWarning
from secant.samples import Sample


@dataclass(eq=False, repr=False)
class BootstrapRatio(RatioEstimator):
    """The mean log ratio of fits with random weights, and their spread at every row (U1).

    Each member has its own seed and its own weights of the rows, drawn from the exponential
    distribution (Bayesian bootstrap) and multiplied with those given. The spread of the members
    estimates the standard error of one fit: of sampling and training together. It does not include
    a bias that all members share.

    Args:
        estimator: of a member; None is `ClassifierRatio()`. It must take weights.
        n_members: number of fits; the relative error of the spread is 1/√(2(n − 1)).
        random_state: seed of weights and fits.

    Attributes:
        members_: the fitted estimators.
        diagnostics_: those of the first member.

    Examples:
        >>> import numpy as np, secant
        >>> rng = np.random.default_rng(0)
        >>> x_0, x_1 = rng.normal(0, 1, (500, 1)), rng.normal(0.5, 1, (500, 1))
        >>> ratio = secant.BootstrapRatio(secant.SklearnRatio(folds=None), random_state=0)
        >>> error = ratio.fit_samples(x_0, x_1).log_ratio_error(np.array([[0.0], [4.0]]))
        >>> bool(error[1] > 3 * error[0])  # beyond the rows, little is known
        True

    References:
        [@rubin1981bayesian]
    """

    estimator: RatioEstimator | None = None
    _: KW_ONLY
    n_members: int = 20
    random_state: int | np.random.RandomState | None = None

    @property
    def _takes_signed(self) -> bool:
        return isinstance(self.estimator, RatioEstimator) and self.estimator._takes_signed

    def _fit(self, sample_0: Sample, sample_1: Sample, seed: int) -> None:
        part = classifier_unless(self.estimator)
        if not is_count(self.n_members, least=2):
            raise ValueError(
                f"`n_members` must be an integer of at least 2; got {self.n_members!r}."
            )
        rng = np.random.default_rng(seed)
        members = []
        for k in range(self.n_members):
            weights = [_drawn(sample, rng) for sample in (sample_0, sample_1)]
            member = clone(part).set_params(random_state=seed + k)
            with warnings.catch_warnings():
                if k:  # what is wrong with one is wrong with all
                    warnings.simplefilter("ignore", OverlapWarning)
                    warnings.simplefilter("ignore", UntrainedWarning)
                member.fit_samples(
                    sample_0.rows, sample_1.rows, weight_0=weights[0], weight_1=weights[1]
                )
            members.append(member)
        self.members_ = tuple(members)
        self.diagnostics_ = members[0].diagnostics_

    def log_ratio_error(self, X: ArrayLike) -> Float[np.ndarray, " n"]:
        """The standard error of the log ratio of one fit, for each row of X (U1)."""
        return np.asarray(self._each(self._checked_input(X)).std(axis=0, ddof=1))

    def _log_ratio(self, X: Float[np.ndarray, "n d"]) -> Float[np.ndarray, " n"]:
        return np.asarray(self._each(X).mean(axis=0))

    def _each(self, X: Float[np.ndarray, "n d"]) -> Float[np.ndarray, "k n"]:
        return np.stack([np.asarray(m.log_ratio(X), dtype=np.float64) for m in self.members_])

    def __sklearn_is_fitted__(self) -> bool:
        """Whether the estimator is fitted; a failed fit may leave `n_features_in_`."""
        return hasattr(self, "diagnostics_")


def _drawn(sample: Sample, rng: np.random.Generator) -> Float[np.ndarray, " n"]:
    """Exponential weights times the given ones."""
    drawn = np.asarray(rng.exponential(size=sample.rows.shape[0]))
    return drawn if sample.weights is None else drawn * sample.weights

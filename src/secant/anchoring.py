"""Fitting of anchors: from moments, or mixtures by expectation maximisation."""

from __future__ import annotations

import abc
import warnings
from itertools import product
from typing import Any

import equinox as eqx
import numpy as np
from jaxtyping import Float
from sklearn.exceptions import ConvergenceWarning
from sklearn.mixture import GaussianMixture

from secant.gaussians import Gaussian
from secant.models.anchor import Anchor, GaussianAnchor, MixtureAnchor
from secant.paths import Path
from secant.samples import Prepared

_ROWS_FOR_FIRST_LOOK = 4096
_STARTS = 3  # of expectation maximisation; the best on held-out rows is kept
_FEW_HELD_OUT = 100


class AnchorRule(eqx.Module):
    """A rule that fits the closed-form path whose residual the network learns."""

    @abc.abstractmethod
    def fitted(self, prepared: Prepared, path: Path, seed: int) -> Anchor:
        """The anchor for these samples."""


class GaussianMoments(AnchorRule):
    """The Gaussian path through both samples' means and covariances."""

    def fitted(self, prepared: Prepared, path: Path, seed: int) -> Anchor:
        """The anchor for these samples."""
        del seed
        return _path(prepared.gaussian_0, prepared.gaussian_1, path)


class GaussianMixtures(AnchorRule):
    """The path between two Gaussian mixtures, with numbers of components selected on held-out rows.

    With one component per sample it is the moment-matched Gaussian path, which is used if more
    components do not increase the held-out likelihood.

    Attributes:
        max_components: maximum number of components of each sample.
        max_products: bound on (pairs of components) · d², the cost of the anchor per row.
        min_gain: minimum gain in held-out log likelihood by more components, in nats per row; with
            fewer than 100 held-out rows, at least two standard errors of the gain.
    """

    max_components: int = 8
    max_products: int = 1 << 16
    min_gain: float = 0.01

    def fitted(self, prepared: Prepared, path: Path, seed: int) -> Anchor:
        """The anchor for these samples."""
        d = prepared.n_features
        most = min(self.max_components, int((self.max_products / d**2) ** 0.5))
        ends = (
            (prepared.rows_0, prepared.held_0, prepared.gaussian_0),
            (prepared.rows_1, prepared.held_1, prepared.gaussian_1),
        )
        (weights_0, parts_0), (weights_1, parts_1) = (
            self._mixture(rows, held, single, most, seed) for rows, held, single in ends
        )
        pairs = [_path(a, b, path) for a, b in product(parts_0, parts_1)]
        if len(pairs) == 1:
            return pairs[0]
        return MixtureAnchor.of(pairs, np.outer(weights_0, weights_1).ravel())

    def _mixture(
        self,
        rows: Float[np.ndarray, "n d"],
        held: Float[np.ndarray, "m d"],
        single: Gaussian,
        most: int,
        seed: int,
    ) -> tuple[Float[np.ndarray, " k"], list[Gaussian]]:
        """Double the number of components while the held-out likelihood increases.

        A first comparison on some of the rows avoids the search for Gaussian samples.
        """
        # One Gaussian is compared on held-out rows, like the mixtures.
        best, chosen = Gaussian.of([rows], None).log_density(held), None
        k, some = 2, rows[:_ROWS_FOR_FIRST_LOOK]
        # Ten rows per component and column: with fewer, a component's covariance is noise.
        if k > most or some.shape[0] < 10 * k * rows.shape[1]:
            return np.ones(1), [single]
        first = _mixture_of(some, k, random_state=seed, init_params="k-means++").score_samples(held)
        if first.mean() < Gaussian.of([some], None).log_density(held).mean():
            return np.ones(1), [single]
        starts = range(seed, seed + _STARTS)  # a bad start is common
        while k <= most and rows.shape[0] >= 10 * k * rows.shape[1]:
            found = [_mixture_of(rows, k, random_state=start) for start in starts]
            scores = [one.score_samples(held) for one in found]
            place = int(np.argmax([score.mean() for score in scores]))
            gain = scores[place] - best
            noise = 2.0 * gain.std() / np.sqrt(gain.size) if gain.size < _FEW_HELD_OUT else 0.0
            if gain.mean() < max(self.min_gain, noise):
                break
            best, chosen = scores[place], found[place]
            k *= 2
        if chosen is None:
            return np.ones(1), [single]
        # The number of components is selected; refit on the held-out rows, too.
        last = _mixture_of(
            np.concatenate([rows, held]),
            chosen.n_components,
            weights_init=chosen.weights_ / chosen.weights_.sum(),
            means_init=chosen.means_,
            precisions_init=chosen.precisions_,
        )
        components = zip(last.means_, last.covariances_, strict=True)
        return np.asarray(last.weights_), [Gaussian(m, c) for m, c in components]


def _mixture_of(
    rows: Float[np.ndarray, "n d"],
    k: int,
    **settings: Any,  # noqa: ANN401 -- of a `GaussianMixture`
) -> GaussianMixture:
    """The mixture of k components by expectation maximisation."""
    found = GaussianMixture(k, reg_covar=1e-4, max_iter=200, **settings)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # compared by likelihood
        return found.fit(rows)


def resolved_anchor(anchor: bool | AnchorRule) -> AnchorRule | None:  # noqa: FBT001
    """The rule for an estimator's `anchor` parameter: True is the default, False is no anchor."""
    if isinstance(anchor, AnchorRule):
        return anchor
    if not isinstance(anchor, bool | np.bool_):
        raise TypeError(f"`anchor` must be True, False or an AnchorRule; got {anchor!r}.")
    return GaussianMixtures() if anchor else None


def _path(start: Gaussian, end: Gaussian, path: Path) -> GaussianAnchor:
    return GaussianAnchor.fitted(start.mean, start.covariance, end.mean, end.covariance, path)

"""PathEntropy: the difference of two entropies by flow matching, every point on the path (F1)."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import NamedTuple, Self

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, UInt32
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError
from sklearn.utils import check_random_state

from secant._host.jax_process import check_not_forked
from secant.anchoring import AnchorRule
from secant.estimators.checks import checked_rows
from secant.estimators.nested_parameters import NestedParameters
from secant.estimators.neural import composed
from secant.fitting import Method, fit
from secant.model_files import Savable
from secant.models.velocity import MeanVelocity, VelocityField
from secant.paths import DiffusionInterpolant, Path
from secant.samples import Sample
from secant.scaling import Scaling
from secant.sizing import training_for, trunk_for
from secant.targets.flow_matching import FlowMatching
from secant.training.checkpoints import Folder, resuming
from secant.training.held_out import pairs_of_rows
from secant.training.optimisers import Optimiser
from secant.training.settings import Training

_BLOCK = 4096


class EntropyDifference(NamedTuple):
    """H(p_0) − H(p_1) in nats, with the standard error of its Monte Carlo average.

    The error is that of the average along the path, not of the fit: fits on other rows would
    differ by more.
    """

    value: float
    standard_error: float

    def unbent(
        self, scaling: Scaling, x_0: Float[np.ndarray, "n d"], x_1: Float[np.ndarray, "m d"]
    ) -> EntropyDifference:
        """The difference of raw rows, from that of scaled ones: H(x) = H(f(x)) − E[log f′(x)].

        An affine map shifts the two entropies equally; the compression of outliers does not.
        """
        bent = np.array(scaling.tabulated)
        if not bent.any():
            return self
        zero, one = (np.log(scaling.slope(x)[:, bent]).sum(axis=1) for x in (x_0, x_1))
        errors = (zero.std() / np.sqrt(zero.size), one.std() / np.sqrt(one.size))
        return EntropyDifference(
            self.value - float(zero.mean() - one.mean()),
            float(np.hypot(self.standard_error, np.hypot(*errors))),
        )


@dataclass(eq=False, repr=False)
class PathEntropy(Savable, NestedParameters, BaseEstimator):
    """H(p_0) − H(p_1) = −∫ E[∇·v̄(x_t, t)] dt with a learned mean velocity v̄ (F1).

    If p_0 is the product of the margins of p_1, this is the mutual information (or the total
    correlation). There are no pointwise values, but the model is evaluated on the path only. So it
    is an independent check of the ratio estimators.

    Args:
        model: of the velocity; None is `MeanVelocity()` with a network that follows rows and
            columns (`secant.sizing`).
        path: between the samples; None is `DiffusionInterpolant()`, trigonometric.
        anchor: learn on top of the velocity of a Gaussian path or a mixture of such (G1).
        optimiser: the update rule; None is `Adam()`.
        training: budget and batch; None follows rows and columns (`secant.sizing`).
        progress: a progress bar; None shows one on a terminal only.
        random_state: random seed.

    Attributes:
        model_: the fitted `VelocityField`, in standardised coordinates.
        difference_: H(p_0) − H(p_1) over the held-out rows.
        history_: the training record.

    Examples:
        >>> import numpy as np, secant
        >>> rng = np.random.default_rng(0)
        >>> x_0, x_1 = rng.normal(0, 1, (2000, 2)), rng.normal(0, 0.5, (2000, 2))
        >>> difference = secant.PathEntropy(random_state=0).fit_samples(x_0, x_1).difference_
        >>> bool(abs(difference.value - 2 * np.log(2.0)) < 0.1)
        True
    """

    model: MeanVelocity | None = None
    _: KW_ONLY
    path: Path | None = None
    anchor: bool | AnchorRule = True
    optimiser: Optimiser | None = None
    training: Training | None = None
    progress: bool | None = None
    random_state: int | np.random.RandomState | None = None

    def fit_samples(self, x_0: ArrayLike, x_1: ArrayLike, *, resume: Folder | None = None) -> Self:
        """Learn the mean velocity between two samples, (n_0, d) and (n_1, d).

        Args:
            x_0: rows of p_0.
            x_1: rows of p_1.
            resume: a folder for checkpoints: the same call with the same folder resumes a stopped
                fit, as for `SecantRatio.fit_samples`.
        """
        check_not_forked()
        rows_0 = checked_rows(x_0, "x_0")
        rows_1 = checked_rows(x_1, "x_1", n_features=rows_0.shape[1])
        seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        method = self._method(min(rows_0.shape[0], rows_1.shape[0]), rows_0.shape[1])
        with resuming(resume, self.random_state):
            samples = (Sample(rows_0), Sample(rows_1))
            fitted = fit(method, samples, seed, progress=self.progress)
        self.builder_, self.path_, self.training_ = method.model, method.path, method.training
        self.model_, self.scaling_, self.history_ = fitted.model, fitted.scaling, fitted.history
        self.status_, self.n_features_in_ = fitted.result.status, rows_0.shape[1]
        data = fitted.data
        scaled = self._difference(data.report_0, data.report_1, seed)
        self.difference_ = scaled.unbent(self.scaling_, data.raw_0, data.raw_1)
        return self

    def _method(self, n_rows: float, n_features: int) -> Method:
        if not isinstance(self.model, MeanVelocity | None):
            raise TypeError(f"`model` must be a MeanVelocity or None; got {self.model!r}.")
        return composed(
            self,
            model=MeanVelocity(trunk_for(n_rows, n_features)),
            path=DiffusionInterpolant(),
            target=FlowMatching(),
            rule=None,
            training=training_for(n_rows),
        )

    def entropy_difference(self, x_0: ArrayLike, x_1: ArrayLike) -> EntropyDifference:
        """H(p_0) − H(p_1) along the path between rows the fit has not seen."""
        if not hasattr(self, "model_"):
            raise NotFittedError("PathEntropy is not fitted: call fit_samples(x_0, x_1) first.")
        check_not_forked()
        rows_0 = checked_rows(x_0, "x_0", n_features=self.n_features_in_)
        rows_1 = checked_rows(x_1, "x_1", n_features=self.n_features_in_)
        scaled = self._difference(self.scaling_(rows_0), self.scaling_(rows_1), 1)
        return scaled.unbent(self.scaling_, rows_0, rows_1)

    def _difference(
        self, x_0: Float[np.ndarray, "n d"], x_1: Float[np.ndarray, "m d"], seed: int
    ) -> EntropyDifference:
        row_0, row_1 = pairs_of_rows(x_0.shape[0], x_1.shape[0], 4)
        n = row_0.size - row_0.size % _BLOCK
        values = []
        for start in range(0, n, _BLOCK):
            some = slice(start, start + _BLOCK)
            words = np.array([seed, start], dtype=np.uint32)
            draw = jax.device_put((x_0[row_0[some]], x_1[row_1[some]], words))
            values.append(_minus_divergence(self.model_, self.path_, *draw))
        every = np.concatenate([np.asarray(v, dtype=np.float64) for v in values])
        return EntropyDifference(float(every.mean()), _error_of_mean(every))


@eqx.filter_jit
def _minus_divergence(
    model: VelocityField,
    path: Path,
    x_0: Float[Array, "n d"],
    x_1: Float[Array, "n d"],
    words: UInt32[Array, " 2"],
) -> Float[Array, " n"]:
    """−∇·v̄ at stratified times, so that the integral over t adds little noise."""
    key = jax.random.wrap_key_data(words, impl="threefry2x32")
    key_time, key_noise, key_probe = jax.random.split(key, 3)
    n = x_0.shape[0]
    low, high = path.time_range
    share = (jnp.arange(n) + jax.random.uniform(key_time, (n,))) / n
    t = low + (high - low) * share
    x_t, _ = path.point(x_0, x_1, path.noise(key_noise, x_0), t)
    probe = jax.random.rademacher(key_probe, x_0.shape, dtype=x_0.dtype)
    return -(high - low) * model.divergence(x_t, t, probe)


def _error_of_mean(values: Float[np.ndarray, " n"]) -> float:
    """Standard error of a mean over stratified times, from differences of neighbours."""
    return float(np.sqrt(np.mean(np.diff(values) ** 2) / 2.0 / values.size))

"""FeaturisedRatio: the ratio in the coordinates of a normalising flow, where it is the same."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, field
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float
from sklearn.base import clone

from secant.estimators._base import RatioEstimator
from secant.estimators.checks import is_count
from secant.estimators.secant_ratio import SecantRatio
from secant.fitting import one_behind, padded_blocks
from secant.samples import Sample, rows_for_scaling
from secant.scaling import Scaling, Standardise


@dataclass(eq=False, repr=False)
class FeaturisedRatio(RatioEstimator):
    """A flow trained on both samples at once, and an estimator on the rows it maps to noise (M1).

    The flow is invertible, so the log ratio is unchanged, but it may be easier to learn. Install
    the extra `flows` for flowjax. Such a fit cannot be saved to a model file.

    Args:
        estimator: of the ratio of features; None is `SecantRatio()`.
        n_layers: autoregressive layers of the flow.
        width: units of the network in each.
        max_epochs: maximum passes over the rows; training stops early by the held-out loss.
        random_state: seed of flow and estimator.

    Attributes:
        flow_: the trained flow, in standardised columns.
        estimator_: the estimator, fitted to features.
        diagnostics_: its diagnostics.

    References:
        [@choi2021featurized]
    """

    scaling_: Scaling = field(init=False)

    estimator: RatioEstimator | None = None
    _: KW_ONLY
    n_layers: int = 4
    width: int = 50
    max_epochs: int = 100
    random_state: int | np.random.RandomState | None = None

    def _fit(self, sample_0: Sample, sample_1: Sample, seed: int) -> None:
        part = SecantRatio() if self.estimator is None else self.estimator
        if not isinstance(part, RatioEstimator):
            raise TypeError(f"`estimator` must be a RatioEstimator or None; got {part!r}.")
        for name in ("n_layers", "width", "max_epochs"):
            value = getattr(self, name)
            if not is_count(value, least=1):
                raise ValueError(f"`{name}` must be an integer of at least 1; got {value!r}.")
        rng = np.random.default_rng(seed)
        some = [rows_for_scaling(s, rng) for s in (sample_0, sample_1)]
        self.scaling_ = Standardise().fitted(*some)
        self.flow_ = self._trained(some, rng, seed)
        features = [self._features(np.asarray(s.rows)) for s in (sample_0, sample_1)]
        estimator = clone(part).set_params(random_state=seed)
        estimator.fit_samples(*features, weight_0=sample_0.weights, weight_1=sample_1.weights)
        self.estimator_, self.diagnostics_ = estimator, estimator.diagnostics_

    def _trained(
        self, some: list[Float[np.ndarray, "n d"]], rng: np.random.Generator, seed: int
    ) -> Any:  # noqa: ANN401, a distribution of flowjax
        """A flow fitted to the pooled samples, equally many rows of each, by maximum likelihood."""
        try:
            from flowjax.distributions import Normal
            from flowjax.flows import masked_autoregressive_flow
            from flowjax.train import fit_to_data
            from paramax import unwrap
        except ImportError as error:
            raise ImportError(
                'FeaturisedRatio needs flowjax: pip install "secant[flows]".'
            ) from error
        n = min(len(x) for x in some)
        pooled = np.concatenate([rng.permutation(x)[:n] for x in some])
        key_flow, key_train = jax.random.split(jax.random.key(seed))
        flow = masked_autoregressive_flow(
            key_flow,
            base_dist=Normal(jnp.zeros(pooled.shape[1])),
            flow_layers=self.n_layers,
            nn_width=self.width,
        )
        trained, _ = fit_to_data(
            key_train,
            flow,
            jnp.asarray(self.scaling_(pooled)),
            batch_size=min(256, n),
            max_epochs=self.max_epochs,
            show_progress=False,
        )
        return unwrap(trained)

    def _features(self, X: Float[np.ndarray, "n d"]) -> Float[np.ndarray, "n d"]:
        """Rows in the coordinates of the flow."""
        blocks = one_behind(
            _mapped(self.flow_.bijection, block) for block in padded_blocks(self.scaling_(X))
        )
        return np.concatenate([np.asarray(b) for b in blocks])[: X.shape[0]].astype(np.float64)

    def _log_ratio(self, X: Float[np.ndarray, "n d"]) -> Float[np.ndarray, " n"]:
        return self.estimator_.log_ratio(self._features(X))

    def __sklearn_is_fitted__(self) -> bool:
        """Whether the estimator is fitted; a failed fit may leave `n_features_in_`."""
        return hasattr(self, "diagnostics_")


@eqx.filter_jit
def _mapped(bijection: Any, x: Float[Array, "n d"]) -> Float[Array, "n d"]:  # noqa: ANN401
    return jax.vmap(bijection.inverse)(x)

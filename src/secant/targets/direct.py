"""Direct losses: the log ratio is learned from the two samples alone, without a path.

The losses in this module determine the ratio up to a factor; the family (D0) is in `bregman`.
"""

from __future__ import annotations

import abc
import math
from typing import ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from secant.models.secant_function import SecantFunction, Shifted
from secant.paths import Path
from secant.targets.batch import Batch, Target


class DirectLoss(Target):
    """A loss of the log ratio at rows of x_0 and of x_1.

    `fixes_constant` says whether the loss determines the constant of log r. If not, it is set by
    E_{p_0}[r] = 1 after training.
    """

    uses_path: ClassVar[bool] = False
    fixes_constant: ClassVar[bool] = True

    @abc.abstractmethod
    def compared(
        self, on_0: Float[Array, " n"], on_1: Float[Array, " n"], batch: Batch
    ) -> Float[Array, " n"]:
        """The losses, given the log ratio at the rows of x_0 and of x_1."""

    def losses(self, model: SecantFunction, path: Path, batch: Batch) -> Float[Array, " n"]:
        """The loss of each pair."""
        del path
        zeros, ones = jnp.zeros_like(batch.t), jnp.ones_like(batch.t)
        on_0 = model.secant(batch.x_0, zeros, ones)
        on_1 = model.secant(batch.x_1, zeros, ones)
        return self.compared(on_0, on_1, batch)

    def time_range(self, path: Path) -> tuple[float, float]:
        """The whole of [0, 1]; the loss does not depend on time."""
        del path
        return 0.0, 1.0

    def completed(self, model: SecantFunction, x_0: Float[np.ndarray, "n d"]) -> SecantFunction:
        """The model, with E_{p_0}[r] = 1 over these rows if the loss leaves a factor open."""
        if self.fixes_constant:
            return model
        return Shifted(model, _log_mean_ratio(model, jax.device_put(x_0)))

    def _check_positive(self, *names: str) -> None:
        for name in names:
            value = getattr(self, name)
            if not value > 0.0:  # so that NaN fails too
                raise ValueError(f"{type(self).__name__} needs {name} > 0; got {value}.")


@eqx.filter_jit
def _log_mean_ratio(model: SecantFunction, x_0: Float[Array, "n d"]) -> Float[Array, ""]:
    return _log_mean_exp(model.log_ratio(x_0))


def _log_mean_exp(values: Float[Array, " n"]) -> Float[Array, ""]:
    return jax.nn.logsumexp(values) - math.log(values.shape[0])


class GammaDivergence(DirectLoss):
    """γ-DRE: (1/(1+γ)) log E_{p_0}[w r^{1+γ}] − (1/γ) log E_{p_1}[w r^γ], w = exp(−‖x‖⁴_4/τ) (D6).

    Rows far from the origin have little weight, which makes the loss robust. It determines the
    ratio up to a factor.

    Attributes:
        gamma: γ.
        cutoff: τ, in scaled coordinates.
    """

    fixes_constant: ClassVar[bool] = False

    gamma: float = 0.01
    cutoff: float = 50.0

    def __check_init__(self) -> None:
        self._check_positive("gamma", "cutoff")

    def compared(
        self, on_0: Float[Array, " n"], on_1: Float[Array, " n"], batch: Batch
    ) -> Float[Array, " n"]:
        """The losses, given the log ratio at the rows of x_0 and of x_1: the same for every row."""
        up = 1.0 + self.gamma
        first = _log_mean_exp(self._log_weight(batch.x_0) + up * on_0) / up
        second = _log_mean_exp(self._log_weight(batch.x_1) + self.gamma * on_1) / self.gamma
        return jnp.broadcast_to(first - second, on_0.shape)

    def _log_weight(self, x: Float[Array, "n d"]) -> Float[Array, " n"]:
        return -jnp.sum(x**4, axis=-1) / self.cutoff


class InfoNCE(DirectLoss):
    """Softmax of one row of x_1 against all rows of x_0 in the batch (D7).

    −g(x_1) + log(e^{g(x_1)} + Σ_j e^{g(x_0^j)}), which cannot distinguish ratios beyond the number
    of rows. It determines the ratio up to a factor.
    """

    fixes_constant: ClassVar[bool] = False

    def compared(
        self, on_0: Float[Array, " n"], on_1: Float[Array, " n"], batch: Batch
    ) -> Float[Array, " n"]:
        """The losses, given the log ratio at the rows of x_0 and of x_1."""
        del batch
        return jnp.logaddexp(on_1, jax.nn.logsumexp(on_0)) - on_1


class DonskerVaradhan(DirectLoss):
    """MINE: log E_{p_0}[r] − E_{p_1}[log r], the Donsker–Varadhan bound on KL (D8).

    It determines the ratio up to a factor.
    """

    fixes_constant: ClassVar[bool] = False

    def compared(
        self, on_0: Float[Array, " n"], on_1: Float[Array, " n"], batch: Batch
    ) -> Float[Array, " n"]:
        """The losses, given the log ratio at the rows of x_0 and of x_1."""
        del batch
        return _log_mean_exp(on_0) - on_1

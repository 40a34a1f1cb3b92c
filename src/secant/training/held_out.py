"""The held-out loss: a target's loss on rows that are not used for training."""

from __future__ import annotations

from typing import NamedTuple

import equinox as eqx
import jax
import numpy as np
from jaxtyping import Array, Float, Int, PyTree

from secant._host.jax_process import quickly_compiled
from secant.paths import Path
from secant.targets.batch import Batch, Target
from secant.training.pairing import Pairing

__all__ = ["HeldOut", "HeldOutScore", "pairs_of_rows"]

_ROWS_AT_ONCE = 2048
_FEWEST_PAIRS = 16384  # pairs per row, because most of the noise comes from pairs and times


class HeldOutScore(NamedTuple):
    """A held-out loss with its standard error; lower is better.

    Attributes:
        value: the mean loss.
        standard_error: of the mean.
    """

    value: float
    standard_error: float


def pairs_of_rows(
    n_0: int, n_1: int, times: int = 1, *, fewest: int = _FEWEST_PAIRS
) -> tuple[Int[np.ndarray, " n"], Int[np.ndarray, " n"]]:
    """Indices of random pairs of two samples that use every row almost equally often.

    Each row is used `times` times, more often in small samples, in whole blocks, so that samples of
    similar size share a program. Pairs are the same for every fit, so that scores are comparable.
    """
    rng = np.random.default_rng(0)
    n = times * max(fewest, n_0, n_1)
    n += -n % _ROWS_AT_ONCE
    first, second = (rng.permutation(np.resize(np.arange(size), n)) for size in (n_0, n_1))
    return first, second


class HeldOut(eqx.Module):
    """Fixed pairs, times and noise, so that two models are compared on the same draw.

    With `ImpliedVelocity` the score is J(f) = E[f² − 2 ẋ_t·∇f] (V1), which equals ‖f − s‖² − ‖s‖²
    for any model and needs no ground truth. Half of the pairs evaluate the tangent (l = t), half
    the tangent implied by a secant.

    Attributes:
        batch: the pairs with their times and noise.
        row_0: index of the held-out row of p_0 in each pair.
        row_1: the same for p_1.
        path: between them.
        target: the loss.
    """

    batch: Batch
    row_0: Int[np.ndarray, " n"]
    row_1: Int[np.ndarray, " n"]
    path: Path
    target: Target

    def __init__(
        self,
        x_0: Float[np.ndarray, "n d"],
        x_1: Float[np.ndarray, "n d"],
        row_0: Int[np.ndarray, " n"],
        row_1: Int[np.ndarray, " n"],
        path: Path,
        target: Target,
        *,
        tangents_only: bool = False,
    ) -> None:
        """Pairs of rows, at the same times and noise for every fit.

        Args:
            x_0: rows of p_0, one per pair.
            x_1: rows of p_1, one per pair.
            row_0: index of the held-out row of p_0 in each pair.
            row_1: the same for p_1.
            path: between them.
            target: the loss.
            tangents_only: whether all pairs evaluate the tangent.
        """
        # Drawn on the host, because random numbers take longer to compile than the loss.
        rng, n = np.random.default_rng(0), x_0.shape[0]
        low, high = target.time_range(path)
        t = low + (high - low) * (np.arange(n) + rng.uniform(size=n)) / n
        # U(0, 2) cut at 1: half of the pairs have l = t, the others l uniform on [low, t].
        share = np.minimum(rng.uniform(0.0, 2.0, n), 1.0)
        l = t if tangents_only else low + share * (t - low)
        z = rng.standard_normal(x_0.shape)
        draws = (np.asarray(a, dtype=x_0.dtype) for a in (x_0, x_1, z, l, t))
        self.batch = Batch(*jax.device_put(tuple(draws)))
        self.row_0, self.row_1, self.path, self.target = row_0, row_1, path, target

    @classmethod
    def paired(
        cls,
        x_0: Float[np.ndarray, "n d"],
        x_1: Float[np.ndarray, "m d"],
        path: Path,
        target: Target,
        *,
        tangents_only: bool = False,
        pairing: Pairing | None = None,
        batch_size: int = 512,
    ) -> HeldOut:
        """Pairs of held-out rows; with a pairing, in blocks of the batch size.

        A pairing changes the path between the ends, so the score must use it, too.
        """
        # A direct loss has no times and no noise, so repeating a pair adds nothing.
        fewest = _FEWEST_PAIRS if target.uses_path else _ROWS_AT_ONCE
        row_0, row_1 = pairs_of_rows(x_0.shape[0], x_1.shape[0], fewest=fewest)
        first, second = x_0[row_0], x_1[row_1]
        if pairing is not None:
            # The indices of the new partners are unknown, so pairs count as independent rows.
            first, second = pairing.in_blocks(first, second, batch_size)
            row_1 = np.arange(row_1.size)
        return cls(first, second, row_0, row_1, path, target, tangents_only=tangents_only)

    def losses(self, model: PyTree) -> Float[np.ndarray, " n"]:
        """The loss of each pair."""
        return np.asarray(_losses(model, self.batch, self.path, self.target), dtype=np.float64)

    def score(self, model: PyTree) -> HeldOutScore:
        """The mean loss of a model."""
        return self.mean(self.losses(model))

    def mean(self, values: Float[np.ndarray, " n"]) -> HeldOutScore:
        """The mean of one value per pair, and its standard error.

        Pairs that share a row are not independent. By Hoeffding's decomposition, the variance is
        the sum of the variances of the row means of either sample, minus that of single pairs,
        which is contained in both terms.
        """
        with np.errstate(invalid="ignore"):  # if the loss is infinite
            zero, one = (_variance_of_mean(values, row) for row in (self.row_0, self.row_1))
            noise = float(values.var()) / values.size
            variance = max(zero + one - noise, zero, one)
        return HeldOutScore(float(values.mean()), float(np.sqrt(variance)))


def _variance_of_mean(values: Float[np.ndarray, " n"], row: Int[np.ndarray, " n"]) -> float:
    counts = np.bincount(row)
    if np.count_nonzero(counts) < 2:  # with one row, treat pairs as rows
        return float(values.var()) / values.size
    means = np.bincount(row, values)[counts > 0] / counts[counts > 0]
    return float(means.var()) / means.size


def _each_loss(model: PyTree, batch: Batch, path: Path, target: Target) -> Float[Array, " n"]:
    n = batch.t.shape[0]
    size = min(n, _ROWS_AT_ONCE)
    blocks = jax.tree.map(lambda a: a.reshape(n // size, size, *a.shape[1:]), batch)
    return jax.lax.map(lambda block: target.losses(model, path, block), blocks).reshape(-1)


_losses = quickly_compiled(_each_loss, level=1)  # it runs about twenty times in a fit

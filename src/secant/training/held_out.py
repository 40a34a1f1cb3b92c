"""The held-out score: a target's loss on rows that training never sees."""

from __future__ import annotations

from typing import NamedTuple

import equinox as eqx
import jax
import numpy as np
from jaxtyping import Array, Float, Int, PyTree

from secant.paths import Path
from secant.targets.batch import Batch, Target
from secant.training.pairing import Pairing

__all__ = ["HeldOut", "HeldOutScore", "pairs_of_rows"]

_ROWS_AT_ONCE = 2048
_FEWEST_PAIRS = 16384  # rows are paired and timed several times over: most noise is of pairs


class HeldOutScore(NamedTuple):
    """A held-out loss with its standard error; lower is better.

    Attributes:
        value: the mean loss.
        standard_error: of the mean, over other held-out rows.
    """

    value: float
    standard_error: float


def pairs_of_rows(
    n_0: int, n_1: int, times: int = 1, *, fewest: int = _FEWEST_PAIRS
) -> tuple[Int[np.ndarray, " n"], Int[np.ndarray, " n"]]:
    """Row numbers of two samples in random pairs that use every row equally often, or once more.

    `times` times over, and more often if there are few, in whole blocks: samples of nearly equal
    size share a program. The same pairs for every fit, so that scores can be compared.
    """
    rng = np.random.default_rng(0)
    n = times * max(fewest, n_0, n_1)
    n += -n % _ROWS_AT_ONCE
    first, second = (rng.permutation(np.resize(np.arange(size), n)) for size in (n_0, n_1))
    return first, second


class HeldOut(eqx.Module):
    """Fixed pairs, times and noise, so that two models are compared on the same draw.

    With `ImpliedVelocity` the score is J(f) = E[f² − 2 ẋ_t·∇f] (V1): ‖f − s‖² − ‖s‖² for any model
    however it was trained, and no truth is needed. Half of the pairs ask the tangent (l = t), half
    what a secant implies for it.

    Attributes:
        batch: the pairs with their times and noise.
        row_0: which held-out row of p_0 each pair has.
        row_1: which of p_1.
        path: between them.
        target: whose loss it is.
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
            x_0: rows of p_0, one a pair.
            x_1: rows of p_1, one a pair.
            row_0: which held-out row of p_0 each pair has.
            row_1: which of p_1.
            path: between them.
            target: whose loss it is.
            tangents_only: whether all pairs ask the tangent.
        """
        # Drawn on the host: in the program, random numbers take longer to compile than the loss.
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
        """Pairs of held-out rows; where batches are re-paired, these are in blocks of their size.

        A pairing changes the path between the ends, so the score must follow it.
        """
        # A loss between the samples alone has no times and no noise: a pair says all it can once.
        fewest = _FEWEST_PAIRS if target.uses_path else _ROWS_AT_ONCE
        row_0, row_1 = pairs_of_rows(x_0.shape[0], x_1.shape[0], fewest=fewest)
        first, second = x_0[row_0], x_1[row_1]
        if pairing is not None:
            # The new partners are not known by number: each pair counts as a row of its own.
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
        """The mean of one value a pair.

        Pairs that share a row are not independent: to the variance of the rows' own means, for
        either sample, the noise of single pairs adds once (Hoeffding's decomposition). It is part
        of both terms, so that one of the two is taken off.
        """
        with np.errstate(invalid="ignore"):  # of a loss that is infinite
            zero, one = (_variance_of_mean(values, row) for row in (self.row_0, self.row_1))
            noise = float(values.var()) / values.size
            variance = max(zero + one - noise, zero, one)
        return HeldOutScore(float(values.mean()), float(np.sqrt(variance)))


def _variance_of_mean(values: Float[np.ndarray, " n"], row: Int[np.ndarray, " n"]) -> float:
    counts = np.bincount(row)
    if np.count_nonzero(counts) < 2:  # one row says nothing of others: as if pairs were rows
        return float(values.var()) / values.size
    means = np.bincount(row, values)[counts > 0] / counts[counts > 0]
    return float(means.var()) / means.size


def _each_loss(model: PyTree, batch: Batch, path: Path, target: Target) -> Float[Array, " n"]:
    n = batch.t.shape[0]
    size = min(n, _ROWS_AT_ONCE)
    blocks = jax.tree.map(lambda a: a.reshape(n // size, size, *a.shape[1:]), batch)
    return jax.lax.map(lambda block: target.losses(model, path, block), blocks).reshape(-1)


# It is run some twenty times: the costliest passes of the compiler are not worth their while.
_losses = eqx.filter_jit(  # type: ignore[call-overload]  # which has no word for options of jax.jit
    _each_loss, compiler_options={"xla_backend_optimization_level": 1}
)

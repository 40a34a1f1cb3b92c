"""Estimators that train a secant function: the shared fit, evaluation and diagnostics."""

from __future__ import annotations

import abc
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Self

import jax
import numpy as np
from jaxtyping import Array, Float
from numpy.typing import ArrayLike

from secant.diagnostics import Diagnostics, RatioDiagnostics
from secant.estimators._base import key_of
from secant.estimators.anchoring import AnchorRule
from secant.estimators.blocks import one_behind, padded_blocks
from secant.estimators.checks import check_parts, checked_labels
from secant.estimators.differentiable import DifferentiableRatio
from secant.estimators.preparation import (
    Prepared,
    Sample,
    Sampler,
    from_sampler,
    from_samples,
    paired_rows,
)
from secant.estimators.scaling import Scaling, ScalingRule
from secant.forking import check_not_forked
from secant.integration import Integral, SelfCheck
from secant.models.anchor import Anchored
from secant.models.secant_function import ModelBuilder, SecantFunction
from secant.paths import Path
from secant.targets.batch import Target
from secant.training.held_out import HeldOut
from secant.training.loop import TrainingResult
from secant.training.optimisers import Adam, Optimiser
from secant.training.problem import Problem
from secant.training.progress import progress_bar
from secant.training.resuming import Folder, resuming
from secant.training.retry import train_again_if_diverged
from secant.training.settings import Training
from secant.training.sources import Source
from secant.training.step import Objective

__all__ = ["NeuralRatio", "Runner", "Stage"]

Evaluation = Callable[[SecantFunction, Float[Array, "n d"]], Integral]

_PARTS = (
    ("model", "builder_", ModelBuilder),
    ("path", "path_", Path),
    ("scaling", "scaling_rule_", ScalingRule),
    ("training", "training_", Training),
)


@dataclass(frozen=True)
class Stage:
    """One run of the training loop: a fresh model and what it is trained on."""

    model: SecantFunction
    objective: Objective
    training: Training
    optimiser: Optimiser = field(default_factory=Adam)


Runner = Callable[[Stage, int], TrainingResult]  # trains one stage; the number sets its seed


class NeuralRatio(DifferentiableRatio):
    """An estimator whose log ratio comes from a trained `SecantFunction`."""

    _pools_rows = True

    @abc.abstractmethod
    def _resolve(self) -> None:
        """Set `builder_`, `path_`, `scaling_rule_` and the like from the parameters."""

    @abc.abstractmethod
    def _objective(self, prepared: Prepared) -> Objective:
        """What is minimised."""

    @abc.abstractmethod
    def _held_out_target(self) -> Target:
        """The loss by which states of the training, and fits, are compared."""

    def _selection_target(self, prepared: Prepared) -> Target:
        """The held-out loss by which the best state of one training is kept."""
        del prepared
        return self._held_out_target()

    def _source(self, prepared: Prepared) -> Source:
        """Where the rows of a batch come from."""
        return prepared.source

    def _paired(
        self, x_0: Float[Array, "n d"], x_1: Float[Array, "n d"]
    ) -> tuple[Float[Array, "n d"], Float[Array, "n d"]]:
        """Held-out rows, paired as a batch's are: a pairing changes the path between the ends."""
        return x_0, x_1

    anchor_: AnchorRule | None = None
    builder_: ModelBuilder
    path_: Path
    training_: Training
    scaling_rule_: ScalingRule

    def fit_sampler(self, sampler: Sampler, *, resume: Folder | None = None) -> Self:
        """Fit on fresh rows from a JAX-traceable function (key, n) → (x_0, x_1).

        The function is compiled into the training loop, so no row is seen twice.

        Args:
            sampler: the function.
            resume: a folder for checkpoints, as for `fit_samples`.
        """
        seed = self._drawn_seed()
        self._resolve_checked()
        prepared = from_sampler(sampler, self.scaling_rule_, self.training_, seed)
        self.n_features_in_ = prepared.n_features
        with resuming(resume, self.random_state):
            self._train(prepared, seed)
        return self

    def _fit(self, sample_0: Sample, sample_1: Sample, seed: int) -> None:
        self._resolve_checked()
        prepared = from_samples(sample_0, sample_1, self.scaling_rule_, self.training_, seed)
        self._train(prepared, seed)

    def _resolve_checked(self) -> None:
        check_not_forked()
        self._resolve()
        check_parts(self, _PARTS)

    def _train(self, prepared: Prepared, seed: int) -> None:
        target = self._selection_target(prepared)
        held_out = self._held_out(prepared.held_0, prepared.held_1, target)

        def run(stage: Stage, number: int) -> TrainingResult:
            problem = Problem(
                stage.model,
                self._source(prepared),
                stage.objective,
                held_out,
                stage.training,
                key_of(seed, 100 + number),
                stage.optimiser,
            )
            with progress_bar(stage.training.steps, show=self.progress) as report:
                return train_again_if_diverged(problem, report)

        result = self._trained(prepared, run, seed)
        self.model_, self.scaling_ = result.model, prepared.scaling
        self.history_ = result.history
        self.diagnostics_ = self._diagnose(prepared, result)
        self.diagnostics_.warn()

    def _trained(self, prepared: Prepared, run: Runner, seed: int) -> TrainingResult:
        """Build a model and hand it to `run`; a subclass may add to it."""
        model = self._built(self.builder_, prepared, seed, 0)
        return run(Stage(model, self._objective(prepared), self.training_), 0)

    def _built(
        self, builder: ModelBuilder, prepared: Prepared, seed: int, number: int
    ) -> SecantFunction:
        """A fresh model, on top of the anchor if there is one."""
        model = builder.build(prepared.n_features, key=key_of(seed, number))
        if self.anchor_ is None:
            return model
        return Anchored(self.anchor_.fitted(prepared, self.path_, seed), model)

    def _held_out(
        self, x_0: Float[np.ndarray, "n d"], x_1: Float[np.ndarray, "m d"], target: Target
    ) -> HeldOut:
        first, second = self._paired(*paired_rows(x_0, x_1))
        return HeldOut.drawn(first, second, self.path_, target, key=jax.random.key(0))

    def _diagnose(self, prepared: Prepared, result: TrainingResult) -> Diagnostics:
        common = RatioDiagnostics.from_scores(
            np.asarray(self._evaluated(prepared.held_0, self.rule_).value),
            np.asarray(self._evaluated(prepared.held_1, self.rule_).value),
            loss=(result.held_out.value, result.held_out.standard_error),
            drift=self._feature_drift(prepared.raw_0, prepared.raw_1),
            self_check=self._held_out_self_check(prepared.held_0, prepared.held_1),
        )
        return Diagnostics(
            **vars(common),
            status=result.status,
            best_step=result.best_step,
            steps=result.steps,
            seconds=result.seconds,
        )

    def _held_out_self_check(
        self, held_0: Float[np.ndarray, "n d"], held_1: Float[np.ndarray, "m d"]
    ) -> SelfCheck | None:
        """One step against many; None where there are no steps to take."""
        del held_0, held_1
        return None

    def _evaluated(
        self,
        rows: Float[np.ndarray, "n d"],
        rule: Evaluation,
        *,
        scaling: Scaling | None = None,
    ) -> Integral:
        """A rule over scaled rows, or over raw ones and their scaling, a block at a time."""
        blocks = padded_blocks(rows) if scaling is None else padded_blocks(rows, scaling)
        pieces = [
            piece._replace(value=np.asarray(piece.value))
            for piece in one_behind(rule(self.model_, block) for block in blocks)
        ]
        values = np.concatenate([piece.value for piece in pieces])[: rows.shape[0]]
        return Integral(
            values.astype(np.float64),
            max(p.evaluations for p in pieces),
            max(p.error for p in pieces),
        )

    def _integrated(self, X: ArrayLike, rule: Evaluation) -> Integral:
        """A rule over rows as a user has them."""
        rows = self._checked_input(X)  # first: an unfitted estimator has no scaling yet
        return self._evaluated(rows, rule, scaling=self.scaling_)

    def _log_ratio(self, X: Float[np.ndarray, "n d"]) -> Float[np.ndarray, " n"]:
        return np.asarray(self._evaluated(X, self.rule_, scaling=self.scaling_).value)

    def _scaled_input(self, X: ArrayLike) -> Float[np.ndarray, "n d"]:
        """Checked rows in scaled coordinates."""
        rows = self._checked_input(X)  # first: an unfitted estimator has no scaling yet
        return self.scaling_(rows)

    def __sklearn_is_fitted__(self) -> bool:
        """Whether a fit has come to its end; a refused one leaves n_features_in_ behind."""
        return hasattr(self, "diagnostics_")

    def score(self, X: ArrayLike, y: ArrayLike) -> float:
        """Minus the held-out loss on the given rows: higher is better."""
        rows = self._scaled_input(X)
        labels = checked_labels(y, rows.shape[0])
        target = self._held_out_target()
        held_out = self._held_out(rows[labels == 0], rows[labels == 1], target)
        return -held_out.score(self.model_).value

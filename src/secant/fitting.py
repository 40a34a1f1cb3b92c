"""Methods as compositions of parts, and the function that fits them.

    method = Method(SpectralSecant(), DiffusionInterpolant(), TangentVelocity())
    fitted = fit(method, (Sample(x_0), Sample(x_1)), key=0)

Estimators translate their parameters into a `Method` and call `fit`.
"""

from __future__ import annotations

import warnings
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

import equinox as eqx
import jax
import numpy as np
from jaxtyping import Array, Float, PRNGKeyArray, PyTree, UInt32

from secant._host.jax_process import keep_programs_by_default
from secant.anchoring import AnchorRule
from secant.curricula import Curriculum, FullIntervals
from secant.diagnostics import Diagnostics, RatioDiagnostics, feature_drift
from secant.exceptions import GaussianStartWarning, UntrainedWarning
from secant.integration import Integral, Rule, SecantSteps, SelfCheck, quickly_compiled_steps
from secant.models.secant_function import ModelBuilder, SecantFunction
from secant.paths import Path
from secant.samples import Prepared, Samples, prepared
from secant.scaling import Scaling, ScalingRule, Standardise
from secant.targets.batch import Target
from secant.time_samplers import TimeSampler, Uniform
from secant.training.held_out import HeldOut
from secant.training.loop import Problem, TrainingResult, train
from secant.training.optimisers import Adam, Optimiser
from secant.training.pairing import Pairing
from secant.training.settings import Record, Training, progress_bar
from secant.training.sources import PairedSource, check_whole
from secant.training.step import Objective

ROWS_AT_ONCE = 8192
_FEWEST_ROWS = 256
_SELF_CHECK_STEPS = 4
_FAR = 0.1  # of a mean from 0 or a covariance from the identity, beyond five standard errors

Evaluation = Callable[[SecantFunction, Float[Array, "n d"]], Integral]
_Item = TypeVar("_Item")


class Method(eqx.Module):
    """The parts of a method; each can be replaced by another of its kind.

    Attributes:
        model: builder of the model.
        path: between the samples.
        target: the loss.
        time_sampler: how the times of a batch are drawn.
        curriculum: how the intervals [l, t] change during training.
        anchor: a path in closed form whose residual the model learns; None for none.
        scaling: of the columns.
        rule: from the model to the log ratio; None for a model that has none.
        optimiser: the update rule.
        training: budget, batch and rates.
        pairing: which rows of a batch the path connects; None for independent pairs.
    """

    model: ModelBuilder
    path: Path
    target: Target
    time_sampler: TimeSampler = Uniform()
    curriculum: Curriculum = FullIntervals()
    anchor: AnchorRule | None = None
    scaling: ScalingRule = Standardise()
    rule: Rule | None = SecantSteps(1)
    optimiser: Optimiser = Adam()
    training: Training = Training()
    pairing: Pairing | None = None

    def __check_init__(self) -> None:
        for name, kind in _KINDS.items():
            part = getattr(self, name)
            if part is None and name in _MAY_BE_NONE:
                continue
            if not isinstance(part, kind):
                raise TypeError(f"`{name}` must be a {kind.__name__} or None; got {part!r}.")


_KINDS = {
    "model": ModelBuilder,
    "path": Path,
    "target": Target,
    "time_sampler": TimeSampler,
    "curriculum": Curriculum,
    "anchor": AnchorRule,
    "scaling": ScalingRule,
    "rule": Rule,
    "optimiser": Optimiser,
    "training": Training,
    "pairing": Pairing,
}
_MAY_BE_NONE = ("anchor", "rule", "pairing")


@dataclass(frozen=True)
class Fitted:
    """The result of a fit.

    Attributes:
        method: the parts.
        model: in scaled columns.
        scaling: of raw rows.
        diagnostics: on rows not used for training or selection; None without a rule.
        history: one record per evaluation of the held-out loss.
        data: the rows of the fit.
        result: of the training.
    """

    method: Method
    model: PyTree
    scaling: Scaling
    diagnostics: Diagnostics | None
    history: tuple[Record, ...]
    data: Prepared
    result: TrainingResult

    @property
    def rule(self) -> Rule | None:
        """The integration rule from the model to the log ratio."""
        return self.method.rule


def fit(
    method: Method,
    samples: Samples,
    key: int | PRNGKeyArray,
    *,
    names: Sequence[str] | None = None,
    progress: bool | None = False,
) -> Fitted:
    """Fit a method to two samples, or to fresh rows of a sampler (key, n) → (x_0, x_1).

    Args:
        method: the parts.
        samples: raw rows of both, with weights; or the sampler.
        key: the source of all randomness.
        names: of the columns, for the diagnostics.
        progress: whether to show a progress bar; None shows it on a terminal only.
    """
    keep_programs_by_default()
    words = _words(key)
    seed = int(words[-1])
    data = prepared(samples, method.scaling, method.training, seed)
    objective = _objective(method, data)
    held_out, report_on = (
        _held_out(method, objective.target.held_out, *rows)
        for rows in ((data.held_0, data.held_1), (data.report_0, data.report_1))
    )
    source = data.source
    problem = Problem(
        _built(method, data, words),
        source if method.pairing is None else PairedSource(source, method.pairing),
        objective,
        held_out,
        method.training,
        _child(words, 1),
        method.optimiser,
    )
    with progress_bar(method.training.steps, show=progress) as report:
        result = train(problem, report)
    model = method.target.completed(result.model, data.rows_0)
    if result.best_step == 0 and method.anchor is None:
        _warn_untrained(result)
    diagnostics = None
    if method.rule is not None:
        diagnostics = _diagnosed(model, method, data, result, report_on, names)
        diagnostics.warn()
    return Fitted(method, model, data.scaling, diagnostics, result.history, data, result)


def _words(key: int | PRNGKeyArray) -> UInt32[np.ndarray, " 2"]:
    """The bits of a key, on the host: splitting keys on the device would compile more programs."""
    if isinstance(key, int | np.integer):
        return np.array([0, key], dtype=np.uint32)
    return np.asarray(jax.random.key_data(key)).astype(np.uint32)


def _child(words: UInt32[np.ndarray, " 2"], number: int) -> UInt32[np.ndarray, " 2"]:
    """The bits of a derived key, for one purpose within a fit."""
    return np.random.SeedSequence([*words.tolist(), number]).generate_state(2)


def _objective(method: Method, data: Prepared) -> Objective:
    """The target and the time sampler, completed with moments of the data."""
    target, path = method.target.resolved(data.moments), method.path
    low, high = target.time_range(path)

    def variance(share: Float[Array, " m"]) -> Float[Array, " m"]:
        t = low + (high - low) * share
        return path.mean_conditional_variance(t, data.moments, data.n_features)

    if target.needs_standard_normal(path):
        _warn_unless_standard_normal(data)
    return Objective(target, path, method.time_sampler.resolved(variance), method.curriculum)


def _held_out(
    method: Method, target: Target, x_0: Float[np.ndarray, "n d"], x_1: Float[np.ndarray, "m d"]
) -> HeldOut:
    return HeldOut.paired(
        x_0,
        x_1,
        method.path,
        target,
        tangents_only=method.curriculum.tangents_only,
        pairing=method.pairing,
        batch_size=method.training.batch_size,
    )


def _built(method: Method, data: Prepared, words: UInt32[np.ndarray, " 2"]) -> PyTree:
    """A fresh model, as the residual of the anchor if there is one."""
    key = jax.random.wrap_key_data(jax.device_put(_child(words, 0)), impl="threefry2x32")
    model = method.model.build(data.n_features, key=key)
    if method.anchor is None:
        return model
    anchor = method.anchor.fitted(data, method.path, int(words[-1]))
    return method.model.anchored(model, anchor)


def held_out_score(
    method: Method, model: PyTree, x_0: Float[np.ndarray, "n d"], x_1: Float[np.ndarray, "m d"]
) -> float:
    """The loss by which fits are compared, on scaled rows; lower is better."""
    # Evaluate secants too, for any curriculum, so that scores are comparable.
    whole = replace(method, curriculum=FullIntervals())
    return _held_out(whole, method.target.held_out, x_0, x_1).score(model).value


def _diagnosed(
    model: SecantFunction,
    method: Method,
    data: Prepared,
    result: TrainingResult,
    report_on: HeldOut,
    names: Sequence[str] | None,
) -> Diagnostics:
    assert method.rule is not None
    rows = (data.report_0, data.report_1)
    zero, one = (np.asarray(evaluated(model, x, method.rule).value) for x in rows)
    common = RatioDiagnostics.from_scores(
        zero,
        one,
        loss=report_on.score(result.model),
        drift=feature_drift(data.raw_0, data.raw_1, names),
        self_check=_both_self_checked(model, rows) if _is_of_secants(method) else None,
    )
    return Diagnostics(
        **vars(common),
        status=result.status,
        best_step=result.best_step,
        steps=result.steps,
        seconds=result.seconds,
        has_anchor=method.anchor is not None,
    )


def _is_of_secants(method: Method) -> bool:
    """Whether the model has its own secants along a path, unlike a tangent or a classifier."""
    return isinstance(method.rule, SecantSteps) and method.target.uses_path


def _both_self_checked(
    model: SecantFunction, rows: tuple[Float[np.ndarray, "n d"], Float[np.ndarray, "m d"]]
) -> SelfCheck:
    # Use all rows: blocks of the sizes just scored need no further compilation.
    zero, one = (
        self_checked(model, x[:ROWS_AT_ONCE], _SELF_CHECK_STEPS, many_steps=quickly_compiled_steps)
        for x in rows
    )
    square = 0.5 * (zero.root_mean_square**2 + one.root_mean_square**2)
    return SelfCheck(0.5 * (zero.mean + one.mean), float(np.sqrt(square)), one.evaluations)


def self_checked(
    model: SecantFunction,
    scaled: Float[np.ndarray, "n d"],
    n_steps: int,
    *,
    many_steps: Callable[[int], Evaluation] = SecantSteps,
) -> SelfCheck:
    """One step against 2·n_steps steps on the same scaled rows."""
    rules = (SecantSteps(1), many_steps(2 * n_steps))
    return SelfCheck.of(*(evaluated(model, scaled, rule) for rule in rules))


def evaluated(
    model: SecantFunction,
    rows: Float[np.ndarray, "n d"],
    rule: Evaluation,
    *,
    scaling: Callable[[np.ndarray], np.ndarray] = np.asarray,
) -> Integral:
    """Apply a rule to scaled rows, or to raw rows and their scaling, block by block."""
    keep_programs_by_default()
    blocks = padded_blocks(rows, scaling)
    pieces = [
        piece._replace(value=np.asarray(piece.value))
        for piece in one_behind(rule(model, block) for block in blocks)
    ]
    values = np.concatenate([piece.value for piece in pieces])[: rows.shape[0]]
    return Integral(
        values.astype(np.float64),
        max(p.evaluations for p in pieces),
        max(p.error for p in pieces),
    )


def padded_blocks(
    x: Float[np.ndarray, "n d"],
    prepare: Callable[[np.ndarray], np.ndarray] = np.asarray,
) -> Iterator[Float[Array, "m e"]]:
    """Blocks of two sizes, large ones first, the last one padded with zeros.

    So other numbers of rows need no further compilation. Blocks are made one at a time.

    Args:
        x: rows, read block by block.
        prepare: applied to rows before they are divided and padded.
    """
    for start in range(0, max(x.shape[0], 1), ROWS_AT_ONCE):
        check_whole(x)
        rows = prepare(x[start : start + ROWS_AT_ONCE]).astype(np.float32, copy=False)
        size = ROWS_AT_ONCE if len(rows) == ROWS_AT_ONCE else _FEWEST_ROWS
        for first in range(0, max(len(rows), 1), size):
            block = rows[first : first + size]
            yield jax.device_put(np.pad(block, ((0, size - len(block)), (0, 0))))


def one_behind(items: Iterable[_Item]) -> Iterator[_Item]:
    """Yield each item after the next one has been computed.

    JAX computes asynchronously, so the next block is prepared meanwhile. Without a limit, all
    blocks would be prepared and kept in memory while the first is computed.
    """
    waiting: deque[_Item] = deque()
    for item in items:
        waiting.append(item)
        if len(waiting) > 1:
            yield waiting.popleft()
    yield from waiting


def _warn_unless_standard_normal(data: Prepared) -> None:
    """Warn if x_0 is not standard normal although the loss assumes it (erratum 3)."""
    allowed = _FAR + 5.0 / np.sqrt(data.rows_0.shape[0])
    mean = float(np.max(np.abs(data.gaussian_0.mean)))
    off = data.gaussian_0.covariance - np.eye(data.n_features)
    covariance = float(np.max(np.abs(off)))
    if max(mean, covariance) > allowed:
        warnings.warn(
            "this loss needs x_0 ~ N(0, I) (a conditional time score on DiffusionInterpolant, or a "
            f"spatial weight); after scaling its mean is off by up to {mean:.2g} and its "
            f"covariance by up to {covariance:.2g}. Use DiffusionBridge() for a conditional "
            "target or spatial=0 for SecantVelocity, which take any x_0, or standard normal rows "
            "with scaling=Identity().",
            GaussianStartWarning,
            stacklevel=3,
        )


def _warn_untrained(result: TrainingResult) -> None:
    warnings.warn(
        f"none of {result.steps} steps of training lowered the held-out loss by more than its "
        "standard error, so the untrained state is kept and every log ratio is the same. Either "
        "the samples do not differ, or training was too short or too fast: try more steps, more "
        "rows, or another learning rate.",
        UntrainedWarning,
        stacklevel=3,
    )

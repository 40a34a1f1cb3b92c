"""Monitor a stream of rows against a fixed reference, window by window."""

from __future__ import annotations

import hashlib
import time as clock
import warnings
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from secant._host.progress import tracked
from secant._host.provenance import versions
from secant.estimators import RatioEstimator, SklearnRatio
from secant.exceptions import ConstantColumnWarning
from secant.tables import Missing
from secant.tables.groups import Groups
from secant.tables.windows import Every, WindowRows
from secant.tasks.anytime import AnytimeTest
from secant.tasks.column_bases import logistic_pipeline
from secant.tasks.comparison import compare
from secant.tasks.comparison_result import Comparison
from secant.tasks.cross_fitting import checked_estimator, cross_fit, repr_line
from secant.tasks.given_tables import WatchedTables, called
from secant.tasks.inference import checked_confidence, checked_permutations
from secant.tasks.model_choice import are_apart, bases_for
from secant.tasks.monitoring_result import Monitoring
from secant.tasks.monitoring_state import (
    MonitorState,
    ReferenceBand,
    WindowComparison,
    WindowRecord,
)

__all__ = ["Monitoring", "monitor"]

_FEWEST_ROWS = 20  # of a window, to be compared; fewer still count as evidence
# A window is watched, not studied: more rows hardly narrow an interval and cost seconds each night.
_MOST_ROWS = 4_000
_MOST_REFERENCE = 5_000
_BLOCKS = 10  # of the reference, for its band
_SAVED_EVERY = 2.0  # seconds

Rows = Float[np.ndarray, "n d"]


def monitor(
    reference: object,
    stream: object,
    *,
    time: str | None = None,
    every: int | str,
    level: float = 0.05,
    least_overlap: float = 1.0,
    groups: Groups | None = None,
    missing: Missing | str = Missing.REFUSE,
    estimator: RatioEstimator | None = None,
    n_permutations: int = 199,
    confidence: float = 0.95,
    state: Path | str | None = None,
    last_is_complete: bool = False,
    sample_names: tuple[str, str] | None = None,
    progress: bool | None = None,
    random_state: int = 0,
) -> Monitoring:
    """Compare each window of a stream with a reference, and raise an alarm that holds at any time.

    Each window is compared as by `compare`. In addition, evidence is collected over windows by
    bets (Y1)–(Y3): the probability that a stream like the reference ever raises the alarm is at
    most `level`, for any number of windows (Y4). The size of a change is reported separately.

    Windows with too few rows are listed with the reason. Only columns of both tables are used. At
    most 4,000 rows of a window and 5,000 of the reference are compared, drawn at random.

    Args:
        reference: reference rows; a file, a data frame or an array (n, d).
        stream: all rows so far, with the same columns.
        time: the stream's column of dates or times; None takes rows in their order.
        every: length of a window: rows, or "1d", "6h", "30min", "1w", "1mo".
        level: probability that a stream like the reference ever raises the alarm.
        least_overlap: a change whose windows share at least this much with the reference, 0 to 1,
            raises no alarm even if it is proved; 1 tolerates no change.
        groups: columns that count and are reported as one, as in `compare`.
        missing: rows with missing values of files and data frames: "refuse", "drop" or "impute".
        estimator: as in `compare`; None chooses among regressions and trees, and takes a regression
            if a window has nothing in common with the reference.
        n_permutations: for the p-value of a window, which is at least 1/(1 + this).
        confidence: level of the intervals.
        state: a JSON file of the finished windows; the next call, with rows added to the stream,
            continues from it.
        last_is_complete: whether the last window is compared although rows may still be added.
        sample_names: names of reference and stream in the result.
        progress: a progress bar; None shows one on a terminal only.
        random_state: seed.

    Examples:
        >>> import numpy as np, secant
        >>> rng = np.random.default_rng(0)
        >>> reference, stream = rng.normal(size=(600, 3)), rng.normal(size=(600, 3))
        >>> stream[300:, 1] += 1.0
        >>> found = secant.monitor(reference, stream, every=100)
        >>> found.has_alarm, found.windows[found.since].label, found.columns[0].name
        (True, 'rows 300–399', 'column 1')
    """
    began = clock.perf_counter()
    checked_permutations(n_permutations)
    checked_confidence(confidence)
    _check_shares(level, least_overlap)
    length = Every.of(every)
    if estimator is not None:
        checked_estimator(estimator)
    tables = WatchedTables.of(
        reference,
        stream,
        time,
        length,
        groups=groups,
        missing=missing,
        last_is_complete=last_is_complete,
        seed=random_state,
    )
    names = sample_names or (called(reference, "reference"), called(stream, "stream"))
    grouped = f"groups={dict(groups)!r}, " if groups else ""
    call = (
        f"secant.monitor(reference, stream, time={time!r}, every={every!r}, {grouped}"
        f"missing={Missing(missing).value!r}, estimator={repr_line(estimator)}, "
        f"n_permutations={n_permutations}, confidence={confidence:g}, random_state={random_state})"
    )
    plan = WindowPlan(
        names,
        tables.names,
        tables.named_groups,
        estimator,
        n_permutations,
        confidence,
        random_state,
    )
    kept = MonitorState.of(
        state, hashlib.sha256(f"{call} {tables.digest}".encode()).hexdigest()[:16]
    )
    n_known = len(kept.windows)
    band, windows = _watched(tables, plan, kept, progress=progress)
    return Monitoring(
        sample_names=names,
        windows=windows,
        band=band,
        every=str(length),
        zone=tables.windows.zone,
        level=level,
        least_overlap=least_overlap,
        n_reference=len(tables.x_0),
        notes=tables.notes,
        n_new=sum(w.found is not None for w in windows[n_known:]),
        call=call,
        seed=random_state,
        versions=versions(),
        seconds=clock.perf_counter() - began,
    )


def _check_shares(level: float, least_overlap: float) -> None:
    if not 0.0 < level < 1.0:
        raise ValueError(f"`level` must lie between 0 and 1, such as 0.05; got {level!r}.")
    if not 0.0 < least_overlap <= 1.0:
        raise ValueError(
            f"`least_overlap` must be above 0 and at most 1, such as 0.9; got {least_overlap!r}."
        )


class WindowPlan(NamedTuple):
    """Settings of the comparison of a window.

    Attributes:
        sample_names: names of reference and stream.
        feature_names: of the columns.
        groups: of columns that count as one.
        estimator: None chooses one for each window.
        n_permutations: for the p-value of a window.
        confidence: level of the intervals.
        seed: random seed.
    """

    sample_names: tuple[str, str]
    feature_names: tuple[str, ...]
    groups: Groups
    estimator: RatioEstimator | None
    n_permutations: int
    confidence: float
    seed: int


def _watched(
    tables: WatchedTables, plan: WindowPlan, kept: MonitorState, *, progress: bool | None
) -> tuple[ReferenceBand, tuple[WindowRecord, ...]]:
    """The band and every window; finished ones are taken from the state file."""
    cut = tables.windows.windows
    digests = [tables.digest_of(i) for i in range(len(cut))]
    kept.check([w.label for w in cut], digests)
    watch = _Watch(tables, plan, digests)
    for number, record in enumerate(kept.windows):
        watch.remember(number, record)
    n_known, saved = len(kept.windows), clock.perf_counter()
    try:
        if kept.band is None:
            kept.band = _band(tables, plan)
        open_ones: list[WindowRecord] = []
        for number in tracked(range(n_known, len(cut)), "windows", show=progress):
            record = watch.next(number, cut[number])
            (open_ones if record.is_open else kept.windows).append(record)
            if clock.perf_counter() - saved > _SAVED_EVERY:
                kept.save()
                saved = clock.perf_counter()
    finally:
        if len(kept.windows) > n_known:
            kept.save()
    return kept.band, (*kept.windows, *open_ones)


@dataclass
class _Watch:
    """The windows one after another, and the evidence."""

    tables: WatchedTables
    plan: WindowPlan
    digests: list[str]

    def __post_init__(self) -> None:
        tables = self.tables
        self._test = AnytimeTest(
            tables.x_0,
            seed=self.plan.seed,
            columns=tables.quantities,
            groups=[group.columns for group in tables.groups],
        )

    def remember(self, number: int, record: WindowRecord) -> None:
        """Take a finished window from the state file."""
        rows = self.tables.x[self.tables.places_of(number)]
        self._test.add(number, rows, record.scores)

    def next(self, number: int, window: WindowRows) -> WindowRecord:
        """Compare a window and bet on its rows."""
        places = self.tables.places_of(number)
        rows = self.tables.x[places]
        gone = self.tables.gone(number)
        why_not = _why_not(window, len(rows), gone)
        found = None if why_not else self._compared(number, window.label, places)
        scores = self._test.add(number, rows) if window.is_complete else None
        return WindowRecord(
            label=window.label,
            n_rows=int(window.rows.size),
            n_used=len(rows),
            digest=self.digests[number],
            found=found,
            why_not=why_not,
            is_open=not window.is_complete,
            gone=gone,
            scores=scores,
            log_evidence=self._test.log_evidence,
        )

    def _compared(self, number: int, label: str, places: np.ndarray) -> WindowComparison:
        tables, rng = self.tables, np.random.default_rng([self.plan.seed, number, 2])
        some = np.sort(rng.permutation(places)[:_MOST_ROWS])
        names = self.plan.sample_names[0], label
        found = _quick_comparison(tables.x_0, tables.x[some], names, self.plan, rng)
        if tables.stream is not None:
            cells = found.unlike_1.with_cells(tables.stream, some)
            found = replace(found, unlike_1=replace(cells, numbers=found.unlike_1.numbers))
        return WindowComparison.of(found, tables.kept[some])


def _why_not(window: WindowRows, n_used: int, gone: tuple[str, ...]) -> str:
    """Why a window cannot be compared; empty if it can."""
    if not window.rows.size:
        return "no rows"
    if not window.is_complete:
        return "still open"
    if n_used >= _FEWEST_ROWS:
        return ""
    lacks = f", no value of {', '.join(gone)}" if gone else ""
    left_out = f" of {window.rows.size}" if n_used < window.rows.size else ""
    return f"too few rows: {n_used}{left_out}{lacks}; {_FEWEST_ROWS} are needed"


def _quick_comparison(
    x_0: Rows, x_1: Rows, names: tuple[str, str], plan: WindowPlan, rng: np.random.Generator
) -> Comparison:
    """Compare rows with at most 5,000 rows of a reference, by models that take about a second."""
    few = x_0[np.sort(rng.permutation(len(x_0))[:_MOST_REFERENCE])]
    with warnings.catch_warnings():
        # Of a column that never changes, every window would warn.
        warnings.simplefilter("ignore", ConstantColumnWarning)
        return compare(
            few,
            x_1,
            feature_names=plan.feature_names,
            sample_names=names,
            groups=plan.groups,
            estimator=_quick(few, x_1, plan),
            n_permutations=plan.n_permutations,
            confidence=plan.confidence,
            random_state=plan.seed,
            progress=False,
        )


def _quick(x_0: Rows, x_1: Rows, plan: WindowPlan) -> RatioEstimator | None:
    """The estimator of a window; a regression if it is disjoint, where `compare` trains a path."""
    if plan.estimator is not None:
        return plan.estimator
    for basis in bases_for(min(len(x_0), len(x_1)), x_0.shape[1]):
        model = SklearnRatio(logistic_pipeline(basis, 1.0), folds=None)
        scores = cross_fit(model, x_0, x_1, n_folds=2, random_state=plan.seed)
        if are_apart(scores.log_ratio_0, scores.log_ratio_1):
            return model
    return None


def _band(tables: WatchedTables, plan: WindowPlan) -> ReferenceBand:
    """Blocks of the reference against the rest of it.

    They are as long as the median window that can be compared, and consecutive rows where the
    reference is in the order of time.
    """
    sizes = [len(tables.places_of(i)) for i in range(len(tables.windows.windows))]
    used = [size for size in sizes if size >= _FEWEST_ROWS]
    size = min(int(np.median(used)) if used else _FEWEST_ROWS, _MOST_ROWS)
    x_0 = tables.x_0
    n_blocks = min(_BLOCKS, len(x_0) // size)
    if n_blocks < 3:
        return ReferenceBand(0, size)
    rng = np.random.default_rng([plan.seed, 3])
    order = np.arange(len(x_0)) if tables.in_time else rng.permutation(len(x_0))
    found = []
    for start in np.linspace(0, len(x_0) - size, n_blocks).astype(int):
        block = order[start : start + size]
        rest = np.setdiff1d(order, block, assume_unique=True)
        found.append(_quick_comparison(x_0[rest], x_0[block], ("the rest", "a block"), plan, rng))
    return ReferenceBand(
        n_blocks,
        size,
        min(f.overlap for f in found),
        max(f.kl.estimate for f in found),
        sum(f.p_value < 0.05 for f in found),
        tables.in_time,
    )

"""Results of monitoring for each window and for the reference, and their state file."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, fields, is_dataclass
from pathlib import Path
from types import UnionType
from typing import Any, get_args, get_origin, get_type_hints

from secant._host.atomic_files import write_atomically
from secant.model_files.errors import ModelFileError
from secant.model_files.strict_json import parsed_json, written
from secant.tables.errors import shown
from secant.tasks.anytime import WindowScores
from secant.tasks.attribution import FeatureContribution
from secant.tasks.comparison_result import Comparison, Degree

__all__ = ["ChangedColumn", "MonitorState", "ReferenceBand", "WindowComparison", "WindowRecord"]

_FORMAT = "secant/monitor-state/1"
_ROWS = 10  # least like the reference, whose cells are kept


@dataclass(frozen=True)
class ChangedColumn:
    """One column of a window against the reference.

    Attributes:
        name: of the column.
        contribution: to the difference, in nats.
        mean_shift: in standard deviations.
        ks_distance: Kolmogorov–Smirnov distance, 0 to 1.
        p_value: of that distance.
        direction: in words: "1.25 s.d. higher".
    """

    name: str
    contribution: float
    mean_shift: float
    ks_distance: float
    p_value: float
    direction: str

    @classmethod
    def of(cls, found: FeatureContribution) -> ChangedColumn:
        """From the contribution of a column in a comparison."""
        margin = found.margin
        return cls(
            found.name,
            found.contribution,
            margin.mean_shift,
            margin.ks_distance,
            margin.p_value,
            found.direction("").removesuffix(" in "),
        )


@dataclass(frozen=True)
class WindowComparison:
    """One window compared with the reference.

    Attributes:
        p_value: of "both come from one distribution", for this window alone.
        overlap: the share in common, 0 to 1.
        overlap_interval: of the overlap.
        kl: KL(window‖reference) in nats.
        kl_interval: of the divergence.
        is_resolved: whether the size of the difference can be estimated from the rows.
        model: the model that was chosen.
        columns: by contribution, the largest first.
        n_changed: number of columns with most of the difference; 0 if none was found.
        row_columns: names of the columns in `cells`.
        rows: numbers in the stream of the rows least like the reference.
        row_scores: their log ratios, out of fold.
        cells: of these rows, as text.
        seconds: duration of the comparison.
    """

    p_value: float
    overlap: float
    overlap_interval: tuple[float, float]
    kl: float
    kl_interval: tuple[float, float]
    is_resolved: bool
    model: str
    columns: tuple[ChangedColumn, ...] = field(repr=False)
    n_changed: int
    row_columns: tuple[str, ...] = field(repr=False)
    rows: tuple[int, ...] = field(repr=False)
    row_scores: tuple[float, ...] = field(repr=False)
    cells: tuple[tuple[str, ...], ...] = field(repr=False)
    seconds: float

    @classmethod
    def of(cls, found: Comparison, numbers: Sequence[int]) -> WindowComparison:
        """From a comparison whose second sample is the window; its rows have these numbers."""
        unlike = found.unlike_1
        return cls(
            p_value=found.p_value,
            overlap=found.overlap,
            overlap_interval=found.overlap_interval,
            kl=found.kl.estimate,
            kl_interval=found.kl.interval,
            is_resolved=found.total_variation.is_resolved,
            model=found.model,
            columns=tuple(ChangedColumn.of(c) for c in found.features),
            n_changed=len(found.changes),
            row_columns=unlike.columns,
            rows=tuple(int(numbers[i]) for i in unlike.numbers[:_ROWS]),
            row_scores=tuple(unlike.log_ratio[:_ROWS].tolist()),
            cells=unlike.cells[:_ROWS],
            seconds=found.seconds,
        )

    @property
    def degree(self) -> Degree:
        """How far the window is from the reference."""
        return Degree.of(self.p_value, self.overlap)

    @property
    def changed(self) -> tuple[ChangedColumn, ...]:
        """The columns with most of the difference; none if no difference was found."""
        return self.columns[: self.n_changed]


@dataclass(frozen=True)
class WindowRecord:
    """One window: its rows, the comparison, and the evidence so far.

    Attributes:
        label: its start.
        n_rows: number of rows in the stream.
        n_used: number of rows without those left out for missing values.
        digest: of the rows used.
        found: the comparison; None if there was none.
        why_not: the reason why there is no comparison, else empty.
        is_open: whether further rows may belong to it.
        gone: columns without any value in it.
        scores: its contribution to the evidence; None while it is open.
        log_evidence: the evidence after it, in nats (Y4).
    """

    label: str
    n_rows: int
    n_used: int
    digest: str
    found: WindowComparison | None
    why_not: str
    is_open: bool
    gone: tuple[str, ...]
    scores: WindowScores | None = field(repr=False)
    log_evidence: float


@dataclass(frozen=True)
class ReferenceBand:
    """Differences between blocks of the reference and the rest of it.

    Attributes:
        n_blocks: number of blocks; 0 if the reference has too few rows.
        n_rows: rows of each block.
        overlap: the smallest share in common.
        kl: the largest KL(block‖rest).
        n_found: number of blocks with a p-value below 0.05; 1 in 20 by chance.
        in_time: whether blocks are consecutive rows in time rather than random rows.
    """

    n_blocks: int
    n_rows: int
    overlap: float = math.nan
    kl: float = math.nan
    n_found: int = 0
    in_time: bool = False

    @property
    def words(self) -> str:
        """One sentence."""
        if not self.n_blocks:
            return (
                f"The reference has too few rows to show how blocks of {self.n_rows} of its own "
                "rows vary; three times as many as a window are needed."
            )
        how = "consecutive" if self.in_time else "random"
        return (
            f"{self.n_blocks} {how} blocks of {self.n_rows} rows of the reference share at least "
            f"{100 * self.overlap:.0f} % with the rest of it."
        )


@dataclass
class MonitorState:
    """Finished windows and the band of the reference.

    Attributes:
        path: of the file; None for no file.
        digest: of the reference and the settings; a file with another digest is refused.
        band: of the reference; None until it is known.
        windows: the finished windows.
    """

    path: Path | None
    digest: str
    band: ReferenceBand | None = None
    windows: list[WindowRecord] = field(default_factory=list)

    @classmethod
    def of(cls, path: Path | str | None, digest: str) -> MonitorState:
        """From a file, if there is one.

        Raises:
            ValueError: The file is damaged, or of another reference or other settings.
        """
        place = None if path is None else Path(path)
        if place is None or not place.exists():
            return cls(place, digest)
        try:
            values = parsed_json(place.read_bytes())
            if values["format"] != _FORMAT:
                raise ValueError(f"its format is {shown(values['format'])}")
            kept = str(values["digest"])
            band = _restored(ReferenceBand | None, values["band"])
            windows = [_restored(WindowRecord, window) for window in values["windows"]]
        except (ModelFileError, KeyError, TypeError, ValueError, AttributeError) as error:
            raise ValueError(
                f"{place} is no state of a watch that can be continued: {error}. Name another "
                "file, or move this one away to start again."
            ) from None
        if kept != digest:
            raise ValueError(
                f"{place} was made with another reference or other settings (time, every, columns, "
                "missing, estimator, permutations, confidence or seed). Use those, or name another "
                "file to start again."
            )
        return cls(place, digest, band, windows)

    def check(self, labels: Sequence[str], digests: Sequence[str]) -> None:
        """Refuse a stream whose finished windows are not those of the file."""
        known = [(w.label, w.digest) for w in self.windows]
        for number, (label, digest) in enumerate(known):
            if number >= len(labels) or (labels[number], digests[number]) != (label, digest):
                came = shown(labels[number]) if number < len(labels) else "nothing"
                raise ValueError(
                    f"The rows of window {shown(label)} are not those that {self.path} has seen "
                    f"(now: {came}): give the whole stream, new rows added to the earlier ones. If "
                    "rows came late or were corrected, name another state file to start again."
                )

    def save(self) -> None:
        """Write the file atomically."""
        if self.path is None:
            return
        values = {
            "format": _FORMAT,
            "digest": self.digest,
            "band": _plain(self.band),
            "windows": _plain(self.windows),
        }
        write_atomically(self.path, written(values).encode("ascii"))


def _plain(value: object) -> Any:  # noqa: ANN401
    """JSON values; numbers that JSON lacks become the texts that `float` reads."""
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if isinstance(value, list | tuple):
        return [_plain(part) for part in value]
    if is_dataclass(value):
        return {f.name: _plain(getattr(value, f.name)) for f in fields(value)}
    return value


def _restored(kind: Any, value: Any) -> Any:  # noqa: ANN401
    """The value of a type from which `_plain` made JSON values."""
    inner = get_args(kind)
    if get_origin(kind) is UnionType:  # with None
        return None if value is None else _restored(inner[0], value)
    if get_origin(kind) is tuple:
        return tuple(_restored(inner[0], part) for part in value)
    if isinstance(kind, type) and is_dataclass(kind):
        hints = get_type_hints(kind)
        return kind(**{name: _restored(hints[name], part) for name, part in value.items()})
    if kind is float:
        return float(value)
    if not isinstance(value, kind):
        raise TypeError(f"expected {kind.__name__}, got {shown(value)}")
    return value

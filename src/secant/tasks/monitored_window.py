"""One window of a stream against its reference, as plain values that a state file can keep."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any

from secant.tasks.anytime import WindowScores
from secant.tasks.attribution import FeatureContribution
from secant.tasks.comparison_result import Comparison, Degree

__all__ = ["ChangedColumn", "WindowComparison", "WindowRecord"]

_ROWS = 10  # least like the reference, whose cells are kept


@dataclass(frozen=True)
class ChangedColumn:
    """One column of a window against the reference.

    Attributes:
        name: of the column.
        contribution: what it carries of the difference, in nats.
        mean_shift: in standard deviations.
        ks_distance: Kolmogorov–Smirnov, 0 to 1.
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
        """Of a comparison."""
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
    """What one window says against the reference.

    Attributes:
        p_value: of "both come from one distribution", for this window alone.
        overlap: the share in common, 0 to 1.
        overlap_interval: of the overlap.
        kl: KL(window‖reference) in nats.
        kl_interval: of the divergence.
        is_resolved: whether the rows say how large the difference is.
        model: that was chosen.
        columns: the one that carries most first.
        n_changed: how many of them carry most of the difference; 0 if none was found.
        row_columns: names of what is shown of rows.
        rows: numbers in the stream of the rows least like the reference.
        row_scores: their log ratios, out of fold.
        cells: of these rows, as text.
        seconds: that it took.
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
        """Of a comparison whose second sample is the window; its rows have these numbers."""
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
        """The columns that carry most of the difference; none if none was found."""
        return self.columns[: self.n_changed]


@dataclass(frozen=True)
class WindowRecord:
    """One window: its rows, what the comparison found, and the evidence so far.

    Attributes:
        label: when it starts.
        n_rows: that the stream has of it.
        n_used: of them, without those left out for missing values.
        digest: of the rows used.
        found: the comparison; None where there was none.
        why_not: the reason then, else empty.
        is_open: whether further rows may come.
        gone: columns without any value in it.
        scores: what it adds to the evidence; None while it is open.
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

    def to_json(self) -> dict[str, Any]:
        """JSON values from which `from_json` restores the record."""
        found = _plain(self)
        assert isinstance(found, dict)
        return found

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> WindowRecord:
        """The record that `to_json` wrote; a `TypeError`, `KeyError` or `ValueError` otherwise."""
        given = dict(values)
        if given["found"] is not None:
            given["found"] = _comparison(given["found"])
        given.update(gone=_texts(given["gone"]), scores=_scores(given["scores"]))
        given["log_evidence"] = float(given["log_evidence"])
        return cls(**given)


def _scores(values: Mapping[str, Any] | None) -> WindowScores | None:
    if values is None:
        return None
    learned, columns = float(values["learned"]), _floats(values["columns"])
    return WindowScores(**{**values, "learned": learned, "columns": columns})


def _comparison(values: Mapping[str, Any]) -> WindowComparison:
    given = dict(values)
    numbers = ("contribution", "mean_shift", "ks_distance", "p_value")
    given["columns"] = tuple(
        ChangedColumn(**{**column, **{name: float(column[name]) for name in numbers}})
        for column in given["columns"]
    )
    for name in ("overlap_interval", "kl_interval", "row_scores"):
        given[name] = _floats(given[name])
    for name in ("p_value", "overlap", "kl", "seconds"):
        given[name] = float(given[name])
    given["rows"] = tuple(int(row) for row in given["rows"])
    given["row_columns"] = _texts(given["row_columns"])
    given["cells"] = tuple(_texts(row) for row in given["cells"])
    return WindowComparison(**given)


def _texts(values: Sequence[object]) -> tuple[str, ...]:
    return tuple(str(value) for value in values)


def _floats(values: Sequence[Any]) -> Any:  # noqa: ANN401
    return tuple(float(value) for value in values)


def _plain(value: object) -> object:
    """JSON values; numbers that JSON lacks become the texts that `float` reads."""
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if isinstance(value, list | tuple):
        return [_plain(part) for part in value]
    if hasattr(value, "__dataclass_fields__"):
        return {f.name: _plain(getattr(value, f.name)) for f in fields(value)}  # type: ignore[arg-type]
    return value

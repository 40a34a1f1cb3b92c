"""The result of monitoring a stream: windows, alarm, time of the change and changed columns."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property
from statistics import median

from secant._host.escaping import one_line
from secant._host.notebook import Summarised, fragment
from secant.diagnostics.text import aligned
from secant.tasks.anytime import likely_start
from secant.tasks.comparison_result import Degree
from secant.tasks.monitoring_state import (
    ChangedColumn,
    ReferenceBand,
    WindowComparison,
    WindowRecord,
)

__all__ = ["ColumnCourse", "Monitoring"]

_SHOWN = 12  # windows of the text


@dataclass(frozen=True)
class ColumnCourse:
    """One column over the windows since the change.

    Attributes:
        name: of the column.
        contribution: mean over the windows, in nats.
        mean_shift: in standard deviations, of the median window among `n_windows`.
        direction: the same in words.
        since: the first window in which it had most of a difference.
        n_windows: the number of such windows.
    """

    name: str
    contribution: float
    mean_shift: float
    direction: str
    since: str
    n_windows: int


@dataclass(frozen=True, eq=False)
class Monitoring(Summarised):
    """The result of monitoring a stream; `print` it.

    Attributes:
        sample_names: names of reference and stream.
        windows: all windows in the order of time, empty ones included.
        band: differences between blocks of the reference.
        every: the length of a window.
        zone: time zone of the labels; empty if times have none.
        level: upper limit on the probability of a false alarm, over all time.
        least_overlap: a change with at least this share in common raises no alarm.
        n_reference: rows of the reference.
        notes: on the tables, each with a remedy.
        n_new: number of windows compared by this call; the others come from the state file.
        call: the Python call that reproduces the result.
        seed: random seed.
        versions: of Python and the packages behind the numbers.
        seconds: duration of this call.
    """

    sample_names: tuple[str, str]
    windows: tuple[WindowRecord, ...] = field(repr=False)
    band: ReferenceBand
    every: str
    zone: str
    level: float
    least_overlap: float
    n_reference: int
    notes: tuple[str, ...]
    n_new: int
    call: str = field(repr=False)
    seed: int
    versions: dict[str, str] = field(repr=False)
    seconds: float

    @property
    def compared(self) -> tuple[tuple[int, WindowComparison], ...]:
        """The windows that could be compared, each with its number."""
        return tuple((i, w.found) for i, w in enumerate(self.windows) if w.found is not None)

    @property
    def log_evidence(self) -> float:
        """log of the largest evidence so far, in nats; the alarm is at log(1/level)."""
        return max((w.log_evidence for w in self.windows), default=0.0)

    @property
    def anytime_p_value(self) -> float:
        """The p-value of "the stream is like the reference", valid at any time (Y4)."""
        return min(1.0, math.exp(-self.log_evidence))

    @cached_property
    def proof(self) -> int | None:
        """The first window with sufficient evidence, whatever the size of the change."""
        enough = math.log(1.0 / self.level)
        return next((i for i, w in enumerate(self.windows) if w.log_evidence >= enough), None)

    @cached_property
    def alarm(self) -> int | None:
        """The window that raised the alarm: the change is proved and large enough to matter."""
        if self.proof is None or self.least_overlap >= 1.0:
            return self.proof
        later = (i for i, found in self.compared if i >= self.proof)
        return next((i for i in later if self._overlap_until(i) < self.least_overlap), None)

    @cached_property
    def since(self) -> int | None:
        """The most likely window of the change."""
        if self.proof is None:
            return None
        scores = [w.scores for w in self.windows[: self.proof + 1]]
        return likely_start([one for one in scores if one is not None])

    @property
    def has_alarm(self) -> bool:
        """Whether the alarm was raised."""
        return self.alarm is not None

    @property
    def overlap(self) -> float:
        """Share in common of the median window since the change, or of all; NaN without any."""
        return self._overlap_until(len(self.windows))

    @property
    def degree(self) -> Degree:
        """The degree of the change; SAME unless it is proved."""
        if self.proof is None:
            return Degree.SAME
        return Degree.of(0.0, 1.0 if math.isnan(self.overlap) else self.overlap)

    @cached_property
    def columns(self) -> tuple[ColumnCourse, ...]:
        """The changed columns by their contribution since the change; none without a change."""
        if self.proof is None or self.since is None:
            return ()
        later = [(i, found) for i, found in self.compared if i >= self.since]
        named: dict[str, list[tuple[int, ChangedColumn]]] = {}
        for i, found in later:
            for column in found.changed:
                named.setdefault(column.name, []).append((i, column))
        courses = [self._course(name, seen, later) for name, seen in named.items()]
        return tuple(sorted(courses, key=lambda column: -column.contribution))

    @property
    def latest(self) -> tuple[int, WindowComparison] | None:
        """The last window that was compared."""
        return self.compared[-1] if self.compared else None

    @property
    def unusable(self) -> tuple[WindowRecord, ...]:
        """Windows that were not compared, open ones left out."""
        return tuple(w for w in self.windows if w.found is None and not w.is_open)

    @property
    def headline(self) -> str:
        """The first words of the verdict."""
        one = one_line(self.sample_names[1])
        if self.proof is None or self.since is None:
            return f"{one} looks like the reference"
        label = one_line(self.windows[self.since].label)
        return f"{one} has changed since {label}"

    @property
    def verdict(self) -> str:
        """The result in one sentence, with its numbers."""
        n = len(self.compared)
        windows = f"{n} window{'' if n == 1 else 's'} compared"
        if self.proof is None:
            needed = f"{1.0 / self.level:.3g}"
            evidence = f"evidence {_evidence(self.log_evidence)} of {needed} for an alarm"
            return f"{self.headline}: {windows}, {evidence}."
        carried = ", ".join(f"“{one_line(c.name)}” ({c.direction})" for c in self.columns[:3])
        at = one_line(self.windows[self.proof].label)
        parts = [
            f"proved at {at} (anytime p-value {self.anytime_p_value:.2g})",
            f"{self.degree.value.lower()}, {self._share} in common",
            *([f"most of it in {carried}"] if carried else []),
            *([] if self.has_alarm else [f"no alarm, for {self.least_overlap:g} is tolerated"]),
        ]
        return f"{self.headline}: {'; '.join(parts)}."

    def __str__(self) -> str:
        """The verdict, the last windows, and the notes."""
        header = ("window", "rows", "in common", "KL", "p-value", "evidence", "changed")
        shown = range(max(0, len(self.windows) - _SHOWN), len(self.windows))
        lines = aligned([header, *(self.cells(i) for i in shown)])
        left = shown.start
        return "\n".join(
            [
                self.verdict,
                "",
                *(line.rstrip() for line in lines),
                *([f"({left} earlier windows are not shown)"] if left else []),
                "",
                self.band.words,
                *(f"note: {note}" for note in self.notes),
                f"{self.n_new} windows compared now, {self.seconds:.1f} s, seed {self.seed}",
            ]
        )

    def cells(self, i: int) -> tuple[str, ...]:
        """A window as texts: label, rows, share in common, KL, p-value, evidence, columns."""
        window, found = self.windows[i], self.windows[i].found
        label, rows = one_line(window.label), f"{window.n_used:,}"
        if found is None:
            evidence = "" if window.is_open else _evidence(window.log_evidence)
            return label, rows, "", "", "", evidence, one_line(window.why_not)
        low = found.overlap_interval[0]
        overlap = f"{100 * found.overlap:.0f} %" if found.is_resolved else f"≥ {100 * low:.0f} %"
        kl = f"{found.kl:.3f}" if found.kl_interval[0] > 0.0 else f"≤ {found.kl_interval[1]:.3f}"
        changed = ", ".join(f"{one_line(c.name)} ({c.direction})" for c in found.changed)
        return (
            label,
            rows,
            overlap,
            kl,
            f"{found.p_value:.2g}",
            _evidence(window.log_evidence),
            changed,
        )

    def _repr_html_(self) -> str:
        """For notebooks."""
        recent = range(max(0, len(self.windows) - _SHOWN), len(self.windows))
        pairs = [(row[0], " · ".join(filter(None, row[1:]))) for row in map(self.cells, recent)]
        return fragment(self.verdict, pairs, self.notes)

    @property
    def _share(self) -> str:
        return "–" if math.isnan(self.overlap) else f"{100 * self.overlap:.0f} %"

    def _overlap_until(self, last: int) -> float:
        """The overlap of the median window between the change and a window."""
        start = 0 if self.since is None else self.since
        values = [found.overlap for i, found in self.compared if start <= i <= last]
        return median(values) if values else math.nan

    def _course(
        self,
        name: str,
        seen: list[tuple[int, ChangedColumn]],
        later: list[tuple[int, WindowComparison]],
    ) -> ColumnCourse:
        each = [column for _, found in later for column in found.columns if column.name == name]
        by_shift = sorted((column for _, column in seen), key=lambda column: column.mean_shift)
        typical = by_shift[len(by_shift) // 2]
        return ColumnCourse(
            name,
            sum(column.contribution for column in each) / len(each),
            typical.mean_shift,
            typical.direction,
            self.windows[seen[0][0]].label,
            len(seen),
        )


def _evidence(log_evidence: float) -> str:
    """The evidence itself, which starts at 1."""
    if log_evidence > math.log(1e4):
        return f"10^{log_evidence / math.log(10.0):.0f}"
    evidence = math.exp(log_evidence)
    return f"{evidence:.2g}" if log_evidence < math.log(100.0) else f"{evidence:,.0f}"

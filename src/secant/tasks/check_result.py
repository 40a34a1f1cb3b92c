"""What a check of two tables against limits has found."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from secant._host.escaping import one_line
from secant._host.notebook import fragment
from secant.diagnostics.text import aligned
from secant.limits import Limit
from secant.tasks.comparison_result import Comparison

__all__ = ["Check", "CheckError", "CheckedLimit"]


class CheckError(AssertionError):
    """Tables that break a limit; the message is the table of limits."""


@dataclass(frozen=True)
class CheckedLimit:
    """One limit and the value found.

    Attributes:
        limit: as declared.
        value: the estimate that is compared with it.
        interval: around the estimate, where there is one.
        detail: which encoded column of several it was, such as a category.
    """

    limit: Limit
    value: float
    interval: tuple[float, float] | None = None
    detail: str = ""

    @property
    def name(self) -> str:
        """The key of the limit: "overlap", "columns.age.ks"."""
        return self.limit.name

    @property
    def passed(self) -> bool:
        """Whether the value is within the limit."""
        return self.limit.holds(self.value)

    @property
    def value_text(self) -> str:
        """The value with four digits, and the category that it belongs to."""
        text = f"{self.value:,.0f}" if self.limit.quantity == "rows" else f"{self.value:.4g}"
        return f"{text} ({one_line(self.detail)})" if self.detail else text

    @property
    def interval_text(self) -> str:
        """The interval, or nothing."""
        return "" if self.interval is None else "{:.3g} to {:.3g}".format(*self.interval)

    @property
    def cells(self) -> tuple[str, str, str, str, str]:
        """Name, limit, value, interval and verdict, as text."""
        verdict = "pass" if self.passed else "FAIL"
        return self.name, self.limit.text, self.value_text, self.interval_text, verdict


@dataclass(frozen=True, eq=False)
class Check:
    """Two tables against limits; true if all hold.

    Attributes:
        rows: one a limit, in the order of the file.
        sample_names: what the tables are called.
        comparison: behind the values; None where no limit needed a fit.
        seconds: that it took.
    """

    rows: tuple[CheckedLimit, ...]
    sample_names: tuple[str, str]
    comparison: Comparison | None = field(repr=False)
    seconds: float

    header: ClassVar = ("quantity", "limit", "found", "interval", "")

    @property
    def passed(self) -> bool:
        """Whether every limit holds."""
        return not self.failed

    @property
    def failed(self) -> tuple[CheckedLimit, ...]:
        """The limits that do not hold."""
        return tuple(row for row in self.rows if not row.passed)

    @property
    def verdict(self) -> str:
        """One sentence: how many limits failed."""
        zero, one = (one_line(name) for name in self.sample_names)
        n, bad = len(self.rows), len(self.failed)
        if not bad:
            every = "The limit holds" if n == 1 else f"All {n} limits hold"
            return f"{every} for {one} against {zero}."
        return f"{bad} of {n} limit{'' if n == 1 else 's'} failed for {one} against {zero}."

    def verify(self) -> Check:
        """Raise a `CheckError` with the table of limits if one failed; else return the check."""
        if not self.passed:
            raise CheckError(str(self))
        return self

    def __bool__(self) -> bool:
        return self.passed

    def __str__(self) -> str:
        lines = aligned([self.header, *(row.cells for row in self.rows)])
        changes = () if self.comparison is None or self.passed else (self.comparison.verdict,)
        return "\n".join([self.verdict, "", *(line.rstrip() for line in lines), *changes])

    def __repr__(self) -> str:
        return str(self)  # what pytest shows of `assert secant.check(…)`

    def _repr_html_(self) -> str:
        """For notebooks."""
        pairs = [(row.name, " · ".join(filter(None, row.cells[1:]))) for row in self.rows]
        return fragment(self.verdict, pairs)

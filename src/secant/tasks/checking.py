"""Check two tables against declared limits."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import ClassVar

import numpy as np

from secant._host.escaping import one_line
from secant._host.notebook import fragment
from secant.diagnostics.drift import FeatureDrift
from secant.diagnostics.text import aligned
from secant.estimators import RatioEstimator
from secant.limits import Limit, LimitError, read_limits
from secant.tables import Missing
from secant.tables.errors import nearest, quoted, shown
from secant.tables.groups import Groups
from secant.tasks.column_parts import column_parts
from secant.tasks.comparison import compare
from secant.tasks.comparison_result import Comparison
from secant.tasks.given_tables import GivenTables
from secant.tasks.inference import checked_permutations


def check(
    a: object,
    b: object,
    *,
    limits: Path | str | Mapping[str, object],
    groups: Groups | None = None,
    estimator: RatioEstimator | None = None,
    missing: Missing | str = Missing.REFUSE,
    n_folds: int | None = None,
    n_permutations: int = 999,
    confidence: float = 0.95,
    random_state: int = 0,
) -> Check:
    """Compare two tables and say which declared limits hold.

    In a test, one line: `secant.check("march.csv", "april.csv", limits="limits.toml").verify()`.
    A ratio is fitted only if a limit needs one; `rows`, and `ks`, `mean_shift` and `p_value` of
    columns, do not.

    Args:
        a: the reference; a file, a data frame or an array (n, d).
        b: the other table, with the same columns.
        limits: a TOML file, or a mapping with the same keys, such as
            `{"overlap": ">= 0.8", "columns": {"age": {"ks": "<= 0.1"}}}`.
        groups: columns that count as one, as in `compare`; `{"columns": {"emb": …}}` limits the
            group called emb.
        estimator: as in `compare`.
        missing: rows with missing values of files and data frames: "refuse", "drop" or "impute".
        n_folds: as in `compare`.
        n_permutations: for the p-value, which is at least 1/(1 + this).
        confidence: level of the intervals.
        random_state: seed.

    Examples:
        >>> import numpy as np, secant
        >>> rng = np.random.default_rng(0)
        >>> a, b = rng.normal(size=(400, 2)), rng.normal(size=(300, 2))
        >>> limits = {"rows": ">= 200", "columns": {"*": {"ks": "<= 0.2"}}}
        >>> secant.check(a, b, limits=limits).passed
        True
        >>> b[:, 1] += 1.0
        >>> [row.name for row in secant.check(a, b, limits=limits).failed]
        ['columns.column 1.ks']
    """
    declared = read_limits(limits)
    return checked_tables(
        GivenTables.of(a, b, groups=groups, missing=missing, seed=random_state),
        declared,
        estimator=estimator,
        n_folds=n_folds,
        n_permutations=n_permutations,
        confidence=confidence,
        random_state=random_state,
    )


def checked_tables(
    tables: GivenTables,
    limits: Sequence[Limit],
    *,
    estimator: RatioEstimator | None = None,
    n_folds: int | None = None,
    n_permutations: int = 999,
    confidence: float = 0.95,
    random_state: int = 0,
) -> Check:
    """Check tables that are encoded already; arguments as in `check`."""
    began = time.perf_counter()
    checked_permutations(n_permutations)
    _refuse_out_of_reach(limits, [g.name for g in tables.column_groups], n_permutations)
    units = tables.units
    each = [one for limit in limits for one in _for_columns(limit, units)]
    found = None
    if any(limit.needs_fit for limit in limits):
        found = compare(
            tables.x_0,
            tables.x_1,
            feature_names=tables.names,
            sample_names=tables.sample_names,
            groups=tables.encoded_groups,
            estimator=estimator,
            n_folds=n_folds,
            n_permutations=n_permutations,
            confidence=confidence,
            random_state=random_state,
        )
    columns = _column_values(tables, found, n_permutations, random_state)
    rows = [
        _whole(limit, tables, found)
        if limit.column is None
        else _column(limit, units[limit.column], columns)
        for limit in each
    ]
    return Check(tuple(rows), tables.sample_names, found, time.perf_counter() - began)


def _refuse_out_of_reach(
    limits: Sequence[Limit], groups: Sequence[str], n_permutations: int
) -> None:
    """Refuse a limit on the p-value, of the tables or of a group, that could never fail."""
    least = 1.0 / (1.0 + n_permutations)
    for limit in limits:
        is_test = limit.quantity == "p_value" and limit.column in (None, *groups)
        if is_test and limit.relation.startswith(">") and limit.bound <= least:
            raise LimitError(
                f"{limit} can never fail: with {n_permutations} permutations no p-value is below "
                f"{least:.2g}. Use more permutations (--permutations, n_permutations) or a larger "
                "limit."
            )


def _for_columns(limit: Limit, columns: Mapping[str, Sequence[str]]) -> Iterator[Limit]:
    """The limit for each column that it names."""
    pattern = limit.column
    if pattern is None or pattern in columns:
        yield limit
        return
    found = [name for name in columns if fnmatchcase(name, pattern)]
    if not found:
        hint = nearest(pattern, list(columns)) or "."
        raise LimitError(
            f"The limit {limit.name} is about a column that the tables do not have, "
            f"{shown(pattern)}{hint} They have {quoted(columns)}."
        )
    for name in found:
        yield replace(limit, column=name)


def _whole(limit: Limit, tables: GivenTables, found: Comparison | None) -> CheckedLimit:
    if limit.quantity == "rows":
        return CheckedLimit(limit, float(min(len(tables.x_0), len(tables.x_1))))
    assert found is not None
    if limit.quantity == "effective_sample_size":
        return CheckedLimit(limit, found.effective_sample_size_0)
    if limit.quantity == "p_value":
        return CheckedLimit(limit, found.p_value)
    if limit.quantity == "overlap":
        return CheckedLimit(limit, found.overlap, found.overlap_interval)
    divergence = getattr(found, limit.quantity)
    return CheckedLimit(limit, divergence.estimate, divergence.interval)


def _column_values(
    tables: GivenTables, found: Comparison | None, n_permutations: int, seed: int
) -> dict[str, dict[str, float]]:
    """The values for limits on columns and groups, by encoded column or group and quantity."""
    if found is None:
        given = tables.x_0, tables.x_1, tables.names, tables.column_groups
        parts = column_parts(*given, n_permutations=n_permutations, seed=seed)
        return {part.margin.name: _margin(part.margin) for part in parts}
    return {c.name: {**_margin(c.margin), "contribution": c.contribution} for c in found.features}


def _margin(margin: FeatureDrift) -> dict[str, float]:
    return {
        "ks": margin.ks_distance,
        "mean_shift": abs(margin.mean_shift),
        "p_value": margin.p_value,
    }


def _column(
    limit: Limit, encoded: Sequence[str], values: Mapping[str, Mapping[str, float]]
) -> CheckedLimit:
    """Check one column; of several encoded columns, such as categories, the worst counts."""
    each = {name: values[name][limit.quantity] for name in encoded}
    worst = limit.worst(each)
    value = math.nan if np.isnan(list(each.values())).any() else each[worst]
    return CheckedLimit(limit, value, detail=worst if len(encoded) > 1 else "")


class CheckError(AssertionError):
    """Tables that break a limit; the message is the table of limits."""


@dataclass(frozen=True)
class CheckedLimit:
    """One limit and the value that was found.

    Attributes:
        limit: as declared.
        value: the estimate that is compared with the limit.
        interval: confidence interval of the estimate; None if it has none.
        detail: the encoded column, such as a category, if the column has several.
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
        """The value with four digits, and the category if there is one."""
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
    """The result of checking two tables against limits; truthy if all hold.

    Attributes:
        rows: one per limit, in the order of the file.
        sample_names: names of the tables.
        comparison: the comparison behind the values; None if no limit needed a fit.
        seconds: duration of the check.
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

"""Limits on the difference between two tables, as declared in a TOML file.

```toml
overlap = ">= 0.8"
p_value = ">= 0.01"

[columns.age]
ks = "<= 0.1"
```
"""

from __future__ import annotations

import operator
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from secant._host.toml_files import ConfigError, described, read_config, shortened
from secant.tables.errors import nearest

QUANTITIES = {
    "p_value": "of “both tables come from one distribution”",
    "overlap": "the share that the tables have in common, 0 to 1",
    "kl": "KL(p_1‖p_0) in nats",
    "kl_reverse": "KL(p_0‖p_1) in nats",
    "jensen_shannon": "Jensen–Shannon divergence in nats",
    "total_variation": "total variation, 0 to 1",
    "effective_sample_size": "effective rows of A, weighted to represent B",
    "rows": "rows of the smaller table",
}
COLUMN_QUANTITIES = {
    "ks": "Kolmogorov–Smirnov distance, 0 to 1",
    "mean_shift": "difference of the means in standard deviations, without its sign",
    "p_value": "of the Kolmogorov–Smirnov distance",
    "contribution": "contribution of the column to the difference, in nats",
}
_COLUMNS = "columns"
_WITHOUT_FIT = {"rows"}
_CARRIED = {"contribution"}
_RELATIONS = {">=": operator.ge, "<=": operator.le, ">": operator.gt, "<": operator.lt}
_NUMBER = r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d{1,3})?"
_LIMIT = re.compile(rf"\s*(>=|<=|>|<)\s*({_NUMBER})\s*", re.ASCII)


class LimitError(ConfigError):
    """A limit that is invalid, or that no table could break."""


@dataclass(frozen=True)
class Limit:
    """One limit, such as overlap >= 0.8.

    Attributes:
        quantity: a key of `QUANTITIES`, or of `COLUMN_QUANTITIES` for a column.
        relation: ">=", "<=", ">" or "<".
        bound: the number on its right.
        column: name or glob of the columns; None for the tables as a whole.
    """

    quantity: str
    relation: str
    bound: float
    column: str | None = None

    @property
    def name(self) -> str:
        """The key of the file: "overlap", "columns.age.ks"."""
        return self.quantity if self.column is None else self.name_for(self.column)

    def name_for(self, column: str) -> str:
        """The key of the limit for one of the columns that match a glob."""
        return f"{_COLUMNS}.{column}.{self.quantity}"

    @property
    def text(self) -> str:
        """Relation and bound: ">= 0.8"."""
        return f"{self.relation} {self.bound:g}"

    @property
    def needs_fit(self) -> bool:
        """Whether a ratio must be fitted to know the quantity."""
        if self.column is not None:
            return self.quantity in _CARRIED
        return self.quantity not in _WITHOUT_FIT

    def holds(self, value: float) -> bool:
        """Whether a value is within the limit; NaN never is."""
        return bool(_RELATIONS[self.relation](value, self.bound))

    def worst(self, values: Mapping[str, float]) -> str:
        """The column whose value is closest to breaking the limit, or breaks it most."""
        pick = min if self.relation.startswith(">") else max
        return pick(values, key=lambda name: values[name])

    def __str__(self) -> str:
        return f"{self.name} {self.text}"


def read_limits(source: Path | str | Mapping[str, object]) -> tuple[Limit, ...]:
    """The limits of a TOML file, or of a mapping with the same keys.

    Raises:
        LimitError: for an unknown key, with the nearest valid one, or a limit that is not a
            relation and a number.
        OSError: the file cannot be read.
    """
    if isinstance(source, Path | str):
        where, table = str(source), read_config(Path(source))
    else:
        where, table = "`limits`", dict(source)
    found = tuple(_limits(table, where))
    if not found:
        raise LimitError(f'{where} declares no limit; write one, such as overlap = ">= 0.8".')
    return found


def _limits(table: Mapping[str, object], where: str) -> Iterator[Limit]:
    for key, value in table.items():
        if key == _COLUMNS:
            yield from _column_limits(_table(value, f"{where}: '{_COLUMNS}'"), where)
        else:
            yield _limit(key, value, QUANTITIES, None, where)


def _column_limits(columns: Mapping[str, object], where: str) -> Iterator[Limit]:
    for column, limits in columns.items():
        place = f"{where}: [{_COLUMNS}.{shortened(column)}]"
        for key, value in _table(limits, place).items():
            yield _limit(key, value, COLUMN_QUANTITIES, column, place)


def _table(value: object, place: str) -> Mapping[str, object]:
    if not isinstance(value, Mapping):
        raise LimitError(
            f"{place} must be a table, such as [{_COLUMNS}.age] with the line "
            f'ks = "<= 0.1"; got {described(value)}.'
        )
    return value


def _limit(
    key: str, value: object, valid: Mapping[str, str], column: str | None, place: str
) -> Limit:
    name = key.replace("-", "_")
    if name not in valid:
        names = [*valid] if column is not None else [*valid, _COLUMNS]
        hint = nearest(name, names) or "."
        raise LimitError(
            f"{place} has an unknown key {shortened(repr(key))}{hint} Valid are {', '.join(names)}."
        )
    match = _LIMIT.fullmatch(value) if isinstance(value, str) else None
    if match is None:
        raise LimitError(
            f"{place}: {key!r} must be a text of a relation (>=, <=, > or <) and a number, such as "
            f'">= 0.8"; got {described(value)}.'
        )
    return Limit(name, match[1], float(match[2]), column)

"""Results as tables of a page."""

from __future__ import annotations

import math
from collections.abc import Sequence

from secant.report.blocks import Bar, Cell, Column, Table
from secant.report.numbers import error_places, number, p_value, signed, with_error
from secant.tasks.attribution import FeatureContribution
from secant.tasks.comparison_result import UnlikeRows
from secant.tasks.cross_fitting import FitRecord

_MOST_FEATURES = 20
_MOST_ROWS = 10
_MOST_COLUMNS = 8
_LONGEST = 80  # maximum characters of a cell


def text_table(caption: str, header: Sequence[str], rows: Sequence[Sequence[str]]) -> Table:
    """A table of texts; columns of numbers are sorted numerically."""
    values = [[_value(cell) for cell in row] for row in rows]
    is_number = [
        bool(rows) and all(row[i] is not None or not rows[k][i] for k, row in enumerate(values))
        for i in range(len(header))
    ]
    return Table(
        caption,
        [Column(name, is_number=n) for name, n in zip(header, is_number, strict=True)],
        [
            [Cell(text, v if n else None) for text, v, n in zip(row, value, is_number, strict=True)]
            for row, value in zip(rows, values, strict=True)
        ],
    )


def feature_table(features: Sequence[FeatureContribution]) -> Table:
    """The columns by contribution, with a bar each."""
    shown = features[:_MOST_FEATURES]
    hidden = len(features) - len(shown)
    more = f"; {hidden} with smaller contributions are not shown" if hidden else ""
    has_gradient = any(c.gradient is not None for c in features)
    scale, places = _scale(shown), _places(shown)
    columns = [
        Column("column", is_number=False),
        Column("contribution (nats)"),
        *([Column("replaced (nats)")] if has_gradient else []),
        Column("mean shift (s.d.)"),
        Column("KS distance"),
        Column("p-value"),
    ]
    return Table(
        f"{len(features)} columns by contribution to the difference{more}",
        columns,
        [_feature_row(c, scale, places, has_gradient=has_gradient) for c in shown],
    )


def _feature_row(
    c: FeatureContribution, scale: tuple[float, float], places: int, *, has_gradient: bool
) -> list[Cell]:
    replaced = Cell(with_error(c.replacement, c.replacement_error, places), c.replacement)
    return [
        Cell(_cut(c.name)),
        Cell(
            with_error(c.contribution, c.contribution_error, places), c.contribution, _bar(c, scale)
        ),
        *([replaced] if has_gradient else []),
        Cell(f"{c.margin.mean_shift:+.2f}".replace("-", "−"), c.margin.mean_shift),
        Cell(f"{c.margin.ks_distance:.3f}", c.margin.ks_distance),
        Cell(p_value(c.margin.p_value), c.margin.p_value),
    ]


def _places(features: Sequence[FeatureContribution]) -> int:
    """A common number of decimals, that of the larger errors."""
    errors = sorted(c.contribution_error for c in features if c.contribution_error > 0.0)
    return error_places(errors[3 * len(errors) // 4]) if errors else 3


def _scale(features: Sequence[FeatureContribution]) -> tuple[float, float]:
    low = min([0.0, *(c.contribution for c in features)])
    high = max([1e-12, *(c.contribution + 2.0 * c.contribution_error for c in features)])
    return low, high


def _bar(c: FeatureContribution, scale: tuple[float, float]) -> Bar:
    def place(value: float) -> float:
        return round(100.0 * min(max((value - scale[0]) / (scale[1] - scale[0]), 0.0), 1.0), 2)

    start, end = sorted((place(0.0), place(c.contribution)))
    reach = 2.0 * c.contribution_error
    return Bar(
        place(0.0),
        start,
        round(end - start, 2),
        place(c.contribution - reach),
        place(c.contribution + reach),
    )


def unlike_table(rows: UnlikeRows, caption: str, first: Sequence[str]) -> Table:
    """The rows least like the other sample; columns in the order of `first`, then the others."""
    rank = {name: i for i, name in enumerate(first)}
    order = sorted(range(len(rows.columns)), key=lambda i: rank.get(rows.columns[i], len(rank)))
    kept = order[:_MOST_COLUMNS]
    left = len(order) - len(kept)
    more = f" ({len(kept)} of {len(order)} columns)" if left else ""
    cells = [
        [_cell(rows.cells[k][i]) for i in kept] for k in range(min(_MOST_ROWS, len(rows.cells)))
    ]
    numeric = [all(row[i].value is not None for row in cells) for i in range(len(kept))]
    return Table(
        f"{caption}{more}",
        [
            Column("row"),
            Column("log ratio (nats)"),
            *(
                Column(_cut(rows.columns[i]), is_number=n)
                for i, n in zip(kept, numeric, strict=True)
            ),
        ],
        [
            [
                Cell(str(int(rows.numbers[k])), int(rows.numbers[k])),
                Cell(signed(float(rows.log_ratio[k])), float(rows.log_ratio[k])),
                *row,
            ]
            for k, row in enumerate(cells)
        ],
    )


def fit_table(fits: Sequence[FitRecord]) -> Table:
    """One line per fit: its training and its held-out results."""
    rows = []
    for fit in fits:
        d = fit.diagnostics
        steps = fit.history[-1].step if fit.history else 0
        best = getattr(d, "best_step", 0)
        seconds = fit.history[-1].seconds if fit.history else math.nan
        loss = math.nan if d is None else d.held_out_loss
        error = math.nan if d is None else d.held_out_error
        status = getattr(d, "status", None)
        rows.append(
            [
                Cell(str(fit.fold + 1), fit.fold + 1),
                Cell(fit.estimator),
                Cell(f"{steps:,}" if steps else "–", steps),
                Cell(f"{best:,}" if steps else "–", best),
                Cell(number(seconds), seconds),
                Cell("–" if d is None else with_error(loss, error), loss),
                Cell("–" if status is None else status.value),
            ]
        )
    names = ("fold", "estimator", "steps", "kept", "seconds", "held-out loss", "how it ended")
    words = ("estimator", "how it ended")
    return Table("Fits", [Column(n, is_number=n not in words) for n in names], rows)


def _cell(text: str) -> Cell:
    value = _value(text)
    return Cell(_cut(text if value is None else text.replace("-", "−")), value)


def _value(text: str) -> float | None:
    """The number at the start of a text such as "0.31 ± 0.02" or "12 %"; None if it has none."""
    first = text.strip().split(" ")[0].replace("−", "-").replace(",", "").rstrip("%")
    try:
        return float(first)
    except ValueError:
        return None


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"

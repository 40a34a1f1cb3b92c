"""Scoring a table by a model, piece by piece."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa

from secant.io.scoring.result import Scored
from secant.io.scoring.scorer import Scorer
from secant.io.tables import TableError, TableWriter, column_names, read_batches, selected

__all__ = ["score_table"]


def score_table(
    scorer: Scorer,
    data: Path,
    output: Path,
    *,
    keep: Sequence[str] | None = None,
    name: str | None = None,
    batch_rows: int = 65_536,
    seed: int = 0,
) -> Scored:
    """Write the scores of a table's rows beside its columns, `batch_rows` rows at a time.

    Args:
        scorer: the model.
        data: a table with the model's columns.
        output: the table to write, in the format of its ending; it appears whole or not at all.
        keep: names or globs of columns to write beside the scores; None for all.
        name: of the new column; None is the scorer's quantity.
        batch_rows: rows in memory at once.
        seed: of the noise on categories.
    """
    names = column_names(data)
    inputs = scorer.inputs(names)
    kept = list(names) if keep is None else selected(names, keep)
    found = Scored(scorer.quantity if name is None else name)
    if found.name in kept:
        raise TableError(f"The table has a column {found.name!r}; name the new one with `--name`.")
    wanted = [n for n in names if n in {*inputs, *kept}] if keep is not None else None
    text = () if scorer.encoding is None else scorer.encoding.text
    with TableWriter(output) as writer:
        for batch in read_batches(data, wanted, batch_rows=batch_rows, text=text):
            scores = scorer.scores(batch, inputs, seed=seed, first_row=found.rows)
            column = pa.array(scores, mask=np.isnan(scores))
            shown = batch.select([n for n in batch.column_names if n in kept])
            writer.append(shown.append_column(found.name, column))
            found = found.with_scores(scores)
    return found

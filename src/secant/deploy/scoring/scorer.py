"""Scoring of one table by a model, in batches of rows."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
from jaxtyping import Float

from secant.estimators import RatioEstimator
from secant.model_files import load, read_metadata
from secant.tables.encoding import Encoding
from secant.tables.files import TableError, TableWriter, column_names, read_batches, selected
from secant.tasks import DensityEstimator


@dataclass(frozen=True)
class Scored:
    """Summary of a scored table.

    Attributes:
        name: of the column with the scores.
        rows: number of rows of the table.
        scored: number of rows with a score.
        mean: of the scores.
        least: smallest score.
        most: largest score.
    """

    name: str
    rows: int = 0
    scored: int = 0
    mean: float = math.nan
    least: float = math.inf
    most: float = -math.inf

    def with_scores(self, scores: Float[np.ndarray, " n"]) -> Scored:
        """The summary with more rows added."""
        some = scores[~np.isnan(scores)]
        mean = float(some.mean()) if some.size else math.nan
        ends = (float(some.min(initial=math.inf)), float(some.max(initial=-math.inf)))
        return self.joined(Scored(self.name, scores.size, some.size, mean, *ends))

    def joined(self, other: Scored) -> Scored:
        """The summary of this table and another together."""
        scored = self.scored + other.scored
        sums = [part.mean * part.scored for part in (self, other) if part.scored]
        return Scored(
            self.name,
            self.rows + other.rows,
            scored,
            sum(sums) / scored if scored else math.nan,
            min(self.least, other.least),
            max(self.most, other.most),
        )


@dataclass(frozen=True)
class Scorer:
    """A model with the encoding of its tables.

    Attributes:
        estimator: a ratio or a density.
        encoding: of the tables it was fitted on; None for a model that was fitted on numbers.
    """

    estimator: RatioEstimator | DensityEstimator
    encoding: Encoding | None

    @classmethod
    def loaded(cls, path: Path) -> Scorer:
        """From a model file.

        Raises:
            ModelFileError: If the file cannot be read.
            TableError: If it is not a model of a ratio or a density.
        """
        estimator, fields = load(path), read_metadata(path).get("encoding")
        if not isinstance(estimator, RatioEstimator | DensityEstimator):
            raise TableError(
                f"{path} must be a model of a ratio or a density; got a {type(estimator).__name__}."
            )
        return cls(estimator, None if fields is None else Encoding.from_json(fields))

    @property
    def quantity(self) -> str:
        """The quantity: "log_ratio" or "log_density"."""
        return "log_ratio" if isinstance(self.estimator, RatioEstimator) else "log_density"

    def inputs(self, names: Sequence[str]) -> list[str]:
        """The columns of a table that the model needs.

        Raises:
            TableError: If the model has no column names, and the table has other columns as well.
        """
        if self.encoding is not None:
            return list(self.encoding.inputs)
        known = getattr(self.estimator, "feature_names_in_", None)
        wanted = list(names) if known is None else [str(name) for name in known]
        if len(wanted) != self.estimator.n_features_in_:
            raise TableError(
                f"The model takes {self.estimator.n_features_in_} columns and does not know their "
                f"names; the table must have exactly these, but has {len(wanted)}."
            )
        return wanted

    def scores(
        self, table: pa.Table, inputs: Sequence[str], *, seed: int, first_row: int
    ) -> Float[np.ndarray, " n"]:
        """A score for each row; NaN for rows that the encoding drops."""
        scores = np.full(table.num_rows, np.nan)
        if self.encoding is None:
            scores[:] = self.estimator.score_samples(_numbers(table, inputs))
            return scores
        encoded = self.encoding.encode(table, seed=seed, first_row=first_row)
        if encoded.kept.size:
            scores[encoded.kept] = self.estimator.score_samples(encoded.rows)
        return scores


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
        output: the table to write, atomically, in the format of its extension.
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


def _numbers(table: pa.Table, names: Sequence[str]) -> Float[np.ndarray, "n d"]:
    lacking = [name for name in names if name not in table.column_names]
    if lacking:
        raise TableError(f"The model takes columns {names}; the table lacks {lacking}.")
    try:
        columns = [table[name].to_numpy().astype(np.float64) for name in names]
    except (TypeError, ValueError):
        raise TableError(
            "The model was fitted on numbers; the table has other columns among "
            f"{names}. Fit it with `secant fit`, which stores the encoding of such columns."
        ) from None
    return np.column_stack(columns)

"""Models that score tables."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
from jaxtyping import Float

from secant.estimators import RatioEstimator
from secant.io.encoding import Encoding
from secant.io.models import load, read_metadata
from secant.io.tables import TableError
from secant.tasks import DensityEstimator

__all__ = ["Scorer"]


@dataclass(frozen=True)
class Scorer:
    """A model and how tables become the numbers that it takes.

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
        """What the scores are: "log_ratio" or "log_density"."""
        return "log_ratio" if isinstance(self.estimator, RatioEstimator) else "log_density"

    def inputs(self, names: Sequence[str]) -> list[str]:
        """The columns that the model takes, of those a table has.

        Raises:
            TableError: If a model of numbers does not say which, and the table has too many.
        """
        if self.encoding is not None:
            return list(self.encoding.inputs)
        known = getattr(self.estimator, "feature_names_in_", None)
        wanted = list(names) if known is None else [str(name) for name in known]
        if len(wanted) != self.estimator.n_features_in_:
            raise TableError(
                f"The model takes {self.estimator.n_features_in_} columns and does not know their "
                f"names; the table must have just these, but has {len(wanted)}."
            )
        return wanted

    def scores(
        self, table: pa.Table, inputs: Sequence[str], *, seed: int, first_row: int
    ) -> Float[np.ndarray, " n"]:
        """A score for each row; NaN where the encoding leaves a row out."""
        scores = np.full(table.num_rows, np.nan)
        if self.encoding is None:
            scores[:] = self.estimator.score_samples(_numbers(table, inputs))
            return scores
        encoded = self.encoding.encode(table, seed=seed, first_row=first_row)
        if encoded.kept.size:
            scores[encoded.kept] = self.estimator.score_samples(encoded.rows)
        return scores


def _numbers(table: pa.Table, names: Sequence[str]) -> Float[np.ndarray, "n d"]:
    lacking = [name for name in names if name not in table.column_names]
    if lacking:
        raise TableError(f"The model takes columns {names}; the table lacks {lacking}.")
    try:
        columns = [table[name].to_numpy().astype(np.float64) for name in names]
    except (TypeError, ValueError):
        raise TableError(
            "The model was fitted on numbers; the table has other columns among "
            f"{names}. Fit it by `secant fit`, which remembers how they become numbers."
        ) from None
    return np.column_stack(columns)

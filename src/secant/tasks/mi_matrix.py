"""Mutual information of every pair of columns."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Float
from numpy.typing import ArrayLike
from scipy.stats import false_discovery_control
from sklearn.utils import check_random_state

from secant._host.escaping import one_line
from secant._host.notebook import Summarised, fragment
from secant._host.progress import tracked
from secant.estimators.checks import checked_rows, frame_columns
from secant.tasks.information import MIOptions
from secant.tasks.mutual_information import total_correlation

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True)
class MutualInformationMatrix(Summarised):
    """I(column i; column j) for all pairs; symmetric, NaN on the diagonal.

    Attributes:
        names: of the columns.
        estimate: (d, d).
        standard_error: (d, d).
        p_value: (d, d) of each pair, not adjusted for the number of pairs.
        base: "nats" or "bits".
        settings: options by name, as text.
    """

    names: tuple[str, ...]
    estimate: Float[np.ndarray, "d d"]
    standard_error: Float[np.ndarray, "d d"]
    p_value: Float[np.ndarray, "d d"]
    base: str
    settings: Mapping[str, str] = field(default_factory=dict, repr=False)

    @cached_property
    def adjusted_p_value(self) -> Float[np.ndarray, "d d"]:
        """The false discovery rate at which each pair is found (Benjamini and Hochberg)."""
        adjusted = np.full_like(self.p_value, np.nan)
        i, j = np.triu_indices(len(self.names), 1)
        known = np.isfinite(self.p_value[i, j])
        i, j = i[known], j[known]
        if i.size:
            adjusted[i, j] = false_discovery_control(self.p_value[i, j])
            adjusted[j, i] = adjusted[i, j]
        return adjusted

    @property
    def n_finished(self) -> int:
        """Number of estimated pairs; all of them unless the run was stopped."""
        return int(np.isfinite(self.estimate).sum()) // 2

    @property
    def figure_size(self) -> tuple[float, float]:
        """Size of the heat map in inches, for readable numbers."""
        size = 1.6 + 0.7 * len(self.names)
        return size + 1.0, size

    def plot(self, ax: Axes | None = None) -> Axes:
        """A heat map with the numbers written in; a dot marks an adjusted p-value ≤ 0.05."""
        from matplotlib import pyplot as plt

        if ax is None:
            _, ax = plt.subplots(figsize=self.figure_size, layout="compressed")
        top = max(float(np.nanmax(self.estimate)), 1e-3)
        image = ax.imshow(self.estimate, cmap="viridis", vmin=0.0, vmax=top)
        places = range(len(self.names))
        ax.set_xticks(places, self.names, rotation=45, ha="right")
        ax.set_yticks(places, self.names)
        for i, j in combinations(places, 2):
            self._write(ax, i, j, top)
            self._write(ax, j, i, top)
        ax.figure.colorbar(image, ax=ax, label=f"mutual information, {self.base}")
        return ax

    def strongest(self, n: int = 5) -> list[tuple[int, int]]:
        """The n pairs of columns with the largest estimates, by number."""
        pairs = combinations(range(len(self.names)), 2)
        known = [pair for pair in pairs if np.isfinite(self.estimate[pair])]
        return sorted(known, key=lambda pair: -float(self.estimate[pair]))[:n]

    @property
    def _title(self) -> str:
        return f"mutual information of {len(self.names)} columns, {self.base}"

    def _lines(self) -> list[tuple[str, str]]:
        """The strongest pairs with their estimates."""
        return [
            (
                f"{self.names[i]} and {self.names[j]}",
                f"{self.estimate[i, j]:.3f} ± {self.standard_error[i, j]:.3f} "
                f"(adjusted p {self.adjusted_p_value[i, j]:.2g})",
            )
            for i, j in self.strongest()
        ]

    def __str__(self) -> str:
        """The strongest pairs, one per line."""
        lines = (f"{one_line(pair)}: {value}" for pair, value in self._lines())
        return "\n".join([f"{self._title}; the strongest pairs:", *lines])

    def _repr_html_(self) -> str:
        """For notebooks: the strongest pairs."""
        return fragment(self._title, self._lines())

    def _write(self, ax: Axes, i: int, j: int, top: float) -> None:
        value = float(self.estimate[i, j])
        if np.isnan(value):
            return
        mark = " •" if self.adjusted_p_value[i, j] <= 0.05 else ""
        colour = "black" if value > 0.6 * top else "white"
        ax.text(j, i, f"{value:.2f}{mark}", ha="center", va="center", color=colour, fontsize=8)


@dataclass(frozen=True)
class FinishedPairs:
    """Estimated pairs of columns, and the file that stores them.

    Attributes:
        values: estimate, standard error and p-value by pair.
        path: of the file; None for no file.
        digest: of the rows and the settings; lines with another digest are ignored.
    """

    values: dict[tuple[int, int], tuple[float, float, float]]
    path: Path | None
    digest: str

    @classmethod
    def of(
        cls, path: Path | str | None, rows: Float[np.ndarray, "n d"], settings: Mapping[str, str]
    ) -> FinishedPairs:
        """The pairs stored in a file, if there is one."""
        text = json.dumps(dict(settings), sort_keys=True).encode()
        digest = hashlib.sha256(text + np.ascontiguousarray(rows).tobytes()).hexdigest()[:16]
        place = None if path is None else Path(path)
        lines = place.read_text("utf-8").splitlines() if place and place.exists() else []
        values = {}
        for line in lines:
            try:
                row = json.loads(line)
                pair, found = row["pair"], row["values"]
                if row["digest"] == digest:
                    values[pair[0], pair[1]] = (found[0], found[1], found[2])
            except (ValueError, KeyError, TypeError, IndexError):
                continue  # an incomplete line of a stopped run
        return cls(values, place, digest)

    def add(self, pair: tuple[int, int], values: tuple[float, float, float]) -> None:
        """Store one pair."""
        self.values[pair] = values
        if self.path is not None:
            row = {"pair": pair, "values": values, "digest": self.digest}
            with self.path.open("a", encoding="utf-8") as file:
                file.write(json.dumps(row) + "\n")


def mutual_information_matrix(
    X: ArrayLike,
    *,
    options: MIOptions | None = None,
    progress: bool | None = None,
    resume: Path | str | None = None,
    random_state: int | np.random.RandomState | None = None,
) -> MutualInformationMatrix:
    """Mutual information of every pair of columns of one table.

    On Ctrl-C the result holds the pairs that are finished.

    Args:
        X: (n, d), d ≥ 2; column names of a table are used.
        options: None is `MIOptions(second_opinion=False)`.
        progress: a progress bar; None shows one on a terminal only.
        resume: a file to which every finished pair is appended as one line of JSON; pairs that it
            already holds for the same rows, options and seed are not estimated again.
        random_state: random seed, from which each pair gets its own seed.
    """
    names = frame_columns(X)
    rows = checked_rows(X, "X", least=20)
    d = rows.shape[1]
    if d < 2:
        raise ValueError(f"`X` must have at least two columns; got shape {rows.shape}.")
    chosen = MIOptions(second_opinion=False) if options is None else options
    tables = np.full((3, d, d), np.nan)
    pairs = list(combinations(range(d), 2))
    seeds = check_random_state(random_state).randint(2**31 - 1, size=len(pairs))
    settings = chosen.as_text(random_state)
    kept = FinishedPairs.of(resume, rows, settings)
    try:
        for k, (i, j) in tracked(list(enumerate(pairs)), "pairs of columns", show=progress):
            values = kept.values.get((i, j))
            if values is None:
                found = total_correlation(
                    rows[:, [i, j]], options=chosen, random_state=int(seeds[k])
                )
                values = (found.estimate, found.standard_error, found.p_value)
                kept.add((i, j), values)
            tables[:, i, j] = tables[:, j, i] = values
    except KeyboardInterrupt:
        if not np.isfinite(tables[0]).any():
            raise
    labels = tuple(str(n) for n in names) if names else tuple(f"x{i}" for i in range(d))
    estimate, error, p_value = tables
    return MutualInformationMatrix(labels, estimate, error, p_value, chosen.base, settings)

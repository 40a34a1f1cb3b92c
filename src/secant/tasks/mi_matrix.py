"""Mutual information of every pair of columns."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Float
from numpy.typing import ArrayLike
from sklearn.utils import check_random_state

from secant._host.notebook import fragment
from secant.estimators.checks import checked_rows, column_names
from secant.tasks.information import MIOptions
from secant.tasks.mutual_information import total_correlation

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["MutualInformationMatrix", "mutual_information_matrix"]


@dataclass(frozen=True)
class MutualInformationMatrix:
    """I(column i; column j) for all pairs; symmetric, NaN on the diagonal.

    Attributes:
        names: of the columns.
        estimate: (d, d).
        standard_error: (d, d).
        p_value: (d, d), each pair's own; with many pairs some are small by chance.
        base: "nats" or "bits".
        settings: how they were estimated, by name, as text.
    """

    names: tuple[str, ...]
    estimate: Float[np.ndarray, "d d"]
    standard_error: Float[np.ndarray, "d d"]
    p_value: Float[np.ndarray, "d d"]
    base: str
    settings: Mapping[str, str] = field(default_factory=dict, repr=False)

    @property
    def figure_size(self) -> tuple[float, float]:
        """Inches that the heat map's numbers need to be read."""
        size = 1.6 + 0.7 * len(self.names)
        return size + 1.0, size

    def plot(self, ax: Axes | None = None) -> Axes:
        """A heat map with the numbers written in; a dot marks p ≤ 0.05."""
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
        return sorted(pairs, key=lambda pair: -float(self.estimate[pair]))[:n]

    def _repr_html_(self) -> str:
        """For notebooks: the strongest pairs."""
        pairs = [
            (
                f"{self.names[i]} and {self.names[j]}",
                f"{self.estimate[i, j]:.3f} ± {self.standard_error[i, j]:.3f} "
                f"(p {self.p_value[i, j]:.2g})",
            )
            for i, j in self.strongest()
        ]
        return fragment(f"mutual information of {len(self.names)} columns, {self.base}", pairs)

    def _write(self, ax: Axes, i: int, j: int, top: float) -> None:
        value = float(self.estimate[i, j])
        mark = " •" if self.p_value[i, j] <= 0.05 else ""
        colour = "black" if value > 0.6 * top else "white"
        ax.text(j, i, f"{value:.2f}{mark}", ha="center", va="center", color=colour, fontsize=8)


def mutual_information_matrix(
    X: ArrayLike,
    *,
    options: MIOptions | None = None,
    progress: bool | None = None,
    random_state: int | np.random.RandomState | None = None,
) -> MutualInformationMatrix:
    """Mutual information of every pair of columns of one table.

    Args:
        X: (n, d), d ≥ 2; a table's column names are kept.
        options: None leaves out the second opinion and is `MIOptions()` otherwise.
        progress: a progress bar; None shows one on a terminal only.
        random_state: random seed.
    """
    names = column_names(X)
    rows = checked_rows(X, "X", least=20)
    d = rows.shape[1]
    if d < 2:
        raise ValueError(f"`X` must have at least two columns; got shape {rows.shape}.")
    chosen = MIOptions(second_opinion=False) if options is None else options
    rng = check_random_state(random_state)
    tables = np.full((3, d, d), np.nan)
    for i, j in _tracked(list(combinations(range(d), 2)), show=progress):
        found = total_correlation(rows[:, [i, j]], options=chosen, random_state=rng)
        tables[:, i, j] = found.estimate, found.standard_error, found.p_value
        tables[:, j, i] = tables[:, i, j]
    labels = tuple(str(n) for n in names) if names else tuple(f"x{i}" for i in range(d))
    estimate, error, p_value = tables
    settings = chosen.as_text(random_state)
    return MutualInformationMatrix(labels, estimate, error, p_value, chosen.base, settings)


def _tracked(pairs: list[tuple[int, int]], *, show: bool | None) -> Iterable[tuple[int, int]]:
    if not (sys.stderr.isatty() if show is None else show):
        return pairs
    from rich.console import Console
    from rich.progress import track

    console = Console(stderr=True)
    return track(pairs, description="pairs of columns", console=console, transient=True)

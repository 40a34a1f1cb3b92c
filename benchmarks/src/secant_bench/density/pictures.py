"""Pictures of two-dimensional densities: methods beside the truth, one row per density."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from secant.datasets import Toy
from secant.report.drawing import INK

__all__ = ["Window", "densities_figure", "picture_name"]

_CELLS = 80  # per side
_ROOM = 0.08  # beyond the rows, as a share of their range


@dataclass(frozen=True)
class Window:
    """The square of the plane in which a density is shown."""

    low: Float[np.ndarray, " 2"]
    high: Float[np.ndarray, " 2"]

    @classmethod
    def of(cls, toy: Toy) -> Window:
        """A square that contains all but a few of the rows, with a margin."""
        rows = np.asarray(toy.draw(jax.random.key(0), 20_000), dtype=np.float64)
        low, high = np.quantile(rows, [0.001, 0.999], axis=0)
        room = _ROOM * (high - low)
        return cls(low - room, high + room)

    def grid(self) -> Float[np.ndarray, "n 2"]:
        """The centres of the cells, row by row from below."""
        steps = (np.arange(_CELLS) + 0.5) / _CELLS
        first, second = np.meshgrid(*(self.low + steps[:, None] * (self.high - self.low)).T)
        return np.column_stack([first.ravel(), second.ravel()])


def picture_name(task: str, method: str) -> str:
    """The file, in the suite's folder, of log densities on a window's grid."""
    return f"{task}-{method}.npy"


def densities_figure(
    sets: Sequence[Toy], methods: Sequence[str], folder: Path, path: Path
) -> Figure | None:
    """A grid of densities by the truth and the methods that have all densities; None without any.

    Each row of panels has one colour scale, from 0 to the maximum of the true density.
    """
    shown = [m for m in methods if all((folder / picture_name(s.name, m)).exists() for s in sets)]
    if not shown:
        return None
    size = (1.55 * (len(shown) + 1), 1.6 * len(sets))
    figure = Figure(figsize=size, layout="constrained")
    panels = figure.subplots(len(sets), len(shown) + 1, squeeze=False)
    for line, toy in zip(panels, sets, strict=True):
        _line(line, toy, [folder / picture_name(toy.name, method) for method in shown])
    for axes, title in zip(panels[0], ["truth", *shown], strict=True):
        axes.set_title(title, color=INK, fontsize=11)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=160)
    return figure


def _line(panels: Sequence[Axes], toy: Toy, paths: Sequence[Path]) -> None:
    truth = np.exp(
        np.asarray(toy.log_density(jnp.asarray(Window.of(toy).grid())), dtype=np.float64)
    )
    panels[0].set_ylabel(toy.name, color=INK, fontsize=10)
    for axes in panels:
        axes.set_xticks([])
        axes.set_yticks([])
    _shade(panels[0], truth, truth.max())
    for axes, path in zip(panels[1:], paths, strict=True):
        _shade(axes, np.exp(np.load(path).astype(np.float64)), truth.max())


def _shade(axes: Axes, density: Float[np.ndarray, " n"], most: float) -> None:
    axes.imshow(density.reshape(_CELLS, _CELLS), origin="lower", cmap="magma", vmin=0.0, vmax=most)

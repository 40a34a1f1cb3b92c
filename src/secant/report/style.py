"""Colours and axes that all figures share."""

from __future__ import annotations

from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.figure import Figure

__all__ = ["BLUE", "INK", "ORANGE", "clean", "saved"]

INK, BLUE, ORANGE = "#22303c", "#1f6fb2", "#d9731a"


def clean(axes: Axes) -> None:
    """Two spines, a faint grid."""
    axes.spines[["top", "right"]].set_visible(False)
    axes.tick_params(colors=INK)
    axes.grid(visible=True, color="#e3e7eb", linewidth=0.6)
    axes.set_axisbelow(True)


def saved(figure: Figure, path: Path | str | None) -> Figure:
    """The figure, written to a file if there is a path."""
    if path is not None:
        figure.savefig(path, dpi=150)
    return figure

"""Colours and axes that all figures share."""

from __future__ import annotations

from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.figure import Figure

__all__ = ["BLUE", "COLOURS", "INK", "ORANGE", "clean", "label", "saved"]

INK, BLUE, ORANGE = "#22303c", "#1f6fb2", "#d9731a"
# For many lines in one panel; distinguishable with red-green colour blindness.
COLOURS = (BLUE, ORANGE, "#117a65", "#8e44ad", "#7f8c8d", "#c0392b", "#b7950b")


def clean(axes: Axes) -> None:
    """Two spines, a faint grid."""
    axes.spines[["top", "right"]].set_visible(False)
    axes.tick_params(colors=INK)
    axes.grid(visible=True, color="#e3e7eb", linewidth=0.6)
    axes.set_axisbelow(True)


def label(name: str, longest: int = 28) -> str:
    """A name that matplotlib shows literally: shortened, no formula, never hidden in a legend."""
    cut = name if len(name) <= longest else name[: longest - 1] + "…"
    plain = cut.replace("$", r"\$")  # a dollar sign would start a formula
    return f" {plain}" if plain.startswith("_") else plain


def saved(figure: Figure, path: Path | str | None) -> Figure:
    """The figure, written to a file if there is a path."""
    if path is not None:
        figure.savefig(path, dpi=150)
    return figure

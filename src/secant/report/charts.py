"""Small charts as drawings of a few shapes; the template turns them into SVG.

Colours are CSS classes, so that charts follow the light or dark theme. Shapes hold coordinates
only; texts are escaped by the template.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from secant.report.axes import Axis, axis

__all__ = [
    "HEIGHT",
    "WIDTH",
    "Chart",
    "Dot",
    "Key",
    "Line",
    "Shape",
    "path_of",
    "places",
    "plane",
]

WIDTH, HEIGHT = 480, 324
_LEFT, _RIGHT, _TOP, _BOTTOM = 58, 470, 32, 268


@dataclass(frozen=True)
class Line:
    """An open or closed line: SVG path data and a CSS class."""

    data: str
    look: str


@dataclass(frozen=True)
class Dot:
    """A point."""

    x: float
    y: float
    look: str
    radius: float = 4.0


Shape = Line | Dot


@dataclass(frozen=True)
class Key:
    """An entry of the legend."""

    look: str
    text: str


@dataclass(frozen=True)
class Chart:
    """A chart with its texts.

    Attributes:
        title: a headline.
        description: alternative text.
        x: the axis below.
        y: the axis to the left.
        shapes: in drawing order.
        keys: the legend.
        caption: how to read it.
    """

    title: str
    description: str
    x: Axis
    y: Axis
    shapes: Sequence[Shape]
    keys: Sequence[Key] = ()
    caption: str = ""
    kind: str = "chart"
    width: int = WIDTH
    height: int = HEIGHT


def plane(
    x: tuple[str, ArrayLike], y: tuple[str, ArrayLike], *, n_ticks: tuple[int, int] = (5, 5)
) -> tuple[Axis, Axis]:
    """Two axes, each from its label and the values it must contain."""
    return (
        axis(*x, (_LEFT, _RIGHT), n_ticks[0]),
        axis(*y, (_BOTTOM, _TOP), n_ticks[1]),
    )


def path_of(points: Iterable[tuple[float, float]], *, closed: bool = False) -> str:
    """SVG path data through points."""
    data = "L".join(f"{x:.2f} {y:.2f}" for x, y in points)
    return f"M{data}{'Z' if closed else ''}" if data else ""


def places(x: Axis, y: Axis, values: ArrayLike) -> list[tuple[float, float]]:
    """Coordinates of finite points (n, 2)."""
    points = np.asarray(values, dtype=np.float64)
    return [(x(a), y(b)) for a, b in points[np.isfinite(points).all(axis=1)].tolist()]

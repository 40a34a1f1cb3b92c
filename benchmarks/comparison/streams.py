"""Streams of windows with a known change, the same for every method; needs NumPy only."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

import numpy as np

WINDOWS = 50
CHANGE_AT = 10
LEVEL = 0.05
Rows = np.ndarray


def shifted(shift: float) -> Callable[[Rows], Rows]:
    """A shift of the first column, in standard deviations."""
    return lambda x: x + shift * np.eye(1, x.shape[1])


def correlated(rho: float) -> Callable[[Rows], Rows]:
    """A correlation of two columns, whose margins do not change."""

    def change(x: Rows) -> Rows:
        y = x.copy()
        y[:, 1] = rho * x[:, 0] + math.sqrt(1.0 - rho**2) * x[:, 1]
        return y

    return change


CHANGES: dict[str, Callable[[Rows], Rows] | None] = {
    "none": None,
    "0.2 s.d.": shifted(0.2),
    "0.5 s.d.": shifted(0.5),
    "1 s.d.": shifted(1.0),
    "correlation 0.6": correlated(0.6),
}


def sizes(name: str) -> tuple[int, int, int]:
    """Rows of the reference and of a window, and columns."""
    # For false alarms, a small reference that is reused fifty times is the harder case.
    return (400, 60, 5) if CHANGES[name] is None else (2000, 200, 20)


def start_of(name: str) -> int:
    """The first window with changed rows; beyond the last one if nothing changes."""
    return WINDOWS if CHANGES[name] is None else CHANGE_AT


def stream(name: str, seed: int) -> tuple[Rows, Iterator[Rows]]:
    """The reference and the windows."""
    n, rows, d = sizes(name)
    rng, change = np.random.default_rng([seed, d]), CHANGES[name]
    reference = rng.normal(size=(n, d))

    def windows() -> Iterator[Rows]:
        for number in range(WINDOWS):
            x = rng.normal(size=(rows, d))
            yield x if change is None or number < start_of(name) else change(x)

    return reference, windows()


def cell(rows: list[dict], alarm: str) -> str:
    """The share of streams with an alarm without a change; the median delay with one."""
    early = 100 * float(np.mean([row["false"][alarm] is not None for row in rows]))
    if rows[0]["change"] == "none":
        return f"{early:.1f} % ever alarm"
    found = [row["found"][alarm] for row in rows]
    delays = [WINDOWS if number is None else number - CHANGE_AT + 1 for number in found]
    missed = sum(number is None for number in found)
    words = [f"{np.median(delays):g}"] if 2 * missed < len(found) else ["–"]
    words += [f"{100 * missed / len(found):.0f} % missed"] * (missed > 0)
    words += [f"{early:.0f} % false before"] * (early > 0)
    return ", ".join(words)

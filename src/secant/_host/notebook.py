"""Results as text, and as compact HTML for notebooks."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

_CELL = "padding:.15em .9em .15em 0;border:0;text-align:left;vertical-align:top;background:none"


class Summarised:
    """A result with a `summary`."""

    __slots__ = ()

    def summary(self) -> str:
        """The result in words, the same text as `print` shows."""
        return str(self)


def fragment(title: str, pairs: Sequence[tuple[str, str]] = (), notes: Sequence[str] = ()) -> str:
    """A few lines of HTML without style sheet or script, in the notebook's colours.

    Args:
        title: the headline.
        pairs: names and values, one line each.
        notes: caveats.
    """
    rows = "".join(
        f'<tr style="background:none"><th scope="row" style="{_CELL};font-weight:normal;'
        f'opacity:.8">{escape(name)}</th><td style="{_CELL};font-variant-numeric:tabular-nums">'
        f"{escape(value)}</td></tr>"
        for name, value in pairs
    )
    table = f'<table style="border:0;margin:.4em 0"><tbody>{rows}</tbody></table>' if rows else ""
    noted = "".join(f"<p><em>Note:</em> {escape(note)}</p>" for note in notes)
    return (
        '<div class="secant" style="border-left:3px solid #1f6fb2;padding:.2em 0 .2em .9em;'
        f'max-width:60em"><strong>{escape(title)}</strong>{table}{noted}</div>'
    )

"""Format numbers: a minus sign, thousands separators, significant digits."""

from __future__ import annotations

import math
import re


def number(value: float, digits: int = 3) -> str:
    """A number with `digits` significant digits; infinities and NaN as symbols."""
    if math.isnan(value):
        return "–"
    if math.isinf(value):
        return "∞" if value > 0 else "−∞"
    if value != 0.0 and not 1e-3 <= abs(value) < 1e5:
        return f"{value:.{digits - 1}e}".replace("-", "−")
    places = max(0, digits - 1 - (math.floor(math.log10(abs(value))) if value else 0))
    return f"{value:,.{places}f}".replace("-", "−")


def signed(value: float, digits: int = 3) -> str:
    """A number that always has a sign."""
    return f"+{number(value, digits)}" if value > 0 else number(value, digits)


def with_error(value: float, error: float, places: int | None = None) -> str:
    """Value ± error, both to the second digit of the error, or to `places` decimals."""
    if not (math.isfinite(value) and math.isfinite(error)) or error <= 0.0:
        return f"{number(value)} ± {number(error, 2)}"
    if places is None:
        places = error_places(error)
    # Adding 0 turns the −0.00 of a rounded number into 0.00.
    return f"{round(value, places) + 0.0:,.{places}f} ± {error:,.{places}f}".replace("-", "−")


def error_places(error: float) -> int:
    """Decimals that show the second digit of an error."""
    return min(max(0, 1 - math.floor(math.log10(error))), 6)


def percent(share: float) -> str:
    """A share in per cent; small shares are not rounded to 0."""
    if math.isnan(share):
        return "–"
    if 0.0 < share < 0.01:
        return f"{100 * share:.2g} %" if share >= 1e-4 else "< 0.01 %"
    return f"{100 * share:.0f} %"


def count(value: float) -> str:
    """An integer with thousands separators."""
    return f"{value:,.0f}" if value >= 10 else f"{value:.1f}"


def p_value(value: float) -> str:
    """A p-value with two digits; “<” for very small ones, “–” for None."""
    if math.isnan(value):
        return "–"
    return f"{value:.2g}" if value >= 1e-4 else "< 0.0001"


def subscripts(text: str) -> str:
    """Typeset p_0 and x_1 with subscripts; for our own texts, not for column names."""
    return re.sub(r"\b([px])_([01t])\b", lambda m: m[1] + _SUBSCRIPTS[m[2]], text)


_SUBSCRIPTS = {"0": "₀", "1": "₁", "t": "ₜ"}

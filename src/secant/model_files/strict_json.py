"""Parse untrusted JSON: bounded in size and numbers, without NaN and without repeated keys."""

from __future__ import annotations

import json
import math
from typing import Any, NoReturn

from secant.model_files.errors import ModelFileError, escaped

JSON = None | bool | int | float | str | list["JSON"] | dict[str, "JSON"]

_MOST_VALUES = 1_000_000  # a parsed_json value takes about 100 bytes
_LONGEST_INTEGER = 20  # digits: 64 bits


def written(value: Any) -> str:  # noqa: ANN401
    """The canonical text of a value: ASCII, no spaces, no NaN."""
    return json.dumps(value, ensure_ascii=True, allow_nan=False, separators=(",", ":"))


def parsed_json(text: bytes | str) -> Any:  # noqa: ANN401
    """The value of a JSON text; `ModelFileError` if it is not one, or too large."""
    raw = text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text
    # Before parsing, because the counts bound the memory of the parser.
    values = raw.count(b",") + raw.count(b"[") + raw.count(b"{")
    if values > _MOST_VALUES:
        raise ModelFileError(f"its header holds {values} values; {_MOST_VALUES} are the most.")
    try:
        return json.loads(
            raw.decode("utf-8"),
            object_pairs_hook=_unique,
            parse_int=_integer,
            parse_float=_finite,
            parse_constant=_refused,
        )
    except RecursionError:
        raise ModelFileError("its header is nested too deeply.") from None
    except ModelFileError:
        raise
    except ValueError as error:
        raise ModelFileError(f"its header is not JSON: {escaped(str(error))}.") from None


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ModelFileError("its header names something twice.")
    return found


def _integer(digits: str) -> int:
    if len(digits) > _LONGEST_INTEGER:
        raise ModelFileError(f"its header holds an integer of {len(digits)} digits.")
    return int(digits)


def _finite(digits: str) -> float:
    value = float(digits)
    if not math.isfinite(value):
        raise ModelFileError(f"its header holds a number beyond all bounds, {escaped(digits)}.")
    return value


def _refused(constant: str) -> NoReturn:
    raise ModelFileError(f"its header holds {constant}, which is not JSON.")

"""Read TOML files written by users, with limits on their size and clear errors."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

from secant._host.atomic_files import is_special

_MOST_BYTES = 1 << 16  # larger files are a mistake
_MOST_DOTS = 2_000  # tomllib needs n² steps for a key with n dots: minutes for 30,000
_LONGEST = 60  # maximum characters of a key or value in a message
KINDS = {
    bool: "true or false",
    int: "a whole number",
    float: "a number",
    str: "a text",
    list: "a list",
    dict: "a table",
}


class ConfigError(ValueError):
    """An error in a configuration file."""


def read_config(path: Path) -> dict[str, Any]:
    """The contents of a configuration file.

    Raises:
        ConfigError: it is not TOML, or too long.
        OSError: it cannot be read.
    """
    if is_special(path):
        raise ConfigError(f"{path} is not a plain file; write the configuration to one.")
    with path.open("rb") as file:
        return parsed_toml(file.read(_MOST_BYTES + 1), str(path))


def parsed_toml(content: bytes, where: str) -> dict[str, Any]:
    """The contents of a configuration file, from its bytes.

    Raises:
        ConfigError: they are not TOML, or too many.
    """
    if len(content) > _MOST_BYTES:
        raise ConfigError(f"{where} must be smaller than {_MOST_BYTES:,} bytes.")
    if content.count(b".") > _MOST_DOTS:
        raise ConfigError(f"{where} must have fewer than {_MOST_DOTS:,} dots.")
    try:
        return tomllib.loads(content.decode("utf-8"))
    except RecursionError:
        raise ConfigError(f"{where} is not valid TOML: it is nested too deeply.") from None
    except ValueError as error:  # errors of TOML, of UTF-8, and of numbers with thousands of digits
        raise ConfigError(f"{where} is not valid TOML: {shortened(str(error), 200)}.") from error


def described(value: object) -> str:
    """A value and its kind, for a message."""
    kind = KINDS.get(type(value), "a date or time")
    try:
        text = str(value).lower() if isinstance(value, bool) else repr(value)
    except ValueError:  # Python does not format integers of thousands of digits
        return f"{kind} of too many digits"
    return f"{shortened(text)}, {kind}"


def shortened(text: str, most: int = _LONGEST) -> str:
    """A text, shortened for a message."""
    return text if len(text) <= most else f"{text[:most]}…"

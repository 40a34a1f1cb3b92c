"""Configuration files: TOML with only what differs from the defaults."""

from __future__ import annotations

import difflib
import enum
from collections.abc import Iterable, Mapping
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Union, get_args, get_origin

from secant._host.toml_files import (
    KINDS,
    ConfigError,
    described,
    parsed_toml,
    read_config,
    shortened,
)

__all__ = ["ConfigError", "checked", "described", "parsed_toml", "read_config"]

_MOST_BITS = 63  # of an integer


def checked(
    found: Mapping[str, object], expected: Mapping[str, object], *, where: str
) -> dict[str, object]:
    """The values by key, with `-` as `_`, each converted to the expected type.

    Args:
        found: as read from the file.
        expected: a type for each valid key; `T | None` accepts "none", as TOML has no null.
        where: the file, and the table in it, for errors.

    Raises:
        ConfigError: for an unknown key, with the nearest valid one, or a value of another type.
    """
    values = {}
    for key, value in found.items():
        name = key.replace("-", "_")
        if name not in expected:
            raise ConfigError(
                f"{where} has an unknown key {shortened(repr(key))}; {_suggestion(name, expected)}"
            )
        values[name] = _converted(value, expected[name], f"{where}: {key!r}")
    return values


def _suggestion(name: str, valid: Iterable[str]) -> str:
    options = [v.replace("_", "-") for v in valid]
    near = difflib.get_close_matches(name.replace("_", "-"), options, n=1, cutoff=0.5)
    return f"did you mean {near[0]!r}?" if near else f"valid are {', '.join(sorted(options))}."


def _converted(value: object, kind: object, place: str) -> object:
    """The value converted to a type."""
    kinds = get_args(kind) if get_origin(kind) in (Union, UnionType) else (kind,)
    if value == "none" and NoneType in kinds:
        return None
    for one in kinds:
        if _fits(value, one):
            return value
    wanted = " or ".join(_name_of(one) for one in kinds if one is not NoneType)
    none = ' or "none"' if NoneType in kinds and not _is_option(kinds) else ""
    raise ConfigError(f"{place} must be {wanted}{none}; got {described(value)}.")


def _is_option(kinds: tuple[Any, ...]) -> bool:
    """Whether None means that an option was not given, as for paths and lists."""
    return any(one in (Path, str) or get_origin(one) is list for one in kinds)


def _fits(value: object, kind: object) -> bool:
    if get_origin(kind) is list:
        return isinstance(value, list) and all(_fits(part, get_args(kind)[0]) for part in value)
    if isinstance(kind, type) and issubclass(kind, enum.Enum):
        return value in [member.value for member in kind]
    if isinstance(value, bool):
        return kind is bool
    if isinstance(value, int) and value.bit_length() > _MOST_BITS:
        return False
    if kind is float:
        return isinstance(value, int | float)
    if isinstance(value, str) and "\0" in value:  # no path or name has one
        return False
    if kind is Path:
        return isinstance(value, str)
    return isinstance(kind, type) and kind is not bool and isinstance(value, kind)


def _name_of(kind: object) -> str:
    if get_origin(kind) is list:
        return f"a list, each {_name_of(get_args(kind)[0])}"
    if isinstance(kind, type) and issubclass(kind, enum.Enum):
        return "one of " + ", ".join(repr(member.value) for member in kind)
    assert isinstance(kind, type)
    return "a path" if kind is Path else KINDS[kind]

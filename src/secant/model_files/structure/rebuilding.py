"""Create objects from their fields without constructors, then validate them."""

from __future__ import annotations

import dataclasses
import inspect
from typing import Any

import equinox as eqx
from sklearn.base import BaseEstimator

from secant.model_files.errors import ModelFileError, shown
from secant.model_files.structure.field_types import accepts, hints_of

__all__ = ["rebuilt"]


def rebuilt(kind: type, given: dict[str, Any]) -> Any:  # noqa: ANN401
    """An object of a class with these fields; `ModelFileError` if they are invalid."""
    is_estimator = issubclass(kind, BaseEstimator)
    known, defaults = _parameters(kind) if is_estimator else _fields(kind)
    for name in given.keys() - known:
        if not (is_estimator and _is_learned(kind, name)):
            raise ModelFileError(f"{kind.__name__} has no part named {shown(name)}.")
    if missing := known - given.keys() - defaults.keys():
        raise ModelFileError(f"{kind.__name__} lacks {sorted(missing)}.")
    # A field added since the file was written has its default.
    parts = given | {name: defaults[name] for name in known - given.keys()}
    _check_types(kind, parts)
    if is_estimator and given.keys() - known:
        _check_complete(kind, parts)
    return _checked(_assembled(kind, parts))


def _assembled(kind: type, parts: dict[str, Any]) -> Any:  # noqa: ANN401
    if issubclass(kind, tuple):
        return tuple.__new__(kind, [parts[name] for name in kind._fields])  # type: ignore[attr-defined]
    made = object.__new__(kind)
    for name, part in parts.items():
        object.__setattr__(made, name, part)
    return made


def _parameters(kind: Any) -> tuple[set[str], dict[str, Any]]:  # noqa: ANN401
    """Names and defaults of an estimator's constructor."""
    found = inspect.signature(kind.__init__).parameters
    names = set(kind._get_param_names())
    return names, {name: p.default for name, p in found.items() if p.default is not p.empty}


def _fields(kind: Any) -> tuple[set[str], dict[str, Any]]:  # noqa: ANN401
    if issubclass(kind, tuple):
        return set(kind._fields), dict(kind._field_defaults)
    fields = dataclasses.fields(kind)
    defaults = {f.name: f.default for f in fields if f.default is not dataclasses.MISSING}
    return {f.name for f in fields}, defaults


def _is_learned(kind: type, name: str) -> bool:
    """Whether a name is a valid fitted attribute, which shadows nothing of the class."""
    hidden = inspect.getattr_static(kind, name, None)
    is_code = callable(hidden) or hasattr(hidden, "__get__")
    return name.isidentifier() and not name.startswith("__") and not is_code


def _check_types(kind: type, parts: dict[str, Any]) -> None:
    hints = hints_of(kind)
    for name, part in parts.items():
        if name in hints and not accepts(hints[name], part):
            raise ModelFileError(
                f"`{name}` of {kind.__name__} cannot be {shown(type(part).__name__)}."
            )


def _check_complete(kind: type, parts: dict[str, Any]) -> None:
    """Check that a fitted estimator has all its fitted attributes."""
    learned = {name for name in hints_of(kind) if name.endswith("_") and not hasattr(kind, name)}
    if missing := learned - parts.keys():
        raise ModelFileError(f"{kind.__name__} lacks {sorted(missing)}.")


def _checked(made: Any) -> Any:  # noqa: ANN401
    """Validate an object as its constructor would."""
    checks = [
        k.__dict__["__check_init__"] for k in type(made).__mro__ if "__check_init__" in vars(k)
    ]
    if not isinstance(made, eqx.Module) and hasattr(made, "__post_init__"):
        checks.append(type(made).__post_init__)
    try:
        for check in checks:
            check(made)
    except Exception as error:  # untrusted values can make a check fail in any way
        raise ModelFileError(f"a {type(made).__name__} is not valid: {shown(str(error))}") from None
    return made

"""Create objects from their fields without constructors, then validate them by their classes."""

from __future__ import annotations

import dataclasses
import inspect
import numbers
import types
from collections.abc import Callable
from functools import cache
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

import equinox as eqx
import jax
import numpy as np
from jaxtyping import AbstractArray
from sklearn.base import BaseEstimator

from secant.model_files.errors import ModelFileError, escaped


def rebuilt(kind: type, given: dict[str, Any]) -> Any:  # noqa: ANN401
    """An object of a class with these fields; `ModelFileError` if they are invalid."""
    is_estimator = issubclass(kind, BaseEstimator)
    known, defaults = _parameters(kind) if is_estimator else _fields(kind)
    for name in given.keys() - known:
        if not (is_estimator and _is_learned(kind, name)):
            raise ModelFileError(f"{kind.__name__} has no part named {escaped(name)}.")
    if missing := known - given.keys() - defaults.keys():
        raise ModelFileError(f"{kind.__name__} lacks {sorted(missing)}.")
    # A field added since the file was written has its default.
    parts = given | {name: defaults[name] for name in known - given.keys()}
    learned = {name: parts[name] for name in given.keys() - known}
    _check_types(kind, learned if is_estimator else parts)  # `fit` checks parameters
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
                f"`{name}` of {kind.__name__} cannot be {escaped(type(part).__name__)}."
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
        raise ModelFileError(
            f"a {type(made).__name__} is not valid: {escaped(str(error))}"
        ) from None
    return made


@cache
def hints_of(kind: type) -> dict[str, Any]:
    """The annotations of a class that can be resolved at run time."""
    try:
        hints = get_type_hints(kind)
    except NameError:
        return {}
    return {name: hint for name, hint in hints.items() if hint is not dataclasses.KW_ONLY}


def accepts(hint: Any, value: object) -> bool:  # noqa: ANN401
    """Whether a value is compatible with an annotation, by a shallow check.

    Any number matches an annotation of a number, since 1 is as good as 1.0. Any array matches one
    of an array, since a stack of models has one axis more than annotated.
    """
    origin = get_origin(hint)
    if origin in (Union, types.UnionType):
        return any(accepts(option, value) for option in get_args(hint))
    if origin is Literal:
        return value in get_args(hint)
    if origin in (tuple, list):
        return isinstance(value, origin) and _all_fit(hint, value)
    if origin is Callable:
        return callable(value)
    return _fits_class(origin or hint, value)


def _all_fit(hint: Any, values: Any) -> bool:  # noqa: ANN401
    inner = get_args(hint)
    if len(inner) == 1 or (len(inner) == 2 and inner[1] is Ellipsis):
        return all(accepts(inner[0], value) for value in values)
    return len(inner) == len(values) and all(map(accepts, inner, values))


def _fits_class(kind: Any, value: object) -> bool:  # noqa: ANN401
    if kind is None or kind is type(None):
        return value is None
    if not isinstance(kind, type) or kind is Any or getattr(kind, "_is_protocol", False):
        return True
    if issubclass(kind, AbstractArray | jax.Array | np.ndarray):
        return isinstance(value, np.ndarray | jax.Array | np.generic | numbers.Number)
    if kind is bool:
        return isinstance(value, bool | np.bool_)
    if issubclass(kind, numbers.Number):
        return isinstance(value, numbers.Number | np.generic) and not isinstance(value, bool)
    return isinstance(value, kind)

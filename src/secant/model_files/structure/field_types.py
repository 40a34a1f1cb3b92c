"""Check values against the annotations of a class."""

from __future__ import annotations

import numbers
import types
from collections.abc import Callable
from functools import cache
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

import jax
import numpy as np
from jaxtyping import AbstractArray

__all__ = ["accepts", "hints_of"]


@cache
def hints_of(kind: type) -> dict[str, Any]:
    """The annotations of a class that can be resolved at run time."""
    try:
        return get_type_hints(kind)
    except NameError:
        return {}


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

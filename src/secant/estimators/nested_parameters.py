"""Parameters of components under scikit-learn's names, such as `training__steps`."""

from __future__ import annotations

import dataclasses
import math
from typing import Any, Self

from sklearn.base import BaseEstimator

from secant.tables.errors import nearest, quoted


class NestedParameters:
    """`get_params` and `set_params` that reach into frozen components, for a `BaseEstimator`.

    A component is a dataclass or an equinox module. It is replaced, not changed, so that clones and
    searches over a grid stay independent. A name that a component does not have is looked up in its
    own components: `model__width` is `model__trunk__width` where only the trunk has a width.
    """

    def get_params(self, deep: bool = True) -> dict[str, Any]:  # noqa: FBT001, FBT002, scikit-learn's
        """The parameters by name; if deep, with those of components and estimators within."""
        found: dict[str, Any] = BaseEstimator.get_params(self, deep=deep)
        if deep:
            for name, value in BaseEstimator.get_params(self, deep=False).items():
                found |= {f"{name}__{path}": v for path, v in _nested(value).items()}
        return found

    def set_params(self, **params: Any) -> Self:  # noqa: ANN401
        """Set parameters by name, those of components under `component__parameter`.

        A component that is None is first replaced by its default for a large sample.
        """
        own = {key: value for key, value in params.items() if "__" not in key}
        BaseEstimator.set_params(self, **own)
        known = BaseEstimator.get_params(self, deep=False)
        for key, value in params.items():
            name, nested, path = key.partition("__")
            if nested and (name not in known or hasattr(known[name], "set_params")):
                BaseEstimator.set_params(self, **{key: value})
            elif nested:
                part = getattr(self, name)
                part = self._default_component(name) if part is None else part
                setattr(self, name, _replaced(part, path, value, name))
        return self

    def _default_component(self, name: str) -> object:
        """What stands for None, for many rows of few columns; None if there is no component."""
        method = getattr(self, "_method", None)
        return None if method is None else getattr(method(math.inf, 1), name, None)


def _is_component(value: object) -> bool:
    return dataclasses.is_dataclass(value) and not isinstance(value, type | BaseEstimator)


def _settings(component: Any) -> dict[str, Any]:  # noqa: ANN401
    """The fields that the constructor takes."""
    fields = dataclasses.fields(component)
    return {f.name: getattr(component, f.name) for f in fields if f.init}


def _nested(value: object) -> dict[str, Any]:
    """All settings within a component by their path."""
    if not _is_component(value):
        return {}
    found = _settings(value)
    for name, part in tuple(found.items()):
        found |= {f"{name}__{path}": v for path, v in _nested(part).items()}
    return found


def _replaced(component: object, path: str, value: object, name: str) -> Any:  # noqa: ANN401
    """A copy of a component in which one setting has another value."""
    if not _is_component(component):
        raise ValueError(
            f"Invalid parameter {path!r} of `{name}`: it is {component!r}, which has no parameters."
        )
    key, _, rest = _full_path(component, path, name).partition("__")
    if rest:
        value = _replaced(getattr(component, key), rest, value, f"{name}__{key}")
    return dataclasses.replace(component, **{key: value})  # type: ignore[type-var]


def _full_path(component: object, path: str, name: str) -> str:
    known = list(_nested(component))
    if path in known or path.partition("__")[0] in _settings(component):
        return path
    ends = [other for other in known if other.endswith(f"__{path}")]
    if len(ends) == 1:
        return ends[0]
    hint = nearest(path, known) or f"; it has {quoted(known)}"
    raise ValueError(f"Invalid parameter {path!r} of `{name}`{hint}")

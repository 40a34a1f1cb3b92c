"""The classes that a model file may name, each by an id independent of its module.

The id of a class is its name. Private classes, and classes with equal names, declare an id:
`saved_as: ClassVar[str] = "LinearLayer"`; private classes without one cannot be saved.
`tests/golden/models/ids.txt` lists all ids, so that none is lost.

Loading a file imports nothing, and looks names up in this list only.
"""

from __future__ import annotations

import dataclasses
import enum
import importlib
import inspect
import sys
from collections.abc import Iterator
from functools import cache

from sklearn.base import BaseEstimator

from secant.model_files.errors import ModelFileError, escaped

_PACKAGES = (
    "secant.anchoring",
    "secant.bases",
    "secant.curricula",
    "secant.diagnostics",
    "secant.estimators",
    "secant.integration",
    "secant.models",
    "secant.paths",
    "secant.scaling",
    "secant.schedules",
    "secant.targets",
    "secant.tasks",
    "secant.time_samplers",
    "secant.training",
)
# Classes that were renamed, so that older files still load: {"old id": "new id"}.
_RENAMED: dict[str, str] = {}
_REFUSED = {
    "SklearnRatio": (
        "its scikit-learn classifier could be saved by pickle only, which runs code when it is "
        "loaded. Save the classifier as its documentation recommends, or fit a ClassifierRatio"
    ),
    "FeaturisedRatio": (
        "its flow is code of flowjax, which a model file does not hold. Fit the estimator without "
        "it, or save flow and estimator_ separately"
    ),
    **dict.fromkeys(
        ("Given", "_Pulled", "FlowJAX"),
        "a density of your own as a base is code, which a model file does not hold. Take a base by "
        "name, such as base='copula-mixture'",
    ),
}


def id_of(kind: type) -> str:
    """The id of a class in files."""
    declared = vars(kind).get("saved_as", kind.__name__)  # not inherited by subclasses
    return str(declared)


def savable() -> list[type]:
    """Every class that a file may name."""
    return [kind for kind in _loaded() if not (_is_refused(kind) or id_of(kind).startswith("_"))]


@cache
def classes() -> dict[str, type]:
    """Every class that a file may name, by its id."""
    return {id_of(kind): kind for kind in savable()}


def current_id(name: str) -> str:
    """The current id for an id in a file."""
    return _RENAMED.get(name, name)


def class_named(name: str) -> type:
    """The class of an id in the list; `ModelFileError` if there is none."""
    found = classes().get(current_id(name))
    if found is None:
        raise ModelFileError(f"it names {escaped(name)}, which is no class of models here.")
    return found


def check_savable(kind: type, where: str) -> None:
    """Raise an error for a class that cannot be loaded from a file."""
    if _is_refused(kind):
        raise ModelFileError(f"{where} is a {kind.__name__}: {_REFUSED[kind.__name__]}.")
    if classes().get(id_of(kind)) is not kind:
        raise ModelFileError(
            f"{where} is a {kind.__module__}.{kind.__qualname__}, not a class of secant: a model "
            "file holds settings and arrays, no code, so it could not be rebuilt from one."
        )


def _is_refused(kind: type) -> bool:
    return kind.__name__ in _REFUSED and kind.__module__.startswith("secant.")


def _loaded() -> Iterator[type]:
    for package in _PACKAGES:  # by name, because models are in layers above this one
        importlib.import_module(package)
    for name, module in list(sys.modules.items()):
        if name.startswith(tuple(f"{package}." for package in _PACKAGES)) or name in _PACKAGES:
            yield from (v for v in vars(module).values() if _is_ours(v, name))


def _is_ours(value: object, module: str) -> bool:
    if not isinstance(value, type) or value.__module__ != module or inspect.isabstract(value):
        return False
    is_named_tuple = issubclass(value, tuple) and hasattr(value, "_fields")
    is_known = is_named_tuple or issubclass(value, enum.Enum | BaseEstimator)
    return is_known or dataclasses.is_dataclass(value)

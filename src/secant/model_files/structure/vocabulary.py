"""The classes a model file may name: secant's own.

A file never makes Python import anything, nor look a name up anywhere but in this list.
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

from secant.model_files.errors import ModelFileError, shown

__all__ = ["check_savable", "class_named", "classes", "name_of"]

_PACKAGES = (
    "secant.bases",
    "secant.curricula",
    "secant.diagnostics",
    "secant.estimators",
    "secant.integration",
    "secant.models",
    "secant.paths",
    "secant.schedules",
    "secant.targets",
    "secant.tasks",
    "secant.time_samplers",
    "secant.training",
)
# A class that moves keeps its old name here, so that older files still load.
_MOVED: dict[str, str] = {}
_REFUSED = {
    "secant.estimators.off_the_shelf.SklearnRatio": (
        "its scikit-learn classifier could be saved by pickle only, which runs code when it is "
        "loaded. Save the classifier with the tool its makers advise, or fit a ClassifierRatio"
    ),
    **dict.fromkeys(
        (
            "secant.bases.rules.Given",
            "secant.bases.rules._Pulled",
            "secant.bases.flows.FlowJAX",
        ),
        "a density of your own as a base is code, which a model file does not hold. Take a base by "
        "name, such as base='copula-mixture'",
    ),
}


def name_of(kind: type) -> str:
    """The name of a class in files."""
    return f"{kind.__module__}.{kind.__qualname__}"


@cache
def classes() -> dict[str, type]:
    """Every class that a file may name, by its name."""
    return {name_of(kind): kind for kind in _loaded() if name_of(kind) not in _REFUSED}


def class_named(name: str) -> type:
    """The class of that name in the list; `ModelFileError` if there is none."""
    found = classes().get(_MOVED.get(name, name))
    if found is None:
        raise ModelFileError(f"it names {shown(name)}, which is no class of models here.")
    return found


def check_savable(kind: type, where: str) -> None:
    """Refuse a class that a file could not bring back."""
    name = name_of(kind)
    if name in _REFUSED:
        raise ModelFileError(f"{where} is a {kind.__name__}: {_REFUSED[name]}.")
    if classes().get(name) is not kind:
        raise ModelFileError(
            f"{where} is a {name}, not a class of secant: a model file holds settings and arrays, "
            "no code, so it could not be rebuilt from one."
        )


def _loaded() -> Iterator[type]:
    for package in _PACKAGES:  # by a name of ours: the layers above this one, where models live
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

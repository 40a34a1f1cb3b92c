"""Rebuild fitted objects from untrusted JSON and arrays.

Every name is looked up in the vocabulary. Every object is created without its constructor and then
validated by its class. Nothing else in a file is run, imported or looked up.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import jax
import numpy as np

from secant.model_files.container import DTYPES, Tensors
from secant.model_files.encoder import FORMAT, MOST_LEVELS
from secant.model_files.errors import ModelFileError, escaped
from secant.model_files.migrations import Saved, id_in, migrated
from secant.model_files.rebuilding import rebuilt
from secant.model_files.strict_json import JSON
from secant.model_files.vocabulary import class_named

_NOT_FINITE = {"inf": float("inf"), "-inf": float("-inf"), "nan": float("nan")}
_SCALARS = [dtype.name for dtype in DTYPES.values()]
_WORDS = 624  # state size of the Mersenne twister


def decoded(tree: JSON, tensors: Tensors, *, version: int = FORMAT) -> Any:  # noqa: ANN401
    """The object that `encoded` converted, in this or an older format.

    Raises:
        ModelFileError: the contents are invalid.
    """
    decoder = _Decoder(tensors, version)
    value = decoder.node(tree, 0)
    if unused := set(tensors) - decoder.used:
        raise ModelFileError(f"it holds {len(unused)} arrays that belong to nothing.")
    return value


@dataclass
class _Decoder:
    tensors: Tensors
    version: int = FORMAT
    used: set[str] = field(default_factory=set)
    made: dict[str, Any] = field(default_factory=dict)

    def node(self, tree: JSON, level: int) -> Any:  # noqa: ANN401
        if level > MOST_LEVELS:
            raise ModelFileError("its header is nested too deeply.")
        if isinstance(tree, list):
            return [self.node(part, level + 1) for part in tree]
        if not isinstance(tree, dict):
            return tree
        reader = self._readers().get(frozenset(tree))
        if reader is None:
            raise ModelFileError(f"it holds something with keys {escaped(sorted(tree))}.")
        return reader(tree, level + 1)

    def _readers(self) -> dict[frozenset[str], Callable[[Any, int], Any]]:
        return {
            frozenset({"tuple"}): self._tuple,
            frozenset({"dict"}): self._dict,
            frozenset({"float"}): self._float,
            frozenset({"scalar", "value"}): self._scalar,
            frozenset({"array", "order"}): self._array,
            frozenset({"jax"}): self._jax,
            frozenset({"names"}): self._names,
            frozenset({"random_state", "rest"}): self._random_state,
            frozenset({"class", "member"}): self._member,
            frozenset({"class", "fields"}): self._object,
        }

    def _tuple(self, tree: dict[str, Any], level: int) -> tuple[Any, ...]:
        return tuple(self._each(tree["tuple"], level))

    def _each(self, tree: Any, level: int) -> list[Any]:  # noqa: ANN401
        _require(tree, list)
        return [self.node(part, level) for part in tree]

    def _dict(self, tree: dict[str, Any], level: int) -> dict[Any, Any]:
        pairs = self._each(tree["dict"], level)
        if not all(isinstance(p, list) and len(p) == 2 and type(p[0]) in (str, int) for p in pairs):
            raise ModelFileError("it holds a dictionary that is no list of pairs.")
        return dict(pairs)

    def _float(self, tree: dict[str, Any], level: int) -> float:
        del level
        return _listed(_NOT_FINITE, tree["float"])

    def _scalar(self, tree: dict[str, Any], level: int) -> np.generic:
        name, value = tree["scalar"], self.node(tree["value"], level)
        if name not in _SCALARS or type(value) not in (bool, int, float):
            raise ModelFileError(f"it holds a number of type {escaped(name)}.")
        try:
            made = np.dtype(name).type(value)
        except (OverflowError, ValueError):
            raise ModelFileError(f"{escaped(value)} is no {name}.") from None
        return made

    def _array(self, tree: dict[str, Any], level: int) -> np.ndarray:
        del level
        order, rows = tree["order"], self._tensor(tree["array"])
        if order not in ("C", "F"):
            raise ModelFileError(f"it holds an array in order {escaped(order)}.")
        return rows.T if order == "F" else rows

    def _jax(self, tree: dict[str, Any], level: int) -> jax.Array:
        del level
        rows, name = self._tensor(tree["jax"]), tree["jax"]
        if name not in self.made:
            with jax.enable_x64(rows.dtype.itemsize == 8):  # numbers stay as long as they were
                self.made[name] = jax.numpy.array(rows)
        return self.made[name]

    def _tensor(self, name: Any) -> np.ndarray:  # noqa: ANN401
        found = _listed(self.tensors, name)
        self.used.add(name)
        return found

    def _names(self, tree: dict[str, Any], level: int) -> np.ndarray:
        names = self._each(tree["names"], level)
        if not all(type(name) is str for name in names):
            raise ModelFileError("it holds names that are no texts.")
        return np.array(names, dtype=object)

    def _random_state(self, tree: dict[str, Any], level: int) -> np.random.RandomState:
        words, rest = self._tensor(tree["random_state"]), self._each(tree["rest"], level)
        # NumPy does not check this: a position beyond the state would read foreign memory.
        is_state = words.dtype == np.uint32 and words.shape == (_WORDS,)
        if not (is_state and [type(r) for r in rest] == [int, int, float]):
            raise ModelFileError("it holds an invalid random state.")
        if not (0 <= rest[0] <= _WORDS and rest[1] in (0, 1)):
            raise ModelFileError("it holds an invalid random state.")
        made = np.random.RandomState(0)
        made.set_state(("MT19937", words, *rest))
        return made

    def _member(self, tree: dict[str, Any], level: int) -> enum.Enum | None:
        del level
        saved = self._migrated(tree, {"member": tree["member"]})
        if saved is None:
            return None
        kind = class_named(saved.id)
        if not issubclass(kind, enum.Enum):
            raise ModelFileError(f"{escaped(tree['class'])} has no members.")
        return _listed(kind.__members__, saved.parts.get("member"))

    def _object(self, tree: dict[str, Any], level: int) -> Any:  # noqa: ANN401
        fields = {
            name: self.node(part, level) for name, part in _require(tree["fields"], dict).items()
        }
        saved = self._migrated(tree, fields)
        if saved is None:
            return None
        kind = class_named(saved.id)
        if issubclass(kind, enum.Enum):
            raise ModelFileError(f"{escaped(tree['class'])} has no fields.")
        return rebuilt(kind, saved.parts)

    def _migrated(self, tree: dict[str, Any], parts: dict[str, Any]) -> Saved | None:
        name = id_in(self.version, _require(tree["class"], str))
        return migrated(self.version, Saved(name, parts))


def _require(value: Any, kind: type) -> Any:  # noqa: ANN401
    if not isinstance(value, kind):
        raise ModelFileError(f"it holds {escaped(value)} where a {kind.__name__} belongs.")
    return value


def _listed(known: Mapping[str, Any], name: Any) -> Any:  # noqa: ANN401
    if not isinstance(name, str) or name not in known:
        raise ModelFileError(f"it names {escaped(name)}, which it does not hold.")
    return known[name]

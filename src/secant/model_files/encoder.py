"""Convert fitted objects to JSON and arrays.

Numbers, strings, None and lists represent themselves. Everything else is a JSON object identified
by its keys: see `decoder` for the list.
"""

from __future__ import annotations

import dataclasses
import enum
import math
from dataclasses import dataclass, field
from typing import Any

import jax
import numpy as np
from sklearn.base import BaseEstimator

from secant.model_files.container import DTYPES
from secant.model_files.errors import ModelFileError
from secant.model_files.strict_json import JSON
from secant.model_files.vocabulary import check_savable, id_of

FORMAT = 4
MOST_LEVELS = 64
_LARGEST_INTEGER = 2**63

Where = tuple[str, ...]  # the path from the object to one of its parts


@dataclass(frozen=True)
class EncodedObject:
    """JSON, and the arrays that it refers to."""

    tree: JSON
    tensors: dict[str, np.ndarray]


def encoded(value: object, name: str = "the object") -> EncodedObject:
    """An object as JSON and arrays; `ModelFileError` names a part that cannot be converted."""
    encoder = _Encoder(name)
    return EncodedObject(encoder.node(value, ()), encoder.tensors)


@dataclass
class _Encoder:
    name: str
    tensors: dict[str, np.ndarray] = field(default_factory=dict)
    # By identity, so that a shared array is stored once; kept alive, so that no id is reused.
    stored: dict[int, tuple[str, object]] = field(default_factory=dict)

    def node(self, value: Any, where: Where) -> JSON:  # noqa: ANN401
        if len(where) > MOST_LEVELS:
            raise ModelFileError(f"{self.name} has parts deeper than {MOST_LEVELS} levels.")
        if value is None or type(value) in (bool, str, int, float):
            return self._plain(value, where)
        if isinstance(value, np.ndarray | jax.Array):
            return self._array(value, where)
        if isinstance(value, np.generic):
            return self._scalar(value, where)
        if type(value) in (list, tuple, dict):
            return self._container(value, where)
        return self._object(value, where)

    def _refusal(self, where: Where, what: str) -> ModelFileError:
        return ModelFileError(f"{self._place(where)} is {what}: a model file cannot hold it.")

    def _place(self, where: Where) -> str:
        return f"`{''.join(where).removeprefix('.')}` of {self.name}" if where else self.name

    def _plain(self, value: Any, where: Where) -> JSON:  # noqa: ANN401
        if isinstance(value, float) and not math.isfinite(value):
            return {"float": str(value)}
        if type(value) is int and abs(value) >= _LARGEST_INTEGER:
            raise self._refusal(where, "an integer of more than 64 bits")
        return value

    def _scalar(self, value: np.generic, where: Where) -> JSON:
        if isinstance(value, np.str_):
            return str(value)
        if value.dtype not in DTYPES.values():
            raise self._refusal(where, f"of type {value.dtype}")
        return {"scalar": value.dtype.name, "value": self.node(value.item(), where)}

    def _container(self, value: Any, where: Where) -> JSON:  # noqa: ANN401
        if isinstance(value, dict):
            return {"dict": [self._pair(k, v, where) for k, v in value.items()]}
        nodes = [self.node(v, (*where, f"[{i}]")) for i, v in enumerate(value)]
        return nodes if isinstance(value, list) else {"tuple": nodes}

    def _pair(self, key: Any, value: Any, where: Where) -> JSON:  # noqa: ANN401
        if type(key) not in (str, int):
            raise self._refusal(where, "a dictionary with keys other than texts and integers")
        return [self._plain(key, where), self.node(value, (*where, f"[{key!r}]"))]

    def _object(self, value: Any, where: Where) -> JSON:  # noqa: ANN401
        if isinstance(value, np.random.RandomState):
            return self._random_state(value, where)
        kind = type(value)
        check_savable(kind, self._place(where))
        if isinstance(value, enum.Enum):
            return {"class": id_of(kind), "member": value.name}
        parts = {name: self.node(part, (*where, f".{name}")) for name, part in _parts(value)}
        return {"class": id_of(kind), "fields": parts}

    def _random_state(self, value: np.random.RandomState, where: Where) -> JSON:
        state: Any = value.get_state(legacy=False)
        if state["bit_generator"] != "MT19937":
            raise self._refusal(where, f"a random state of {state['bit_generator']}")
        key, position = state["state"]["key"], int(state["state"]["pos"])
        rest: list[JSON] = [position, int(state["has_gauss"]), float(state["gauss"])]
        return {"random_state": self._stored(np.asarray(key)), "rest": rest}

    def _array(self, value: np.ndarray | jax.Array, where: Where) -> JSON:
        if value.dtype == object:
            return self._names(value, where)
        if value.dtype not in DTYPES.values():
            raise self._refusal(where, f"an array of type {value.dtype}")
        if isinstance(value, jax.Array):
            return {"jax": self._stored(value)}
        # The memory order is kept, because the rounding of products depends on it.
        return {"array": self._stored(value), "order": "F" if _is_by_columns(value) else "C"}

    def _names(self, value: Any, where: Where) -> JSON:  # noqa: ANN401
        if value.ndim != 1 or not all(type(v) is str for v in value):
            raise self._refusal(where, "an array of Python objects")
        return {"names": value.tolist()}

    def _stored(self, value: np.ndarray | jax.Array) -> str:
        if id(value) not in self.stored:
            name = f"a{len(self.tensors)}"
            self.stored[id(value)] = name, value
            rows = np.asarray(value)
            turned = rows.T if isinstance(value, np.ndarray) and _is_by_columns(rows) else rows
            self.tensors[name] = np.array(turned, order="C")
        return self.stored[id(value)][0]


def _is_by_columns(rows: np.ndarray) -> bool:
    return rows.flags.f_contiguous and not rows.flags.c_contiguous


def _parts(value: Any) -> list[tuple[str, Any]]:  # noqa: ANN401
    if isinstance(value, BaseEstimator):
        return list(vars(value).items())
    if isinstance(value, tuple):
        return list(value._asdict().items())  # type: ignore[attr-defined]
    return [(f.name, getattr(value, f.name)) for f in dataclasses.fields(value)]

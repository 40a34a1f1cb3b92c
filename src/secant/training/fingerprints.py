"""Digests that identify a training run."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from typing import Any, NamedTuple

import jax
import numpy as np
from jaxtyping import PyTree

__all__ = ["Causes", "digests", "first_difference"]

_ROWS_OF_A_FILE = 1000


class Causes(NamedTuple):
    """Digests of the inputs of a training run, compared in this order."""

    seed: PyTree
    settings: PyTree
    data: PyTree
    model: PyTree


_IN_WORDS = {
    "seed": "another seed: `random_state` differs",
    "settings": "other settings",
    "data": "other data",
    "model": "another model to begin from",
}


def digests(causes: Causes) -> dict[str, str]:
    """A digest of each part."""
    return {name: _digest(part) for name, part in causes._asdict().items()}


def first_difference(one: Mapping[str, str], other: Mapping[str, str]) -> str | None:
    """A description of the first difference between two sets of digests; None if they are equal."""
    return next((words for name, words in _IN_WORDS.items() if one[name] != other[name]), None)


def _digest(part: PyTree) -> str:
    """The digest of arrays and names, without memory addresses in the names."""
    leaves, structure = jax.tree.flatten(part)
    found = hashlib.sha256(_named(structure))
    for leaf in leaves:
        if isinstance(leaf, np.ndarray | jax.Array):
            rows = _some_rows(leaf) if isinstance(leaf, np.memmap) else np.asarray(leaf)
            found.update(f"{leaf.dtype}{leaf.shape}".encode())
            found.update(np.ascontiguousarray(rows).reshape(-1).view(np.uint8).data)
        else:
            found.update(_named(leaf))
    return found.hexdigest()


def _some_rows(rows: np.memmap) -> np.ndarray:
    """Evenly spaced rows of an array on disk, because reading all may take longer than the fit."""
    return np.asarray(rows[:: max(rows.shape[0] // _ROWS_OF_A_FILE, 1)])


def _named(thing: Any) -> bytes:  # noqa: ANN401
    return re.sub(r" at 0x[0-9a-f]+", "", str(thing)).encode()

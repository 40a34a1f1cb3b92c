"""Whether two fitted objects are bit-identical, without the code under test."""

import dataclasses

import jax
import numpy as np
from sklearn.base import BaseEstimator


def differences(a, b, where="it"):
    """Every place where two things differ."""
    if type(a) is not type(b):
        return [f"{where}: {type(a)} and {type(b)}"]
    if isinstance(a, np.ndarray | jax.Array):
        return [] if _layout(a) == _layout(b) else [f"{where}: arrays differ"]
    if isinstance(a, np.random.RandomState):
        return differences(a.get_state(), b.get_state(), where)
    parts_a, parts_b = _parts(a), _parts(b)
    if parts_a is None:
        return [] if repr(a) == repr(b) else [f"{where}: {a!r} and {b!r}"]
    if parts_a.keys() != parts_b.keys():
        return [f"{where}: parts {set(parts_a) ^ set(parts_b)}"]
    return [d for k in parts_a for d in differences(parts_a[k], parts_b[k], f"{where}.{k}")]


def _layout(x):
    if x.dtype == object:
        return x.tolist()
    order = x.flags.f_contiguous if isinstance(x, np.ndarray) else x.weak_type
    return x.dtype, x.shape, order, np.asarray(x).tobytes()


def _parts(x):
    if isinstance(x, BaseEstimator):
        return vars(x)
    if dataclasses.is_dataclass(x):
        return {f.name: getattr(x, f.name) for f in dataclasses.fields(x)}
    if isinstance(x, list | tuple):
        return dict(enumerate(x))
    return x if isinstance(x, dict) else None

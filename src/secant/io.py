"""Deprecated names of `secant.tables`, `secant.deploy` and `secant.model_files`."""

import sys
import warnings
from importlib import import_module

__all__: list[str] = []

_MOVED = {
    "encoding": "secant.tables.encoding",
    "export": "secant.deploy.export",
    "models": "secant.model_files",
    "scoring": "secant.deploy.scoring",
    "tables": "secant.tables.files",
}

warnings.warn(
    "secant.io will be removed in the next version: "
    + ", ".join(f"secant.io.{old} is {new}" for old, new in _MOVED.items())
    + ".",
    DeprecationWarning,
    stacklevel=2,
)
for _old, _new in _MOVED.items():
    globals()[_old] = sys.modules[f"{__name__}.{_old}"] = import_module(_new)

"""An alias of the package `secant_bench`, if it is installed."""

import sys
from importlib import import_module

__all__: list[str] = []

try:
    sys.modules[__name__] = import_module("secant_bench")
except ModuleNotFoundError as missing:
    if missing.name != "secant_bench":
        raise
    raise ImportError(
        "secant.benchmarks needs the package secant-bench; "
        "install it from a checkout of secant with `pip install ./benchmarks`."
    ) from None

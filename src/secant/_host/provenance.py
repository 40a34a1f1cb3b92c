"""Provenance of results: package versions and machine."""

from __future__ import annotations

import os
import platform
from importlib.metadata import PackageNotFoundError, version

_PACKAGES = ("secant", "jax", "jaxlib", "equinox", "optax", "numpy", "scipy", "scikit-learn")


def versions() -> dict[str, str]:
    """Versions of Python and of the packages on which results depend."""
    return {"python": platform.python_version(), **{name: _version(name) for name in _PACKAGES}}


def machine() -> str:
    """Cores and versions, as one short string."""
    parts = [f"{name} {_version(name)}" for name in ("secant", "jax", "equinox", "numpy")]
    return f"{len(cores())} cores, {platform.machine()}, python {platform.python_version()}, " + (
        ", ".join(parts)
    )


def cores() -> list[int]:
    """Indices of the cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):  # not available on every system
        return sorted(os.sched_getaffinity(0))
    return list(range(os.cpu_count() or 1))


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:  # for sources that are not installed
        return "not installed"

"""Compiled programs kept on disk, so that a later process need not compile them again."""

from __future__ import annotations

import os
from collections.abc import MutableMapping
from pathlib import Path

__all__ = ["SETTINGS", "folder_of_programs", "keep_programs", "set_environment"]

_MOST_BYTES = 1 << 30  # the oldest go first
SETTINGS = {
    "jax_persistent_cache_min_compile_time_secs": 0.0,  # a fit is many small programs
    "jax_persistent_cache_min_entry_size_bytes": 0,
    "jax_compilation_cache_max_size": _MOST_BYTES,
}


def folder_of_programs() -> Path:
    """Where programs go unless said otherwise: `secant/programs` in the user's cache."""
    cache = os.environ.get("XDG_CACHE_HOME", "")
    return (Path(cache) if cache else Path.home() / ".cache") / "secant" / "programs"


def keep_programs(folder: str | Path | None = None) -> None:
    """Keep programs that JAX compiles from here on in a folder, and look for them there first.

    A fit in a later process then starts in a fraction of the time. `secant` on the command line
    does so by itself; `JAX_COMPILATION_CACHE_DIR` names another folder, and
    `JAX_ENABLE_COMPILATION_CACHE=false` turns it off.

    Args:
        folder: for the programs, at most 1 GiB of them; None is `~/.cache/secant/programs`.

    Examples:
        >>> import secant
        >>> secant.keep_programs()  # doctest: +SKIP
    """
    import jax

    place = folder_of_programs() if folder is None else Path(folder)
    jax.config.update("jax_compilation_cache_dir", str(place.absolute()))
    for name, value in SETTINGS.items():
        jax.config.update(name, value)


def set_environment(environment: MutableMapping[str, str]) -> None:
    """The same for a process that has not imported JAX yet; what the user has set stands.

    Where there is no place to write, nothing is kept.
    """
    if "JAX_COMPILATION_CACHE_DIR" in environment:
        return
    folder = folder_of_programs()
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        return
    if os.access(folder, os.W_OK):
        environment["JAX_COMPILATION_CACHE_DIR"] = str(folder)
        for name, value in SETTINGS.items():
            environment.setdefault(name.upper(), str(value))

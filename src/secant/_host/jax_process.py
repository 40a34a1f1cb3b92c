"""JAX in this process: the compilation cache, on by default and bounded, and the check for forks.

A process forked after JAX has run inherits JAX's locks but not its threads, and would hang.
Functions that use JAX call `check_not_forked` first.
"""

from __future__ import annotations

import functools
import os
import sys
from collections.abc import Callable, MutableMapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from jax import Array

_MAPS = Path("/proc/self/maps")
_MOST_MAPS = 20_000
_MOST_PROGRAMS = 4_000  # tens of megabytes
_QUICK = "xla_cpu_use_fusion_emitters"  # without it, compilation takes half the time
SETTINGS = {
    "jax_persistent_cache_min_compile_time_secs": 0.0,  # a fit compiles many small programs
    "jax_persistent_cache_min_entry_size_bytes": 0,
}


def folder_of_programs() -> Path:
    """The default folder of the cache: `secant/programs` in the user's cache."""
    cache = os.environ.get("XDG_CACHE_HOME", "")
    return (Path(cache) if cache else Path.home() / ".cache") / "secant" / "programs"


@functools.cache
def quick_compilation(level: int) -> dict[str, bool | int]:
    """Compiler options for programs that run a few times: half the time to compile.

    Empty if the installed XLA does not know them.

    Args:
        level: of optimisation; 0 for a program that runs once or twice.
    """
    import jax

    options: dict[str, bool | int] = {"xla_backend_optimization_level": level, _QUICK: False}
    try:
        jax.jit(abs, compiler_options=options).lower(0.0).compile()
    except jax.errors.JaxRuntimeError:
        return {}
    return options


def quickly_compiled(function: Callable[..., Array], level: int) -> Callable[..., Array]:
    """The function as a program with the options of `quick_compilation`, made on first use."""

    @functools.cache
    def program() -> Callable[..., Array]:
        import equinox as eqx

        jitted: Any = eqx.filter_jit  # which does not declare the options of `jax.jit`
        return jitted(function, compiler_options=quick_compilation(level))

    @functools.wraps(function)
    def call(*args: Any) -> Array:  # noqa: ANN401
        return program()(*args)

    return call


def keep_programs(folder: str | Path | None = None) -> None:
    """Cache compiled JAX programs in a folder, for this and later processes.

    A fit in a later process then starts faster. The first fit of a process and the command line
    `secant` call this. `JAX_COMPILATION_CACHE_DIR` names another folder;
    `JAX_ENABLE_COMPILATION_CACHE=false` disables the cache.

    Args:
        folder: of the cache. It holds at most 4,000 programs; beyond that the oldest half is
            deleted. None is `~/.cache/secant/programs`.

    Examples:
        >>> import secant
        >>> secant.keep_programs()  # doctest: +SKIP
    """
    import jax

    place = (folder_of_programs() if folder is None else Path(folder)).absolute()
    place.mkdir(parents=True, exist_ok=True)
    _forget_the_oldest(place)
    jax.config.update("jax_compilation_cache_dir", str(place))
    for name, value in SETTINGS.items():
        jax.config.update(name, value)


@functools.cache
def keep_programs_by_default() -> None:
    """Call `keep_programs()` once, unless the user has configured the cache; ignore failures."""
    import jax

    chosen = getattr(jax.config, "jax_compilation_cache_dir", None)
    if chosen or not getattr(jax.config, "jax_enable_compilation_cache", True):
        return
    with suppress(OSError):
        keep_programs()


def set_environment(environment: MutableMapping[str, str]) -> None:
    """Configure the cache by environment variables, before JAX is imported.

    The user's settings take precedence. Without a writable folder there is no cache.
    """
    if "JAX_COMPILATION_CACHE_DIR" in environment:
        return
    folder = folder_of_programs()
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        return
    if os.access(folder, os.W_OK):
        _forget_the_oldest(folder)
        environment["JAX_COMPILATION_CACHE_DIR"] = str(folder)
        for name, value in SETTINGS.items():
            environment.setdefault(name.upper(), str(value))


def _forget_the_oldest(folder: Path) -> None:
    """Delete the oldest programs. JAX's own limit would stat every file at each write."""
    with os.scandir(folder) as entries:
        names = [entry.name for entry in entries]
    if len(names) <= _MOST_PROGRAMS:
        return
    with suppress(OSError):  # another process may delete them at the same time
        files = sorted((folder / name for name in names), key=lambda path: path.stat().st_mtime_ns)
        for path in files[: len(files) - _MOST_PROGRAMS // 2]:
            path.unlink()


def forget_if_too_many() -> None:
    """Clear compiled programs from memory before a long process runs out of memory maps.

    Every program uses several, and Linux allows 65,530 per process. Without this, a long sweep
    ended in "LLVM compilation error: Cannot allocate memory", and a run of all tests crashed.
    """
    if _MAPS.exists() and _MAPS.read_bytes().count(b"\n") > _MOST_MAPS:
        import equinox
        import jax

        jax.clear_caches()
        equinox.clear_caches()  # type: ignore[no-untyped-call]


class ForkedProcessError(RuntimeError):
    """This process was forked from one in which JAX had run, so JAX would hang."""


class _Process:
    """State of this process, which a fork copies."""

    is_stuck = False


def _look_back() -> None:
    # JAX has no public test for an existing backend that does not create one.
    bridge = sys.modules.get("jax._src.xla_bridge")
    _Process.is_stuck = bool(getattr(bridge, "_backends", None))


if hasattr(os, "register_at_fork"):  # not on Windows, which does not fork
    os.register_at_fork(after_in_child=_look_back)


def check_not_forked() -> None:
    """Raise an error in a forked process in which JAX would hang.

    Raises:
        ForkedProcessError: JAX had run in the process from which this one was forked.
    """
    if _Process.is_stuck:
        raise ForkedProcessError(
            "this process was forked from one that had used JAX, whose threads a fork does not "
            'copy: it would hang. Start processes by multiprocessing.get_context("spawn") (or '
            '"forkserver"), by joblib\'s default backend, or fork before the first fit.'
        )

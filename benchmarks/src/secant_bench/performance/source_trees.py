"""The sources of this library, present and older, and scripts run with either."""

from __future__ import annotations

import compileall
import io
import json
import os
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import secant
from secant_bench.benchmark import Skipped

__all__ = ["older_source", "present_source", "printed_by"]


@contextmanager
def present_source() -> Iterator[Path]:
    """The folder that this process imports the library from."""
    yield Path(secant.__file__).resolve().parents[1]


@contextmanager
def older_source(commit: str, folder: Path | None = None) -> Iterator[Path]:
    """A temporary folder with the `src` of a commit.

    It is an archive and not a worktree, so that a killed run leaves no trace in the repository.

    Args:
        commit: of the repository.
        folder: within the repository; None for the folder of this library.

    Raises:
        Skipped: there is no git, no repository or no such commit.
    """
    if folder is None:
        with present_source() as folder:
            pass
    archive = _archive(commit, _root(folder))
    with tempfile.TemporaryDirectory() as place, tarfile.open(fileobj=io.BytesIO(archive)) as tar:
        tar.extractall(place, filter="data")
        source = Path(place).resolve() / "src"
        compileall.compile_dir(source, quiet=1)  # as the present one is
        yield source


def _root(folder: Path) -> Path:
    found = _git(folder, "rev-parse", "--show-toplevel", otherwise="there is no repository here")
    return Path(found.decode().strip())


def _archive(commit: str, root: Path) -> bytes:
    missing = f"commit {commit[:7]} is not in the repository; fetch its whole history"
    return _git(root, "archive", "--format=tar", commit, "src", otherwise=missing)


def _git(folder: Path, *arguments: str, otherwise: str) -> bytes:
    try:
        done = subprocess.run(["git", "-C", str(folder), *arguments], capture_output=True)
    except FileNotFoundError as missing:
        raise Skipped("older sources are read by git, which is not installed.") from missing
    if done.returncode != 0:
        raise Skipped(f"{otherwise} ({done.stderr.decode(errors='replace').strip()}).")
    return done.stdout


def printed_by(
    script: Path, source: Path, *arguments: str, programs: Path | None = None
) -> dict[str, Any]:
    """The JSON object that a script prints last, run in a new process with these sources.

    If the script reports the `source` it used, it must be this one.

    Args:
        script: a Python file.
        source: folder of the library.
        *arguments: of the script.
        programs: folder of the compilation cache; None for no cache.
    """
    environment = {**os.environ, "PYTHONPATH": str(source)}
    if programs is None:
        environment["JAX_ENABLE_COMPILATION_CACHE"] = "false"
    else:
        environment.pop("JAX_COMPILATION_CACHE_DIR", None)
        environment["XDG_CACHE_HOME"] = str(programs)
    command = [sys.executable, "-P", str(script), *arguments]
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(f"{script.name} of {source} failed:\n{done.stderr[-4000:]}")
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    used = found.pop("source", None)
    if used is not None and not Path(used).resolve().is_relative_to(source):
        raise RuntimeError(f"{script.name} was to use {source}; it used {used}.")
    return found

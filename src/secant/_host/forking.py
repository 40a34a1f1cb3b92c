"""Processes forked from one in which JAX has run.

Such a copy has JAX's locks but not its threads, and would wait for them for ever: what uses JAX
asks `check_not_forked` first.
"""

from __future__ import annotations

import os
import sys

__all__ = ["ForkedProcessError", "check_not_forked"]


class ForkedProcessError(RuntimeError):
    """This process was forked from one in which JAX had run, and would hang."""


class _Process:
    """What is known of this process; a fork copies it."""

    is_stuck = False


def _look_back() -> None:
    # JAX has no public name for "a backend is there" that does not make one.
    bridge = sys.modules.get("jax._src.xla_bridge")
    _Process.is_stuck = bool(getattr(bridge, "_backends", None))


if hasattr(os, "register_at_fork"):  # not on Windows, which does not fork
    os.register_at_fork(after_in_child=_look_back)


def check_not_forked() -> None:
    """Refuse to go on where JAX would hang.

    Raises:
        ForkedProcessError: JAX had run in the process from which this one was forked.
    """
    if _Process.is_stuck:
        raise ForkedProcessError(
            "this process was forked from one that had used JAX, whose threads a fork does not "
            'copy: it would hang. Start processes by multiprocessing.get_context("spawn") (or '
            '"forkserver"), by joblib\'s default backend, or fork before the first fit.'
        )

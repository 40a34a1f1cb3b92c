"""Fixtures shared by every test."""

import ctypes
import gc
import mmap
import signal
from contextlib import contextmanager
from pathlib import Path

import equinox
import jax
import pytest
from _pytest.doctest import DoctestModule

from secant._host.jax_process import forget_if_too_many

collect_ignore = ["src/secant/io.py"]  # deprecated: importing it warns, and it has no doctest


def pytest_addoption(parser):
    parser.addoption(
        "--update-golden", action="store_true", help="write the transcripts in tests/golden/cli"
    )


def pytest_collection_finish():
    """Spend less on collecting garbage: what is imported and collected as tests stays."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 50)  # a traced program is many long-lived objects


_MEGABYTE = 2**20
_STATM = Path("/proc/self/statm")
# The programs of all tests would fill several gigabytes. Clearing the caches takes half a second,
# and programs that are still needed are traced again: clear only if enough memory is gained.
_PLENTY, _MOST, _WORTH_IT = (n * _MEGABYTE for n in (600, 650, 100))


def _memory():
    pages = int(_STATM.read_text().split()[1]) if _STATM.exists() else 0
    return pages * mmap.PAGESIZE


@pytest.fixture(scope="session")
def memory_kept():
    """How much memory was still in use after the caches were last cleared."""
    return {"bytes": 0}


@pytest.fixture(autouse=True, scope="module")
def few_programs(memory_kept):
    """Clear compiled programs between modules; those needed again are read from disk."""
    yield
    forget_if_too_many()
    if _memory() > min(max(_PLENTY, memory_kept["bytes"] + _WORTH_IT), _MOST):
        jax.clear_caches()
        equinox.clear_caches()
        gc.collect()
        ctypes.CDLL(None).malloc_trim(0)  # or the process keeps the freed memory
        memory_kept["bytes"] = _memory()


@contextmanager
def _compiled(*, crudely):
    name = "jax_disable_most_optimizations"
    before = jax.config.values[name]
    jax.config.update(name, crudely)
    yield
    jax.config.update(name, before)


@pytest.fixture
def unoptimised():
    """Compile without optimisation: half the time, for programs that run once."""
    with _compiled(crudely=True):
        yield


@pytest.fixture(scope="module")
def optimised():
    """Compile with optimisation: half the time, for programs that train for long.

    From the first test of a module that asks for it to the last: its tests share programs.
    """
    jax.clear_caches()  # programs of earlier tests are not optimised
    with _compiled(crudely=False):
        yield


@pytest.fixture(autouse=True, scope="module")
def examples_train_for_long(request):
    """Compile the examples of docstrings as users do: they fit with default settings."""
    if not isinstance(request.node, DoctestModule):
        yield
        return
    with _compiled(crudely=False):
        yield


@pytest.fixture
def float64(unoptimised):
    """Run one test in double precision; the switch is never global."""
    with jax.enable_x64(True):
        yield


@pytest.fixture
def as_in_a_terminal():
    """A process that a script started in the background would ignore Ctrl-C."""
    earlier = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, earlier)

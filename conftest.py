"""Fixtures shared by every test."""

import ctypes
import gc
import signal
from contextlib import contextmanager
from pathlib import Path

import equinox
import jax
import pytest

from secant._host.jax_process import forget_if_too_many

collect_ignore = ["src/secant/io.py"]  # deprecated: importing it warns, and it has no doctest


def pytest_addoption(parser):
    parser.addoption("--update-golden", action="store_true", help="write tests/golden/cli anew")


_MOST_PAGES = 900 * 2**20 // 4096  # of memory: programs of all tests would fill several gigabytes
_PAGES = Path("/proc/self/statm")


@pytest.fixture(autouse=True, scope="module")
def few_programs():
    """Let go of compiled programs between modules; those still wanted are read from disk."""
    yield
    forget_if_too_many()
    if _PAGES.exists() and int(_PAGES.read_text().split()[1]) > _MOST_PAGES:
        jax.clear_caches()
        equinox.clear_caches()
        gc.collect()
        ctypes.CDLL(None).malloc_trim(0)  # or the process keeps what it has let go of


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


@pytest.fixture
def optimised():
    """Compile with optimisation: half the time, for programs that train for long."""
    jax.clear_caches()  # programs of earlier tests are not optimised
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

"""Fixtures shared by every test."""

import signal
from pathlib import Path

import equinox as eqx
import jax
import pytest

MAPS = Path("/proc/self/maps")


def pytest_addoption(parser):
    parser.addoption("--update-golden", action="store_true", help="write tests/golden/cli anew")


@pytest.fixture(autouse=True, scope="module")
def few_programs():
    """Every compiled program maps memory, of which Linux lets a process have 65,530 pieces.

    A process that has run some three thousand of these tests would crash in the next compilation.
    """
    yield
    if MAPS.exists() and MAPS.read_bytes().count(b"\n") > 30_000:
        jax.clear_caches()
        eqx.clear_caches()


@pytest.fixture
def unoptimised():
    """Compile without optimisation: half the time, for programs that run once."""
    jax.config.update("jax_disable_most_optimizations", val=True)
    yield
    jax.config.update("jax_disable_most_optimizations", val=False)


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

"""Fixtures shared by every test."""

import signal

import jax
import pytest

from secant.programs import forget_if_too_many


def pytest_addoption(parser):
    parser.addoption("--update-golden", action="store_true", help="write tests/golden/cli anew")


@pytest.fixture(autouse=True, scope="module")
def few_programs():
    """A process that kept those of all tests would crash before the last of them."""
    yield
    forget_if_too_many()


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

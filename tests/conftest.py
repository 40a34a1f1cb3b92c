"""Fixtures shared by every test."""

import jax
import pytest


@pytest.fixture
def float64():
    """Run one test in double precision; the switch is never global."""
    with jax.enable_x64(True):
        yield

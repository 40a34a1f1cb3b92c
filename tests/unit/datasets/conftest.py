"""Fixtures of the dataset tests."""

from collections.abc import Iterator

import jax
import pytest
from jaxtyping import PRNGKeyArray


@pytest.fixture(scope="session")
def key() -> PRNGKeyArray:
    """A key whose generator compiles fast: the default one takes seconds for every new shape."""
    return jax.random.key(0, impl="rbg")


@pytest.fixture
def float64() -> Iterator[None]:
    """Run one test in double precision; the switch is never global."""
    with jax.enable_x64(new_val=True):
        yield

"""What the tests of pages show."""

import pytest
from tests.unit.report.shown import compared, hostile_comparison, with_path


@pytest.fixture(scope="session")
def found():
    return with_path(compared())


@pytest.fixture(scope="session")
def hostile():
    return hostile_comparison()

"""A fitted estimator that takes no time, and its file."""

import pytest
from tests.unit.model_files import small


@pytest.fixture(scope="session")
def kernel():
    return small.kernel().fit_samples(small.X_0, small.X_1)


@pytest.fixture
def path(kernel, tmp_path):
    kernel.save(tmp_path / "model.secant", metadata={"columns": ["a", "b"]})
    return tmp_path / "model.secant"

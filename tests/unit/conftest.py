"""Small samples and a small fitted estimator."""

import pytest
from tests import tiny


@pytest.fixture(scope="session")
def samples():
    return tiny.samples()


@pytest.fixture(scope="session")
def new():
    """Makes small unfitted estimators."""
    return tiny.ratio


@pytest.fixture(scope="session")
def fitted(samples):
    return tiny.ratio().fit_samples(*samples)

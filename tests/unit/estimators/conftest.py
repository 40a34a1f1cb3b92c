"""Small samples and a small fitted estimator."""

from typing import NamedTuple

import numpy as np
import pytest

from secant import SecantRatio, Training
from secant.estimators import GaussianMoments
from secant.models import ResidualMLP, SpectralSecant

N, D = 200, 3


class Samples(NamedTuple):
    """Two samples, and the same rows in scikit-learn's form."""

    x_0: np.ndarray
    x_1: np.ndarray

    @property
    def X(self):
        return np.concatenate(self)

    @property
    def y(self):
        return np.repeat([0, 1], [len(self.x_0), len(self.x_1)])


def small(**changed):
    """An estimator of a second; equal settings and shapes share one compilation."""
    settings = {
        "anchor": GaussianMoments(),
        "training": Training(steps=40, batch_size=32, evaluate_every=20),
        "random_state": 0,
    }
    model = SpectralSecant(order=2, trunk=ResidualMLP(width=8, depth=0))
    return SecantRatio(model, **(settings | changed))


@pytest.fixture(scope="session")
def samples():
    rng = np.random.default_rng(0)
    return Samples(rng.normal(size=(N, D)), 0.3 + 1.2 * rng.normal(size=(N, D)))


@pytest.fixture(scope="session")
def new():
    """Makes small unfitted estimators."""
    return small


@pytest.fixture(scope="session")
def fitted(samples):
    return small().fit_samples(*samples)

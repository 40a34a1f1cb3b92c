"""Settings of a fit that takes a second, shared: equal shapes and parts share their programs.

Whatever is a number (steps, rates, rows within a room) may differ without another program; width,
batch size, number of columns and the kinds of parts may not.
"""

from typing import NamedTuple

import numpy as np

from secant import SecantRatio, Training
from secant.models import ResidualMLP, SpectralSecant

N, D, BATCH, WIDTH = 200, 3, 32, 8

TRUNK = ResidualMLP(width=WIDTH, depth=0)
MODEL = SpectralSecant(order=2, trunk=TRUNK)
# Fast enough that something is learned, and kept, within forty steps.
TRAINING = Training(
    steps=40, batch_size=BATCH, evaluate_every=20, learning_rate=0.03, warmup=5, average=0.9
)


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


def samples(n=N, d=D, seed=0):
    """A standard normal, and a wider one shifted to the right."""
    rng = np.random.default_rng(seed)
    return Samples(rng.normal(size=(n, d)), 0.5 + 1.2 * rng.normal(size=(n, d)))


def ratio(**changed):
    """An unfitted estimator that is fitted within a second."""
    settings = {"anchor": False, "training": TRAINING, "random_state": 0}
    return SecantRatio(MODEL, **(settings | changed))

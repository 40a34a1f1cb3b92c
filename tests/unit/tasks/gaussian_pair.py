"""Two Gaussians on the line with their divergences in closed form, and their exact ratio."""

import math

import numpy as np
from scipy.stats import norm

from secant.estimators import RatioEstimator

MEAN, SPREAD = 0.6, 0.9  # of p_1; p_0 is N(0, 1)
_GRID = np.linspace(-12.0, 12.0, 200_001)
_P_0, _P_1 = norm.pdf(_GRID), norm.pdf(_GRID, MEAN, SPREAD)
_STEP = _GRID[1] - _GRID[0]


class ExactRatio(RatioEstimator):
    """The true log ratio, plus `constant` times a number drawn in fit, plus `error(x)`."""

    def __init__(self, mean=MEAN, spread=SPREAD, *, constant=0.0, error=None, random_state=None):
        self.mean = mean
        self.spread = spread
        self.constant = constant
        self.error = error
        self.random_state = random_state

    def _fit(self, sample_0, sample_1, seed):
        self.constant_ = self.constant * np.random.default_rng(seed).normal()

    def _log_ratio(self, X):
        x = X[:, 0]
        exact = 0.5 * x**2 - 0.5 * ((x - self.mean) / self.spread) ** 2 - math.log(self.spread)
        return exact + self.constant_ + (0.0 if self.error is None else self.error(x))


def drawn(seed, n_0=400, n_1=300, *, mean=MEAN, spread=SPREAD):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n_0, 1)), rng.normal(mean, spread, size=(n_1, 1))


def kl(mean=MEAN, spread=SPREAD):
    return -math.log(spread) + 0.5 * (spread**2 + mean**2 - 1.0)


def reverse_kl(mean=MEAN, spread=SPREAD):
    return math.log(spread) + 0.5 * ((1.0 + mean**2) / spread**2 - 1.0)


def chi2():
    return math.exp(MEAN**2 / (2.0 - SPREAD**2)) / (SPREAD * math.sqrt(2.0 - SPREAD**2)) - 1.0


def jensen_shannon():
    middle = 0.5 * (_P_0 + _P_1)
    parts = (p * np.log(np.maximum(p, 1e-300) / np.maximum(middle, 1e-300)) for p in (_P_0, _P_1))
    return 0.5 * _STEP * sum(float(part.sum()) for part in parts)


def total_variation():
    return 0.5 * _STEP * float(np.abs(_P_1 - _P_0).sum())


def le_cam():
    return 0.5 * _STEP * float(((_P_1 - _P_0) ** 2 / np.maximum(_P_0 + _P_1, 1e-300)).sum())

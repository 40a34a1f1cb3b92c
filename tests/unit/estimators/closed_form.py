"""A standard normal against another normal, with the exact log ratio, by NumPy alone."""

from dataclasses import dataclass

import numpy as np
from scipy.stats import multivariate_normal

START = multivariate_normal([0.0, 0.0])


@dataclass(frozen=True)
class NormalPair:
    """x_0 from `START` and x_1 from `end`."""

    end: object

    def drawn(self, seed, n_0, n_1):
        rng = np.random.default_rng(seed)
        return START.rvs(n_0, random_state=rng), self.end.rvs(n_1, random_state=rng)

    def log_ratio(self, x):
        return self.end.logpdf(x) - START.logpdf(x)


def rmse(a, b):
    return float(np.sqrt(np.mean((a - b) ** 2)))

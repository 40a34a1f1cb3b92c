"""Across a chasm.

Two samples on a line, with a gap between them. A classifier separates them without error and learns
no more: its log ratio levels off. Along a path, nearby intermediate distributions overlap.
"""

import sys
import warnings

import matplotlib.pyplot as plt
import numpy as np
from scipy.stats import norm

import secant

rng = np.random.default_rng(0)
x_0 = rng.normal(0.0, 1.0, (1000, 1))
x_1 = np.concatenate([rng.normal(9.0, 0.6, (500, 1)), rng.normal(12.0, 0.4, (500, 1))])


def truth(x):
    """The exact log ratio."""
    top = np.logaddexp(norm(9.0, 0.6).logpdf(x), norm(12.0, 0.4).logpdf(x)) - np.log(2.0)
    return top - norm(0.0, 1.0).logpdf(x)


warnings.simplefilter("ignore", secant.OverlapWarning)  # there is no overlap, on purpose
ratio = secant.SecantRatio(random_state=0).fit_samples(x_0, x_1)
classifier = secant.SklearnRatio(folds=None).fit_samples(x_0, x_1)

at = np.linspace(-3.0, 13.5, 400)[:, None]
figure, (top, bottom) = plt.subplots(2, figsize=(7, 5), sharex=True, height_ratios=[1, 2.5])
top.hist(x_0[:, 0], bins=60, density=True, label="x_0")
top.hist(x_1[:, 0], bins=60, density=True, label="x_1")
bottom.plot(at, truth(at), "k", linewidth=4, alpha=0.25, label="exact")
bottom.plot(at, ratio.log_ratio(at), label="SecantRatio, one evaluation")
bottom.plot(at, classifier.log_ratio(at), "--", label="a classifier")
bottom.set(xlabel="x", ylabel="log p_1 − log p_0, nats")
top.legend(frameon=False)
bottom.legend(frameon=False)
figure.tight_layout()
figure.savefig(sys.argv[1] if len(sys.argv) > 1 else "chasm.png", dpi=110)

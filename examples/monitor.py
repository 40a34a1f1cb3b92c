"""An alarm that may be looked at every day.

Breast-cancer tissue arrives in windows of thirty rows, benign at first, with none, five or fifteen
malignant rows from window 8 on. The evidence crosses its line soon after; without a change, never.
"""

import sys

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer

import secant

X, y = load_breast_cancer(return_X_y=True, as_frame=True)
X = np.log1p(X[["mean radius", "mean texture", "mean smoothness", "mean symmetry"]])
rng = np.random.default_rng(0)
benign, malignant = (rng.permutation(np.flatnonzero(y == label)) for label in (1, 0))
reference, later = X.iloc[benign[:157]], benign[157:]


def stream(n_malignant):
    """Windows of thirty rows drawn with replacement, so many of them malignant."""
    rows = [
        [*rng.choice(later, 30 - k), *rng.choice(malignant, k)]
        for k in (n_malignant if number >= 8 else 0 for number in range(16))
    ]
    return X.iloc[np.concatenate([rng.permutation(each) for each in rows])]


options = {"every": 30, "estimator": secant.SklearnRatio(folds=None), "n_permutations": 99}
watched = {k: secant.monitor(reference, stream(k), **options) for k in (0, 5, 15)}

_, (left, right) = plt.subplots(1, 2, figsize=(9.0, 3.6), layout="constrained")
for k, found in watched.items():
    label = f"{k} of 30 malignant"
    left.plot([w.log_evidence / np.log(10.0) for w in found.windows], label=label)
    right.plot(*zip(*((i, 100.0 * c.overlap) for i, c in found.compared), strict=True), label=label)
    print(found.verdict)
left.axhline(np.log10(20.0), color="grey", linestyle="--")
left.set(xlabel="window", ylabel="evidence (powers of ten)", ylim=(-1, 8))
right.axhspan(100.0 * watched[0].band.overlap, 100.0, color="grey", alpha=0.2)
right.set(xlabel="window", ylabel="share in common (%)")
right.legend(frameon=False)
plt.savefig(sys.argv[1] if len(sys.argv) > 1 else "monitor.png", dpi=150)

"""An alarm that may be checked every day.

Breast-cancer tissue arrives in windows of twenty rows, benign at first, with none, five or ten
malignant rows from window 5 on. With ten, the evidence crosses its threshold in the second window;
five are too few to detect; without a change a crossing is rare.
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
reference, later = X.iloc[benign[:137]], benign[137:]  # 220, eleven windows


def stream(n_malignant):
    """Windows of twenty rows, in the later ones so many of them malignant."""
    rows = later.reshape(11, 20).copy()
    rows[5:, :n_malignant] = malignant[: 6 * n_malignant].reshape(6, n_malignant)
    return X.iloc[rows.ravel()]


options = {"every": 20, "estimator": secant.SklearnRatio(folds=None), "n_permutations": 99}
watched = {k: secant.monitor(reference, stream(k), **options) for k in (0, 5, 10)}

_, (left, right) = plt.subplots(1, 2, figsize=(9.0, 3.6), layout="constrained")
for k, found in watched.items():
    label = f"{k} of 20 malignant"
    left.plot([w.log_evidence / np.log(10.0) for w in found.windows], label=label)
    right.plot(*zip(*((i, 100.0 * c.overlap) for i, c in found.compared), strict=True), label=label)
    print(found.verdict)
left.axhline(np.log10(20.0), color="grey", linestyle="--")
left.set(xlabel="window", ylabel="evidence (powers of ten)", ylim=(-1, 8))
right.axhspan(100.0 * watched[0].band.overlap, 100.0, color="grey", alpha=0.2)
right.set(xlabel="window", ylabel="share in common (%)")
right.legend(frameon=False)
plt.savefig(sys.argv[1] if len(sys.argv) > 1 else "monitor.png", dpi=150)

"""Images from other writers, watched as one group of columns.

The handwritten digits of scikit-learn are of 13 people and not in random order. The first 600 are
the reference, the others a stream in windows of 200; their pixels are one group. The first window
already differs. In random order, where every window has all writers, there is no alarm.
"""

import sys

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

import secant

X = load_digits(as_frame=True).data
X = X.loc[:, X.std() > 0.5]  # without pixels that are nearly always white
shuffled = X.iloc[np.random.default_rng(0).permutation(len(X))]
options = {"every": 200, "n_permutations": 99, "estimator": secant.SklearnRatio(folds=None)}
watched = {
    name: secant.monitor(rows.iloc[:600], rows.iloc[600:], groups={"pixels": "*"}, **options)
    for name, rows in (("as they came", X), ("in random order", shuffled))
}

_, (left, right) = plt.subplots(1, 2, figsize=(9.0, 3.6), layout="constrained")
for name, found in watched.items():
    closed = [w for w in found.windows if not w.is_open]
    left.plot([w.log_evidence / np.log(10.0) for w in closed], "o-", label=name)
    right.plot(*zip(*((i, 100 * c.overlap) for i, c in found.compared), strict=True), "o-")
    print(found.verdict)
left.axhline(np.log10(20.0), color="grey", linestyle="--")
left.set(xlabel="window", ylabel="evidence (powers of ten)", xticks=range(5))
left.legend(frameon=False)
right.set(xlabel="window", ylabel="share in common (%)", ylim=(0, 105), xticks=range(5))
plt.savefig(sys.argv[1] if len(sys.argv) > 1 else "by_writer.png", dpi=150)

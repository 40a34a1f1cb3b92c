"""Drift of a table.

Wines of one region against wines of another stand in for last month and this month. Which
columns carry the difference, and is there one at all?
"""

import sys

from sklearn.datasets import load_wine

import secant
from secant.report.figures import plot_drift

wine = load_wine()
reference, current = wine.data[wine.target == 0], wine.data[wine.target == 1]
kept = [wine.feature_names.index(n) for n in ("ash", "magnesium", "nonflavanoid_phenols", "hue")]
found = secant.compare(
    reference[:, kept],
    current[:, kept],
    estimator=secant.SklearnRatio(folds=None),
    sample_names=("reference", "current"),
    feature_names=[wine.feature_names[i] for i in kept],
    random_state=0,
)
print(found)
plot_drift(found, sys.argv[1] if len(sys.argv) > 1 else "drift.png")

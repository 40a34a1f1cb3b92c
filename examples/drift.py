"""Drift of a table.

Wines of two regions represent last month and this month. Is there a difference, and in which
columns? With about sixty rows each, logistic regression is the recommended estimator.
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
    estimator=secant.SklearnRatio(),
    sample_names=("reference", "current"),
    feature_names=[wine.feature_names[i] for i in kept],
    random_state=0,
)
print(found)
plot_drift(found, sys.argv[1] if len(sys.argv) > 1 else "drift.png")

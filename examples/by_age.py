"""Two tables split by age, with a group of columns.

The diabetes patients of scikit-learn, younger and older than the median. Blood pressure differs
most; the six serum measurements, a group that counts as one, come next. Without the group, each of
them is a small change of its own.
"""

import sys

import matplotlib.pyplot as plt
from sklearn.datasets import load_diabetes

import secant

X = load_diabetes(as_frame=True, scaled=False).data
is_young = X.age < X.age.median()
younger, older = (X[rows].drop(columns="age") for rows in (is_young, ~is_young))
names = {"sample_names": ("younger", "older"), "random_state": 0}
found = {
    "six columns of serum": secant.compare(younger, older, **names),
    "one group": secant.compare(younger, older, groups={"serum": "s[1-6]"}, **names),
}

_, axes = plt.subplots(1, 2, figsize=(9.0, 3.6), layout="constrained")
for panel, (title, one) in zip(axes, found.items(), strict=True):
    columns = one.features[::-1]
    values, errors = zip(
        *((c.contribution, 2 * c.contribution_error) for c in columns), strict=True
    )
    panel.barh([c.name for c in columns], values, xerr=errors, color="#1f6fb2")
    panel.set(title=title, xlabel="carries (nats)")
    print(one.verdict)
plt.savefig(sys.argv[1] if len(sys.argv) > 1 else "by_age.png", dpi=150)

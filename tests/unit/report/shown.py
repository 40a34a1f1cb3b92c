"""Comparisons and results of monitoring for pages, made without training."""

from dataclasses import replace

import numpy as np
import pandas as pd
from sklearn.linear_model import LogisticRegression

from secant import SklearnRatio, compare, monitor
from secant.tasks.path_picture import PathLine, PathPicture
from secant.training.settings import Record

HOSTILE = (
    "<script>window.pwned=1</script>",
    '"><img src=x onerror="window.pwned=1">',
    "</style><script>window.pwned=1</script>",
    "javascript:window.pwned=1",
    "{{ 7 * 7 }}{% for x in y %}",
)


def compared(names=("a", "b", "c", "d", "e"), samples=("old", "new"), shift=1.0):
    """Two samples of five columns, of which the second has moved."""
    rng = np.random.default_rng(0)
    x_0, x_1 = rng.normal(size=(300, 5)), rng.normal(size=(250, 5))
    x_1[:, 1] += shift
    ratio = SklearnRatio(LogisticRegression(C=100.0), folds=None)
    return compare(
        x_0,
        x_1,
        feature_names=names,
        sample_names=samples,
        estimator=ratio,
        n_folds=2,
        n_permutations=99,
        random_state=0,
    )


def with_path(found):
    """The same with a path and a training, as a network's fit would leave them."""
    times = np.linspace(0.0, 1.0, 5)
    lines = [PathLine(s, 3, q, (2 * s - 1) * q * times**2) for s in (0, 1) for q in (0.1, 0.9)]
    history = tuple(Record(10 * k, 0.1 * k, 1.3 - 0.1 * k, 1.4 - 0.1 * k) for k in range(5))
    fits = tuple(replace(fit, history=history) for fit in found.fits)
    return replace(found, path=PathPicture(times, tuple(lines)), why_no_path="", fits=fits)


def hostile_comparison():
    """Hostile names of columns and samples, hostile cells, and one very long name."""
    names = (*HOSTILE[:4], "long" * 60)
    bad = with_path(compared(names=names, samples=(HOSTILE[0], HOSTILE[1])))
    k = bad.unlike_0.numbers.size
    zero = replace(bad.unlike_0, columns=HOSTILE, cells=(HOSTILE,) * k)
    one = replace(bad.unlike_1, columns=HOSTILE, cells=(HOSTILE[::-1],) * k)
    return replace(bad, unlike_0=zero, unlike_1=one)


def watched(shift=2.0, names=("age", "income"), **options):
    """Five days of 40 rows, the last two of them shifted."""
    rng = np.random.default_rng(1)
    reference = pd.DataFrame(rng.normal(size=(200, 2)), columns=names)
    stream = pd.DataFrame(rng.normal(size=(200, 2)), columns=names)
    stream.loc[120:, names[0]] += shift
    stream["when"] = pd.date_range("2024-03-01", periods=200, freq="36min")
    return monitor(
        reference,
        stream,
        time="when",
        every="1d",
        estimator=SklearnRatio(folds=None),
        n_permutations=19,
        **options,
    )

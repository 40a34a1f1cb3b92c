"""The default budgets by rows, as `secant.sizing` documents them."""

import pytest

from secant import ISADRE, ClassifierRatio, PathEntropy, SecantRatio


@pytest.mark.parametrize(
    ("estimator", "batches"),
    [
        (SecantRatio(), (256, 256, 256, 512)),
        (ClassifierRatio(), (64, 128, 256, 512)),
        (ISADRE(), (256, 256, 512, 512)),
        (PathEntropy(), (256, 256, 512, 512)),
    ],
    ids=["SecantRatio", "ClassifierRatio", "ISADRE", "PathEntropy"],
)
def test_batches_grow_with_rows(estimator, batches):
    rows = (2_000, 5_000, 49_999, 50_000)
    assert tuple(estimator._method(n, 3).training.batch_size for n in rows) == batches


@pytest.mark.parametrize(("n_rows", "rate"), [(5_000, 1e-3), (20_000, 2e-3), (50_000, 1e-3)])
def test_the_smaller_batches_of_secant_ratio_have_twice_the_rate(n_rows, rate):
    assert SecantRatio()._method(n_rows, 3).training.learning_rate == rate

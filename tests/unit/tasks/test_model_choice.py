"""The choice of a model: the simplest of the best, by the held-out loss."""

import numpy as np
import pytest

from secant.tasks.model_choice import chosen_model


def chosen(x_0, x_1):
    return chosen_model(x_0, x_1, np.random.RandomState(0))


def normal(n, d, seed):
    return np.random.default_rng(seed).normal(size=(n, d))


def test_a_linear_log_ratio_gets_a_linear_regression():
    found = chosen(normal(300, 3, 0), normal(300, 3, 1) + np.array([0.8, 0.0, 0.0]))
    assert found.name == "linear logistic regression"
    assert [look.loss for look in found.looks] == sorted(look.loss for look in found.looks)
    assert "boosted trees" in {look.name for look in found.looks}
    assert f"held-out loss {found.looks[0].loss:.4f}" in found.reason


def test_a_correlation_gets_a_quadratic_regression():
    x_1 = normal(400, 3, 1)
    x_1[:, 1] = 0.8 * x_1[:, 0] + 0.6 * x_1[:, 1]
    found = chosen(normal(400, 3, 0), x_1)
    assert found.name == "quadratic logistic regression"
    # Other bases are clearly worse; another penalty may do as well.
    assert {r.steps[1][0] for r in found.rivals} <= {"polynomialfeatures"}


def test_boxes_that_no_regression_follows_get_trees():
    rng = np.random.default_rng(0)
    x_0, x_1 = rng.uniform(size=(2, 800, 2))
    # Nearly all of the second sample is in three boxes on the diagonal.
    corner = rng.choice([0.0, 0.375, 0.75], 700)[:, None]
    x_1[:700] = corner + 0.25 * rng.uniform(size=(700, 2))
    found = chosen(x_0, x_1)
    assert found.name == "boosted trees"
    assert found.rivals == ()


def test_samples_apart_get_a_path():
    found = chosen(normal(200, 2, 0), normal(200, 2, 1) + 9.0)
    assert found.name == "path between the samples"
    assert type(found.estimator).__name__ == "ChasmSwitch"
    assert "misclassifies hardly any" in found.reason


@pytest.mark.parametrize("n", [5, 12])
def test_few_rows_get_the_linear_regression_alone(n):
    found = chosen(normal(n, 4, 0), normal(40, 4, 1))
    assert {look.name for look in found.looks} == {"linear logistic regression"}

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from tests.unit.tasks import gaussian_pair as pair
from tests.unit.tasks.gaussian_pair import ExactRatio, drawn

from secant import SklearnRatio, two_sample_test


def logistic():
    return SklearnRatio(LogisticRegression(), folds=None)


def test_the_statistic_of_the_exact_ratio_is_le_cams():
    found = two_sample_test(
        *drawn(0, 40_000, 40_000),
        estimator=ExactRatio(),
        n_folds=2,
        n_permutations=9,
        random_state=0,
    )
    # Scores lie in [0, 1] and vary by less than 0.2: 0.2 √(2/40 000) is 0.0014.
    assert found.statistic == pytest.approx(pair.le_cam(), abs=4 * 0.0014)


def test_a_difference_is_found_in_either_order():
    rng = np.random.default_rng(0)
    x_0, x_1 = rng.normal(size=(400, 3)), rng.normal(0.3, 1.0, size=(300, 3))
    for a, b in ((x_0, x_1), (x_1, x_0)):
        found = two_sample_test(a, b, estimator=logistic(), random_state=0)
        assert found.p_value < 0.01
        assert found.statistic > 0.0
        assert found.fold_p_values.shape == (5,)
    assert "p-value" in str(found)


def test_the_level_is_kept_where_there_is_no_difference():
    rng = np.random.default_rng(1)
    p_values = [
        two_sample_test(
            *rng.normal(size=(2, 60, 2)),
            estimator=logistic(),
            n_folds=2,
            n_permutations=39,
            random_state=seed,
        ).p_value
        for seed in range(100)
    ]
    assert np.mean(np.array(p_values) <= 0.1) < 0.1 + 3.0 * np.sqrt(0.1 * 0.9 / 100)
    assert 0.3 < np.median(p_values) < 0.7


def test_the_same_seed_gives_the_same_answer():
    samples = drawn(0)
    a, b = (two_sample_test(*samples, estimator=logistic(), random_state=7) for _ in range(2))
    assert a.p_value == b.p_value


@pytest.mark.parametrize("n_permutations", [0, 2.5, None])
def test_a_bad_number_of_permutations_is_refused(n_permutations):
    with pytest.raises(ValueError, match="`n_permutations` must be a whole number"):
        two_sample_test(*drawn(0), estimator=ExactRatio(), n_permutations=n_permutations)

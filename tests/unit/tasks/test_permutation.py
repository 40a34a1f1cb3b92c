import numpy as np
import pytest
from scipy import stats

from secant.tasks.permutation import combined_p_value, p_value_of_difference, permutation_p_value


def test_the_observed_value_counts_as_one_of_the_permutations():
    assert permutation_p_value(2.0, np.array([0.0, 1.0, 3.0])) == 2 / 4
    assert permutation_p_value(9.0, np.zeros(99)) == 1 / 100


def test_equal_scores_say_nothing():
    p = p_value_of_difference(
        np.ones(30), np.ones(20), n_permutations=50, rng=np.random.RandomState(0)
    )
    assert p == 1.0


def test_p_values_agree_with_the_t_test_for_normal_scores():
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=200), rng.normal(0.15, size=300)
    p = p_value_of_difference(a, b, n_permutations=4999, rng=np.random.RandomState(0))
    expected = stats.ttest_ind(b, a, alternative="greater").pvalue
    assert p == pytest.approx(expected, abs=4 * np.sqrt(expected * (1 - expected) / 4999))


def test_combining_equal_p_values_changes_nothing():
    assert combined_p_value([0.03, 0.03, 0.03]) == pytest.approx(0.03)


def test_a_fold_with_nothing_to_say_does_not_silence_the_others():
    assert combined_p_value([1e-4, 1.0, 0.5]) < 0.001


@pytest.mark.parametrize("correlation", [0.0, 0.5, 0.95])
def test_the_combination_keeps_its_level_under_dependence(correlation):
    rng = np.random.default_rng(1)
    shared, own = rng.normal(size=(4000, 1)), rng.normal(size=(4000, 5))
    p = stats.norm.sf(np.sqrt(correlation) * shared + np.sqrt(1 - correlation) * own)
    rate = np.mean([combined_p_value(row) <= 0.05 for row in p])
    assert 0.035 < rate < 0.065  # ±4 standard errors of a rate of 0.05

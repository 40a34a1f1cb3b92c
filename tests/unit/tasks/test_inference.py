import numpy as np
import pytest
from scipy import stats

from secant.tasks.inference import (
    combined_p_value,
    p_value_of_difference,
    p_value_of_pairing,
    permutation_p_value,
    pooled_p_value,
)


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


def test_few_rows_do_not_limit_the_p_value_of_a_pairing():
    scores = -np.abs(np.subtract.outer(np.arange(10.0), np.arange(10.0)))
    p = p_value_of_pairing(scores, n_permutations=999, rng=np.random.RandomState(0))
    assert p == 1 / 1000
    reversed_rows = p_value_of_pairing(
        scores[::-1], n_permutations=999, rng=np.random.RandomState(0)
    )
    assert reversed_rows > 0.99


def test_the_pooled_test_is_uniform_where_nothing_differs():
    p = []
    for seed in range(150):
        x_0, x_1 = np.random.default_rng(seed).normal(size=(2, 30, 2))
        rng = np.random.RandomState(seed)
        p.append(pooled_p_value(x_0, x_1[:20], n_permutations=39, rng=rng))
    assert stats.kstest(p, "uniform").pvalue > 1e-3
    assert min(p) >= 1 / 40


def far_mean(x):
    x[:, 0] += 1.0


def wide(x):
    x *= 1.8


def correlated(x):
    x[:, 1] = 0.9 * x[:, 0] + np.sqrt(1 - 0.81) * x[:, 1]


@pytest.mark.parametrize("change", [far_mean, wide, correlated])
def test_the_pooled_test_finds_means_spreads_and_correlations(change):
    rng = np.random.default_rng(0)
    x_0, x_1 = rng.normal(size=(100, 3)), rng.normal(size=(80, 3))
    change(x_1)
    p = pooled_p_value(x_0, x_1, n_permutations=999, rng=np.random.RandomState(0))
    assert p <= 0.01
    if change is far_mean:
        assert p == 1 / 1000  # the least there is

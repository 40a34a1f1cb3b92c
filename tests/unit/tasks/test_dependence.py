"""Re-pairing, cross-fitting and its correction, with a ratio that is known exactly."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from secant.estimators import RatioEstimator
from secant.tasks import dependence
from secant.tasks.dependence import CrossFitPlan, Dependence, normal_scores, repaired

RHO = 0.6
MI = -0.5 * np.log(1.0 - RHO**2)


class CopulaRatio(RatioEstimator):
    """The log ratio of a bivariate normal copula of one correlation, whatever it is fitted on."""

    def __init__(self, rho=RHO, constant=0.0, random_state=None):
        self.rho, self.constant, self.random_state = rho, constant, random_state

    def _fit(self, sample_0, sample_1, seed):
        self.rows_, self.diagnostics_ = (sample_0.rows, sample_1.rows), None

    def _log_ratio(self, X):
        x, y = X.T
        square = (x**2 - 2 * self.rho * x * y + y**2) / (1 - self.rho**2)
        log_joint = -0.5 * np.log(1 - self.rho**2) - 0.5 * square
        return log_joint + 0.5 * (x**2 + y**2) + self.constant


def blocks(seed, n=400, rho=RHO):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, 1))
    return [x, rho * x + np.sqrt(1 - rho**2) * rng.normal(size=(n, 1))]


def cross_fitted(seed, estimator=None, **data):
    plan = CrossFitPlan(estimator or CopulaRatio(), n_folds=4, n_permutations=49)
    return Dependence.fitted(blocks(seed, **data), plan, np.random.RandomState(seed))


def test_normal_scores_keep_the_order_and_nothing_else():
    x = np.random.default_rng(0).normal(size=(500, 2))
    scores = normal_scores(x)
    np.testing.assert_array_equal(np.argsort(scores, axis=0), np.argsort(x, axis=0))
    np.testing.assert_array_equal(normal_scores(np.exp(3.0 * x)), scores)
    assert stats.kstest(scores[:, 0], "norm").statistic <= 0.5 / 500 + 1e-9
    assert len(np.unique(normal_scores(np.array([[1.0], [1.0], [2.0]])))) == 2


@pytest.mark.parametrize("n_blocks", [2, 4])
def test_no_two_blocks_of_a_re_paired_row_come_from_one_row(n_blocks):
    rows = [np.arange(9.0)[:, None]] * n_blocks
    found = repaired(rows, 5, np.random.RandomState(0))
    assert found.shape == (5, 9, n_blocks)
    for repeat in found:
        assert all(len(set(row)) == n_blocks for row in repeat)
        for column in repeat.T:  # each block keeps its margin
            assert sorted(column) == list(range(9))
    np.testing.assert_array_equal(found[:, :, 0], np.tile(np.arange(9.0), (5, 1)))


def test_with_two_blocks_no_pair_is_made_twice():
    rows = [np.arange(7.0)[:, None]] * 2
    found = repaired(rows, 6, np.random.RandomState(0)).reshape(-1, 2)
    assert len({tuple(pair) for pair in found}) == 42  # all of the 7·6 there are


def test_training_and_judging_rows_are_re_paired_apart():
    found = cross_fitted(0)
    _, y = blocks(0)
    for fold in found.folds:
        x_0, x_1 = fold.ensemble.members[0].rows_
        held = set(y[fold.rows, 0])
        assert not held & set(x_0[:, 1])
        assert not held & set(x_1[:, 1])
        assert set(x_1[:, 1]) | held == set(y[:, 0])


def test_estimates_spread_about_the_truth_as_their_errors_say():
    found = [cross_fitted(seed) for seed in range(60)]
    z = np.array([(f.estimate - MI) / f.standard_error for f in found])
    assert abs(z.mean()) < 4.0 / np.sqrt(60)
    assert 0.75 < z.std() < 1.25  # ±3 standard errors of a standard deviation of 60


def test_the_normalisers_errors_add_to_the_spread_of_the_values():
    found = cross_fitted(0)
    spread = found.pointwise.var(ddof=1) / 400
    means = [np.square(fold.normaliser_error * fold.rows.size / 400) for fold in found.folds]
    assert found.standard_error == pytest.approx(np.sqrt(spread + sum(means)))
    none = replace(found, is_normalised=False)
    assert none.standard_error == pytest.approx(np.sqrt(spread))


def test_the_normaliser_s_error_is_that_of_re_paired_means():
    # Over data sets, log Ẑ of the true ratio spreads about 0 as its own error says.
    folds = [fold for seed in range(40) for fold in cross_fitted(seed).folds]
    z = np.array([fold.log_normaliser / fold.normaliser_error for fold in folds])
    assert 0.7 < z.std() < 1.4
    assert abs(z.mean()) < 0.5


def test_a_constant_in_the_ratio_is_taken_off():
    plain, shifted = cross_fitted(0), cross_fitted(0, CopulaRatio(constant=2.0))
    assert plain.is_normalised
    np.testing.assert_allclose(shifted.pointwise, plain.pointwise, atol=1e-10)


def test_a_wrong_ratio_falls_short():
    wrong = [cross_fitted(s, CopulaRatio(rho=0.2)).estimate for s in range(20)]
    right = [cross_fitted(s).estimate for s in range(20)]
    shortfall = np.subtract(right, wrong)
    # KL between the copulas: ½ [tr(R_w⁻¹ R) − 2 + log |R_w|/|R|].
    expected = 0.5 * (2 * (1 - 0.2 * RHO) / (1 - 0.2**2) - 2) + 0.5 * np.log((1 - 0.04) / 0.64)
    assert shortfall.mean() == pytest.approx(expected, abs=4 * shortfall.std() / np.sqrt(20))


def test_p_values_are_uniform_under_independence():
    p = [cross_fitted(seed, n=80, rho=0.0).p_value for seed in range(150)]
    assert stats.kstest(p, "uniform").pvalue > 0.01
    assert cross_fitted(0).p_value < 0.03


def judged(monkeypatch, fewest, estimator, rho, n_permutations=199):
    """A cross-fit of 4 folds of 2,000 rows, and of how many rows its re-pairings were."""
    sizes = []

    def noted(blocks, n_repeats, rng):
        if n_repeats == n_permutations:  # not those of training
            sizes.append(blocks[0].shape[0])
        return repaired(blocks, n_repeats, rng)

    monkeypatch.setattr(dependence, "repaired", noted)
    monkeypatch.setattr(dependence, "_FEWEST_ROWS_TO_JUDGE", fewest)
    plan = CrossFitPlan(estimator, n_folds=4, n_permutations=n_permutations)
    found = Dependence.fitted(blocks(0, n=8000, rho=rho), plan, np.random.RandomState(0))
    return found, sizes


def test_some_rows_of_a_fold_suffice_where_dependence_is_clear(monkeypatch):
    some, sizes = judged(monkeypatch, 1000, CopulaRatio(), RHO)
    every, all_sizes = judged(monkeypatch, 2000, CopulaRatio(), RHO)
    assert (sizes, all_sizes) == ([1000] * 4, [2000] * 4)
    assert some.p_value == every.p_value
    assert every.standard_error < some.standard_error < 1.02 * every.standard_error
    assert some.estimate == pytest.approx(every.estimate, abs=0.2 * every.standard_error)


@pytest.mark.parametrize(
    ("rho", "n_permutations"),
    [
        (0.0, 199),  # nothing is clear
        (RHO, 19),  # the normaliser is not known well enough
    ],
)
def test_all_rows_of_a_fold_are_judged_where_some_leave_doubt(monkeypatch, rho, n_permutations):
    estimator = CopulaRatio(rho=0.2 if rho == 0.0 else rho)
    found, sizes = judged(monkeypatch, 1000, estimator, rho, n_permutations)
    assert sizes == [2000] * 4
    assert len(found.folds) == 4


def test_a_ratio_that_heavy_is_not_normalised():
    # A ridge of width 0.004: the mean of r over re-pairings rests on the few that fall on it.
    found = cross_fitted(0, CopulaRatio(rho=0.99999), rho=0.99999)
    assert not found.is_normalised
    raw = np.concatenate([fold.log_ratio for fold in found.folds])
    assert found.estimate == pytest.approx(raw.mean())


@pytest.mark.parametrize("constant", [0.0, 2.0])
def test_the_exact_ratio_has_no_shortfall(constant):
    plan = CrossFitPlan(CopulaRatio(constant=constant), n_folds=4, n_permutations=49)
    rng = np.random.RandomState(0)
    found = []
    for seed in range(20):
        rows = blocks(seed)
        found.append(Dependence.fitted(rows, plan, rng).shortfall(rows, plan, rng))
    assert abs(np.mean(found)) < 4 * np.std(found) / np.sqrt(20)


def test_drawn_rows_are_given_normal_margins_only_where_the_data_were(monkeypatch):
    scored = []
    monkeypatch.setattr(dependence, "normal_scores", lambda b: scored.append(b) or b)
    rows, rng = blocks(0), np.random.RandomState(0)
    for margins, expected in ((False, 0), (True, 2)):
        plan = CrossFitPlan(CopulaRatio(), 4, n_permutations=9, normal_margins=margins)
        Dependence.fitted(rows, plan, rng).shortfall(rows, plan, rng)
        assert len(scored) == expected


class Shrunk(CopulaRatio):
    """Fits the correlation and subtracts 0.3: the same shortfall in every bootstrap sample."""

    def _fit(self, sample_0, sample_1, seed):
        super()._fit(sample_0, sample_1, seed)
        self.rho = float(np.corrcoef(sample_1.rows.T)[0, 1]) - 0.3


def test_the_shortfall_of_a_bad_fit_is_seen_in_the_world_it_draws():
    plan = CrossFitPlan(Shrunk(), n_folds=4, n_permutations=49)
    rng = np.random.RandomState(0)
    found = []
    for seed in range(20):
        rows = blocks(seed)
        found.append(Dependence.fitted(rows, plan, rng).shortfall(rows, plan, rng))
    # In bootstrap samples of ρ = 0.3 the fit is ρ = 0: all of their information is lost.
    assert np.mean(found) == pytest.approx(-0.5 * np.log(1 - 0.09), abs=0.02)

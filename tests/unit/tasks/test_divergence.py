from functools import partial
from statistics import NormalDist

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from tests.unit.tasks import gaussian_pair as pair
from tests.unit.tasks.gaussian_pair import ExactRatio, drawn

import secant
from secant import SklearnRatio
from secant.exceptions import OverlapWarning
from secant.tasks import divergence_intervals as intervals
from secant.tasks.cross_fitting import CrossFit, RatioEnsemble

DIVERGENCES = {
    "KL": (secant.kl_divergence, pair.kl()),
    "reverse KL": (partial(secant.kl_divergence, reverse=True), pair.reverse_kl()),
    "Jensen–Shannon": (secant.jensen_shannon, pair.jensen_shannon()),
    "chi2": (secant.chi2_divergence, pair.chi2()),
    "total variation": (secant.total_variation, pair.total_variation()),
}
every = pytest.mark.parametrize(("divergence", "truth"), DIVERGENCES.values(), ids=DIVERGENCES)
N_DRAWS = 500


def logistic():
    return SklearnRatio(LogisticRegression(), folds=None)


def exact_scores(seed, n_0=400, n_1=300, n_folds=3):
    """What cross-fitting the exact ratio gives, without its checks."""
    ratio = ExactRatio()
    ratio.constant_ = 0.0
    parts = (ratio._log_ratio(x) for x in drawn(seed, n_0, n_1))
    folds = (np.arange(n) % n_folds for n in (n_0, n_1))
    return CrossFit(*parts, *folds, (RatioEnsemble((ratio,)),) * n_folds)


def backwards(scores):
    return intervals.donsker_varadhan_terms(scores.swapped)


FORMULAS = {
    "KL": (intervals.donsker_varadhan_terms, pair.kl()),
    "plain KL": (intervals.plain_mean_terms, pair.kl()),
    "reverse KL": (backwards, pair.reverse_kl()),
    "Jensen–Shannon": (intervals.jensen_shannon_terms, pair.jensen_shannon()),
    "chi2": (intervals.chi2_terms, pair.chi2()),
    "total variation": (intervals.total_variation_terms, pair.total_variation()),
}


@pytest.mark.parametrize(("formula", "truth"), FORMULAS.values(), ids=FORMULAS)
def test_the_exact_ratio_gives_the_closed_form_with_its_standard_error(formula, truth):
    found = [formula(exact_scores(seed)) for seed in range(N_DRAWS)]
    estimates = np.array([terms.estimate for terms in found])
    errors = np.array([terms.standard_error for terms in found])
    assert abs(np.mean(estimates) - truth) < 4.0 * np.std(estimates) / np.sqrt(N_DRAWS)
    # 1/√(2 N_DRAWS) = 0.032 is the relative error of a standard deviation: 4 of them.
    assert np.std(estimates) == pytest.approx(np.sqrt(np.mean(errors**2)), rel=0.13)
    covered = np.mean(np.abs(estimates - truth) < 1.96 * errors)
    assert covered == pytest.approx(0.95, abs=0.04)  # 4 standard errors


@every
def test_the_result_is_near_the_formula_on_its_scores_and_covers_the_truth(divergence, truth):
    found = divergence(*drawn(0), estimator=ExactRatio(), n_folds=3, random_state=0)
    name = next(name for name, (d, _) in DIVERGENCES.items() if d is divergence)
    terms = FORMULAS[name][0](found.cross_fit)
    # The same rows: what differs is a regression on the exact score, a second-order matter.
    assert found.estimate == pytest.approx(terms.estimate, abs=0.6 * terms.standard_error)
    low, high = found.interval
    assert low < truth < high
    assert low <= found.estimate <= high


@every
def test_many_rows_have_the_formula_itself(divergence, truth):
    found = divergence(*drawn(0, 12_000, 9_000), estimator=ExactRatio(), n_folds=2, random_state=0)
    name = next(name for name, (d, _) in DIVERGENCES.items() if d is divergence)
    terms = FORMULAS[name][0](found.cross_fit)
    assert (found.estimate, found.standard_error) == pytest.approx(
        (terms.estimate, terms.standard_error)
    )
    z = NormalDist().inv_cdf(0.975)
    assert found.interval == pytest.approx(
        (terms.estimate - z * terms.standard_error, terms.estimate + z * terms.standard_error)
    )
    assert abs(found.estimate - truth) < 4.0 * found.standard_error


@every
def test_an_error_of_the_log_ratio_enters_squared_and_from_below(divergence, truth):
    x_0, x_1 = drawn(0, 100_000, 100_000)
    for slope in (-0.15, 0.15):
        wrong = ExactRatio(error=lambda x, slope=slope: slope * x)
        found = divergence(x_0, x_1, estimator=wrong, n_folds=2, random_state=0)
        # Of first order, the plain mean would be off by 0.15 × 0.6 = 0.09, half of KL.
        assert 0.8 * truth < found.estimate < truth + 3.0 * found.standard_error


@pytest.mark.parametrize(
    ("sizes", "rounding"),
    [((12_000, 9_000), 1e-9), ((), 1e-6)],
    ids=["formula", "refitted regression, to its solver's tolerance"],
)
def test_a_constant_of_each_fit_cancels_in_kl(sizes, rounding):
    x_0, x_1 = drawn(0, *sizes)
    exact, shifted = (
        secant.kl_divergence(x_0, x_1, estimator=ExactRatio(constant=c), random_state=0)
        for c in (0.0, 3.0)
    )
    assert shifted.estimate == pytest.approx(exact.estimate, rel=rounding)
    assert shifted.standard_error == pytest.approx(exact.standard_error, rel=rounding)


def test_kl_of_few_rows_is_free_of_the_bias_of_a_logarithm():
    """Uncorrected, ½ Var(r)/20 rows a fold would be +0.010 here, 3.5 times the tolerance."""
    scores = [exact_scores(seed, 40, 4, n_folds=2) for seed in range(2000)]
    found = [intervals.donsker_varadhan_terms(s).estimate - np.mean(s.log_ratio_1) for s in scores]
    assert abs(np.mean(found)) < 0.003 + 2.0 * np.std(found) / np.sqrt(len(found))


@pytest.mark.parametrize("divergence", [secant.kl_divergence, secant.chi2_divergence])
def test_reversing_is_swapping_the_samples(divergence):
    # N(0.5, 1) against N(0, 1), where both directions have finite squares. So many rows that the
    # interval is the normal one, without draws.
    x_0, x_1 = drawn(1, 12_000, 9_000, spread=1.0)
    back = divergence(
        x_0, x_1, estimator=ExactRatio(spread=1.0), reverse=True, n_folds=2, random_state=0
    )

    class Swapped(ExactRatio):
        def _log_ratio(self, X):
            return -super()._log_ratio(X)

    swapped = divergence(x_1, x_0, estimator=Swapped(spread=1.0), n_folds=2, random_state=0)
    assert swapped.estimate == pytest.approx(back.estimate, abs=0.01)  # other folds
    assert swapped.standard_error == pytest.approx(back.standard_error, rel=0.02)
    assert back.name.split(" ")[0].endswith("(p_0‖p_1)")
    assert swapped.name.split(" ")[0].endswith("(p_1‖p_0)")


@pytest.mark.parametrize("divergence", [secant.jensen_shannon, secant.total_variation])
def test_symmetric_divergences_do_not_mind_the_order(divergence):
    x_0, x_1 = drawn(1)
    found = [
        divergence(a, b, estimator=logistic(), random_state=0).estimate
        for a, b in ((x_0, x_1), (x_1, x_0))
    ]
    assert found[0] == pytest.approx(found[1], abs=0.02)  # other folds


@every
def test_samples_of_one_distribution_have_an_interval_from_zero(divergence, truth):
    rng = np.random.default_rng(3)
    x_0, x_1 = rng.normal(size=(2, 300, 3))
    found = divergence(x_0, x_1, estimator=logistic(), random_state=0)
    assert found.estimate >= 0.0
    assert found.interval[0] == 0.0
    assert found.estimate <= found.interval[1]
    # Three slopes of 300 rows leave a KL of 3/300, and its upper end is a few times that.
    assert 0.0 < found.interval[1] < 0.5 * truth + 0.05
    assert found.standard_error > 0.0
    assert f"at most {found.interval[1]:.3g}" in str(found)


def test_where_nothing_was_learned_the_upper_end_is_that_of_a_linear_difference():
    rng = np.random.default_rng(3)
    x_0, x_1 = rng.normal(size=(2, 200, 2))
    found = secant.kl_divergence(x_0, x_1, estimator=NothingLearned(), random_state=0)
    # Two slopes of 200 rows: an upper end of several times 2/200 nats, not 0 ± 0.
    assert found.interval[0] == 0.0
    assert 0.01 < found.interval[1] < 0.2


class NothingLearned(ExactRatio):
    """A log ratio of 0, as of a training that was no better than none."""

    def _log_ratio(self, X):
        return np.zeros(len(X))


def test_logistic_regression_finds_the_kl_of_shifted_gaussians():
    rng = np.random.default_rng(0)
    shift = np.array([0.8, -0.4, 0.2])
    x_0, x_1 = rng.normal(size=(3000, 3)), shift + rng.normal(size=(2000, 3))
    for reverse in (False, True):
        found = secant.kl_divergence(
            x_0, x_1, reverse=reverse, estimator=logistic(), random_state=0
        )
        assert abs(found.estimate - 0.5 * shift @ shift) < 3.0 * found.standard_error
        assert found.notes == ()


def test_without_overlap_kl_is_the_plain_mean_and_says_so():
    x_0, x_1 = drawn(0, 500, 500, mean=5.0, spread=1.0)
    exact = ExactRatio(5.0, 1.0)
    with pytest.warns(
        OverlapWarning, match=r"KL\(p_1‖p_0\).* effective sample size \d+\.\d of 500"
    ):
        found = secant.kl_divergence(x_0, x_1, estimator=exact, random_state=0)
    assert found.estimate == pytest.approx(np.mean(found.cross_fit.log_ratio_1))
    assert abs(found.estimate - 12.5) < 3.0 * found.standard_error
    assert not found.support.is_enough
    assert "plain mean" in found.notes[0]
    assert "plain mean" in str(found)


def test_chi2_of_heavy_squares_warns():
    x_0, x_1 = drawn(0, 1000, 1000, mean=1.5, spread=1.0)
    with pytest.warns(OverlapWarning, match=r"squared ratio over p_0 has .* Use kl_divergence"):
        found = secant.chi2_divergence(x_0, x_1, estimator=ExactRatio(1.5, 1.0), random_state=0)
    assert len(found.notes) == 1


@pytest.mark.filterwarnings("ignore::secant.exceptions.OverlapWarning")
@every
def test_wild_log_ratios_stay_finite(divergence, truth):
    x_0, x_1 = drawn(0, mean=60.0)
    found = divergence(x_0, x_1, estimator=ExactRatio(mean=60.0), random_state=0)
    assert np.isfinite([found.estimate, found.standard_error, *found.interval]).all()


def test_samples_apart_reach_the_ends_of_bounded_divergences():
    x_0, x_1 = drawn(0, mean=12.0)
    apart = ExactRatio(mean=12.0)
    found = secant.jensen_shannon(x_0, x_1, estimator=apart, random_state=0)
    assert found.estimate == pytest.approx(np.log(2.0), abs=1e-6)
    assert secant.total_variation(x_0, x_1, estimator=apart, random_state=0).estimate == 1.0


def test_results_print_readably():
    found = secant.jensen_shannon(*drawn(0), estimator=ExactRatio(), random_state=0)
    assert str(found).startswith(f"Jensen–Shannon(p_0, p_1) in nats: {found.estimate:.3g} (95 %")
    assert "95 % interval" in str(found)
    wider = secant.jensen_shannon(
        *drawn(0), estimator=ExactRatio(), confidence=0.99, random_state=0
    )
    assert wider.interval[0] < found.interval[0] < found.interval[1] < wider.interval[1]


@every
def test_a_bad_level_is_refused(divergence, truth):
    with pytest.raises(ValueError, match="`confidence` must lie between 0 and 1"):
        divergence(*drawn(0), estimator=ExactRatio(), confidence=95)


def test_bounded_weights_are_believed_whatever_their_shape():
    """Two humps of the ratio: a fitted shape above 1, though no weight is twice the mean."""
    waves = ExactRatio(error=lambda x: 0.2 * np.sin(3.0 * x))
    found = secant.kl_divergence(*drawn(0, 1000, 1000), estimator=waves, n_folds=2, random_state=0)
    assert found.support.pareto_shape > 1.0
    assert found.support.effective_sample_size > 500
    assert found.notes == ()


def test_a_ratio_that_levels_off_is_no_sign_of_overlap():
    rng = np.random.default_rng(0)
    x_0, x_1 = rng.normal(size=(300, 1)), rng.normal(12.0, size=(300, 1))
    cut_off = SklearnRatio(LogisticRegression(C=100.0), folds=None, clip=0.01)
    with pytest.warns(OverlapWarning, match="can be real at this divergence"):
        found = secant.kl_divergence(x_0, x_1, estimator=cut_off, random_state=0)
    assert found.estimate == pytest.approx(np.log(0.99 / 0.01), abs=0.1)  # the plain mean
    with pytest.warns(OverlapWarning, match="Use kl_divergence"):
        secant.chi2_divergence(x_0, x_1, estimator=cut_off, random_state=0)

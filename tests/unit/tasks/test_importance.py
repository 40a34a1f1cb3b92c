import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from tests.unit.tasks.gaussian_pair import MEAN, SPREAD, ExactRatio, drawn

from secant import SklearnRatio, importance_weights
from secant.exceptions import OverlapWarning
from secant.tasks.importance import ImportanceWeights
from secant.tasks.weight_support import WeightSupport


def weights_of(x):
    """The exact weights of N(0, 1) rows, without fits."""
    ratio = ExactRatio()
    ratio.constant_ = 0.0
    log_weights = ratio._log_ratio(x)
    weights = np.exp(log_weights)
    support = WeightSupport.of(log_weights)
    return ImportanceWeights(
        weights / weights.mean(), support, support.effective_sample_size, 0, None
    )


def test_weights_have_mean_one_in_every_fold_whatever_the_fits_constants():
    source, target = drawn(0)
    exact, shifted = (
        importance_weights(source, target, estimator=ExactRatio(constant=c), random_state=0)
        for c in (0.0, 2.0)
    )
    folds = exact.cross_fit.fold_0
    means = [exact.weights[folds == k].mean() for k in range(5)]
    np.testing.assert_allclose(means, 1.0)
    np.testing.assert_allclose(shifted.weights, exact.weights)


def test_the_target_is_on_top():
    source, target = drawn(0)
    found = importance_weights(
        source, target, estimator=SklearnRatio(LogisticRegression(), folds=None), random_state=0
    )
    assert np.corrcoef(found.weights, source[:, 0])[0, 1] > 0.8  # the target lies to the right


def test_the_weighted_mean_has_the_standard_error_it_says():
    found = [
        (lambda x: weights_of(x).mean(x[:, 0] ** 2))(drawn(seed, 500, 2)[0]) for seed in range(500)
    ]
    z = [(m.estimate - (MEAN**2 + SPREAD**2)) / m.standard_error for m in found]
    assert abs(np.mean(z)) < 4.0 / np.sqrt(500)
    assert np.std(z) == pytest.approx(1.0, abs=4.0 / np.sqrt(2 * 500))
    covered = np.mean([m.interval[0] < MEAN**2 + SPREAD**2 < m.interval[1] for m in found])
    assert covered == pytest.approx(0.95, abs=0.04)  # 4 standard errors


def test_the_result_behaves_as_an_array():
    found = importance_weights(*drawn(0), estimator=ExactRatio(), random_state=0)
    np.testing.assert_array_equal(np.asarray(found), found.weights)
    np.testing.assert_array_equal(found * np.ones(400), found.weights)
    assert np.asarray(found, dtype=np.float32).dtype == np.float32
    assert len(found) == 400
    assert 1.0 < found.effective_sample_size < 400.0
    assert found.pareto_shape == found.support.pareto_shape
    assert "worth" in str(found)


def test_capping_counts_and_keeps_the_mean():
    source, target = drawn(0)
    plain = importance_weights(source, target, estimator=ExactRatio(), random_state=0)
    capped = importance_weights(source, target, estimator=ExactRatio(), clip=1.5, random_state=0)
    over = plain.weights > 1.5
    assert plain.n_clipped == 0
    assert capped.n_clipped == np.count_nonzero(over) > 0
    assert capped.weights.mean() == pytest.approx(1.0)
    assert np.ptp(capped.weights[over]) == pytest.approx(0.0, abs=1e-12)
    np.testing.assert_allclose(capped.weights.max(), 1.5 / np.minimum(plain.weights, 1.5).mean())
    assert capped.effective_sample_size > plain.effective_sample_size
    assert capped.pareto_shape == plain.pareto_shape


def test_too_little_overlap_warns_with_number_and_remedy():
    source, target = drawn(0, mean=4.0)
    with pytest.warns(OverlapWarning, match=r"effective sample size \d+\.\d of 400 .* clip=20"):
        importance_weights(source, target, estimator=ExactRatio(mean=4.0), random_state=0)
    with pytest.warns(OverlapWarning, match=r"\d+ are capped already"):
        importance_weights(source, target, estimator=ExactRatio(mean=4.0), clip=20, random_state=0)


@pytest.mark.parametrize("clip", [0.99, 1.0, 0, -3.0, float("nan")])
def test_a_quantile_is_refused(clip):
    with pytest.raises(ValueError, match="`clip` must be None or a number beyond 1"):
        importance_weights(*drawn(0), estimator=ExactRatio(), clip=clip)


def test_bad_values_are_refused():
    found = importance_weights(*drawn(0), estimator=ExactRatio(), random_state=0)
    with pytest.raises(ValueError, match=r"`values` must have shape \(400,\).*got \(300,\)"):
        found.mean(np.zeros(300))


def test_errors_speak_of_source_and_target():
    with pytest.raises(ValueError, match="`target` must have shape"):
        importance_weights(np.zeros((9, 2)), np.zeros((9, 3)), estimator=ExactRatio())


def test_weights_that_are_alike_because_all_rows_are_far_are_not_believed():
    """A classifier's ratio levels off: every source row has the same, least, weight."""
    rng = np.random.default_rng(0)
    source, target = rng.normal(size=(300, 1)), rng.normal(12.0, size=(300, 1))
    cut_off = SklearnRatio(LogisticRegression(C=100.0), folds=None, clip=0.01)
    with pytest.warns(OverlapWarning, match="can be real at this divergence"):
        found = importance_weights(source, target, estimator=cut_off, random_state=0)
    assert found.effective_sample_size > 250
    assert found.support.expected_rows < 1.0

"""Stages (R3): they multiply, reach further than one of them, and end when nothing is gained."""

import numpy as np
import pytest
from scipy.stats import norm
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression

from secant import KernelRatio, OverlapWarning, SklearnRatio, StagedRatio


def linear(**settings):
    """Log ratios linear in x, kept small: each stage learns a part of what is left."""
    return SklearnRatio(LogisticRegression(C=3e-4), folds=None, **settings)


def samples(shift, n=4000):
    rng = np.random.default_rng(0)
    return rng.normal(size=(n, 1)), rng.normal(shift, size=(n, 1))


def errors(x_0, x_1, shift, **settings):
    found = StagedRatio(linear(), random_state=0, **settings).fit_samples(x_0, x_1)
    truth = shift * x_1[:, 0] - 0.5 * shift**2
    return found, float(np.sqrt(np.mean((found.log_ratio(x_1) - truth) ** 2)))


def test_every_stage_takes_off_from_what_the_last_one_left():
    x_0, x_1 = samples(1.0)
    found = [errors(x_0, x_1, 1.0, n_stages=n) for n in (1, 2, 4)]
    assert [len(f.stages_) for f, _ in found] == [1, 2, 4]
    (_, one), (_, two), (_, four) = found
    assert two < 0.8 * one
    assert four < 0.7 * two


def test_the_log_ratio_is_the_sum_of_the_stages():
    x_0, x_1 = samples(1.0)
    found, _ = errors(x_0, x_1, 1.0, n_stages=3)
    total = sum(stage.log_ratio(x_1) for stage in found.stages_) + found.offset_
    np.testing.assert_allclose(found.log_ratio(x_1), total)
    assert abs(found.diagnostics_.normaliser.log_value) < 0.2


def test_a_stage_is_a_fit_to_weighted_rows():
    x_0, x_1 = samples(1.0)
    found, _ = errors(x_0, x_1, 1.0, n_stages=2)
    first, second = found.stages_
    held = np.random.default_rng(found._drawn_seed())  # the split is drawn first
    rows = []
    for x in (x_0, x_1):
        order = held.permutation(len(x))
        rows.append(x[np.sort(order[len(x) // 10 :])])
    weights = np.exp(first.log_ratio(rows[0]))
    again = clone(second).fit_samples(*rows, weight_0=weights / weights.mean())
    np.testing.assert_allclose(again.log_ratio(x_1), second.log_ratio(x_1), atol=1e-6)
    assert found.offset_ == pytest.approx(-np.log(weights.mean()), abs=1e-9)


def test_no_stage_is_added_in_vain():
    x_0, x_1 = samples(0.0)
    found = StagedRatio(KernelRatio(n_centers=20), n_stages=5, random_state=0)
    assert len(found.fit_samples(x_0, x_1).stages_) < 5


@pytest.mark.filterwarnings("ignore::secant.exceptions.ClippedRatioWarning")
def test_weights_count_in_every_stage():
    x_0, x_1 = samples(1.0)
    weights = norm(0.5).pdf(x_0[:, 0]) / norm().pdf(x_0[:, 0])  # x_0 ~ N(0.5, 1), so weighted
    found = StagedRatio(SklearnRatio(LogisticRegression()), random_state=0)
    found.fit_samples(x_0, x_1, weight_0=weights)
    truth = 0.5 * x_1[:, 0] - 0.375
    assert np.sqrt(np.mean((found.log_ratio(x_1) - truth) ** 2)) < 0.1


def test_little_overlap_is_said_once_of_the_whole():
    x_0, x_1 = samples(6.0)
    with pytest.warns(OverlapWarning) as caught:
        StagedRatio(linear(), n_stages=2, random_state=0).fit_samples(x_0, x_1)
    assert len(caught) == 1


@pytest.mark.parametrize(
    ("settings", "kind", "message"),
    [
        ({"estimator": "nce"}, TypeError, "`estimator` must be a RatioEstimator or None"),
        ({"n_stages": 0}, ValueError, "`n_stages` must be an integer of at least 1; got 0"),
    ],
)
def test_settings_refused_by_fit(settings, kind, message):
    with pytest.raises(kind, match=message):
        StagedRatio(**settings).fit_samples(*samples(1.0))

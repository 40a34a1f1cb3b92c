import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression

from secant import ChasmSwitch, KernelRatio, SklearnRatio


def switch(**settings):
    near = SklearnRatio(LogisticRegression())
    return ChasmSwitch(near, KernelRatio(n_centers=20), random_state=0, **settings)


def samples(shift):
    rng = np.random.default_rng(0)
    return rng.normal(size=(400, 2)), rng.normal(shift, size=(400, 2))


def test_overlapping_samples_are_told_apart_by_the_near_one():
    found = switch().fit_samples(*samples(0.5))
    assert not found.is_far_
    assert isinstance(found.estimator_, SklearnRatio)
    assert found.diagnostics_ is found.estimator_.diagnostics_
    x = np.ones((1, 2))
    assert found.log_ratio(x) == found.estimator_.log_ratio(x)


@pytest.mark.filterwarnings("ignore::secant.exceptions.ClippedRatioWarning")  # kernels, so far out
@pytest.mark.filterwarnings("ignore::secant.exceptions.OverlapWarning")
def test_a_chasm_is_left_to_the_far_one():
    found = switch().fit_samples(*samples(5.0))
    assert found.is_far_
    assert isinstance(found.estimator_, KernelRatio)


def test_the_near_one_does_not_complain_of_what_is_then_mended():
    quiet = switch(threshold=0.0).set_params(far=SklearnRatio(LogisticRegression()))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        quiet.fit_samples(*samples(5.0))
    assert len(caught) <= 1  # the far one's own


def test_the_threshold_is_in_nats():
    assert switch(threshold=0.1).fit_samples(*samples(0.5)).is_far_


def test_the_parts_are_not_touched():
    whole = switch()
    whole.fit_samples(*samples(0.5))
    assert not hasattr(whole.near, "diagnostics_")
    assert clone(whole).get_params(deep=False).keys() == whole.get_params(deep=False).keys()


def test_many_rows_are_looked_at_in_part_and_fitted_whole():
    x_0, x_1 = samples(0.5)
    weight = np.ones(400)
    weight[0] = 2.0
    found = switch().set_params(rows_to_look=100).fit_samples(x_0, x_1, weight_0=weight)
    whole = SklearnRatio(LogisticRegression(), random_state=found.estimator_.random_state)
    whole.fit_samples(x_0, x_1, weight_0=weight)
    np.testing.assert_allclose(found.log_ratio(x_1), whole.log_ratio(x_1))

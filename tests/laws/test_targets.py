"""What every target must satisfy: its mean has slope zero at the truth, and nowhere near it."""

import numpy as np
import pytest
from tests.laws.oracle import batch, oracle, slope_z
from tests.laws.registry import PATH_TARGETS

from secant.paths import DiffusionBridge
from secant.schedules import VariancePreserving

pytestmark = pytest.mark.usefixtures("float64")

# p_0 = N(0, I) and not a schedule of the unit tests.
PATH = DiffusionBridge(VariancePreserving(), gamma=0.5, epsilon=0.1)


def at_rest_and_not_beside(make, path):
    truth = oracle(path)
    target = make(truth)
    rows = batch(truth, target.time_range(path), seed=1)
    assert (np.abs(slope_z(target, truth, rows)) < 4.5).all()  # standard errors, 5 directions
    assert np.max(np.abs(slope_z(target, truth, rows, theta=0.3))) > 10


@pytest.mark.parametrize("make", PATH_TARGETS.values(), ids=PATH_TARGETS)
def test_slope_is_zero_at_the_true_secant_only(make):
    at_rest_and_not_beside(make, PATH)

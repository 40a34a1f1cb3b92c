"""What every schedule must satisfy."""

import numpy as np
import pytest
from equinox import filter_jit
from tests.laws.registry import SCHEDULES

pytestmark = [
    pytest.mark.usefixtures("float64"),
    pytest.mark.parametrize("schedule", SCHEDULES.values(), ids=SCHEDULES),
]


N = 40
rates_of = filter_jit(lambda schedule, t: schedule.rates(t))


def rates(schedule, t):
    return [np.asarray(c) for c in rates_of(schedule, np.asarray(t))[1]]


def values(schedule, t):
    return [np.asarray(c) for c in rates_of(schedule, np.asarray(t))[0]]


def test_ends(schedule):
    # β_0 of VP is exp(−¼(20 − 0.1) − ½ 0.1) = 0.0066 rather than 0. Elsewhere rounding, of which
    # √(1 − β²) makes √1e-16.
    slack = 0.0067 if "VariancePreserving" in repr(schedule) else 2e-8
    alpha, beta = values(schedule, np.repeat([0.0, 1.0], N // 2))
    np.testing.assert_allclose(alpha, np.repeat([1.0, 0.0], N // 2), atol=slack)
    np.testing.assert_allclose(beta, np.repeat([0.0, 1.0], N // 2), atol=slack)


def test_rates_are_the_derivatives(schedule):
    t, h = np.linspace(0.05, 0.95, N), 1e-5
    ahead, behind = values(schedule, t + h), values(schedule, t - h)
    for rate, a, b in zip(rates(schedule, t), ahead, behind, strict=True):
        # Truncation h²/6 · |f‴| with |f‴| < 1e3 on these times, rounding 1e-16/h.
        np.testing.assert_allclose(rate, (a - b) / (2 * h), atol=1e-7)


def test_x_0_fades_as_x_1_comes(schedule):
    alpha, beta = values(schedule, np.linspace(0.0, 1.0, N))
    assert (np.diff(alpha) <= 0).all()
    assert (np.diff(beta) >= 0).all()


def test_rates_are_bounded_up_to_the_cut(schedule):
    found = rates(schedule, np.linspace(0.0, 1.0 - schedule.cut, N))
    assert np.isfinite(found).all()
    assert np.max(np.abs(found)) < 100

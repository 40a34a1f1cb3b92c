"""A distribution of flowjax as a base."""

import jax
import numpy as np
import pytest
from scipy import stats

from secant.bases import FlowJAX, Given

distributions = pytest.importorskip("flowjax.distributions", reason="the extra `flows` is absent")


def test_its_rows_and_densities_are_the_flows():
    flow = FlowJAX(distributions.Normal(np.array([1.0, -2.0]), np.array([0.5, 3.0])))
    x = np.random.default_rng(0).normal([1.0, -2.0], [0.5, 3.0], (4000, 2))
    base = Given(flow).fitted(x, 0)
    expected = stats.norm.logpdf(x, [1.0, -2.0], [0.5, 3.0]).sum(axis=1)
    np.testing.assert_allclose(base.log_prob(x), expected, atol=1e-3)
    drawn = base.chart.inverse(base.sample(jax.random.key(0), 20_000))
    error = np.array([0.5, 3.0]) / np.sqrt(20_000)
    assert (np.abs(drawn.mean(axis=0) - [1.0, -2.0]) < 4.5 * error).all()

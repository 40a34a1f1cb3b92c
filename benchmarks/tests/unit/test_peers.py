"""The peers: each recovers a mild pair, or reports that its package is missing."""

import sys

import jax
import numpy as np
import pytest
from benchmarks.tests.unit.sweeping import swept

from secant.datasets import gaussian_pair
from secant_bench.peers import (
    DensRatio,
    TorchCTSM,
    TorchDREInfinity,
    boosted_trees,
    logistic_regression,
)
from secant_bench.suites import SUITES

PAIR = gaussian_pair(np.zeros(2), np.eye(2), np.array([0.8, 0.0]), np.eye(2), name="shift")


def rmse(estimator, n=4000):
    x_0, x_1 = (np.asarray(x) for x in PAIR.sample(jax.random.key(0), n))
    estimator.fit_samples(x_0, x_1)
    fresh = np.asarray(PAIR.sample(jax.random.key(1), 1000)[0])
    return float(np.sqrt(np.mean((estimator.log_ratio(fresh) - PAIR.log_ratio(fresh)) ** 2)))


@pytest.mark.parametrize("make", [logistic_regression, boosted_trees])
def test_a_mild_shift_is_found(make):
    assert rmse(make(0)) < 0.25  # the ratio's own spread is 0.8


def test_kernels_find_it_where_they_see_rows():
    x_0, x_1 = (np.asarray(x) for x in PAIR.sample(jax.random.key(0), 500))
    found = DensRatio(random_state=0).fit_samples(x_0, x_1).log_ratio(x_0)
    assert np.corrcoef(found, PAIR.log_ratio(x_0))[0, 1] > 0.8  # 1 is the truth's


@pytest.mark.slow
@pytest.mark.parametrize("make", [TorchCTSM, TorchDREInfinity])
def test_scores_in_pytorch_find_it_too(make):
    pytest.importorskip("torch", reason="PyTorch comes with the extra `torch`")
    assert rmse(make(steps=1500, width=64, random_state=0), 20_000) < 0.25


def test_time_that_is_up_ends_a_fit():
    pytest.importorskip("torch", reason="PyTorch comes with the extra `torch`")
    x = np.zeros((600, 1))
    fit = TorchCTSM(steps=10**9, width=4, max_seconds=0.05, random_state=0).fit_samples(x, x)
    assert fit.log_ratio(x).shape == (600,)


def test_an_absent_package_is_a_skipped_row(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    rows = swept(
        SUITES["peers-ratio"](), tmp_path, n_seeds=1, match="near-gaussians-5d, 20k rows | CTSM"
    )
    assert [row.status for row in rows] == [
        "skipped: PyTorch is not installed: pip install 'secant-bench[torch]'."
    ]

"""`report()` of every kind of estimator, and what it knows of the columns and the steps."""

import numpy as np
import pyarrow as pa
import pytest
from sklearn.exceptions import NotFittedError

from secant import GaussianMoments, KernelRatio, SklearnRatio


@pytest.fixture(params=["neural", "kernel", "classifier"])
def any_fitted(request, new, samples):
    kinds = {
        "neural": new(anchor=GaussianMoments()),
        "kernel": KernelRatio(n_centers=20, random_state=0),
        "classifier": SklearnRatio(),
    }
    return kinds[request.param].fit_samples(*samples)


def test_report_prints_the_diagnostics(any_fitted, capsys):
    assert any_fitted.report() is None
    printed = capsys.readouterr().out
    assert printed == f"{any_fitted.diagnostics_}\n"
    assert printed.startswith("usable for importance weights: ")


def test_diagnostics_are_those_of_the_pair(any_fitted, samples):
    found = any_fitted.diagnostics_
    assert 0.3 < found.overlap < 1.0
    assert found.calibration.counts_0.sum() == found.n_rows
    assert len(found.drift) == samples.x_0.shape[1]
    assert found.normaliser.n_rows == found.n_rows
    shifts = samples.x_1.mean(axis=0) - samples.x_0.mean(axis=0)
    spread = np.sqrt((samples.x_0.var(axis=0) + samples.x_1.var(axis=0)) / 2.0)
    # A network sees nine tenths of the rows: 20 of 200 move a mean by about 1/√2000.
    np.testing.assert_allclose([c.mean_shift for c in found.drift], shifts / spread, atol=0.1)


def test_only_secants_are_checked_against_their_own_steps(fitted, samples):
    assert KernelRatio(n_centers=20).fit_samples(*samples).diagnostics_.self_check is None
    check = fitted.diagnostics_.self_check
    assert check.root_mean_square < 1e-4  # a spectral secant is additive by construction
    assert check.evaluations == 9  # one step and eight
    assert fitted.self_check(samples.x_1).root_mean_square < 1e-4


def test_columns_have_their_names(samples):
    names = ["age", "bmi", "blood pressure"]
    tables = [pa.table(dict(zip(names, x.T, strict=True))) for x in samples]
    found = SklearnRatio().fit_samples(*tables).diagnostics_
    assert [c.name for c in found.drift] == names


def test_report_without_held_out_rows_and_without_a_fit(samples, capsys):
    SklearnRatio(folds=None).fit_samples(*samples).report()
    assert "no rows were left out of the fit" in capsys.readouterr().out
    with pytest.raises(NotFittedError):
        SklearnRatio().report()

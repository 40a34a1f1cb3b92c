"""Closure: pulls and χ² of weighted samples, against simulation and closed forms."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import secant
from secant.report import closure_page, rendered, write_closure

N, M, SHIFT = 3000, 2000, 0.5


def samples(seed, n=N, m=M):
    rng = np.random.default_rng(seed)
    return rng.normal(0, 1, (n, 2)), rng.normal([SHIFT, 0.0], 1, (m, 2))


def ratio(x):
    return np.exp(SHIFT * x[:, 0] - 0.5 * SHIFT**2)


def test_without_weights_it_is_the_test_of_two_histograms():
    """(W3) for equal weights: the χ² of two multinomials, with unpooled variances."""
    source, target = samples(0)
    found = next(c for c in secant.closure(source, target, np.ones(N), n_bins=5).columns)
    x, y = (s[:, int(found.name[-1])] for s in (source, target))
    a, b = (
        np.histogram(np.clip(v, found.edges[0], found.edges[-1]), found.edges)[0] for v in (x, y)
    )
    p, q = a / N, b / M
    covariance = (np.diag(p) - np.outer(p, p)) / N + (np.diag(q) - np.outer(q, q)) / M
    d = (p - q)[:-1]
    assert found.chi2 == pytest.approx(d @ np.linalg.solve(covariance[:-1, :-1], d))
    assert found.pulls == pytest.approx((p - q) / np.sqrt(np.diag(covariance)))


def test_true_weights_have_chi_square_as_promised():
    """Over 150 worlds the p-values are uniform and pulls have unit variance."""
    found = [secant.closure(*samples(s), ratio(samples(s)[0]), n_bins=8) for s in range(150)]
    for name in ("column 0", "column 1"):
        columns = [next(c for c in f.columns if c.name == name) for f in found]
        p_values = [c.p_value for c in columns]
        assert stats.kstest(p_values, "uniform").pvalue > 0.001
        pulls = np.concatenate([c.pulls for c in columns])
        # About 7 independent pulls a world.
        assert pulls.std() == pytest.approx(1.0, abs=4.5 / (2 * 7 * 150) ** 0.5)


def test_signed_weights_have_chi_square_as_promised():
    p_values = []
    for seed in range(150):
        source, target = samples(seed)
        rng = np.random.default_rng([seed, 1])
        signs, other = (np.where(rng.uniform(size=n) < 0.2, -1.0, 1.0) for n in (N, M))
        found = secant.closure(
            source, target, signs * ratio(source), target_weights=other, n_bins=8
        )
        p_values.append(next(c for c in found.columns if c.name == "column 0").p_value)
    assert stats.kstest(p_values, "uniform").pvalue > 0.001


def test_what_does_not_close_is_found():
    source, target = samples(0)
    found = secant.closure(source, target, np.ones(N))
    assert not found.is_closed
    assert found.columns[0].name == "column 0"
    assert found.columns[0].chi2 == found.columns[0].chi2_before
    assert "differs from target in 1 of 2 columns" in found.verdict
    closed = secant.closure(source, target, ratio(source))
    assert closed.is_closed
    assert closed.columns[0].chi2_before > 50.0 or closed.columns[1].chi2_before > 50.0
    assert closed.effective_rows[0] == pytest.approx(N * np.exp(-(SHIFT**2)), rel=0.1)


def test_columns_of_few_values_have_a_bin_for_each():
    rng = np.random.default_rng(0)
    source = pd.DataFrame({"n": rng.integers(0, 3, 500), "one": np.ones(500)})
    target = pd.DataFrame({"n": rng.integers(0, 3, 400), "one": np.ones(400)})
    found = {c.name: c for c in secant.closure(source, target, np.ones(500)).columns}
    assert (found["n"].freedom, found["one"].freedom) == (2, 0)
    assert found["n"].share_target == pytest.approx(
        target["n"].value_counts(normalize=True).sort_index()
    )
    assert (found["one"].chi2, found["one"].p_value) == (0.0, 1.0)


def test_out_of_fold_weights_close():
    source, target = samples(0)
    weights = secant.importance_weights(
        source, target, estimator=secant.SklearnRatio(folds=None), random_state=0
    )
    assert secant.closure(source, target, weights).is_closed


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"weights": np.ones(3)}, "`weights` must have shape"),
        ({"weights": -np.ones(N)}, "`weights` must have a positive sum"),
        ({"n_bins": 1}, "`n_bins` must be at least 2"),
        ({"target_weights": np.full(M, np.nan)}, "`target_weights` must be finite"),
    ],
)
def test_what_is_refused(change, words):
    source, target = samples(0)
    with pytest.raises(ValueError, match=words):
        secant.closure(source, target, **{"weights": np.ones(N), **change})


def test_the_page_has_the_verdict_the_charts_and_the_pulls(tmp_path):
    source, target = samples(0)
    names = ("<b>mc</b>", "$data$")
    for weights, tone in ((ratio(source), "good"), (np.ones(N), "strong")):
        found = secant.closure(source, target, weights, sample_names=names)
        page = closure_page(found, command="python closure.py")
        assert page.tone == tone
        html = rendered(page)
        assert "<b>mc</b>" not in html
        assert "Pulls of column 0" in html
        assert html.count("<svg") == 4
    write_closure(tmp_path / "closure.html", found)
    assert (tmp_path / "closure.html").stat().st_size > 10_000


def test_the_text_lists_the_columns():
    found = secant.closure(*samples(0), np.ones(N))
    assert "largest pull" in str(found)
    assert "effective rows: 3000 of 3000" in str(found)
    assert "χ²" in found._repr_html_()

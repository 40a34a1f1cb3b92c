"""KernelRatio: Gaussian pairs, another package, weights, memory maps, refusals."""

import numpy as np
import pytest
from densratio import densratio
from scipy.stats import multivariate_normal
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from tests.unit.estimators.closed_form import NormalPair, rmse

from secant import ClippedRatioWarning, Identity, KernelRatio, OverlapWarning
from secant.estimators.kernel import KernelDiagnostics, estimator

SLOW = [pytest.param(method, marks=pytest.mark.slow) for method in ("kliep", "logistic")]
METHODS = ["ulsif", "rulsif", "kulsif", *SLOW]
N = 4000
PAIR = NormalPair(multivariate_normal([0.5, 0.5]))
# 10 000 rows give 0.04 to 0.13 over rows of x_1, four seeds a method; 4000 rows up to 0.2.
RMSE = 0.25


def drawn(seed, n=N):
    return PAIR.drawn(seed, n, n)


@pytest.fixture(scope="module")
def samples():
    return drawn(0)


@pytest.fixture(scope="module", params=METHODS)
def fitted(request, samples):
    return KernelRatio(request.param, n_centers=100, random_state=0).fit_samples(*samples)


@pytest.fixture(scope="module")
def swapped(fitted, samples):
    """The same, of the samples in the other order."""
    return clone(fitted).fit_samples(*samples[::-1])


@pytest.fixture(scope="module")
def fresh():
    return drawn(1)


def test_log_ratio_is_recovered(fitted, fresh):
    found = fitted.log_ratio(fresh[1])
    assert found.dtype == np.float64
    assert rmse(found, PAIR.log_ratio(fresh[1])) < RMSE
    np.testing.assert_array_equal(fitted.score_samples(fresh[1]), found)


@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS)
def test_log_ratio_of_ten_thousand_rows(method):
    found = KernelRatio(method, random_state=0).fit_samples(*drawn(0, 10_000))
    rows = drawn(1, 10_000)[1]
    assert rmse(found.log_ratio(rows), PAIR.log_ratio(rows)) < 0.15


def test_diagnostics(fitted):
    found = fitted.diagnostics_
    assert isinstance(found, KernelDiagnostics)
    assert found.n_rows == N
    assert found.has_overlap
    assert found.held_out_loss < 2.0 * np.log(2.0)
    # KL = 0.25, with a standard deviation of 0.71 over rows; the error of the fit on top.
    assert found.mean_log_ratio_1 == pytest.approx(0.25, abs=4.5 * 0.71 / np.sqrt(N) + 0.03)
    assert abs(found.normaliser.log_value) < 4.5 * found.normaliser.standard_error + 0.02
    assert found.clipped_share < 0.01


def test_swapped_samples_negate(fitted, swapped, fresh):
    # Two fits, each within RMSE of the truth over its own x_1, less good over the other.
    rows = np.concatenate(fresh)
    assert rmse(swapped.log_ratio(rows), -fitted.log_ratio(rows)) < 2.0 * RMSE


def test_samples_of_the_same_distribution(fitted, samples, fresh):
    same = clone(fitted).fit_samples(samples[0], fresh[0])
    assert rmse(same.log_ratio(samples[0]), 0.0) < 0.1


def test_score_prefers_the_truth(fitted, swapped, fresh):
    x, y = np.concatenate(fresh), np.repeat([0, 1], N)
    assert fitted.score(x, y) > swapped.score(x, y)
    log_ratio = fitted.log_ratio(x)
    expected = np.logaddexp(0.0, log_ratio[:N]).mean() + np.logaddexp(0.0, -log_ratio[N:]).mean()
    assert fitted.score(x, y) == pytest.approx(-expected, rel=1e-12)


def test_same_seed_same_answer(fitted, samples, fresh):
    again = clone(fitted).fit_samples(*samples)
    np.testing.assert_array_equal(again.log_ratio(fresh[1]), fitted.log_ratio(fresh[1]))


@pytest.mark.parametrize(("method", "alpha"), [("ulsif", None), ("rulsif", 0.1), ("rulsif", 0.5)])
def test_agrees_with_densratio(method, alpha):
    x_0, x_1 = (x[:80] for x in drawn(3))
    sigma, ridge = 0.9, 0.1
    name = {"ulsif": "uLSIF", "rulsif": "RuLSIF"}[method]
    # As many kernels as rows: the centres are all of x_1, in whichever order.
    other = densratio(
        x_1,
        x_0,
        method=name,
        sigma=sigma,
        lambda_=ridge,
        alpha=alpha or 0.0,
        kernel_num=80,
        verbose=False,
    )
    ours = KernelRatio(
        method,
        alpha=alpha,
        n_centers=80,
        bandwidth=sigma,
        ridge=ridge,
        nonnegative=True,
        selection=2,
        scaling=Identity(),
        random_state=0,
    ).fit_samples(x_0, x_1)
    rows = np.concatenate([x_0, x_1])
    relative = other.compute_density_ratio(rows)
    np.testing.assert_allclose(ours._relative_ratio(rows), relative, rtol=1e-8)
    a = alpha or 0.0
    ratio = (1.0 - a) * relative / (1.0 - a * relative)
    np.testing.assert_allclose(ours.log_ratio(rows), np.log(ratio), atol=1e-7)


def test_likelihood_is_no_worse_than_densratio():
    x_0, x_1 = (x[:80] for x in drawn(3))
    other = densratio(x_1, x_0, method="KLIEP", sigma=0.9, kernel_num=80, verbose=False)
    ours = KernelRatio(
        "kliep", n_centers=80, bandwidth=0.9, scaling=Identity(), random_state=0
    ).fit_samples(x_0, x_1)
    theirs = np.log(other.compute_density_ratio(x_1))
    # It climbs the same likelihood by projected gradients, and stops 0.05 nats below the maximum.
    assert ours.log_ratio(x_1).mean() >= theirs.mean() - 1e-6
    np.testing.assert_allclose(other.compute_density_ratio(x_0).mean(), 1.0, rtol=1e-9)
    np.testing.assert_allclose(np.exp(ours.log_ratio(x_0)).mean(), 1.0, rtol=1e-9)


# Of forty rows, held-out ratios are clipped at a few.
@pytest.mark.filterwarnings("ignore::secant.ClippedRatioWarning")
@pytest.mark.parametrize("method", METHODS)
def test_weights_are_repeated_rows(method):
    rng = np.random.default_rng(0)
    x_0, x_1 = (x[:40] for x in drawn(4))
    counts = [rng.integers(1, 4, 40) for _ in range(2)]
    settings = {} if method == "kliep" else {"ridge": 1e-2}
    new = KernelRatio(
        method, n_centers=400, bandwidth=1.0, scaling=Identity(), random_state=0, **settings
    )
    repeated = clone(new).fit_samples(
        *(np.repeat(x, c, axis=0) for x, c in zip((x_0, x_1), counts, strict=True))
    )
    weighted = clone(new).fit_samples(x_0, x_1, weight_0=counts[0], weight_1=counts[1])
    plain = clone(new).fit_samples(x_0, x_1)
    # KLIEP and Newton's method stop just above their optimum, by different steps.
    tolerance = {"kliep": 1e-2, "logistic": 1e-3}.get(method, 1e-6)
    np.testing.assert_allclose(weighted.log_ratio(x_1), repeated.log_ratio(x_1), atol=tolerance)
    assert np.abs(weighted.log_ratio(x_1) - plain.log_ratio(x_1)).max() > 5 * tolerance


def test_memory_maps_and_blocks(samples, fresh, tmp_path, monkeypatch):
    whole = KernelRatio("rulsif", bandwidth=2.0, ridge=1e-4, random_state=0).fit_samples(*samples)
    for i, x in enumerate(samples):
        np.save(tmp_path / f"{i}.npy", x)
    maps = [np.load(tmp_path / f"{i}.npy", mmap_mode="r") for i in (0, 1)]
    monkeypatch.setattr("secant.estimators.kernel.linear_model._NUMBERS_AT_ONCE", 1)
    monkeypatch.setattr(estimator, "_ROWS_AT_ONCE", 999)
    blocked = clone(whole).fit_samples(*maps)
    np.testing.assert_allclose(blocked.log_ratio(fresh[1]), whole.log_ratio(fresh[1]), atol=1e-8)


def test_only_the_selection_is_thinned(samples, monkeypatch):
    monkeypatch.setattr(estimator, "_ROWS_FOR_SELECTION", 500)
    found = KernelRatio(n_centers=50, random_state=0).fit_samples(*samples)
    assert found.diagnostics_.n_rows == 500
    assert found.centers_.shape == (50, 2)


@pytest.mark.parametrize("method", METHODS)
def test_columns_of_any_scale(method, samples, fresh):
    units = np.array([1e-9, 1e9])
    new = KernelRatio(method, n_centers=50, bandwidth=1.0, random_state=0)
    plain = clone(new).fit_samples(*samples)
    scaled = clone(new).fit_samples(*(x * units for x in samples))
    np.testing.assert_allclose(
        scaled.log_ratio(fresh[1] * units), plain.log_ratio(fresh[1]), atol=1e-4
    )


def test_iterated_ridge_is_accurate_too(samples, fresh):
    found = KernelRatio("kulsif", n_centers=100, iterations=4, random_state=0)
    found.fit_samples(*samples)
    assert rmse(found.log_ratio(fresh[1]), PAIR.log_ratio(fresh[1])) < RMSE


@pytest.mark.parametrize(
    "settings",
    [
        {"method": "kulsif", "selection": "lepskii"},
        {"method": "logistic", "bandwidth": [1.0, 3.0]},
        {"method": "logistic", "selection": "lepskii", "bandwidth": 2.0},
        {"method": "logistic", "iterations": 2, "selection": 2, "bandwidth": 2.0},
        {"method": "kulsif", "regularisation": "cut-off"},
        {"method": "rulsif", "regularisation": "flow"},
    ],
    ids=str,
)
def test_other_regularisation_is_accurate_too(samples, fresh, settings):
    found = KernelRatio(n_centers=50, random_state=0, **settings).fit_samples(*samples)
    assert rmse(found.log_ratio(fresh[1]), PAIR.log_ratio(fresh[1])) < RMSE


def test_folds_may_select_too(samples, fresh):
    found = KernelRatio(n_centers=100, selection=4, random_state=0).fit_samples(*samples)
    assert rmse(found.log_ratio(fresh[1]), PAIR.log_ratio(fresh[1])) < RMSE


def test_candidates_are_searched(samples):
    found = KernelRatio(bandwidth=[0.01, 1.5], ridge=[1e-3, 100.0], random_state=0)
    found.fit_samples(*samples)
    assert (found.bandwidth_, found.ridge_) == (1.5, 1e-3)


@pytest.fixture
def far(samples):
    return samples[0][:300], samples[1][:300] + 20.0


@pytest.mark.filterwarnings("ignore::secant.OverlapWarning")
def test_clipping_is_said(far):
    found = KernelRatio("kulsif", n_centers=50, random_state=0)
    with pytest.warns(ClippedRatioWarning, match=r"\d\d\.\d % of the held-out rows .* SecantRatio"):
        found.fit_samples(*far)
    assert found.diagnostics_.clipped_share > 0.05
    assert (found.log_ratio(far[0]) < 0.0).all()
    assert (found.log_ratio(far[1]) > 0.0).all()


def test_levelling_off_is_said(far):
    with pytest.warns(OverlapWarning, match=r"the ratio averages 0\.0\d+ over held-out rows"):
        KernelRatio(n_centers=50, random_state=0).fit_samples(*far)


BAD = {
    "method": ({"method": "lsif"}, r"`method` must be one of \['kliep', .*; got 'lsif'"),
    "a list": ({"method": ["ulsif"]}, r"`method` must be one of .*got \['ulsif'\]"),
    "alpha": ({"method": "rulsif", "alpha": 1.0}, r"`alpha` must lie in \[0, 1\); got 1.0"),
    "whose alpha": ({"alpha": 0.1}, r"`alpha` applies to \['rulsif'\] only; got alpha=0.1 with"),
    "n_centers": ({"n_centers": 0}, "`n_centers` must be an integer of at least 1; got 0"),
    "iterations": ({"iterations": 1.5}, "`iterations` must be an integer .* got 1.5"),
    "whose ridge": ({"method": "kliep", "ridge": 0.1}, "`ridge` applies to .*method='kliep'"),
    "whose sign": ({"method": "kulsif", "nonnegative": True}, "`nonnegative` applies to"),
    "bandwidth": ({"bandwidth": -1.0}, "`bandwidth` must be a positive number.*got -1.0"),
    "bandwidths": ({"bandwidth": [1.0, np.nan]}, "`bandwidth` must be a positive number"),
    "ridge": ({"ridge": "auto"}, "`ridge` must be a positive number, several or None; got 'auto'"),
    "floor": ({"floor": 1.0}, r"`floor` must lie in \(0, 1\); got 1.0"),
    "selection": ({"selection": 1}, "`selection` must be 'leave-one-out', 'lepskii', .*got 1"),
    "scheme": ({"regularisation": "lasso"}, r"`regularisation` must be one of .*got 'lasso'"),
    "whose scheme": ({"method": "kliep", "regularisation": "flow"}, "`regularisation` applies to"),
    "scheme in rounds": ({"regularisation": "flow", "iterations": 2}, "`iterations` are of the"),
    "balanced rounds": ({"selection": "lepskii", "iterations": 2}, "'lepskii' chooses the ridge"),
    "no formula": (
        {"method": "kliep", "selection": "leave-one-out"},
        "`selection` must be a number of folds or None for KLIEP",
    ),
}


@pytest.mark.parametrize("name", BAD)
def test_settings_refused_by_fit(samples, name):
    settings, message = BAD[name]
    found = KernelRatio(**settings)  # as scikit-learn wants it, the constructor only stores
    with pytest.raises(ValueError, match=message):
        found.fit_samples(*samples)
    with pytest.raises(NotFittedError):
        found.log_ratio(samples[0])


def test_scaling_must_be_a_rule(samples):
    with pytest.raises(TypeError, match="`scaling` must be a ScalingRule or None; got 'none'"):
        KernelRatio(scaling="none").fit_samples(*samples)

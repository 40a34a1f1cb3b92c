"""The recipes, run as written, on pairs whose ratio is known."""

import numpy as np
import pytest
from scipy.stats import norm
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures, StandardScaler
from tests.docs.guides import run

from secant import SklearnRatio

N = 4000


@pytest.fixture(scope="module")
def recipes():
    return run("recipes.md")


def quadratic():
    """The Gaussian family: logistic regression on squares and products."""
    features = make_pipeline(PolynomialFeatures(2, include_bias=False), StandardScaler())
    return make_pipeline(features, LogisticRegression(C=100.0, max_iter=5000))


def rmse(a, b):
    return float(np.sqrt(np.mean((a - b) ** 2)))


def test_trimming_undoes_outliers(recipes):
    rng = np.random.default_rng(0)
    x_0, clean = rng.normal(size=(N, 2)), 0.5 + 0.8 * rng.normal(size=(N, 2))
    outliers = np.array([6.0, -6.0]) + 0.1 * rng.normal(size=(N // 25, 2))  # 4 %
    x_1 = np.concatenate([clean, outliers])
    truth = norm(0.5, 0.8).logpdf(clean).sum(axis=1) - norm().logpdf(clean).sum(axis=1)
    plain = SklearnRatio(quadratic()).fit_samples(x_0, x_1).log_ratio(clean)
    trimmed = recipes["trimmed_fit"](SklearnRatio(quadratic()), x_0, x_1).log_ratio(clean)
    assert rmse(trimmed, truth) < 0.5 * rmse(plain, truth)


def test_features_carry_the_ratio_that_lives_in_them(recipes):
    rng = np.random.default_rng(0)
    hidden = 3.0 * rng.normal(size=(2 * N, 2))
    y = np.repeat([0, 1], N)
    hidden[y == 1] += 2.0
    basis = np.linalg.qr(rng.normal(size=(30, 30)))[0]
    X = np.concatenate([hidden, 0.1 * rng.normal(size=(2 * N, 28))], axis=1) @ basis
    fitted = recipes["featurised"](SklearnRatio(LogisticRegression())).fit(X, y)
    truth = norm(2.0, 3.0).logpdf(hidden).sum(axis=1) - norm(0.0, 3.0).logpdf(hidden).sum(axis=1)
    assert rmse(fitted.score_samples(X), truth) < 0.1  # of a spread of 1


@pytest.mark.filterwarnings("ignore::secant.exceptions.OverlapWarning")  # it is one
def test_samples_in_between_bridge_a_chasm(recipes):
    rng = np.random.default_rng(0)
    x_0, x_1 = rng.normal(size=(N, 2)), 4.0 + rng.normal(size=(N, 2))
    truth = 4.0 * x_1.sum(axis=1) - 16.0  # 16 nats on average
    linear = LogisticRegression(C=100.0, max_iter=1000)  # every sample in between is N(m, I)
    between = recipes["multi_class_log_ratio"](linear, x_0, x_1)(x_1)
    plain = SklearnRatio(linear).fit_samples(x_0, x_1).log_ratio(x_1)
    assert rmse(between, truth) < 1.6
    assert rmse(between, truth) < 0.3 * rmse(plain, truth)


def test_the_guide_to_divergences_and_weights():
    names = run("divergences-and-weights.md")
    assert names["test"].p_value < 0.01
    assert abs(names["kl"].estimate - 0.225) < 3.0 * names["kl"].standard_error
    mean = names["mean"]
    assert abs(mean.estimate - 0.3) < 3.0 * mean.standard_error
    assert names["clipped"].effective_sample_size >= names["weights"].effective_sample_size
    assert "plain mean" in names["apart"].notes[0]
    assert 10.0 < names["apart"].estimate < 16.0  # of 54: it saturates, as the page says


@pytest.mark.slow
def test_the_guide_to_mutual_information():
    names = run("mutual-information.md")
    assert names["found"].p_value < 0.02
    # I = H(y) − H(noise), by quadrature over a grid of y.
    t = np.linspace(-6, 6, 2001)
    y = np.linspace(-3, 40, 8001)
    density = norm(t[:, None] ** 2, 0.5).pdf(y).T @ norm.pdf(t) * (t[1] - t[0])
    entropy = -np.sum(density * np.log(density + 1e-300)) * (y[1] - y[0])
    truth = entropy - norm(0, 0.5).entropy()
    assert abs(names["found"].estimate - truth) < 4 * names["found"].standard_error
    assert abs(names["given"].estimate) < 4 * names["given"].standard_error
    assert names["total"].p_value < 0.02
    assert names["matrix"].p_value[2, 3] < 0.02
    assert names["correlations"].estimate < 0.2 * names["found"].estimate  # as the page says


@pytest.mark.slow
def test_the_guide_to_densities():
    names = run("density.md")
    # The ring's own likelihood, by quadrature over its angle.
    angle = np.linspace(0, 2 * np.pi, 2000, endpoint=False)
    centers = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    square = ((names["test"][:, None, :] - centers) ** 2).sum(axis=2)
    truth = -np.log(np.exp(-square / 0.02).mean(axis=1) / (0.02 * np.pi)).mean()
    found = -names["density"].score_samples(names["test"]).mean()
    assert truth - 0.05 < found < truth + 0.1
    radius = np.linalg.norm(names["rows"], axis=1)
    assert abs(radius.mean() - 1.0) < 0.02

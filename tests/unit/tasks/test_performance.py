"""Performance on unlabelled rows: closed forms, predictions as arrays, refusals, coverage."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import norm
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.metrics import accuracy_score, log_loss, make_scorer, roc_auc_score
from sklearn.tree import DecisionTreeClassifier

import secant
from secant.tasks.performance import _calibrated
from secant.tasks.weighted_metric import WeightedMetric, _drawn

LINEAR = secant.SklearnRatio(LogisticRegression(C=100.0), folds=None)


@pytest.fixture(scope="module")
def shift():
    """Unit normals, the new ones shifted by 1; a label that is noisier for smaller x."""
    rng = np.random.default_rng(0)

    def draw(mean, n):
        x = rng.normal(mean, 1.0, (n, 1))
        return x, (rng.uniform(size=n) < norm.cdf(x[:, 0])).astype(int)

    X, y = draw(0.0, 2000)
    X_new, y_new = draw(1.0, 1500)
    model = LogisticRegression().fit([[-1.0], [1.0]], [0, 1])  # predicts x > 0
    return model, X, y, X_new, y_new


def test_accuracy_is_that_of_the_shifted_normal(shift):
    model, X, y, X_new, y_new = shift
    found = secant.estimate_performance(model, X, y, X_new, ratio=LINEAR, random_state=0)
    grid = np.linspace(-8.0, 8.0, 20001)
    right = np.maximum(norm.cdf(grid), norm.cdf(-grid))  # Φ(|x|), the chance to be right at x
    exact = np.trapezoid(right * norm.pdf(grid - 1.0), grid)
    low, high = found.interval
    assert low < exact < high
    assert low < np.mean(model.predict(X_new) == y_new) < high
    # √(p(1 − p)(1/ESS + 1/m)) is 0.017 with 1,000 effective and 1,500 new rows.
    assert found.estimate == pytest.approx(exact, abs=4.5 * 0.017)
    assert 0.04 < high - low < 0.12
    assert found.reference == accuracy_score(y, model.predict(X))
    assert found.has_changed
    assert 0.2 * len(X) < found.effective_sample_size < 0.8 * len(X)  # exp(−1) = 0.37 if exact


def test_the_calibrated_ratio_is_the_odds_of_a_score():
    rng = np.random.default_rng(0)
    score = np.concatenate([rng.normal(0.0, 1.0, 4000), rng.normal(1.0, 1.0, 2000)])
    labels = np.repeat([0, 1], [4000, 2000])
    middle = np.abs(score - 0.5) < 1.5
    # Any increasing score has the same ratio: x − ½ for two unit normals.
    for distorted in (score, 3.0 * score + 1.0, np.tanh(score / 3.0)):
        error = (_calibrated(distorted, labels) - (score - 0.5))[middle]
        assert np.sqrt(np.mean(error**2)) < 0.12
    assert (_calibrated(np.zeros(6000), labels) == 0.0).all()


def test_regression_and_predictions_as_an_array(shift):
    _, X, _, X_new, _ = shift
    y = np.abs(X[:, 0])
    model = LinearRegression().fit(X, y)
    arguments = (X, y, X_new, "neg_mean_absolute_error")
    by_model, by_array = (
        secant.estimate_performance(m, *arguments, ratio=LINEAR, random_state=0)
        for m in (model, model.predict(X))
    )
    assert by_model.estimate == by_array.estimate
    assert by_model.interval == by_array.interval
    truth = -np.mean(np.abs(model.predict(X_new) - np.abs(X_new[:, 0])))
    assert by_model.interval[0] < truth < by_model.interval[1]
    assert by_model.interval[1] < by_model.reference


@pytest.mark.parametrize(
    ("metric", "exact"),
    [
        ("roc_auc", lambda y, p, w: roc_auc_score(y, p[:, 1], sample_weight=w)),
        ("neg_log_loss", lambda y, p, w: -log_loss(y, p, sample_weight=w)),
        (accuracy_score, lambda y, p, w: accuracy_score(y, p[:, 1] > 0.5, sample_weight=w)),
        (roc_auc_score, lambda y, p, w: roc_auc_score(y, p[:, 1], sample_weight=w)),
        (
            make_scorer(log_loss, response_method="predict_proba"),
            lambda y, p, w: log_loss(y, p, sample_weight=w),
        ),
    ],
)
def test_metrics_are_those_of_scikit_learn(shift, metric, exact):
    model, X, y, *_ = shift
    weights = np.random.default_rng(0).exponential(size=len(y))
    probabilities = model.predict_proba(X)
    expected = exact(y, probabilities, weights)
    assert WeightedMetric(metric, model, X, y)(weights) == pytest.approx(expected)
    assert WeightedMetric(metric, probabilities, X, y)(weights) == pytest.approx(expected)


def test_a_metric_without_weights_is_taken_over_drawn_rows(shift):
    model, X, y, *_ = shift
    metric = WeightedMetric(lambda y_true, y_pred: np.mean(y_true == y_pred), model, X, y)
    weights = np.where(X[:, 0] > 0.0, 3.0, 1.0)
    expected = accuracy_score(y, model.predict(X), sample_weight=weights)
    # Drawn at even distances: at most the noise of drawing 2,000 rows, 0.0094.
    assert metric(weights) == pytest.approx(expected, abs=0.01)
    np.testing.assert_array_equal(_drawn(np.array([2.0, 0.0, 1.0, 1.0])), [0, 0, 2, 3])


def test_frames_with_text(shift):
    rng = np.random.default_rng(0)
    X, X_new = (
        pd.DataFrame({"age": rng.normal(size=400), "region": rng.choice(["N", "S"], 400, p=p)})
        for p in ((0.5, 0.5), (0.2, 0.8))
    )
    y = np.where(rng.uniform(size=400) < 0.9, X["region"], "N")
    found = secant.estimate_performance(
        X["region"], X, y, X_new, "accuracy", ratio=LINEAR, random_state=0
    )
    # Right in 100 % of the rows of N and 90 % of those of S: 0.2 + 0.8 · 0.9.
    assert found.interval[0] < 0.92 < found.interval[1]
    assert found.estimate < found.reference


def test_a_refusal_names_the_reason(shift):
    model, X, y, *_ = shift
    with pytest.raises(secant.OverlapError, match="apart without error"):
        secant.estimate_performance(model, X, y, X + 12.0, ratio=LINEAR, random_state=0)
    some = np.concatenate([X[:1000], X[1000:1500] + 30.0])
    with pytest.raises(secant.OverlapError, match="% of the new rows are unlike every"):
        secant.estimate_performance(model, X, y, some, ratio=LINEAR, random_state=0)


@pytest.mark.parametrize(
    ("changed", "error", "message"),
    [
        ({"metric": "acuracy"}, ValueError, "did you mean 'accuracy'"),
        ({"metric": 3}, TypeError, "must be a name or a function"),
        ({"y_ref": [0, 1]}, ValueError, r"`y_ref` must have shape \(2000,\)"),
        ({"confidence": 2.0}, ValueError, "between 0 and 1"),
        ({"missing": "drop"}, ValueError, "a dropped row has a label"),
    ],
)
def test_mistakes(shift, changed, error, message):
    model, X, y, X_new, _ = shift
    arguments = {"model": model, "X_ref": X, "y_ref": y, "X_new": X_new, "ratio": LINEAR}
    with pytest.raises(error, match=message):
        secant.estimate_performance(**(arguments | changed))


def test_closure_on_a_real_table():
    """Twelve shifts of the digits: the interval covers, that of the reference does not."""
    X, y = load_digits(return_X_y=True)
    X = PCA(8, random_state=0).fit_transform(X)
    z = X / X.std(axis=0)
    covered = naive = 0
    for seed in range(12):
        rng = np.random.default_rng(seed)
        score = z @ rng.normal(size=8)
        chance = 0.85 / (1.0 + np.exp(0.9 - 3.0 * score / score.std()))
        is_new = rng.uniform(size=len(X)) < chance
        old, new = rng.permutation(np.flatnonzero(~is_new)), np.flatnonzero(is_new)
        train, ref = old[:400], old[400:]
        model = DecisionTreeClassifier(max_leaf_nodes=10, random_state=0).fit(X[train], y[train])
        found = secant.estimate_performance(
            model, X[ref], y[ref], X[new], ratio=LINEAR, random_state=seed
        )
        truth = accuracy_score(y[new], model.predict(X[new]))
        low, high = found.interval
        covered += low <= truth <= high
        p = found.reference
        naive += abs(p - truth) <= 1.96 * np.sqrt(p * (1.0 - p) * (1 / len(ref) + 1 / len(new)))
    assert covered >= 10
    assert naive <= 7

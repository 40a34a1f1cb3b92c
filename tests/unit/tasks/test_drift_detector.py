"""Comparisons with a reference: the test's level, the columns and the rows they name."""

from dataclasses import replace

import jax.numpy as jnp
import numpy as np
import pyarrow as pa
import pytest
from jaxtyping import Array, Float
from scipy.stats import kstest
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression

import secant
from secant import DriftDetector, SklearnRatio, compare
from secant.integration import SecantSteps
from secant.models.secant_function import SecantFunction
from secant.tasks.attribution import feature_contributions
from secant.tasks.column_parts import column_parts
from secant.tasks.cross_fitting import CrossFit, RatioEnsemble

N_0, N_1, D, SHIFT = 600, 450, 4, 0.8


def linear():
    return SklearnRatio(LogisticRegression(C=100.0), folds=None)


def tables(shift=SHIFT, seed=0, n_0=N_0, n_1=N_1, d=D):
    """Reference and current rows that differ in column 2 only."""
    rng = np.random.default_rng(seed)
    reference, current = rng.normal(size=(n_0, d)), rng.normal(size=(n_1, d))
    current[:, min(2, d - 1)] += shift
    return reference, current


def parts_of(reference, current):
    """Every column by itself."""
    names = [f"column {i}" for i in range(reference.shape[1])]
    return column_parts(reference, current, names, n_permutations=19, seed=0)


@pytest.fixture(scope="module")
def found():
    return compare(*tables(), estimator=linear(), random_state=0)


def test_the_column_that_moved_carries_the_difference(found):
    assert found.has_drift()
    assert found.p_value < 0.01
    first, *others = found.features
    assert first.name == "column 2"
    # Jeffreys' divergence of two unit normals is δ², and all of it is in this column.
    assert first.replacement == pytest.approx(SHIFT**2, abs=4.5 * first.replacement_error + 0.1)
    for column in others:
        # The four fitted slopes have an error of about √(1/N_0 + 1/N_1) = 0.06 each.
        assert abs(column.replacement) < 4.5 * column.replacement_error + 0.02
    assert found.divergence == pytest.approx(SHIFT**2, abs=0.3)


def test_every_current_row_has_its_out_of_fold_score(found):
    assert found.row_scores.shape == (N_1,)
    np.testing.assert_array_equal(found.row_scores, found.cross_fit.log_ratio_1)
    top = found.top_rows(7)
    assert top.shape == (7,)
    assert found.row_scores[top[0]] == found.row_scores.max()
    assert (np.diff(found.row_scores[top]) <= 0.0).all()
    current = tables()[1]
    assert current[top, 2].min() > np.quantile(current[:, 2], 0.9)


def test_no_drift_gives_uniform_p_values():
    p = [
        compare(
            *tables(shift=0.0, seed=seed, n_0=60, n_1=50, d=2),
            estimator=linear(),
            n_folds=2,
            n_permutations=99,
            random_state=seed,
        ).p_value
        for seed in range(100)
    ]
    assert kstest(p, "uniform").pvalue > 1e-3
    assert np.mean(np.array(p) < 0.1) < 0.1 + 4.5 * np.sqrt(0.09 / 100)


def test_both_ways_agree_for_a_linear_log_ratio_and_add_up():
    reference, current = tables(d=2)
    weights = np.array([0.5, -1.0])
    fits = Given.cross_fit(reference, current, weights=weights, member=differentiable(weights))
    parts = parts_of(reference, current)
    columns = feature_contributions(fits, reference, current, parts, np.random.RandomState(0))
    assert [c.name for c in columns] == ["column 0", "column 1"]  # −0.8 is the smaller
    for c in columns:
        assert c.gradient == pytest.approx(c.replacement, abs=1e-5)
        assert c.gradient_error == pytest.approx(c.replacement_error, rel=1e-4)
        assert (c.contribution, c.contribution_error) == (c.gradient, c.gradient_error)
    total = sum(c.gradient for c in columns)
    difference = fits.log_ratio_1.mean() - fits.log_ratio_0.mean()
    # Of 300 baselines a fold, 225 to 450 are used: the sum has a share of their error.
    error = np.sqrt(sum(c.gradient_error**2 for c in columns))
    assert total == pytest.approx(difference, abs=3.0 * error)


class Linear(SecantFunction):
    """log r = w·x."""

    w: Float[Array, " d"]

    def parts(self, x, l, t):
        del l, t
        return (x @ self.w)[:, None]

    def time_score(self, x, t):
        return self.parts(x, t, t)[:, 0]


def differentiable(weights):
    """An estimator of this log ratio, fitted but for the fit."""
    found = secant.SecantRatio()
    found.model_, found.rule_ = Linear(jnp.asarray(weights, dtype=float)), SecantSteps(1)
    found.scaling_ = secant.Identity().fitted(*np.zeros((2, 2, weights.size)))
    found.n_features_in_, found.diagnostics_ = weights.size, None
    return found


def test_the_errors_of_contributions_are_as_large_as_their_deviations():
    # The log ratio is given, not fitted: what is left is the error over rows.
    z = []
    for seed in range(40):
        reference, current = tables(seed=seed, n_0=200, n_1=150, d=2)
        fits = Given.cross_fit(reference, current, weights=np.array([0.5, -1.0]))
        parts = parts_of(reference, current)
        columns = feature_contributions(fits, reference, current, parts, np.random.RandomState(0))
        by_name = {c.name: c for c in columns}
        truth = {"column 0": 0.0, "column 1": -SHIFT}
        z += [(by_name[k].replacement - v) / by_name[k].replacement_error for k, v in truth.items()]
    # 80 numbers; rows of one fold are averaged over all its pairs, so errors are on the safe side.
    assert 0.6 < np.std(z) < 1.0 + 4.5 / np.sqrt(160)


class Given:
    """Fits of a log ratio that is known."""

    def __init__(self, weights):
        self.weights = weights

    @property
    def members(self):
        return (self,)

    @property
    def in_use(self):
        return self

    def log_ratio(self, x):
        return x @ self.weights

    @classmethod
    def cross_fit(cls, x_0, x_1, *, weights, member=None):
        one = cls(weights) if member is None else RatioEnsemble((member,))
        folds = [np.arange(len(x)) % 2 for x in (x_0, x_1)]
        scores = [one.log_ratio(x) for x in (x_0, x_1)]
        return CrossFit(*scores, *folds, (one, one))


def test_contributions_are_of_rows_that_the_fit_has_not_seen():
    reference, current = tables(n_0=21, n_1=14, d=2)
    fits = Given.cross_fit(reference, current, weights=np.ones(2))
    watched = []
    for k in (0, 1):
        unseen = [x[fold == k] for x, fold in ((reference, fits.fold_0), (current, fits.fold_1))]
        watched.append(Watching(np.ones(2), np.concatenate(unseen)))
    parts = parts_of(reference, current)
    fits = replace(fits, ensembles=tuple(watched))
    feature_contributions(fits, reference, current, parts, np.random.RandomState(0))
    assert all(one.calls == 3 for one in watched)  # as they are, and with either column replaced


class Watching(Given):
    """Refuses numbers that are not among the rows it may score."""

    def __init__(self, weights, unseen):
        super().__init__(weights)
        self.unseen, self.calls = unseen, 0

    def log_ratio(self, x):
        self.calls += 1
        for column, allowed in zip(x.T, self.unseen.T, strict=True):
            assert np.isin(column, allowed).all()
        return super().log_ratio(x)


def test_the_columns_are_a_table(found):
    lines = str(found).split("columns by contribution\n")[1].splitlines()
    assert "gradients" not in lines[0]  # a classifier has none
    assert lines[1].startswith("  column 2 ")
    assert len({len(line) for line in lines[: 1 + D]}) == 1


def test_the_old_name_gives_the_same_answer(found):
    with pytest.warns(FutureWarning, match=r"use secant\.compare"):
        old = secant.detect_drift(*tables(), estimator=linear(), random_state=0)
    assert old.p_value == found.p_value


def test_same_seed_same_answer(found):
    again = compare(*tables(), estimator=linear(), random_state=0)
    assert again.p_value == found.p_value
    assert [c.replacement for c in again.features] == [c.replacement for c in found.features]


NAMES = ["age", "bmi", "pressure", "sugar"]


def arrow(x, names=NAMES):
    return pa.table(dict(zip(names, x.T, strict=True)))


def test_columns_are_named_by_tables_or_by_hand(found):
    reference, current = tables()
    named = compare(arrow(reference), arrow(current), estimator=linear(), n_folds=2, random_state=0)
    assert named.features[0].name == "pressure"
    by_hand = compare(
        reference, current, estimator=linear(), n_folds=2, feature_names=NAMES, random_state=0
    )
    assert by_hand.features[0].name == "pressure"


def test_other_columns_are_refused():
    reference, current = tables()
    other = arrow(current, ["age", "bmi", "weight", "sugar"])
    with pytest.raises(ValueError, match=r"got .* \(missing \['pressure'\], new \['weight'\]\)"):
        compare(arrow(reference), other, estimator=linear())
    with pytest.raises(ValueError, match=r"same order; got .* and \['sugar', 'pressure'"):
        compare(arrow(reference), arrow(current, NAMES[::-1]), estimator=linear())
    with pytest.raises(ValueError, match=r"`x_1` must have shape \(n, d\) with d = 4"):
        compare(reference, current[:, :3], estimator=linear())
    with pytest.raises(ValueError, match="`feature_names` must have 4 names"):
        compare(reference, current, estimator=linear(), feature_names=["a"])
    with pytest.raises(ValueError, match="`n_permutations` must be a whole number"):
        compare(reference, current, estimator=linear(), n_permutations=0)


def test_a_detector_remembers_the_reference(found):
    reference, current = tables()
    detector = DriftDetector(linear(), random_state=0)
    with pytest.raises(NotFittedError):
        detector.detect(current)
    assert detector.fit(reference).detect(current).p_value == found.p_value
    detector.fit(arrow(reference))
    assert detector.detect(current).features[0].name == "pressure"
    with pytest.raises(ValueError, match=r"missing \['pressure'\], new \['weight'\]"):
        detector.detect(arrow(current, ["age", "bmi", "weight", "sugar"]))
    with pytest.raises(TypeError, match=r"SklearnRatio\(classifier\)"):
        DriftDetector(LogisticRegression()).fit(reference)
    assert DriftDetector(n_folds=3).get_params()["n_folds"] == 3

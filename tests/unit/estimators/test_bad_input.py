"""Invalid input: each error says what was expected and what was given."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from scipy import sparse
from sklearn.exceptions import DataConversionWarning, NotFittedError
from tests.fabricated import fabricated

from secant import (
    CTSM,
    D3RE,
    ISADRE,
    TRE,
    ClassifierRatio,
    ConstantColumnWarning,
    DREInfinity,
    GaussianMoments,
    GaussianStartWarning,
    Identity,
    OverlapWarning,
    SecantRatio,
    Training,
)
from secant.curricula import ContractionIntervalAnnealing, SecantTangentShare
from secant.integration import Adaptive, GaussLegendre, SecantSteps, Trapezoid
from secant.models import (
    AlignedSecant,
    ModulatedMLP,
    ResidualMLP,
    SpectralSecant,
    TangentNetwork,
)
from secant.paths import DiffusionBridge, DiffusionInterpolant
from secant.targets import GammaDivergence, Logistic, PolynomialWeight, SecantVelocity
from secant.time_samplers import Corners, LogitNormal, VarianceImportance


def spoiled(x, value):
    """The rows with one bad entry."""
    x = x.copy()
    x[3, 1] = value
    return x


BAD_ROWS = {
    "NaN": (lambda x: spoiled(x, np.nan), "contains NaN"),
    "infinity": (lambda x: spoiled(x, np.inf), "contains infinity"),
    "minus infinity": (lambda x: spoiled(x, -np.inf), "contains infinity"),
    "no columns": (lambda x: x[:, :0], r"0 feature\(s\)"),
    "1-D": (lambda x: x[:, 0], "Expected 2D array, got 1D array"),
    "3-D": (lambda x: x[None], "Found array with dim 3"),
    "a number": (lambda _: 3.0, "Expected 2D array, got scalar array"),
    "None": (lambda _: None, "Expected 2D array"),
    "text": (lambda x: x.astype(str), "not compatible with arrays of bytes/strings"),
    "text among numbers": (
        lambda x: np.where(x > 9.0, x, "a").astype(object),
        "could not convert string to float: 'a'",
    ),
    "complex": (lambda x: x + 1j, "Complex data not supported"),
    "ragged": (lambda _: [[1.0, 2.0, 3.0], [1.0]], "inhomogeneous shape"),
    "sparse": (lambda x: sparse.csr_array(x), "Sparse data was passed"),
}


@pytest.fixture(params=BAD_ROWS)
def bad_rows(request, samples):
    """Invalid rows, and what the message must contain."""
    spoil, message = BAD_ROWS[request.param]
    return spoil(samples.x_0), message


def test_fit_refuses_bad_rows(new, samples, bad_rows):
    rows, message = bad_rows
    with pytest.raises((TypeError, ValueError), match=message):
        new().fit(rows, samples.y[: len(samples.x_0)])


@pytest.mark.parametrize("name", ["x_0", "x_1"])
def test_fit_samples_names_the_bad_array(new, samples, bad_rows, name):
    rows, message = bad_rows
    pair = {**samples._asdict(), name: rows}
    with pytest.raises((TypeError, ValueError), match=f"(?s)`{name}` must be .*{message}"):
        new().fit_samples(**pair)


def test_log_ratio_refuses_bad_rows_and_stays_usable(fitted, samples, bad_rows):
    rows, message = bad_rows
    before = fitted.log_ratio(samples.X)
    with pytest.raises((TypeError, ValueError), match=message):
        fitted.log_ratio(rows)
    np.testing.assert_array_equal(fitted.log_ratio(samples.X), before)


def test_dates_are_not_numbers(new, samples):
    dates = np.zeros(samples.x_0.shape, dtype="datetime64[s]")
    with pytest.raises(ValueError, match=r"`x_0` must be a numeric array .*; got datetime64"):
        new().fit_samples(dates, samples.x_1)


@pytest.mark.parametrize("n", [0, 1])
def test_too_few_rows(new, fitted, samples, n):
    with pytest.raises(ValueError, match=rf"`x_1` must have at least 2 rows; got {n} sample\(s\)"):
        new().fit_samples(samples.x_0, samples.x_1[:n])
    with pytest.raises(ValueError, match=rf"{n} sample\(s\) .* minimum of 2 is required"):
        new().fit(samples.x_0[:n], samples.y[:n])
    if n == 0:
        with pytest.raises(ValueError, match=r"0 sample\(s\)"):
            fitted.log_ratio(samples.x_0[:0])
    else:
        assert fitted.log_ratio(samples.x_0[:1]).shape == (1,)


def test_one_row_of_a_label(new, samples):
    labels = np.zeros(len(samples.X), dtype=int)
    labels[0] = 1
    with pytest.raises(ValueError, match="`x_1` must have at least 2 rows; got 1"):
        new().fit(samples.X, labels)


def test_samples_of_different_width(new, samples):
    with pytest.raises(
        ValueError, match=r"`x_1` must have shape \(n, d\) with d = 3; got \(200, 2"
    ):
        new().fit_samples(samples.x_0, samples.x_1[:, :2])


@pytest.mark.parametrize("method", ["log_ratio", "score_samples", "self_check"])
def test_rows_of_another_width_later(fitted, samples, method):
    wide = np.zeros((10, 4))
    before = fitted.log_ratio(samples.X)
    with pytest.raises(ValueError, match="X has 4 features, but SecantRatio is expecting 3"):
        getattr(fitted, method)(wide)
    np.testing.assert_array_equal(fitted.log_ratio(samples.X), before)


BAD_LABELS = {
    "missing": (lambda _: None, "requires y to be passed.*fit_samples"),
    "other numbers": (lambda y: y + 1, r"labels 0 .* and 1 .*got 2 distinct value\(s\): 1, 2"),
    "signs": (lambda y: 2 * y - 1, r"got 2 distinct value\(s\): -1, 1"),
    "three": (lambda y: np.arange(y.size) % 3, r"got 3 distinct value\(s\): 0, 1, 2"),
    "many": (lambda y: np.arange(y.size), r"got 400 distinct value\(s\): 0, 1, 2, 3, 4, …"),
    "p_0 only": (lambda y: 0 * y, r"both labels, .*got one class only, 0\. .*StratifiedKFold"),
    "p_1 only": (lambda y: 0 * y + 1, r"both labels, .*got one class only, 1\. .*StratifiedKFold"),
    "NaN": (lambda y: np.where(y, 1.0, np.nan), r"2 distinct value\(s\): 1.0, nan"),
    "text": (lambda y: np.where(y, "new", "old"), "Unknown label type: .* got dtype <U3"),
    "mixed": (lambda y: np.where(y, np.array("new", dtype=object), 0), "Unknown label type"),
    "too few": (lambda y: y[:50], r"`y` must have shape \(400,\), one label per row; got \(50,\)"),
    "two columns": (lambda y: np.stack([y, y], 1), r"one label per row; got \(400, 2\)"),
}


@pytest.mark.parametrize("kind", BAD_LABELS)
@pytest.mark.parametrize("method", ["fit", "score"])
def test_bad_labels(fitted, new, samples, kind, method):
    spoil, message = BAD_LABELS[kind]
    estimator = new() if method == "fit" else fitted
    with pytest.raises(ValueError, match=message):
        getattr(estimator, method)(samples.X, spoil(samples.y))


@pytest.mark.parametrize("labels", [bool, float, np.int8])
def test_labels_of_any_number_type(new, fitted, samples, labels):
    # fit and fit_samples see the same rows in the same order, so nothing at all may differ.
    same = new().fit(samples.X, samples.y.astype(labels))
    np.testing.assert_array_equal(same.log_ratio(samples.X), fitted.log_ratio(samples.X))


def test_labels_in_a_column_are_taken_with_a_warning(new, fitted, samples):
    with pytest.warns(DataConversionWarning, match="A column-vector y was passed"):
        same = new().fit(samples.X, samples.y[:, None])
    np.testing.assert_array_equal(same.log_ratio(samples.X), fitted.log_ratio(samples.X))


BAD_WEIGHTS = {
    "negative": (lambda w: w - 2.0, r"finite and non-negative; got -1.0 at row 0 \(200 such row"),
    "NaN": (lambda w: np.append(w[1:], np.nan), r"finite and .*got nan at row 199 \(1 such row"),
    "infinite": (lambda w: np.append(w[1:], np.inf), "finite and .*got inf at row 199"),
    "zero": (lambda w: 0.0 * w, "not be zero everywhere"),
    "too few": (lambda w: w[:5], r"have shape \(200,\), one weight per row; got \(5,\)"),
    "a column": (lambda w: w[:, None], r"have shape .*got \(200, 1\)"),
}


@pytest.mark.parametrize("kind", BAD_WEIGHTS)
@pytest.mark.parametrize("name", ["weight_0", "weight_1"])
def test_bad_weights(new, samples, kind, name):
    spoil, message = BAD_WEIGHTS[kind]
    with pytest.raises(ValueError, match=f"`{name}` must (be )?{message}"):
        new().fit_samples(*samples, **{name: spoil(np.ones(200))})


def test_bad_sample_weight(new, samples):
    with pytest.raises(ValueError, match=r"`sample_weight` must have shape \(400,\)"):
        new().fit(samples.X, samples.y, sample_weight=np.ones(3))
    with pytest.raises(ValueError, match="both classes; all rows of class 0 have weight 0"):
        new().fit(samples.X, samples.y, sample_weight=samples.y)


def pandas(rows, columns):
    return pd.DataFrame(rows, columns=columns)


def arrow(rows, columns):
    return pa.table({name: rows[:, i] for i, name in enumerate(columns)})


@pytest.mark.parametrize("table", [pandas, arrow])
def test_tables_with_other_columns(new, samples, table):
    with pytest.raises(ValueError, match=r"same columns in the same order; got .* and \['a', 'c'"):
        new().fit_samples(table(samples.x_0, list("abc")), table(samples.x_1, list("acb")))
    new().fit_samples(table(samples.x_0, list("abc")), table(samples.x_1, list("abc")))


def test_names_are_remembered(new, fitted, samples):
    named = new().fit_samples(*(arrow(x, "abc") for x in samples))
    assert named.feature_names_in_.tolist() == ["a", "b", "c"]
    with pytest.raises(ValueError, match="feature names should match those that were passed"):
        named.log_ratio(arrow(samples.x_0, "acb"))
    same = named.log_ratio(arrow(samples.x_0, "abc"))
    np.testing.assert_array_equal(same, fitted.log_ratio(samples.x_0))


def test_memory_maps_are_checked_too(new, samples, tmp_path):
    mapped = np.memmap(tmp_path / "x", dtype=float, mode="w+", shape=samples.x_0.shape)
    mapped[:] = spoiled(samples.x_0, np.nan)
    with pytest.raises(ValueError, match="`x_0` contains NaN or infinity near row 0"):
        new().fit_samples(mapped, samples.x_1)
    with pytest.raises(ValueError, match=r"`x_0` must be a numeric array .*got float64 of shape"):
        new().fit_samples(mapped[:, 0], samples.x_1)


CALLS = {
    "log_ratio": (),
    "score_samples": (),
    "score": (np.arange(400) % 2,),
    "secant": (0.0, 1.0),
    "time_score": (0.5,),
    "integrate": (Trapezoid(4),),
    "self_check": (),
}


@pytest.mark.parametrize("method", CALLS)
def test_unfitted(new, samples, method):
    with pytest.raises(NotFittedError, match="This SecantRatio instance is not fitted yet"):
        getattr(new(), method)(samples.X, *CALLS[method])


def test_a_refused_fit_leaves_the_estimator_unfitted(new, samples):
    estimator = new()
    with pytest.raises(ValueError, match="`y` must hold"):
        estimator.fit(samples.X, samples.y + 1)
    with pytest.raises(NotFittedError):
        estimator.log_ratio(samples.X)


@pytest.mark.parametrize(("l", "t"), [(-0.1, 1.0), (0.0, 1.1), (0.5, 0.2), (np.nan, 1.0)])
def test_bad_intervals(fitted, samples, l, t):
    with pytest.raises(ValueError, match=f"0 <= l <= t <= 1; got l={l}, t={t}"):
        fitted.secant(samples.X, l, t)


@pytest.mark.parametrize("t", [-0.1, 1.1, np.nan])
def test_bad_times(fitted, samples, t):
    with pytest.raises(ValueError, match=rf"`t` must lie in \[0, 1\]; got {t}"):
        fitted.time_score(samples.X, t)


BAD_SETTINGS = {
    "loss": (lambda: ClassifierRatio("hinge"), ValueError, r"one of \['dv', 'ew'.*; got 'hinge'"),
    "frame": (lambda: ISADRE(frame="moving"), ValueError, "'fixed-x' or 'trajectory'; got 'mov"),
    "n_steps": (lambda: ISADRE(n_steps=0), ValueError, "needs at least 1 step.*got 0"),
    "a word for n_steps": (lambda: ISADRE(n_steps="5"), TypeError, "a whole number of .*got '5'"),
    "half a step": (lambda: ISADRE(n_steps=2.5), TypeError, "a whole number of steps; got 2.5"),
    "model": (lambda: SecantRatio(ResidualMLP()), TypeError, "`model` must be a ModelBuilder or"),
    "path": (lambda: SecantRatio(path="bridge"), TypeError, "`path` must be a Path .* got 'bri"),
    "scaling": (lambda: ISADRE(scaling="none"), TypeError, "`scaling` must be a ScalingRule"),
    "training": (lambda: SecantRatio(training={"steps": 9}), TypeError, "`training` must be a Tr"),
    "rule": (lambda: DREInfinity(rule=50), TypeError, "`rule` must be a Rule or None; got 50"),
    "pairing": (lambda: D3RE(pairing="ot"), TypeError, "`pairing` must be a Pairing .* got 'ot'"),
    "waymarks": (lambda: TRE(waymarks=8), TypeError, "`waymarks` must be a Waymarks .* got 8"),
    "heads": (lambda: TRE(SpectralSecant()), TypeError, "`model` must be a TelescopingHeads or"),
    "joint": (
        lambda: DREInfinity(TangentNetwork(), joint=True),
        TypeError,
        "trains a JointScore; got _TangentFunction",
    ),
    "vectorised": (
        lambda: CTSM(TangentNetwork()),
        ValueError,
        "needs a model with one part a column, 3 here; got 1. Pass a model built with vectorised=T",
    ),
    "random_state": (lambda: SecantRatio(random_state="a"), ValueError, "cannot be used to seed"),
}


@pytest.mark.parametrize("name", BAD_SETTINGS)
def test_settings_refused_by_fit(samples, name):
    make, error, message = BAD_SETTINGS[name]
    estimator = make()  # as scikit-learn wants it, the constructor only stores
    with pytest.raises(error, match=message):
        estimator.fit(samples.X, samples.y)


BAD_PARTS = {
    "steps": (lambda: Training(steps=0), "needs steps > 0; got 0"),
    "batch_size": (lambda: Training(batch_size=-1), "needs batch_size > 0; got -1"),
    "learning_rate": (lambda: Training(learning_rate=0.0), "needs learning_rate > 0; got 0.0"),
    "clip": (lambda: Training(clip=0.0), "needs clip > 0"),
    "evaluate_every": (lambda: Training(evaluate_every=0), "needs evaluate_every > 0"),
    "validation_rows": (lambda: Training(validation_rows=0), "needs validation_rows > 0"),
    "validation_share": (lambda: Training(validation_share=1.0), r"lie in \(0, 1\); got 1.0"),
    "average": (lambda: Training(average=1.0), r"average must lie in \[0, 1\); got 1.0"),
    "patience": (lambda: Training(patience=0), "patience must be None or at least 1; got 0"),
    "max_seconds": (lambda: Training(max_seconds=0.0), "max_seconds must be None or positive"),
    "width": (lambda: ResidualMLP(width=0), "width >= 1 and depth >= 0; got 0"),
    "depth": (lambda: ResidualMLP(depth=-1), "width >= 1 and depth >= 0"),
    "order": (lambda: SpectralSecant(order=0), "needs order >= 1; got 0"),
    "gamma": (lambda: DiffusionBridge(gamma=-1.0), "gamma >= 0 and epsilon > 0; got gamma=-1.0"),
    "epsilon": (lambda: DiffusionBridge(epsilon=0.0), "got gamma=1.0, epsilon=0.0"),
    "end_cut": (lambda: DiffusionInterpolant(end_cut=0.7), r"lie in \(0, 0.5\); got 0.7"),
    "floor": (lambda: VarianceImportance(floor=-0.1), "0 <= floor <= 1; got -0.1"),
    "corners": (lambda: Corners(start=1.5), "at most 1 together; got 1.5"),
    "consistency": (lambda: SecantVelocity(consistency=-1.0), "consistency >= 0; got -1.0"),
    "full gradient": (
        lambda: SecantVelocity(frame="trajectory", stop_gradient=False),
        "full gradient needs frame='fixed-x'",
    ),
    "modulated depth": (lambda: ModulatedMLP(depth=0), "depth >= 1; got 256, 0"),
    "order of means": (lambda: AlignedSecant(order=2), "order of 0 or at least 3; got 2, 2"),
    "scale": (lambda: LogitNormal(scale=0.0), "needs scale > 0; got 0.0"),
    "anneal_share": (lambda: ContractionIntervalAnnealing(0.0), r"lie in \(0, 1\]; got 0.0"),
    "tangent_share": (lambda: SecantTangentShare(1.5), r"lie in \[0, 1\]; got 1.5"),
    "noise_ratio": (lambda: Logistic(0.0), "Logistic needs noise_ratio > 0; got 0.0"),
    "power": (lambda: PolynomialWeight(5.0), "needs 0 <= power <= 4; got 5.0"),
    "cutoff": (lambda: GammaDivergence(cutoff=np.nan), "needs cutoff > 0; got nan"),
    "SecantSteps": (lambda: SecantSteps(0), r"needs at least 1 step\(s\); got 0"),
    "Trapezoid": (lambda: Trapezoid(1), r"needs at least 2 step\(s\); got 1"),
    "GaussLegendre": (lambda: GaussLegendre(0), r"needs at least 1 step\(s\); got 0"),
    "tolerance": (lambda: Adaptive(tolerance=0.0), "needs tolerance > 0; got 0.0"),
    "max_evaluations": (lambda: Adaptive(max_evaluations=4), r"at least 8 step\(s\); got 4"),
}


@pytest.mark.parametrize("name", BAD_PARTS)
def test_settings_refused_by_their_part(name):
    make, message = BAD_PARTS[name]
    with pytest.raises(ValueError, match=message):
        make()


def test_constant_columns(new, samples):
    x_0, x_1 = (x.copy() for x in samples)
    x_0[:, 1] = x_1[:, 1] = 5.0
    with pytest.warns(
        ConstantColumnWarning, match=r"1 of 3 columns hold one value .*\(first: column 1\)"
    ):
        estimator = new().fit_samples(x_0, x_1)
    before = estimator.log_ratio(x_0)
    assert np.isfinite(before).all()
    # "They do not affect the ratio", as the warning says: nor do values never seen in fit.
    x_0[:, 1] = 7.0
    np.testing.assert_array_equal(estimator.log_ratio(x_0), before)


def test_samples_without_overlap(new, samples):
    # 20 standard deviations apart, one held-out row of x_0 carries all the weight; 20 are held out.
    with pytest.warns(OverlapWarning, match=r"effective sample size [12]\.\d of 20 held-out rows"):
        estimator = new(anchor=GaussianMoments()).fit_samples(samples.x_0, samples.x_1 + 20.0)
    assert not estimator.diagnostics_.has_overlap
    assert (estimator.log_ratio(samples.x_0) < 0.0).all()
    assert (estimator.log_ratio(samples.x_1 + 20.0) > 0.0).all()


def test_identical_samples(new, samples):
    estimator = new(anchor=GaussianMoments()).fit_samples(samples.x_0, samples.x_0)
    # Each side loses its own tenth to the rows to report on, so two sets of 180 that share 162 rows
    # are compared: with 9 moments a side the anchor's log ratio is off by about
    # √(9 · 2 · (1/162 − 1/180)) = 0.1 at a typical row. Twice that, for training's own noise.
    assert np.abs(estimator.log_ratio(samples.x_0)).mean() < 0.2


@pytest.mark.parametrize("shift", [0.0, 0.5])
def test_one_sided_path_says_when_its_start_is_not_standard_normal(shift):
    rng = np.random.default_rng(0)
    n = 400_000  # three standard errors of a mean are 0.005: 0.5 to the two digits of the message
    x_0, x_1 = shift + rng.normal(size=(n, 2)), 0.5 * rng.normal(size=(n, 2))
    estimator = CTSM(
        TangentNetwork(ResidualMLP(4, 0), vectorised=True),
        path=DiffusionInterpolant(),
        scaling=Identity(),
        rule=Trapezoid(3),
        training=Training(steps=4, batch_size=16, evaluate_every=2),
        random_state=0,
    )
    if shift:
        words = r"needs x_0 ~ N\(0, I\).*off by up to 0\.5\b"
        with pytest.warns(GaussianStartWarning, match=words):
            fabricated(estimator, x_0, x_1)
    else:
        fabricated(estimator, x_0, x_1)

"""A comparison: its numbers are those of the single tasks, its verdict those of its numbers."""

import re
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from sklearn.linear_model import LogisticRegression

import secant
from secant import SklearnRatio, compare
from secant.models import ResidualMLP, SpectralSecant
from secant.tasks.comparison_result import Degree
from secant.tasks.cross_fitting import RatioEnsemble
from secant.tasks.model_choice import default_ratio
from secant.tasks.path_picture import path_picture

N_0, N_1, D, SHIFT = 500, 400, 3, 1.0


def linear():
    return SklearnRatio(LogisticRegression(C=100.0), folds=None)


def tables(shift=SHIFT, seed=0):
    rng = np.random.default_rng(seed)
    x_0, x_1 = rng.normal(size=(N_0, D)), rng.normal(size=(N_1, D))
    x_1[:, 1] += shift
    return x_0, x_1


@pytest.fixture(scope="module")
def found():
    return compare(*tables(), estimator=linear(), n_folds=3, random_state=7)


def test_numbers_are_those_of_the_single_tasks(found):
    x_0, x_1 = tables()
    same = {"estimator": linear(), "n_folds": 3, "random_state": 7}
    assert found.kl.estimate == secant.kl_divergence(x_0, x_1, **same).estimate
    assert (
        found.kl_reverse.interval == secant.kl_divergence(x_0, x_1, reverse=True, **same).interval
    )
    assert found.jensen_shannon.estimate == secant.jensen_shannon(x_0, x_1, **same).estimate
    tv = secant.total_variation(x_0, x_1, **same)
    assert found.overlap == 1.0 - tv.estimate
    assert found.overlap_interval == (1.0 - tv.interval[1], 1.0 - tv.interval[0])
    weights = secant.importance_weights(x_0, x_1, **same)
    assert found.effective_sample_size_0 == pytest.approx(weights.effective_sample_size)
    other = secant.importance_weights(x_1, x_0, estimator=linear(), n_folds=3, random_state=7)
    # Another seed's folds, but the same sides: worth about as many of x_1's rows.
    assert found.effective_sample_size_1 == pytest.approx(other.effective_sample_size, rel=0.15)


def test_the_truth_of_two_normals(found):
    # KL of unit normals δ apart is δ²/2 both ways, their overlap 2 Φ(−δ/2).
    for kl in (found.kl, found.kl_reverse):
        assert kl.estimate == pytest.approx(SHIFT**2 / 2, abs=4.5 * kl.standard_error)
    assert found.overlap == pytest.approx(0.6171, abs=4.5 * found.overlap_error)
    assert found.degree is Degree.STRONG
    assert re.search(r"most of it in “column 1” \(\d\.\d\d s\.d\. higher in x_1\)", found.verdict)
    assert f"{100 * found.overlap:.0f} % in common" in found.verdict


def test_unlike_rows_are_the_extremes_of_each_sample(found):
    x_0, _ = tables()
    assert found.unlike_0.log_ratio[0] == found.log_ratio_0.min()
    assert found.unlike_1.log_ratio[0] == found.log_ratio_1.max()
    np.testing.assert_array_equal(
        found.unlike_1.log_ratio, found.log_ratio_1[found.unlike_1.numbers]
    )
    assert float(found.unlike_0.cells[3][1]) == pytest.approx(
        x_0[found.unlike_0.numbers[3], 1], abs=0.006
    )


def test_cells_of_the_tables_as_they_came_take_their_place(found):
    k = found.unlike_0.numbers.size
    shown = replace(found.unlike_0, columns=("colour",), cells=(("red",),) * k)
    assert shown.cells[0] == ("red",)
    for wrong in ((("red",),), (("red", "round"),) * k):
        with pytest.raises(ValueError, match=f"must have {k} rows of 1 texts"):
            replace(shown, cells=wrong)


@pytest.mark.parametrize(
    ("p_value", "overlap", "degree"),
    [
        (0.05, 0.05, Degree.SAME),
        (0.049, 0.81, Degree.MILD),
        (0.001, 0.79, Degree.STRONG),
        (0.001, 0.09, Degree.APART),
        (float("nan"), 0.5, Degree.SAME),
    ],
)
def test_the_degree_follows_the_test_and_the_overlap(p_value, overlap, degree):
    assert Degree.of(p_value, overlap) is degree


def test_samples_alike_name_no_column():
    found = compare(*tables(shift=0.0, seed=3), estimator=linear(), n_folds=2, random_state=0)
    assert found.degree is Degree.SAME
    assert "most of it" not in found.verdict
    # Estimate, interval and p-value agree: nothing was found, and this much may be there.
    assert found.kl.interval[0] == 0.0 <= found.kl.estimate <= found.kl.interval[1]
    assert f"KL(p_1‖p_0) at most {found.kl.interval[1]:.3g} (95 %) nats" in found.verdict
    assert found.changes == ()
    assert "least like" not in str(found)


def test_samples_apart_are_told_by_notes_not_by_warnings():
    x_0, x_1 = tables(shift=12.0)
    found = compare(x_0, x_1, estimator=linear(), n_folds=2, random_state=0)
    assert found.degree is Degree.APART
    assert any("effective sample size" in note for note in found.notes)
    assert "note: KL(p_1‖p_0)" in str(found)


def test_it_prints_the_verdict_first_and_what_makes_it_again(found):
    text = str(found)
    assert text.splitlines()[0] == found.verdict
    assert "500 rows" in text
    assert "seed 7" in text
    assert "column 1" in text.split("columns by contribution")[1]


def test_a_drawn_seed_makes_the_same_numbers_again():
    x_0, x_1 = tables()
    first = compare(x_0, x_1, estimator=linear(), n_folds=2)
    again = compare(x_0, x_1, estimator=linear(), n_folds=2, random_state=first.seed)
    assert first.kl.estimate == again.kl.estimate
    assert first.p_value == again.p_value


def test_names_come_from_tables_and_must_agree(found):
    x_0, x_1 = tables()
    columns = ["a", "b", "c"]
    table_0, table_1 = (pa.table(dict(zip(columns, x.T, strict=True))) for x in (x_0, x_1))
    named = compare(table_0, table_1, estimator=linear(), n_folds=2, random_state=0)
    assert named.feature_names == ("a", "b", "c")
    assert found.feature_names == ("column 0", "column 1", "column 2")
    with pytest.raises(ValueError, match="`x_0` and `x_1` must have the same columns"):
        compare(table_0, table_1.rename_columns(["a", "b", "d"]), estimator=linear())
    with pytest.raises(ValueError, match="must have 3 names"):
        compare(x_0, x_1, feature_names=["a"], estimator=linear())


def test_settings_and_versions_are_kept(found):
    assert found.settings["cross-fit folds"] == "3"
    assert found.settings["estimator"] == "SklearnRatio"
    assert found.versions["secant"] == secant.__version__
    assert found.why_no_path.startswith("SklearnRatio has no secants")
    assert found.path is None


@pytest.fixture(scope="module")
def far():
    ratio = secant.SecantRatio(
        SpectralSecant(trunk=ResidualMLP(width=16, depth=1)),
        anchor=False,
        scaling=secant.Standardise(),
        training=secant.Training(steps=20, batch_size=64, evaluate_every=10),
    )
    return compare(*tables(shift=4.0), estimator=ratio, n_folds=2, random_state=0)


def test_lines_rise_from_zero_to_the_log_ratio_of_their_row(far):
    assert len(far.path.lines) == 6
    for line in far.path.lines:
        scores = far.log_ratio_1 if line.sample else far.log_ratio_0
        assert line.rise[0] == 0.0
        assert line.log_ratio == pytest.approx(scores[line.row], abs=1e-4)
    medians = [line.log_ratio for line in far.path.lines if line.quantile == 0.5]
    assert medians[0] == pytest.approx(np.median(far.log_ratio_0), abs=0.1)
    assert medians[1] == pytest.approx(np.median(far.log_ratio_1), abs=0.1)


def test_lines_are_the_secants_of_the_fit_that_has_not_seen_the_row(far):
    x = tables(shift=4.0)
    line = far.path.lines[-1]
    fits = far.cross_fit
    fit = fits.ensembles[fits.fold_1[line.row]].members[0]
    middle = far.path.times.size // 2
    t = float(far.path.times[middle])
    u = fit.secant(x[1][line.row][None], 0.0, t)[0]
    assert line.rise[middle] == pytest.approx(t * u, rel=1e-5)


def test_every_fit_keeps_its_history(far):
    assert [record.fold for record in far.fits] == [0, 1]
    assert [r.step for r in far.fits[0].history] == [0, 10, 20]
    assert far.settings["training"].startswith("Training(steps=20")
    assert "Standardise" in far.settings["scaling"]


def test_a_fold_without_a_path_is_left_out(far):
    fits = far.cross_fit
    mixed = replace(fits, ensembles=(fits.ensembles[0], RatioEnsemble((linear(),))))
    picture = path_picture(mixed, *tables(shift=4.0))
    assert all(
        (fits.fold_1 if line.sample else fits.fold_0)[line.row] == 0 for line in picture.lines
    )


def test_a_progress_bar_reaches_every_part_of_the_estimator():
    from secant.tasks.comparison import _shown

    shown = _shown(default_ratio(100_000), progress=False)
    assert shown.near.progress is False
    assert shown.far.progress is False


@pytest.fixture(scope="module")
def chosen():
    return compare(*tables(shift=0.7), random_state=0)


def test_without_an_estimator_a_model_is_chosen_and_named(chosen):
    choice = chosen.cross_fit.choice
    # The log ratio is linear, of one column.
    assert choice.name == "linear logistic regression"
    assert choice.looks[0].loss <= choice.looks[-1].loss
    assert "held-out loss" in chosen.model
    assert chosen.model in str(chosen)
    # 0.7²/2 is the truth.
    assert chosen.kl.interval[0] < 0.245 < chosen.kl.interval[1]
    assert chosen.p_value == 1 / 1000


def test_columns_that_have_not_changed_get_no_histogram():
    rng = np.random.default_rng(0)
    x_0, x_1 = rng.normal(size=(400, 5)), rng.normal(size=(400, 5))
    x_1[:, 0] += 3.0
    found = compare(x_0, x_1, n_permutations=99, random_state=0)
    assert [margin.name for margin in found.margins] == ["column 0"]


def test_the_call_names_only_what_was_given(chosen, found):
    assert chosen.call.startswith("secant.compare(x_0, x_1, n_folds=")
    assert found.call.startswith("secant.compare(x_0, x_1, estimator=SklearnRatio(")


def test_a_small_batch_gets_a_model_of_its_size():
    """1,000 against 50 rows, half a standard deviation in one of three columns."""
    found = []
    for seed in range(4):
        rng = np.random.default_rng(seed)
        x_0, x_1 = rng.normal(size=(1000, 3)), rng.normal(size=(50, 3))
        x_1[:, 0] += 0.5
        found.append(compare(x_0, x_1, n_permutations=199, random_state=seed).p_value)
    # Hotelling's test finds this in four of five runs.
    assert np.median(found) < 0.05


def test_histograms_are_of_the_columns_that_carry_most(chosen):
    first, *others = chosen.features
    assert [m.name for m in chosen.margins] == [
        first.name,
        *(
            c.name
            for c in others[:3]
            if c.contribution > max(2.0 * c.contribution_error, 0.05 * first.contribution)
        ),
    ]
    for margin in chosen.margins:
        assert margin.share_0.sum() == pytest.approx(1.0)
        assert margin.share_1.sum() == pytest.approx(1.0)

"""ISADRE: its default parts, changes after the fit, and the paper's settings."""

import warnings

import numpy as np
import pytest
from sklearn.base import clone
from tests import tiny
from tests.fabricated import fabricated

from secant import ISADRE, Identity, Standardise
from secant.curricula import ContractionIntervalAnnealing, FullIntervals
from secant.gaussians import is_standard_normal
from secant.integration import SecantSteps
from secant.models import AlignedSecant, ModulatedMLP, ResidualMLP
from secant.paths import DiffusionBridge, DiffusionInterpolant
from secant.schedules import Linear, VariancePreserving
from secant.targets import ConditionalSecantAlignment, SecantVelocity
from secant.time_samplers import Corners, VarianceImportance

MODEL = AlignedSecant(ModulatedMLP(tiny.TRUNK.width, depth=1), order=3)


def estimator(**settings):
    return ISADRE(**({"training": tiny.TRAINING, "random_state": 0, "model": MODEL} | settings))


def fitted(x_0, x_1, **settings):
    """As after a fit: which parts it took does not depend on the training."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a random network fits nothing
        return fabricated(estimator(**settings), x_0, x_1)


def normal_rows(n=2000, d=2, seed=0):
    rng = np.random.default_rng(seed)
    return rng.standard_normal((n, d)), 1.0 + 0.2 * rng.standard_normal((n, d))


@pytest.fixture(scope="module")
def model():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # so little training fits nothing
        return estimator().fit_samples(*normal_rows())


def test_default_is_the_full_gradient_between_any_two_samples():
    x_0, x_1 = normal_rows()
    model = fitted(x_0 + 0.5, x_1)
    assert model.target_ == SecantVelocity(stop_gradient=False, consistency=1.0)
    assert model.path_ == DiffusionInterpolant()
    assert model.time_sampler_ == Corners()
    assert model.curriculum_ == FullIntervals()
    assert model.scaling_rule_ == Standardise()


def test_default_from_standard_normal_rows_trains_the_gradient_in_x(model):
    assert model.target_ == SecantVelocity(stop_gradient=False, consistency=1.0, spatial=16.0)
    assert model.scaling_rule_ == Identity()


@pytest.mark.parametrize(
    ("change", "settings"),
    [
        (lambda x_0, x_1: (x_0[:1000], x_1), {}),  # too few rows to tell
        (lambda x_0, x_1: (x_0, 10.0 * x_1), {}),  # columns that need a scaling
        (lambda x_0, x_1: (x_0, x_1), {"target": SecantVelocity(stop_gradient=False)}),
    ],
    ids=["few rows", "large x_1", "target given"],
)
def test_gradient_in_x_is_left_out(change, settings):
    found = fitted(*change(*normal_rows()), **settings)
    assert found.target_.spatial == 0.0
    assert found.scaling_rule_ == Standardise()


def test_width_follows_rows_and_columns():
    few, many = (ISADRE()._method(n, 5).model.trunk.width for n in (1_000, 100_000))
    assert few < many


def test_conditional_target_from_standard_normal_rows_takes_the_interpolant():
    found = fitted(*normal_rows(), target=ConditionalSecantAlignment())
    assert found.path_ == DiffusionInterpolant()
    assert found.scaling_rule_ == Identity()
    assert isinstance(found.time_sampler_, VarianceImportance)
    assert found.curriculum_ == ContractionIntervalAnnealing()


def test_conditional_target_from_other_rows_takes_a_bridge_that_follows_the_data():
    x_0, x_1 = normal_rows()
    wide = fitted(3.0 * x_0, 3.0 * x_1 + x_0, target=ConditionalSecantAlignment())
    narrow = fitted(3.0 * x_0, x_1, target=ConditionalSecantAlignment())
    for found in (wide, narrow):
        assert isinstance(found.path_, DiffusionBridge)
        assert found.scaling_rule_ == Standardise()
    assert narrow.path_.epsilon < 0.2 * wide.path_.epsilon


def test_a_given_path_is_used_as_it_is():
    path = DiffusionBridge(epsilon=0.02)
    assert fitted(*normal_rows(), target=ConditionalSecantAlignment(), path=path).path_ == path


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        (lambda rng: rng.standard_normal((5000, 3)), True),
        (lambda rng: 0.1 + rng.standard_normal((5000, 3)), False),
        (lambda rng: 1.1 * rng.standard_normal((5000, 3)), False),
        (
            lambda rng: rng.standard_normal((5000, 3)) @ [[1, 0.3, 0], [0, 0.95, 0], [0, 0, 1]],
            False,
        ),
        (lambda rng: rng.uniform(-(3**0.5), 3**0.5, (5000, 3)), False),  # with both moments right
    ],
    ids=["normal", "shifted", "scaled", "correlated", "uniform"],
)
def test_standard_normal_rows_are_recognised(rows, expected):
    assert is_standard_normal(rows(np.random.default_rng(0))) is expected


def test_paper_is_the_published_method():
    found = ISADRE.paper()
    assert found.model == AlignedSecant(ResidualMLP())
    assert found.path == DiffusionInterpolant(VariancePreserving())
    assert found.target == ConditionalSecantAlignment()
    assert found.time_sampler == VarianceImportance(floor=0.0)
    assert found.curriculum == ContractionIntervalAnnealing()
    assert found.scaling == Identity()
    assert ISADRE.paper(Linear()).path == DiffusionInterpolant(Linear())


def test_parts_of_the_paper_can_be_exchanged():
    found = ISADRE.paper(n_steps=2, time_sampler=VarianceImportance(), frame="trajectory")
    assert found.n_steps == 2
    assert found.time_sampler == VarianceImportance()
    assert found.target.frame == "trajectory"


def test_trajectory_frame_takes_the_paper_s_target():
    assert ISADRE(frame="trajectory")._method(100, 2).target.frame == "trajectory"


def test_another_number_of_steps_takes_effect_after_the_fit(model):
    x = normal_rows(seed=1)[1][:20]
    for n_steps in (1, 3):
        model.n_steps = n_steps
        np.testing.assert_array_equal(
            model.log_ratio(x), model.integrate(x, SecantSteps(n_steps)).value
        )
    model.set_params(n_steps=2)
    assert model.rule_ == SecantSteps(2)


def test_a_wrong_number_of_steps_after_the_fit_is_refused_and_changes_nothing(model):
    before = model.n_steps
    with pytest.raises(ValueError, match=r"at least 1 step.*got 0"):
        model.n_steps = 0
    assert model.n_steps == before


def test_time_scores_at_many_times_at_once(model):
    x, t = normal_rows(seed=1)[1][:3], np.array([0.0, 0.3, 1.0])
    each = [model.time_score(x[[i]], t[i])[0] for i in range(3)]
    np.testing.assert_allclose(model.time_score(x, t), each, rtol=1e-6)
    with pytest.raises(ValueError, match=r"one entry per row, shape \(3,\); got shape \(2,\)"):
        model.time_score(x, t[:2])
    with pytest.raises(TypeError, match="`t` must be a number or one per row; got 'half'"):
        model.time_score(x, "half")


def test_a_fitted_estimator_shows_the_parts_that_stood_for_none(model):
    shown = " ".join(repr(model).split())
    parts = ("path_", "target_", "time_sampler_", "curriculum_", "scaling_rule_", "optimiser_")
    for name in parts:
        given = {"scaling_rule_": "scaling"}.get(name, name.rstrip("_"))
        assert f"{given}={getattr(model, name)!r}" in shown
    assert "progress" not in shown  # which has no other value
    unfitted = clone(model)
    assert "time_sampler" not in repr(unfitted)
    assert unfitted.get_params() == model.get_params()  # to show is not to set


def test_secants_of_many_intervals_at_once(model):
    x = normal_rows(seed=1)[1][:3]
    l, t = np.array([0.0, 0.2, 0.5]), np.array([1.0, 0.9, 0.5])
    many = model.secant(x, l, t)
    each = [model.secant(x[[i]], l[i], t[i])[0] for i in range(3)]
    np.testing.assert_allclose(many, each, rtol=1e-6)
    assert many[2] == pytest.approx(model.time_score(x[[2]], 0.5)[0], rel=1e-6)
    np.testing.assert_allclose(
        model.secant(x, 0.0, t)[0], model.integrate(x, SecantSteps(1)).value[0], rtol=1e-6
    )


@pytest.mark.parametrize(
    ("l", "t", "message"),
    [
        ([0.5, 0.5, 0.9], 0.8, "0 <= l <= t <= 1"),
        (0.0, [0.5, 0.5], r"one entry per row, shape \(3,\); got shape \(2,\)"),
        (np.nan, 1.0, "0 <= l <= t <= 1"),
    ],
)
def test_wrong_intervals_are_refused(model, l, t, message):
    with pytest.raises(ValueError, match=message):
        model.secant(np.zeros((3, 2)), l, t)


def test_a_text_where_a_part_is_wanted_gets_a_good_message():
    x_0, x_1 = normal_rows(100)
    for part, kind in (("target", "Target"), ("time_sampler", "TimeSampler"), ("path", "Path")):
        with pytest.raises(TypeError, match=f"`{part}` must be a {kind} or None; got 'best'"):
            ISADRE(**{part: "best"}).fit_samples(x_0, x_1)

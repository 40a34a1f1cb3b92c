"""The frame of the alignment identity, on N(0, 1) → N(0, 0.1) in closed form (erratum 1)."""

import numpy as np
import pytest
from equinox import filter_jit
from tests.laws.oracle import FlowSecant, batch, moments, narrow_oracle, slope_z

from secant.paths import DiffusionInterpolant
from secant.targets import ConditionalSecantAlignment, SecantVelocity

pytestmark = pytest.mark.usefixtures("float64")

PATH = DiffusionInterpolant(end_cut=0.01)
VARIANCE = 0.1
KL = 0.5 * (VARIANCE - 1 - np.log(VARIANCE))

TARGETS = {
    "velocity": lambda truth, frame: SecantVelocity(frame),
    "conditional": lambda truth, frame: ConditionalSecantAlignment(moments(truth), frame=frame),
}


def slope_of(kind, frame, secant):
    truth = narrow_oracle(PATH, VARIANCE)
    model = {"fixed-x": truth, "trajectory": FlowSecant(truth)}[secant]
    target = TARGETS[kind](truth, frame)
    return slope_z(target, model, batch(truth, (0.0, 0.99), n=60_000, tangent_share=0.0))


@pytest.mark.parametrize("kind", TARGETS)
@pytest.mark.parametrize("frame", ["fixed-x", "trajectory"])
def test_each_frame_is_at_rest_at_its_own_secant(kind, frame):
    assert (np.abs(slope_of(kind, frame, frame)) < 4.5).all()  # standard errors, 5 directions


@pytest.mark.parametrize("kind", TARGETS)
@pytest.mark.parametrize("frame", ["fixed-x", "trajectory"])
def test_and_pushes_away_from_the_other(kind, frame):
    other = {"fixed-x": "trajectory", "trajectory": "fixed-x"}[frame]
    assert np.max(np.abs(slope_of(kind, frame, other))) > 10  # standard errors


def mean_over_p_1(model):
    """E_{p_1}[u(·, 0, 1)] by Gauss–Hermite: both secants are quadratic, so it is exact."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(8)
    x, n = np.sqrt(VARIANCE) * nodes[:, None], nodes.size
    values = filter_jit(lambda x: model.secant(x, np.zeros(n), np.ones(n)))(x)
    return float(weights @ np.asarray(values) / weights.sum())


def test_only_the_fixed_x_secant_integrates_to_the_divergence():
    truth = narrow_oracle(PATH, VARIANCE)
    assert pytest.approx(0.701, abs=5e-4) == KL
    assert mean_over_p_1(truth) == pytest.approx(KL, rel=1e-12)
    assert mean_over_p_1(FlowSecant(truth)) == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize("kind", TARGETS)
def test_fixed_x_is_the_default(kind):
    truth = narrow_oracle(PATH)
    default = SecantVelocity() if kind == "velocity" else ConditionalSecantAlignment(moments(truth))
    assert default.frame == "fixed-x"

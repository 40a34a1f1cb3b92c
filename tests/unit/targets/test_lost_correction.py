"""The identity without its correction, as in the public code: it learns tangents (erratum 8)."""

import jax
import numpy as np
import pytest
from equinox import filter_jit
from tests.laws.oracle import Oracle, batch, moments, narrow_oracle, slope_z

from secant.models import SecantFunction
from secant.paths import DiffusionInterpolant
from secant.schedules import Linear, Trigonometric
from secant.targets import ConditionalSecantAlignment
from secant.targets.batch import correction

pytestmark = pytest.mark.usefixtures("float64")

PATH = DiffusionInterpolant(end_cut=0.01)
VARIANCE = 0.1
KL = 0.5 * (VARIANCE - 1 - np.log(VARIANCE))


class Beforehand(SecantFunction):
    """A model whose value is computed before it is differentiated: its rate in t is zero."""

    model: Oracle

    @property
    def path(self):
        return self.model.path

    def pushed(self, theta):
        return Beforehand(self.model.pushed(theta))

    def parts(self, x, l, t):
        return self.model.parts(x, l, jax.lax.stop_gradient(t))

    def time_score(self, x, t):
        return self.model.time_score(x, t)


class RightEnd(Oracle):
    """u(x, l, t) = s(x, t) for every l: the tangent in the place of the secant."""

    def parts(self, x, l, t):
        return self.true_tangent(x, t) + self.push(x, l, t)


def secant_truth():
    return narrow_oracle(PATH, VARIANCE)


def tangent_truth():
    return RightEnd(**vars(secant_truth()))


def slope_of(model):
    truth = secant_truth()
    rows = batch(truth, (0.0, 0.99), n=60_000, tangent_share=0.0)
    return slope_z(ConditionalSecantAlignment(moments(truth)), model, rows)


def test_the_correction_is_what_the_secant_lacks_of_its_tangent():
    truth, rows = secant_truth(), batch(secant_truth(), n=200, tangent_share=0.0)
    x, l, t = rows.x_1, rows.l, rows.t
    added = filter_jit(correction)(truth, x, l, t)
    lacking = filter_jit(lambda: truth.true_tangent(x, t) - truth.true_secant(x, l, t))()
    np.testing.assert_allclose(added, lacking, rtol=1e-8, atol=1e-8)
    assert np.abs(added).mean() > 0.1
    assert not np.any(filter_jit(correction)(Beforehand(truth), x, l, t))


def test_without_it_the_loss_rests_at_the_tangent_and_leaves_the_secant():
    assert (np.abs(slope_of(Beforehand(tangent_truth()))) < 4.5).all()  # standard errors
    assert np.max(np.abs(slope_of(Beforehand(secant_truth())))) > 10


def test_with_it_the_loss_rests_at_the_secant_and_leaves_the_tangent():
    assert (np.abs(slope_of(secant_truth())) < 4.5).all()  # standard errors, 5 directions
    assert np.max(np.abs(slope_of(tangent_truth()))) > 10


def mean_over_p_1(model):
    """E_{p_1}[u(·, 0, 1)] by Gauss–Hermite: exact, as both are quadratic in x."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(8)
    x, n = np.sqrt(VARIANCE) * nodes[:, None], nodes.size
    values = filter_jit(lambda: model.secant(x, np.zeros(n), np.ones(n)))()
    return float(weights @ np.asarray(values) / weights.sum())


@pytest.mark.parametrize("schedule", [Linear(), Trigonometric()], ids=["linear", "trigonometric"])
def test_a_tangent_in_its_place_reads_no_divergence(schedule):
    path = DiffusionInterpolant(schedule, end_cut=0.01)
    secant = narrow_oracle(path, VARIANCE)
    assert mean_over_p_1(secant) == pytest.approx(KL, rel=1e-10)
    # A time score has mean zero under its own density, here p_1.
    assert mean_over_p_1(RightEnd(**vars(secant))) == pytest.approx(0.0, abs=1e-10)

"""Direct losses (D0): at rest at the true log ratio, stable far from it."""

import warnings

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.stats import norm
from tests.laws.oracle import batch, oracle, slope_z

from secant import ClassifierRatio, OverlapWarning, Training
from secant.models import QuadraticForms, SecantFunction
from secant.paths import DiffusionInterpolant
from secant.targets import Batch, DonskerVaradhan, InfoNCE, KullbackLeibler, Logistic, Trimmed

PATH = DiffusionInterpolant()


@pytest.mark.usefixtures("float64")
def test_slope_vanishes_at_the_true_log_ratio_and_not_beside_it():
    truth = oracle(PATH, standard=False)
    rows = batch(truth)
    z = slope_z(Logistic(), truth, rows)
    np.testing.assert_array_equal(z[4], 0.0)  # the direction l x² is 0 at l = 0
    assert (np.abs(z) < 4.5).all()  # standard errors
    assert (np.abs(slope_z(Logistic(), truth, rows, theta=0.3)[:4]) > 10).all()


class Constant(SecantFunction):
    """log r = c at every row."""

    value: jax.Array

    def parts(self, x, l, t):
        return jnp.broadcast_to(self.value, (x.shape[0], 1))

    def time_score(self, x, t):
        return jnp.broadcast_to(self.value, t.shape)


@pytest.mark.parametrize("logit", [0.0, 3.0, 100.0, -100.0, 1e4, -1e4])
def test_loss_and_slope_are_finite_and_right_in_single_precision(logit):
    rows = Batch(*np.zeros((3, 2, 1), np.float32), *np.zeros((2, 2), np.float32))

    @jax.jit
    @jax.value_and_grad
    def loss(value):
        return jnp.mean(Logistic().losses(Constant(value), PATH, rows))

    value, slope = loss(np.float32(logit))
    expected = np.logaddexp(0, logit) + np.logaddexp(0, -logit)
    np.testing.assert_allclose(value, expected, rtol=1e-6)
    # σ(g) − σ(−g) = tanh(g/2)
    np.testing.assert_allclose(slope, np.tanh(logit / 2), rtol=1e-6, atol=1e-7)


def test_time_plays_no_part():
    assert Logistic().time_range(PATH) == (0.0, 1.0)


def test_softmax_of_infonce_counts_the_row_itself():
    on_0, on_1 = np.log([2.0, 3.0]), np.log([5.0, 1.0])
    rows = Batch(*np.zeros((3, 2, 1)), *np.zeros((2, 2)))
    found = InfoNCE().compared(jnp.asarray(on_0), jnp.asarray(on_1), rows)
    np.testing.assert_allclose(found, -np.log([5 / (5 + 2 + 3), 1 / (1 + 2 + 3)]), rtol=1e-6)


def test_bound_of_donsker_and_varadhan():
    on_0, on_1 = np.log([2.0, 4.0]), np.array([0.5, 1.5])
    rows = Batch(*np.zeros((3, 2, 1)), *np.zeros((2, 2)))
    found = DonskerVaradhan().compared(jnp.asarray(on_0), jnp.asarray(on_1), rows)
    np.testing.assert_allclose(np.mean(found), np.log(3.0) - 1.0, rtol=1e-6)


@pytest.mark.usefixtures("float64")
def test_trimmed_loss_sees_nothing_above_its_threshold():
    # (X1): the rows of x_1 above the threshold, and those of x_0 there, have no slope; all others
    # have that of the plain loss.
    rng = np.random.default_rng(0)
    on_0, on_1 = rng.normal(size=(2, 100))
    rows = Batch(*np.zeros((3, 100, 1)), *np.zeros((2, 100)))
    loss = KullbackLeibler()

    def slopes(compared):
        return jax.jit(jax.grad(lambda *g: jnp.sum(compared(*g, rows)), (0, 1)))(on_0, on_1)

    trimmed, plain = slopes(Trimmed(loss, share=0.2).compared), slopes(loss.compared)
    threshold = np.quantile(on_1, 0.8)
    assert (on_1 > threshold).sum() == 20
    for g, found, expected in zip((on_0, on_1), trimmed, plain, strict=True):
        np.testing.assert_allclose(found, np.where(g <= threshold, expected, 0.0), atol=1e-12)


@pytest.mark.usefixtures("float64")
def test_the_ratio_above_the_threshold_may_be_anything():
    # Least at every g with min(g, c) = min(log r, c), on a grid of x with exact densities.
    x = np.linspace(-8.0, 8.0, 4001)
    p_0, p_1 = norm.pdf(x), norm.pdf(x, 0.7, 0.8)
    truth, threshold = np.log(p_1 / p_0), 0.3
    conjugate, slope = jax.jit(Logistic().conjugate), jax.jit(Logistic().slope)

    def mean_loss(g):
        h = np.minimum(g, threshold)
        return float(p_0 @ conjugate(h) - p_1 @ slope(h))

    bent = np.where(truth > threshold, truth + 5.0, truth)
    assert mean_loss(bent) == pytest.approx(mean_loss(truth), rel=1e-12)
    for off in (truth + 0.1, truth - 0.1, 1.1 * truth, np.where(truth > threshold, 0.0, truth)):
        assert mean_loss(off) > mean_loss(truth) + 1e-3


def test_a_few_far_rows_bend_a_trimmed_fit_less():
    # In the log-linear family of the paper; a free network can bend there alone.
    rng = np.random.default_rng(0)
    x_0, clean = rng.normal(size=(5000, 2)), 0.5 + 0.8 * rng.normal(size=(5000, 2))
    far = np.array([6.0, -6.0]) + 0.1 * rng.normal(size=(200, 2))  # 4 %
    truth = norm(0.5, 0.8).logpdf(clean).sum(axis=1) - norm().logpdf(clean).sum(axis=1)
    training = Training(steps=800, batch_size=512, learning_rate=1e-2)

    def error(loss):
        model = ClassifierRatio(loss, trunk=QuadraticForms(), training=training, random_state=0)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", OverlapWarning)  # of the far rows
            found = model.fit_samples(x_0, np.concatenate([clean, far])).log_ratio(clean)
        return float(np.sqrt(np.mean((found - truth) ** 2)))

    assert error(Trimmed(share=0.06)) < 0.6 * error("kl")


def test_trimming_needs_a_loss_of_the_family_and_a_share():
    with pytest.raises(TypeError, match="Trimmed needs a Bregman loss; got 'kl'"):
        Trimmed("kl")
    with pytest.raises(ValueError, match=r"0 < share < 1; got 0\.0"):
        Trimmed(share=0.0)

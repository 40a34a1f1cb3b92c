"""The spectral secant (B1): its basis by quadrature and closed form, its identities exactly."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from equinox import filter_jit
from scipy.special import eval_legendre
from tests.laws.registry import randomised

from secant.models import ResidualMLP, SpectralSecant
from secant.models.spectral import interval_mean_basis, legendre_basis

pytestmark = pytest.mark.usefixtures("float64")

ORDER = 12
N, D = 9, 3


def model(order=ORDER):
    return randomised(SpectralSecant(order, ResidualMLP(6, 1)), D)


def points():
    rng = np.random.default_rng(0)
    l, m, t = np.sort(rng.uniform(size=(3, N)), axis=0)
    return rng.standard_normal((N, D)), l, m, t


basis = filter_jit(legendre_basis)
interval_means = filter_jit(interval_mean_basis)
secant = filter_jit(lambda f, x, l, t: f.secant(x, l, t))
time_score = filter_jit(lambda f, x, t: f.time_score(x, t))
coefficients = filter_jit(lambda f, x: f.coefficients(x))


def polynomials(t, order):
    k = np.arange(order)
    return np.sqrt(2 * k + 1) * eval_legendre(k, 2 * t[:, None] - 1)


@pytest.mark.parametrize("order", [1, 2, ORDER])
def test_basis_is_the_shifted_legendre_polynomials(order):
    t = np.linspace(0, 1, 41)
    np.testing.assert_allclose(basis(t, order), polynomials(t, order), rtol=1e-11, atol=1e-12)


def test_basis_is_orthonormal():
    nodes, weights = np.polynomial.legendre.leggauss(ORDER)  # exact to degree 2·ORDER − 1
    values = np.asarray(basis(0.5 * (nodes + 1), ORDER))
    gram = values.T @ (0.5 * weights[:, None] * values)
    np.testing.assert_allclose(gram, np.eye(ORDER), atol=1e-12)


def integral(t, order):
    """Q_k(t) = ∫_0^t P̃_k, by (2k+1) P_k = P_{k+1}′ − P_{k−1}′ and d(2t−1) = 2dt."""
    y, k = 2 * t[:, None] - 1, np.arange(1, order)
    rest = np.sqrt(2 * k + 1) * (eval_legendre(k + 1, y) - eval_legendre(k - 1, y))
    return np.concatenate([t[:, None], rest / (2 * (2 * k + 1))], axis=1)


@pytest.mark.parametrize("order", [1, 2, 3, ORDER])
def test_interval_means_match_the_closed_form(order):
    _, l, _, t = points()
    expected = (integral(t, order) - integral(l, order)) / (t - l)[:, None]
    np.testing.assert_allclose(interval_means(l, t, order), expected, rtol=1e-10, atol=1e-12)


def test_interval_mean_over_nothing_is_the_basis():
    t = points()[-1]
    means = interval_means(t, t, ORDER)
    np.testing.assert_allclose(means, polynomials(t, ORDER), rtol=1e-11, atol=1e-12)


def test_interval_mean_over_everything_keeps_the_constant_alone():
    means = interval_means(np.zeros(N), np.ones(N), ORDER)
    np.testing.assert_allclose(means, np.tile(np.eye(ORDER)[0], (N, 1)), atol=1e-13)


def test_log_ratio_is_the_first_output():
    f, (x, *_) = model(), points()
    log_ratio = secant(f, x, np.zeros(N), np.ones(N))
    np.testing.assert_allclose(log_ratio, coefficients(f, x)[:, 0], rtol=1e-12, atol=1e-12)


def test_time_score_is_the_series():
    f, (x, _, _, t) = model(), points()
    expected = np.sum(np.asarray(coefficients(f, x)) * polynomials(t, ORDER), axis=1)
    np.testing.assert_allclose(time_score(f, x, t), expected, rtol=1e-10, atol=1e-12)


def test_alignment_identity_holds_exactly():
    # (S1) s = u + (t − l) ∂_t u at fixed x.
    f, (x, l, _, t) = model(), points()
    rising = filter_jit(lambda t: jax.jvp(lambda t: f.secant(x, l, t), (t,), (jnp.ones_like(t),)))
    u, rate = (np.asarray(a) for a in rising(t))
    np.testing.assert_allclose(u + (t - l) * rate, time_score(f, x, t), rtol=1e-10, atol=1e-11)


def test_secants_add():
    # (K1)
    f, (x, l, m, t) = model(), points()
    first, second, whole = (np.asarray(secant(f, x, *ends)) for ends in ((l, m), (m, t), (l, t)))
    parts = (m - l) * first + (t - m) * second
    np.testing.assert_allclose((t - l) * whole, parts, rtol=1e-10, atol=1e-11)


def test_one_evaluation_a_secant():
    assert model().secant_evaluations == 1


def test_bad_order_is_named():
    with pytest.raises(ValueError, match="order >= 1; got 0"):
        SpectralSecant(order=0)

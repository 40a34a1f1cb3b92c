"""DensityEstimator: its contract, its arithmetic and its refusals, on small fits."""

import warnings

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import stats
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV

import secant
from secant.bases import Copula, FullGaussian, Growth, Mixture
from secant.exceptions import AtomsWarning
from secant.models import ResidualMLP, SpectralSecant
from secant.tasks import Annealing

SMALL = secant.ClassifierRatio(
    trunk=ResidualMLP(width=32),
    scaling=secant.Identity(),
    training=secant.Training(steps=600, batch_size=256),
)
CENTERS = np.array([[3.0, 0.0], [-3.0, 0.0]])


def two_clusters(n, seed):
    rng = np.random.default_rng(seed)
    return CENTERS[rng.integers(2, size=n)] + rng.normal(size=(n, 2))


def log_density(x):
    parts = [stats.multivariate_normal(c, np.eye(2)).logpdf(x) for c in CENTERS]
    return np.logaddexp(*parts) - np.log(2.0)


@pytest.fixture(scope="module")
def fitted():
    estimator = secant.DensityEstimator("gaussian", estimator=SMALL, random_state=0)
    return estimator.fit(two_clusters(5000, 0))


def test_it_is_near_the_truth(fitted):
    fresh = two_clusters(5000, 1)
    gap = log_density(fresh) - fitted.score_samples(fresh)
    assert gap.mean() < 0.03  # nats; the Gaussian alone is 0.4 away
    assert gap.mean() > -4.5 * gap.std() / np.sqrt(gap.size)  # nobody beats the truth


def test_its_mass_is_one(fitted):
    rng = np.random.default_rng(2)
    x = rng.normal(0, 4, (200_000, 2))
    weight = np.exp(fitted.score_samples(x) - stats.norm.logpdf(x, scale=4).sum(axis=1))
    error = np.hypot(weight.std() / np.sqrt(weight.size), fitted.normalizer_.standard_error)
    assert weight.mean() == pytest.approx(1.0, abs=4.5 * error)


def test_log_densities_have_the_normaliser_taken_off(fitted):
    x = two_clusters(10, 3)
    y = fitted.base_.coordinates(x)
    whole = fitted.ratio_.log_ratio(y) + fitted.base_.log_prob(x)
    np.testing.assert_allclose(fitted.score_samples(x), whole - fitted.log_normalizer_, rtol=1e-6)
    assert fitted.normalizer_.value == fitted.log_normalizer_
    assert "importance sampling" in str(fitted.normalizer_)


def test_score_is_the_total_as_of_kernel_density(fitted):
    x = two_clusters(100, 3)
    assert fitted.score(x) == pytest.approx(fitted.score_samples(x).sum())


def test_rows_drawn_have_the_moments_of_the_data(fitted):
    n = 20_000
    x = fitted.sample(n, random_state=0)
    for power in (1, 2, 4):
        expected = (two_clusters(200_000, 5) ** power).mean(axis=0)
        values = x**power
        # A fifth: the learned density is off by a little, and so many rows would see it.
        allowed = 4.5 * values.std(axis=0) / np.sqrt(n / 5)
        assert (np.abs(values.mean(axis=0) - expected) < allowed).all()


class WideNormal:
    """N(0, I) in ten dimensions, as a user would write it."""

    def sample(self, key, n):
        return jax.random.normal(key, (n, 10))

    def log_prob(self, x):
        return -0.5 * jnp.sum(x**2 + jnp.log(2.0 * jnp.pi), axis=1)


@pytest.fixture(scope="module")
def across_a_chasm():
    """Rows 25 nats from their base: no row of the base is near them."""
    rows = 1.5 + 0.15 * np.random.default_rng(0).normal(size=(4000, 10))
    ratio = secant.SecantRatio(
        SpectralSecant(trunk=ResidualMLP(width=32)), training=secant.Training(steps=250)
    )
    density = secant.DensityEstimator(
        WideNormal(),
        estimator=ratio,
        annealing=Annealing(n_stages=50, n_moves=2, n_rows=128),
        random_state=0,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", secant.OverlapWarning)
        return density.fit(rows)


@pytest.mark.slow
def test_across_a_chasm_the_mass_is_found_along_the_path(across_a_chasm):
    found = across_a_chasm.normalizer_
    assert not found.importance.is_reliable
    assert found.method == "annealing along the path"
    fresh = 1.5 + 0.15 * np.random.default_rng(1).normal(size=(4000, 10))
    truth = stats.norm.logpdf(fresh, 1.5, 0.15).sum(axis=1).mean()
    gap = truth - across_a_chasm.score_samples(fresh).mean()
    assert abs(gap) < 0.1 + 4.5 * found.standard_error


@pytest.mark.slow
def test_across_a_chasm_rows_are_drawn_along_the_path(across_a_chasm):
    drawn = across_a_chasm.sample(1000, random_state=0)
    assert drawn.shape == (1000, 10)
    assert np.unique(drawn, axis=0).shape[0] > 500
    # Resampled rows are worth fewer than their number; a quarter is what they have to be worth.
    assert np.abs(drawn.mean(axis=0) - 1.5).max() < 4.5 * 0.15 / np.sqrt(1000 / 4)
    assert np.abs(drawn.std(axis=0) - 0.15).max() < 4.5 * 0.15 / np.sqrt(1000 / 2)


def test_units_do_not_matter(fitted):
    units = np.array([1e-6, 1e6])
    other = clone(fitted).fit(two_clusters(5000, 0) * units)
    x = two_clusters(200, 1)
    found = other.score_samples(x * units) + np.log(units).sum()
    np.testing.assert_allclose(found, fitted.score_samples(x), atol=0.02)


def test_names_and_rules_are_the_same_base():
    x = two_clusters(300, 0)
    quick = secant.SklearnRatio(folds=None)
    one = secant.DensityEstimator("copula", estimator=quick, random_state=0).fit(x)
    two = secant.DensityEstimator(Copula(FullGaussian()), estimator=quick, random_state=0).fit(x)
    np.testing.assert_array_equal(one.score_samples(x), two.score_samples(x))


@pytest.mark.slow
def test_a_grid_search_finds_the_better_base():
    search = GridSearchCV(
        secant.DensityEstimator(
            estimator=secant.SklearnRatio(folds=None),
            random_state=0,
        ),
        {"base": [FullGaussian(), Mixture(Growth(max_components=4))]},
        cv=2,
    ).fit(two_clusters(2000, 0))
    assert isinstance(search.best_params_["base"], Mixture)


def test_atoms_are_warned_of_and_dequantised_on_request():
    rng = np.random.default_rng(0)
    counts = rng.poisson(4.0, 3000).astype(float)
    x = np.stack([counts, counts + rng.normal(size=3000)], axis=1)
    quick = secant.DensityEstimator("gaussian", estimator=SMALL, random_state=0)
    with pytest.warns(AtomsWarning, match="1 of 2 columns"):
        quick.fit(x)
    spread = clone(quick).set_params(dequantise="auto").fit(x)
    np.testing.assert_array_equal(spread.dequantisation_.gaps > 0, [True, False])
    drawn = spread.sample(500, random_state=0)
    np.testing.assert_array_equal(drawn[:, 0], np.round(drawn[:, 0]))
    # A density of unit gaps is a probability: it cannot exceed that of the counts, on average.
    best = stats.poisson.logpmf(x[:, 0], 4.0) + stats.norm.logpdf(x[:, 1] - x[:, 0])
    gap = best - spread.score_samples(x)
    assert -4.5 * gap.std() / np.sqrt(gap.size) < gap.mean() < 0.2


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"base": "gausian"}, "`base` must be one of .*got 'gausian'"),
        ({"base": 3}, "`base` must be one of"),
        ({"dequantise": "all"}, "`dequantise` must be None, 'auto' or a list"),
        ({"dequantise": ["no such"]}, "`dequantise` names column 'no such'"),
        ({"dequantise": [7]}, "`dequantise` names column 7"),
    ],
)
def test_bad_settings_are_refused(settings, message):
    with pytest.raises(ValueError, match=message):
        secant.DensityEstimator(**settings).fit(two_clusters(100, 0))


def test_bad_rows_are_refused(fitted):
    with pytest.raises(ValueError, match="NaN"):
        secant.DensityEstimator().fit(np.full((10, 2), np.nan))
    with pytest.raises(ValueError, match="2 features"):
        fitted.score_samples(np.zeros((3, 5)))
    with pytest.raises(ValueError, match="`n_samples` must be at least 1"):
        fitted.sample(0)

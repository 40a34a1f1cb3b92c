"""Whole fits on pairs whose log ratio is known."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.stats import multivariate_normal
from sklearn.model_selection import GridSearchCV, StratifiedKFold

from secant import (
    ISADRE,
    ClassifierRatio,
    DivergenceWarning,
    Identity,
    SecantRatio,
    Training,
    TrainingWarning,
)
from secant.datasets import gaussian_pair
from secant.exceptions import UntrainedWarning
from secant.integration import Adaptive, GaussLegendre, SecantSteps, Trapezoid
from secant.models import AlignedSecant, ResidualMLP, SpectralSecant, TrunkBuilder
from secant.paths import DiffusionBridge
from secant.targets import ConditionalSecantAlignment
from secant.time_samplers import Uniform
from secant.training.settings import Status

N = 10_000
# Three seeds give a root mean square error of 0.05 to 0.07 nats on a log ratio of standard
# deviation 0.95, most of it from the 10 moments of 9000 rows a side: √(10/9000) = 0.03 at a
# typical row, more at the outermost. Without the anchor the network learns the quadratic in 1000
# steps to within 0.08 to 0.14. Twice the usual is allowed.
RMSE = 0.15
RMSE_WITHOUT_ANCHOR = 0.25

TRAINING = Training(steps=1000, batch_size=256, evaluate_every=250)
TRUNK = ResidualMLP(width=32, depth=1)
PAIR = gaussian_pair(
    np.zeros(2),
    np.array([[1.0, 0.5], [0.5, 1.0]]),
    np.array([0.5, -0.3]),
    np.array([[1.1, 0.2], [0.2, 0.9]]),
)


def make(**changed):
    """A small estimator; equal settings and shapes share one compilation."""
    settings = {"training": TRAINING, "random_state": 0}
    return SecantRatio(SpectralSecant(order=6, trunk=TRUNK), **(settings | changed))


def drawn(seed, n):
    return tuple(np.asarray(x) for x in PAIR.sample(jax.random.key(seed), n))


def rmse(estimate, truth):
    return float(np.sqrt(np.mean((estimate - truth) ** 2)))


@pytest.fixture(scope="module")
def samples():
    return drawn(0, N)


@pytest.fixture(scope="module")
def fitted(samples):
    return make().fit_samples(*samples)


@pytest.fixture(scope="module")
def swapped(samples):
    """The same, of the samples in the other order."""
    return make().fit_samples(*samples[::-1])


@pytest.fixture(scope="module")
def rows():
    """Fresh rows of both samples."""
    return np.concatenate(drawn(1, 2000))


@pytest.fixture(scope="module")
def labels(rows):
    return np.repeat([0, 1], len(rows) // 2)


@pytest.fixture(scope="module")
def truth(rows):
    return np.asarray(PAIR.log_ratio(rows))


def test_log_ratio_is_recovered(fitted, rows, truth):
    estimate = fitted.log_ratio(rows)
    assert estimate.shape == (len(rows),)
    assert estimate.dtype == np.float64
    assert rmse(estimate, truth) < RMSE
    np.testing.assert_array_equal(fitted.score_samples(rows), estimate)


def test_log_ratio_is_recovered_by_the_network_alone(samples, rows, truth):
    estimator = make(anchor=False).fit_samples(*samples)
    assert estimator.diagnostics_.best_step > 0
    assert rmse(estimator.log_ratio(rows), truth) < RMSE_WITHOUT_ANCHOR


def test_diagnostics(fitted):
    found = fitted.diagnostics_
    assert found.status is Status.FINISHED
    assert found.n_rows == 1000  # a tenth is held out
    assert found.has_overlap
    assert found.held_out_loss < 0.0  # better than no model
    # 4.5 standard errors: 1000 held-out rows whose log ratio has a standard deviation below 1.
    assert found.mean_log_ratio_1 == pytest.approx(PAIR.kl, abs=4.5 * 1.0 / np.sqrt(1000))
    assert abs(found.normaliser.log_value) < 4.5 * found.normaliser.standard_error + RMSE


def test_fit_is_fit_samples(fitted, samples, rows):
    labels = np.repeat([0, 1], N)
    other = make().fit(np.concatenate(samples), labels)
    np.testing.assert_array_equal(other.log_ratio(rows), fitted.log_ratio(rows))
    assert other.n_features_in_ == fitted.n_features_in_ == 2


def test_same_seed_same_answer_other_seed_another(fitted, samples, rows, truth):
    same = make().fit_samples(*samples).log_ratio(rows)
    other = make(random_state=1).fit_samples(*samples).log_ratio(rows)
    np.testing.assert_array_equal(same, fitted.log_ratio(rows))
    assert not np.array_equal(other, same)
    assert rmse(other, truth) < RMSE


def test_swapped_samples_negate(fitted, swapped, rows):
    # Two fits, each within RMSE of the truth, with errors of independent parts.
    assert rmse(swapped.log_ratio(rows), -fitted.log_ratio(rows)) < np.sqrt(2.0) * RMSE


def test_weights_stand_for_another_sample(fitted, samples, rows, truth):
    start = multivariate_normal(np.zeros(2), [[1.0, 0.5], [0.5, 1.0]])
    moved = multivariate_normal([0.5, 0.5], [[1.0, 0.5], [0.5, 1.0]])
    weight_0 = np.exp(moved.logpdf(samples[0]) - start.logpdf(samples[0]))
    weighted = make().fit_samples(*samples, weight_0=weight_0).log_ratio(rows)
    moved_truth = truth + start.logpdf(rows) - moved.logpdf(rows)
    # The effective sample size is exp(−0.5² · 4/3) = 0.72 of the rows: little is lost by weights.
    assert rmse(weighted, moved_truth) < RMSE
    assert rmse(weighted, fitted.log_ratio(rows)) > 2.0 * RMSE


def test_secants_add_over_intervals(fitted, rows):
    parts = 0.4 * fitted.secant(rows, 0.0, 0.4) + 0.6 * fitted.secant(rows, 0.4, 1.0)
    # Exact by construction; float32 log densities of up to about 50 nats leave 1e-5.
    np.testing.assert_allclose(parts, fitted.log_ratio(rows), atol=1e-4)
    np.testing.assert_allclose(
        fitted.secant(rows, 0.3, 0.3), fitted.time_score(rows, 0.3), atol=1e-4
    )


RULES = {
    "one secant": (SecantSteps(1), 1, 1e-6),
    "four secants": (SecantSteps(4), 4, 1e-4),
    # h²/12 times the second derivative of the time score, some tens at the outermost rows.
    "trapezoid": (Trapezoid(50), 50, 2e-2),
    "Gauss–Legendre": (GaussLegendre(16), 16, 1e-3),
}


@pytest.mark.parametrize("name", RULES)
def test_rules_agree_and_count(fitted, rows, name):
    rule, evaluations, tolerance = RULES[name]
    found = fitted.integrate(rows, rule)
    assert found.evaluations == evaluations
    np.testing.assert_allclose(found.value, fitted.log_ratio(rows), atol=tolerance)


def test_adaptive_rule_doubles_until_it_agrees(fitted, rows):
    found = fitted.integrate(rows, Adaptive(tolerance=1e-3))
    assert found.evaluations in (4 + 8, 4 + 8 + 16, 4 + 8 + 16 + 32)
    assert found.error <= 1e-3
    np.testing.assert_allclose(found.value, fitted.log_ratio(rows), atol=2e-3)


def test_self_check(fitted, rows):
    found = fitted.self_check(rows, n_steps=8)
    assert found.evaluations == 1 + 16
    assert found.root_mean_square < 1e-4  # additive by construction: float32 rounding only


def test_score_prefers_the_better_fit(fitted, swapped, samples, rows, labels):
    moved = make().fit_samples(samples[0] + 1.0, samples[1])
    assert fitted.score(rows, labels) > moved.score(rows, labels)
    assert fitted.score(rows, labels) > swapped.score(rows, labels)


def test_memory_maps(samples, rows, truth, tmp_path):
    for i, x in enumerate(samples):
        np.save(tmp_path / f"{i}.npy", x)
    maps = [np.load(tmp_path / f"{i}.npy", mmap_mode="r") for i in (0, 1)]
    assert rmse(make().fit_samples(*maps).log_ratio(rows), truth) < RMSE


def test_fresh_rows_from_a_sampler(rows, truth):
    assert rmse(make().fit_sampler(PAIR.sample).log_ratio(rows), truth) < RMSE


def test_classifier(samples, rows, truth):
    found = ClassifierRatio(trunk=TRUNK, training=TRAINING, random_state=0).fit_samples(*samples)
    assert rmse(found.log_ratio(rows), truth) < RMSE_WITHOUT_ANCHOR


@pytest.mark.slow
def test_grid_search_over_training(samples):
    x = np.concatenate([s[:1000] for s in samples])
    slow, fast = (
        Training(steps=100, batch_size=128, evaluate_every=100, learning_rate=rate)
        for rate in (1e-7, 1e-2)
    )
    # Folds must hold both labels, hence stratified: rows come sorted by label here.
    search = GridSearchCV(
        make(anchor=False), {"training": [slow, fast]}, cv=StratifiedKFold(2), error_score="raise"
    )
    search.fit(x, np.repeat([0, 1], 1000))
    assert search.best_params_ == {"training": fast}
    assert search.best_estimator_.log_ratio(x).shape == (2000,)


class _Plain(TrunkBuilder):
    """A user's own network."""

    def build(self, n_in, n_out, *, key):
        return eqx.nn.MLP(n_in, n_out, width_size=32, depth=2, activation=jax.nn.softplus, key=key)


def test_bring_your_own_network(samples, rows, truth):
    estimator = SecantRatio(
        SpectralSecant(order=6, trunk=_Plain()), training=TRAINING, random_state=0
    )
    # It does not start at zero, so it needs more of the steps.
    assert rmse(estimator.fit_samples(*samples).log_ratio(rows), truth) < 2.0 * RMSE


def test_divergence_is_said_and_survived(samples, rows):
    hot = Training(steps=100, batch_size=256, evaluate_every=50, learning_rate=1e30)
    said = r"by step 50 at a learning rate of 1e\+30, and by step 50 at 1e\+29"
    with pytest.warns(UntrainedWarning), pytest.warns(DivergenceWarning, match=said):
        estimator = make(training=hot, anchor=False).fit_samples(*samples)
    assert estimator.diagnostics_.status is Status.DIVERGED
    assert estimator.diagnostics_.best_step == 0
    assert np.isfinite(estimator.log_ratio(rows)).all()


def test_the_clock_is_said(samples, rows):
    short = Training(steps=100, batch_size=256, evaluate_every=50, max_seconds=1e-6)
    with pytest.warns(TrainingWarning, match=r"wall-clock budget .* raise Training.max_seconds"):
        estimator = make(training=short).fit_samples(*samples)
    assert estimator.diagnostics_.status is Status.TIME_UP
    assert estimator.diagnostics_.steps == 50  # at least one evaluation, whatever the budget
    assert np.isfinite(estimator.log_ratio(rows)).all()


class _JudgedByItself(ConditionalSecantAlignment):
    """(L1) that keeps the weights with the lowest loss of its own frame.

    The held-out velocity form sees that the trajectory frame is wrong and would keep the untrained
    network, whose answer is 0 for a reason that proves nothing.
    """

    @property
    def held_out(self):
        return self


def _narrowing(key, n):
    key_0, key_1 = jax.random.split(key)
    narrow = jnp.sqrt(0.1) * jax.random.normal(key_1, (n, 1))
    return jax.random.normal(key_0, (n, 1)), narrow


# Width, rows of a batch and steps. At fixed x, half the width learns the bent end too slowly:
# 22 seeds read 0.86, one of them 1.01. Along trajectories there is no such end to learn.
EFFORT = {"fixed-x": (128, 512, 4000), "trajectory": (64, 256, 2000)}


@pytest.mark.parametrize(
    ("frame", "expected"),
    [pytest.param("fixed-x", 0.701, marks=pytest.mark.slow), ("trajectory", 0.0)],
)
@pytest.mark.parametrize(
    "seed", [0, pytest.param(1, marks=pytest.mark.slow), pytest.param(2, marks=pytest.mark.slow)]
)
@pytest.mark.usefixtures("optimised")
def test_erratum_1(frame, expected, seed):
    """KL(N(0, 0.1) ‖ N(0, 1)) = 0.701 by one secant: only with the derivative at fixed x.

    Along trajectories, E[d/dt (t − l) u(x_t, l, t)] = E[∂_t log p_t] = 0: every KL reads 0.
    """
    width, batch_size, steps = EFFORT[frame]
    estimator = ISADRE(
        AlignedSecant(ResidualMLP(width=width, depth=2)),
        target=_JudgedByItself(frame=frame),
        # The noise keeps λ(t) above 0 at t = 1, where the one secant is evaluated.
        path=DiffusionBridge(gamma=1.0, epsilon=0.02),
        time_sampler=Uniform(),
        n_steps=1,
        scaling=Identity(),
        training=Training(
            steps=steps,
            batch_size=batch_size,
            learning_rate=5e-3,
            average=0.998,
            evaluate_every=steps,
        ),
        random_state=seed,
    ).fit_sampler(_narrowing)
    x_1 = np.sqrt(0.1) * np.random.default_rng(0).normal(size=(20_000, 1))
    log_ratio = estimator.log_ratio(x_1)
    assert estimator.diagnostics_.best_step == steps
    assert log_ratio.std() > 0.3  # trained, not constant
    # Three seeds read 0.78 to 0.84 and, along trajectories, −0.04 to 0.16.
    assert log_ratio.mean() == pytest.approx(expected, abs=0.25)

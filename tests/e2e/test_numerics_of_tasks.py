"""Tasks in any unit: the same results; a log density shifts by the log of the unit."""

import numpy as np
import pytest

from secant import (
    ClassifierRatio,
    DensityEstimator,
    KernelRatio,
    OutlierWarning,
    SklearnRatio,
    Training,
    compare,
    kl_divergence,
    mutual_information,
)
from secant.models import ResidualMLP

RNG = np.random.default_rng(0)
X_0, X_1 = RNG.normal(size=(300, 2)), RNG.normal([0.5, 0.0], size=(300, 2))
UNITS = [1e-12, 1e12, 1e-290, 1e290, np.array([1e-12, 1e12])]
BRIEF = Training(steps=4, batch_size=64, warmup=1, evaluate_every=2)
RATIO = SklearnRatio(folds=None)


@pytest.mark.parametrize("unit", UNITS)
def test_divergences_have_no_unit(unit):
    plain, scaled = (
        kl_divergence(X_0 * u, X_1 * u, estimator=RATIO, n_folds=2, random_state=0)
        for u in (1.0, unit)
    )
    assert scaled.estimate == pytest.approx(plain.estimate, abs=1e-6)
    assert scaled.standard_error == pytest.approx(plain.standard_error, abs=1e-6)


@pytest.mark.parametrize("unit", UNITS)
def test_comparisons_have_no_unit(unit):
    plain, scaled = (
        compare(X_0 * u, X_1 * u, estimator=RATIO, n_folds=2, n_permutations=99, random_state=0)
        for u in (1.0, unit)
    )
    assert scaled.kl.estimate == pytest.approx(plain.kl.estimate, abs=1e-6)
    assert scaled.degree is plain.degree


def test_a_comparison_with_one_huge_value_is_told_and_near():
    spoiled = X_0.copy()
    spoiled[5, 1] = 1e30
    settings = {"estimator": RATIO, "n_folds": 2, "n_permutations": 99, "random_state": 0}
    plain = compare(X_0, X_1, **settings)
    with pytest.warns(OutlierWarning):
        found = compare(spoiled, X_1, **settings)
    # Both estimate 0.125 nats; one of 300 rows moves it by less than an error of either.
    assert abs(found.kl.estimate - plain.kl.estimate) < plain.kl.standard_error


@pytest.mark.parametrize("unit", UNITS[:-1])
def test_mutual_information_has_no_unit(unit):
    x, y = X_0[:, 0], X_0[:, 0] + X_0[:, 1]
    plain, scaled = (
        mutual_information(
            x * u,
            y * u,
            estimator=KernelRatio(n_centers=30),
            n_folds=2,
            n_permutations=19,
            correct=False,
            second_opinion=False,
            random_state=0,
        )
        for u in (1.0, unit)
    )
    assert scaled.estimate == pytest.approx(plain.estimate, abs=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("unit", UNITS)
def test_a_density_moves_by_the_logarithm_of_the_unit(unit):
    ratio = ClassifierRatio(trunk=ResidualMLP(8, 0), training=BRIEF)
    plain, scaled = (
        DensityEstimator("gaussian", estimator=ratio, random_state=0)
        .fit(X_0 * u)
        .score_samples(X_1 * u)
        for u in (1.0, unit)
    )
    moved = scaled + np.log(np.broadcast_to(unit, 2)).sum()
    np.testing.assert_allclose(moved, plain, atol=1e-3)


@pytest.mark.slow
def test_ten_million_rows_on_disk(tmp_path):
    paths = [tmp_path / "x_0", tmp_path / "x_1"]
    for path, mean in zip(paths, (0.0, 1.0), strict=True):
        file = np.memmap(path, dtype=np.float32, mode="w+", shape=(10_000_000, 2))
        rng = np.random.default_rng(int(mean))
        for block in np.array_split(file, 10):
            block[:] = rng.normal(mean, 1.0, block.shape)
        file.flush()
    rows = [np.memmap(p, dtype=np.float32, mode="r", shape=(10_000_000, 2)) for p in paths]
    ratio = ClassifierRatio(trunk=ResidualMLP(8, 0), training=BRIEF, random_state=0)
    found = ratio.fit_samples(*rows).log_ratio(rows[1][:1000])
    assert found.shape == (1000,)
    assert np.isfinite(found).all()

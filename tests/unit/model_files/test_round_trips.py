"""Every estimator is loaded from its file bit-identical."""

import warnings

import numpy as np
import pyarrow as pa
import pytest
from sklearn.base import clone
from tests import registry
from tests.fabricated import without_training
from tests.unit.model_files import small
from tests.unit.model_files.listed_ids import listed, named_in
from tests.unit.model_files.same import differences

import secant
from secant.estimators.neural import PathMixin


@pytest.fixture(autouse=True)
def _quiet(unoptimised):
    """Ignore the warnings of fits with four steps of training."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def loaded(estimator, tmp_path):
    estimator.save(tmp_path / "model.secant")
    assert named_in(tmp_path / "model.secant") <= listed()[0]
    return secant.load(tmp_path / "model.secant")


def check_same(estimator, tmp_path):
    found = loaded(estimator, tmp_path)
    assert differences(estimator, found) == []
    rows = np.concatenate([small.X_1, [[1e6, -1e6], [0.0, 1e-300]]])
    assert found.log_ratio(rows).tobytes() == estimator.log_ratio(rows).tobytes()
    if isinstance(estimator, PathMixin):
        assert (found.secant(rows, 0.2, 0.7) == estimator.secant(rows, 0.2, 0.7)).all()
        assert (found.time_score(rows, 0.4) == estimator.time_score(rows, 0.4)).all()
    return found


def check_refits(estimator, found):
    """A clone of what was loaded learns what the estimator did."""
    assert differences(clone(estimator), clone(found)) == []
    again = clone(found).fit_samples(small.X_0, small.X_1)
    assert (again.log_ratio(small.X_1) == estimator.log_ratio(small.X_1)).all()


CLOSED = registry.named("closed", without=["no file"])  # a test of saving says why
TRAINED = registry.named(without=["closed"])


@pytest.mark.parametrize("name", CLOSED)
def test_ratios(name, tmp_path):
    estimator = registry.new(name).fit_samples(small.X_0, small.X_1)
    found = check_same(estimator, tmp_path)
    if name == "kernel, ulsif":
        check_refits(estimator, found)


def test_a_random_state_is_kept(tmp_path):
    estimator = small.kernel(random_state=np.random.RandomState(3))
    check_same(estimator.fit_samples(small.X_0, small.X_1), tmp_path)


# A path, and one that chooses; `make test-slow` compiles for the rest.
@pytest.mark.parametrize(
    "name", registry.slow_but_for("secant ratio, no anchor", "switch to far", names=TRAINED)
)
def test_ratios_of_networks(name, tmp_path):
    with without_training():
        estimator = registry.new(name).fit_samples(small.X_0, small.X_1)
        assert np.ptp(estimator.log_ratio(small.X_1)) > 0.0
        check_refits(estimator, check_same(estimator, tmp_path))


def check_same_density(density, tmp_path):
    found = loaded(density, tmp_path)
    assert differences(density, found) == []
    assert (found.score_samples(small.X_1) == density.score_samples(small.X_1)).all()
    drawn = [d.sample(50, random_state=1) for d in (density, found)]
    assert (drawn[0] == drawn[1]).all()


@pytest.mark.parametrize("base", ["copula", secant.bases.Copula(secant.bases.StandardNormal())])
def test_densities(base, tmp_path):
    check_same_density(small.density(base).fit(small.X_1), tmp_path)


def test_dequantised_density(tmp_path):
    rows = np.round(small.X_1, 1)
    check_same_density(small.density("gaussian", dequantise="auto").fit(rows), tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("base", [*small.BASES, None])
def test_densities_on_trained_ratios(base, tmp_path):
    with without_training():
        density = small.density(base, estimator=small.spectral()).fit(small.X_1)
    check_same_density(density, tmp_path)


@pytest.mark.slow
def test_path_entropy(tmp_path):
    entropy = small.path_entropy().fit_samples(small.X_0, small.X_1)
    found = loaded(entropy, tmp_path)
    assert differences(entropy, found) == []
    again = found.entropy_difference(small.X_0, small.X_1)
    assert again == entropy.entropy_difference(small.X_0, small.X_1)


@pytest.mark.slow
def test_default_density(tmp_path):
    density = secant.DensityEstimator(estimator=registry.new("switch"), random_state=0)
    check_same_density(density.fit(small.X_1), tmp_path)


def test_names_of_columns_are_kept(tmp_path):
    names = ["größe", 'a "b" <c>\n']
    tables = (pa.table(dict(zip(names, x.T, strict=True))) for x in (small.X_0, small.X_1))
    found = loaded(small.kernel().fit_samples(*tables), tmp_path)
    assert found.feature_names_in_.dtype == object
    assert found.feature_names_in_.tolist() == names
    with pytest.raises(ValueError, match="feature names should match"):
        found.log_ratio(pa.table({"a": small.X_1[:, 0], "b": small.X_1[:, 1]}))


def test_same_fit_same_bytes(kernel, tmp_path):
    kernel.save(tmp_path / "one")
    kernel.save(tmp_path / "two")
    secant.load(tmp_path / "one").save(tmp_path / "three")
    texts = {(tmp_path / name).read_bytes() for name in ("one", "two", "three")}
    assert len(texts) == 1

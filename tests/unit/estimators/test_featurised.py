"""Features of a flow (M1): invertible, and useful for curved samples."""

import jax
import numpy as np
import pytest

from secant import FeaturisedRatio, ModelFileError, SklearnRatio

pytest.importorskip("flowjax", reason="the extra `flows` is absent")


def bent(n=3000, shift=1.0):
    """Two Gaussians through x ↦ (x_1, x_2 + x_1²), which leaves their ratio alone."""
    rng = np.random.default_rng(0)
    x_0, x_1 = rng.normal(size=(n, 2)), rng.normal(size=(n, 2)) + np.array([0.0, shift])
    truth = shift * x_1[:, 1] - 0.5 * shift**2
    for x in (x_0, x_1):
        x[:, 1] += x[:, 0] ** 2
    return x_0, x_1, truth


@pytest.fixture(scope="module")
def fitted():
    x_0, x_1, _ = bent()
    return FeaturisedRatio(SklearnRatio(), max_epochs=30, random_state=0).fit_samples(x_0, x_1)


def test_the_ratio_is_that_of_the_features(fitted):
    x_1 = bent()[1]
    features = fitted._features(x_1)
    np.testing.assert_allclose(fitted.log_ratio(x_1), fitted.estimator_.log_ratio(features))
    assert fitted.diagnostics_ is fitted.estimator_.diagnostics_
    # Both samples together are mapped to noise of about unit variance.
    assert (np.abs(np.std(fitted._features(np.concatenate(bent()[:2])), axis=0) - 1.0) < 0.2).all()


def test_the_map_is_invertible(fitted):
    x = bent()[1][:50]
    back = jax.vmap(fitted.flow_.bijection.transform)(fitted._features(x).astype(np.float32))
    np.testing.assert_allclose(back, fitted.scaling_(x), atol=1e-3)


def test_features_straighten_what_is_bent(fitted):
    # Logistic regression on squares and products cannot tell x_2 − x_1² at its fourth power.
    _, x_1, truth = bent()
    found = float(np.sqrt(np.mean((fitted.log_ratio(x_1) - truth) ** 2)))
    assert found < 0.3  # of a spread of 1


def test_it_has_no_file(fitted, tmp_path):
    with pytest.raises(ModelFileError, match="flow is code of flowjax"):
        fitted.save(tmp_path / "model.secant")


@pytest.mark.parametrize(
    ("settings", "kind", "message"),
    [
        ({"estimator": "nce"}, TypeError, "`estimator` must be a RatioEstimator or None"),
        ({"n_layers": 0}, ValueError, "`n_layers` must be an integer of at least 1; got 0"),
    ],
)
def test_settings_refused_by_fit(settings, kind, message):
    with pytest.raises(kind, match=message):
        FeaturisedRatio(**settings).fit_samples(*bent(100)[:2])

"""Estimators with random weights instead of a fit, and the answers of an exported file."""

import equinox as eqx
import jax
import numpy as np
import onnxruntime

from secant import DensityEstimator, SecantRatio
from secant.deploy.export import export_onnx, export_stablehlo, load_stablehlo
from secant.integration import SecantSteps
from secant.models import SpectralSecant
from secant.models.anchor import GaussianAnchor, MixtureAnchor
from secant.models.networks import ResidualMLP
from secant.scaling import Standardise
from secant.tasks.atoms import Dequantisation

D = 3
TRUNK = ResidualMLP(8, 1)


def drawn_rows(seed, n=300):
    """Columns of different units: one near normal, one with a far mean, one with heavy tails."""
    z = np.random.default_rng(seed).normal(size=(n, D))
    return np.stack([1e-6 * z[:, 0], 2e4 + 10.0 * z[:, 1], np.exp(2.0 * z[:, 2])], axis=1)


X_0, X_1 = drawn_rows(0), drawn_rows(1) + np.array([5e-7, 3.0, 0.0])
OUTLIERS = np.array([[1e-3, 2e4, 1e5], [-1e-3, 1.9e4, -50.0], [0.0, 2e4, 1e-9]])
ROWS = np.concatenate([X_0[:40], X_1[:40], OUTLIERS])


def random_weights(model, seed=0):
    """The model with noise on all its arrays: a head that starts at zero would hide mistakes."""
    arrays, rest = eqx.partition(model, eqx.is_inexact_array)
    leaves, tree = jax.tree.flatten(arrays)
    rng = np.random.default_rng(seed)  # on the host: no programs for every shape
    noisy = [
        (x + 0.2 * rng.standard_normal(x.shape)).astype(x.dtype) for x in map(np.asarray, leaves)
    ]
    return eqx.combine(jax.tree.unflatten(tree, jax.device_put(noisy)), rest)


def ratio(model=None, *, rule=None, scaling=None, estimator=None, x=(X_0, X_1)):
    """A ratio estimator of such a model; a builder gets random weights."""
    if model is None:
        model = SpectralSecant(4, TRUNK)
    if hasattr(model, "build"):
        model = random_weights(model.build(x[0].shape[1], key=jax.random.key(1)))
    found = SecantRatio() if estimator is None else estimator
    found.model_, found.rule_ = model, SecantSteps(1) if rule is None else rule
    found.scaling_ = (Standardise() if scaling is None else scaling).fitted(*x)
    found.n_features_in_, found.diagnostics_ = x[0].shape[1], None
    return found


def gaussian_anchor(path, *, mixture):
    moments = [(np.zeros(D), np.eye(D)), (np.ones(D), np.diag([2.0, 0.5, 1.0]) + 0.1)]
    (m_0, s_0), (m_1, s_1) = moments
    one = GaussianAnchor.fitted(m_0, s_0, m_1, s_1, path)
    if not mixture:
        return one
    return MixtureAnchor.of([one, GaussianAnchor.fitted(m_1, s_1, m_0, s_0, path)], [0.3, 0.7])


def density(rule, *, of=None):
    """A density on a fitted base, with a random ratio in its coordinates."""
    base = rule.fitted(X_0, 0)
    found = DensityEstimator()
    y = base.coordinates(X_0)
    found.base_ = base
    found.ratio_ = ratio(x=(y, y[::-1] + 0.1)) if of is None else of(y)
    found.log_normalizer_, found.normalizer_ = 0.25, None
    found.dequantisation_ = Dequantisation.of(X_0, [])
    found.n_features_in_, found._seed = D, 0
    return found


def onnx_answers(path, rows):
    (found,) = onnxruntime.InferenceSession(path).run(None, {"rows": rows})
    return found


def assert_exports_agree(estimator, folder, *, dtype="float64", rows=ROWS, formats=("onnx", "hlo")):
    """The exported files answer as the estimator does, to 1e-5 of what is above 1."""
    rows = rows.astype(dtype)
    expected = estimator.score_samples(rows)
    assert np.ptp(expected) > 0.1  # something to agree on
    for name in formats:
        path = folder / f"model.{name}"
        write = export_onnx if name == "onnx" else export_stablehlo
        write(estimator, path, dtype=dtype)
        found = onnx_answers(path, rows) if name == "onnx" else load_stablehlo(path)(rows)
        assert (found.dtype, found.shape) == (np.dtype(dtype), (len(rows),))
        gap = np.abs(found - expected) / np.maximum(np.abs(expected), 1.0)
        assert gap.max() <= 1e-5, name

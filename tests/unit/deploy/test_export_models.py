"""Exported programs answer as the models do: every scaling, model, anchor, rule and base."""

from functools import partial

import jax
import numpy as np
import pytest
from tests.unit.deploy import exported as e

from secant import CTSM, ChasmSwitch, ClassifierRatio, KernelRatio, SecantRatio, Training
from secant.bases import Copula, FullGaussian, Growth, Mixture, StandardNormal
from secant.integration import GaussLegendre, SecantSteps, Trapezoid
from secant.models import AlignedSecant, SpectralSecant, TangentNetwork
from secant.models.anchor import Anchored
from secant.models.networks import FourierMLP, QuadraticForms, ResidualMLP
from secant.models.secant_function import Shifted
from secant.models.tangent import JointScoreNetwork
from secant.models.telescoping import TelescopingHeads
from secant.paths import DiffusionBridge, DiffusionInterpolant
from secant.scaling import AdaptiveMargins, Identity, Standardise

pytestmark = pytest.mark.usefixtures("unoptimised")


def some_slow(cases, *slow):
    """The names of cases, some of them marked to be run with the long tests."""
    return [pytest.param(n, marks=[pytest.mark.slow] * (n in slow)) for n in cases]


UNIT = np.random.default_rng(0).normal(size=(80, e.D))


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("rule", [AdaptiveMargins(), Standardise()], ids=lambda r: type(r).__name__)
def test_scalings(rule, dtype, tmp_path):
    estimator = e.ratio(scaling=rule)
    assert any(estimator.scaling_.tabulated) == isinstance(rule, AdaptiveMargins)
    formats = ["onnx", "hlo"] if dtype == "float64" else ["onnx"]
    e.assert_exports_agree(estimator, tmp_path, dtype=dtype, formats=formats)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_no_scaling(dtype, tmp_path):
    estimator = e.ratio(scaling=Identity(), x=(UNIT, UNIT))
    e.assert_exports_agree(estimator, tmp_path, rows=UNIT, dtype=dtype, formats=["onnx"])


def test_a_scaling_at_its_own_knots(tmp_path):
    estimator = e.ratio(scaling=AdaptiveMargins())
    scaling = estimator.scaling_
    rows = scaling.center + scaling.scale * scaling.knots.T
    e.assert_exports_agree(estimator, tmp_path, rows=rows, formats=["onnx"])


def test_values_beyond_single_precision(tmp_path):
    rows = e.ROWS.copy()
    rows[0] = 1e60
    e.assert_exports_agree(e.ratio(), tmp_path, rows=rows, formats=["onnx"])


def test_a_constant_column(tmp_path):
    x = np.column_stack([UNIT[:, :2], np.full(len(UNIT), 7.0)])
    with pytest.warns(match="hold one value"):
        estimator = e.ratio(x=(x, x))
    e.assert_exports_agree(estimator, tmp_path, rows=x, formats=["onnx"])


MODELS = {
    "spectral": (SpectralSecant(12, e.TRUNK), None),
    "aligned": (AlignedSecant(e.TRUNK), None),
    "aligned-vectorised": (AlignedSecant(e.TRUNK, vectorised=True), None),
    "telescoping": (TelescopingHeads(4, e.TRUNK), None),
    "tangent": (TangentNetwork(e.TRUNK, n_nodes=3), None),
    "tangent-trapezoid": (TangentNetwork(e.TRUNK, vectorised=True), Trapezoid(50)),
    "joint-gauss": (JointScoreNetwork(e.TRUNK), GaussLegendre(8)),
    "steps": (SpectralSecant(5, e.TRUNK), SecantSteps(3)),
    "deep": (SpectralSecant(1, ResidualMLP(16, 2)), None),
    "quadratic": (SpectralSecant(1, ResidualMLP(8, 1, quadratic=True)), None),
    "fourier": (SpectralSecant(1, FourierMLP(8, 1, 8)), None),
    "forms": (SpectralSecant(1, QuadraticForms()), None),
}


@pytest.mark.parametrize("name", some_slow(MODELS, "aligned-vectorised", "steps", "deep"))
def test_models(name, tmp_path):
    model, rule = MODELS[name]
    formats = ["onnx", "hlo"] if name.startswith("tangent") else ["onnx"]
    e.assert_exports_agree(e.ratio(model, rule=rule), tmp_path, rows=e.ROWS[:-3], formats=formats)


@pytest.mark.parametrize("mixture", [False, True])
@pytest.mark.parametrize(
    "path", [DiffusionInterpolant(), pytest.param(DiffusionBridge(), marks=pytest.mark.slow)]
)
def test_anchors(path, mixture, tmp_path):
    rest = e.random_weights(SpectralSecant(2, e.TRUNK).build(e.D, key=jax.random.key(0)))
    model = Anchored(e.gaussian_anchor(path, mixture=mixture), rest)
    e.assert_exports_agree(e.ratio(model), tmp_path, rows=e.ROWS[:-3], formats=["onnx"])


def test_a_classifier_with_its_constant_in_a_switch(tmp_path):
    inner = e.random_weights(SpectralSecant(1, e.TRUNK).build(e.D, key=jax.random.key(0)))
    switch = ChasmSwitch()
    switch.estimator_ = e.ratio(Shifted(inner, np.float32(0.7)), estimator=ClassifierRatio())
    switch.n_features_in_ = e.D
    e.assert_exports_agree(switch, tmp_path, formats=["onnx"])


@pytest.mark.parametrize("method", ["ulsif", "rulsif", "kliep", "kulsif", "logistic"])
def test_kernels(method, tmp_path):
    ridge = {} if method == "kliep" else {"ridge": 1e-2}
    estimator = KernelRatio(method, n_centers=20, bandwidth=1.0, random_state=0, **ridge)
    estimator.fit_samples(e.X_0, e.X_1)
    for dtype in ("float64", "float32"):
        e.assert_exports_agree(estimator, tmp_path, dtype=dtype, formats=["onnx"])


BASES = {
    "normal": StandardNormal(),
    "gaussian": FullGaussian(),
    "copula": Copula(n_bins=9),
    "copula-mixture": Copula(Mixture(Growth(max_components=2)), n_bins=9),
}


@pytest.mark.parametrize("name", some_slow(BASES, "gaussian"))
def test_densities(name, tmp_path):
    found, dtype = e.density(BASES[name]), "float32" if name == "copula" else "float64"
    e.assert_exports_agree(found, tmp_path, dtype=dtype, rows=e.ROWS[:-3], formats=["onnx"])


def test_a_density_by_kernels(tmp_path):
    kernels = KernelRatio(n_centers=20, bandwidth=1.0, ridge=1e-2, random_state=0)
    found = e.density(Copula(n_bins=9), of=lambda y: kernels.fit_samples(y, y + np.float32(0.3)))
    e.assert_exports_agree(found, tmp_path, rows=e.ROWS[:-3])


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::UserWarning")  # of fits this short
@pytest.mark.parametrize(
    "kind",
    [SecantRatio, ClassifierRatio, partial(SecantRatio, TangentNetwork()), CTSM],
    ids=["secant", "classifier", "tangent", "ctsm"],
)
def test_real_fits(kind, tmp_path):
    """At their full widths, in ten columns, with anchors and tables that a fit has chosen."""
    rng = np.random.default_rng(0)
    x_0, x_1 = rng.normal(size=(2000, 10)), rng.normal(0.5, 1.2, size=(2000, 10))
    x_1[:, 0] = np.exp(x_1[:, 0])
    estimator = kind(training=Training(steps=200), random_state=0).fit_samples(x_0, x_1)
    e.assert_exports_agree(estimator, tmp_path, rows=np.concatenate([x_0[:500], x_1[:500]]))

"""Estimators of a few steps, one of every kind; what they learn does not matter here."""

import numpy as np

import secant
from secant.estimators import GaussianMoments
from secant.models import (
    AlignedSecant,
    FourierMLP,
    JointScoreNetwork,
    QuadraticForms,
    ResidualMLP,
    SpectralSecant,
    TangentNetwork,
    TelescopingHeads,
)
from secant.models.velocity import MeanVelocity

RNG = np.random.default_rng(0)
X_0, X_1 = RNG.normal(size=(300, 2)), 0.3 + 1.2 * RNG.normal(size=(300, 2))
TRAINING = secant.Training(steps=4, batch_size=16, evaluate_every=2)
TRUNK = ResidualMLP(width=4, depth=1)
LOSSES = ("nce", "infonce", "kulsif", "hellinger", "kl", "gamma", "ew", "pw", "dv")
METHODS = ("ulsif", "rulsif", "kliep", "kulsif")
BASES = ("normal", "gaussian", "copula", "mixture", "copula-mixture")


def kernel(method="ulsif", **settings):
    return secant.KernelRatio(method, n_centers=10, **({"random_state": 0} | settings))


def spectral(**settings):
    return secant.SecantRatio(
        SpectralSecant(order=2, trunk=TRUNK), training=TRAINING, random_state=0, **settings
    )


def classifier(loss="nce", **settings):
    return secant.ClassifierRatio(
        loss, training=TRAINING, random_state=0, **({"trunk": TRUNK} | settings)
    )


def trained(kind, model, **settings):
    return kind(model, training=TRAINING, random_state=0, **settings)


SLOW = {
    "SecantRatio": lambda: spectral(anchor=GaussianMoments()),
    "mixture anchor": lambda: spectral(anchor=secant.GaussianMixtures(min_gain=-1.0)),
    "student": lambda: trained(
        secant.SecantRatio,
        TangentNetwork(trunk=TRUNK, n_nodes=2),
        student=SpectralSecant(order=2, trunk=TRUNK),
    ),
    "aligned": lambda: trained(secant.SecantRatio, AlignedSecant(trunk=TRUNK), anchor=False),
    "ISADRE": lambda: trained(secant.ISADRE, AlignedSecant(trunk=TRUNK, vectorised=True)),
    "DREInfinity": lambda: trained(secant.DREInfinity, TangentNetwork(trunk=TRUNK, n_nodes=2)),
    "joint": lambda: trained(
        secant.DREInfinity, JointScoreNetwork(trunk=TRUNK, n_nodes=2), joint=True
    ),
    "D3RE": lambda: trained(secant.D3RE, TangentNetwork(trunk=TRUNK, n_nodes=2)),
    "CTSM": lambda: trained(secant.CTSM, TangentNetwork(trunk=TRUNK, n_nodes=2, vectorised=True)),
    "TRE": lambda: trained(secant.TRE, TelescopingHeads(2, trunk=TRUNK)),
    "quadratic forms": lambda: trained(secant.TRE, TelescopingHeads(2, trunk=QuadraticForms())),
    "waves": lambda: classifier(trunk=FourierMLP(width=4, depth=0, n_waves=3)),
    "switch": lambda: secant.ChasmSwitch(classifier(), spectral(), random_state=0),
    "switch to far": lambda: secant.ChasmSwitch(
        kernel(), spectral(), threshold=-9.0, random_state=0
    ),
    **{f"loss {loss}": (lambda loss=loss: classifier(loss)) for loss in LOSSES},
}
QUICK = {
    **{f"kernel {method}": (lambda method=method: kernel(method)) for method in METHODS},
    "kernel with a random state": lambda: kernel(random_state=np.random.RandomState(3)),
    "switch of kernels": lambda: secant.ChasmSwitch(kernel(), kernel("kliep"), random_state=0),
}


def density(base, **settings):
    return secant.DensityEstimator(base, random_state=0, **({"estimator": kernel()} | settings))


def path_entropy():
    return secant.PathEntropy(MeanVelocity(trunk=TRUNK), training=TRAINING, random_state=0)

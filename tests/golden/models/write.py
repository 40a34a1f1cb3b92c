"""Write the model files of the current format, once, when a format is released.

Older files are never rewritten: the tests check that they still load. Run from the root:
`python -m tests.golden.models.write`.
"""

import json
from pathlib import Path

import numpy as np
import pyarrow as pa

import secant
from secant.estimators import GaussianMoments
from secant.model_files.saving import FORMAT
from secant.models import ResidualMLP, SpectralSecant

HERE = Path(__file__).parent
NAMES = ["age", "height (m)"]


def samples():
    """Two samples with names, two nats apart."""
    rng = np.random.default_rng(0)
    x_0, x_1 = rng.normal(size=(400, 2)), 0.5 + 1.3 * rng.normal(size=(400, 2))
    return [pa.table(dict(zip(NAMES, x.T, strict=True))) for x in (x_0, x_1)]


def estimators():
    """Small ones, fitted."""
    x_0, x_1 = samples()
    training = secant.Training(steps=200, batch_size=64, evaluate_every=50)
    model = SpectralSecant(order=3, trunk=ResidualMLP(width=8, depth=1))
    kernel = secant.KernelRatio("rulsif", n_centers=20, random_state=0)
    return {
        "secant-ratio": secant.SecantRatio(
            model, anchor=GaussianMoments(), training=training, random_state=0
        ).fit_samples(x_0, x_1),
        "kernel-ratio": kernel.fit_samples(x_0, x_1),
        "density": secant.DensityEstimator(
            "copula-mixture", estimator=secant.KernelRatio(n_centers=20), random_state=0
        ).fit(x_1),
    }


def main():
    """One file per estimator, and one with their answers."""
    rows = np.array([[0.0, 0.0], [1.0, -1.0], [2.5, 3.0], [-4.0, 1.0]])
    answers = {"rows": rows.tolist(), "names": NAMES}
    table = pa.table(dict(zip(NAMES, rows.T, strict=True)))
    for name, estimator in estimators().items():
        estimator.save(HERE / f"format-{FORMAT}-{name}.secant", metadata={"kept": [1, "ü"]})
        answers[name] = estimator.score_samples(table).tolist()
    (HERE / f"format-{FORMAT}-answers.json").write_text(json.dumps(answers, indent=1) + "\n")


if __name__ == "__main__":
    main()

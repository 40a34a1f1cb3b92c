"""A new estimator: its own file and one export. A name in `secant` itself is for the most used."""

import shutil
import subprocess
import sys
from pathlib import Path

import secant

PACKAGE = Path(secant.__file__).parent
OWN_FILE = '''"""The log ratio of two normal samples of equal variance."""

from __future__ import annotations

import numpy as np

from secant.estimators._base import RatioEstimator


class MeanShift(RatioEstimator):
    """log r(x) = (x − (m_0 + m_1) / 2)ᵀ (m_1 − m_0) for samples of unit variance."""

    def __init__(self, random_state=None):
        self.random_state = random_state

    def _fit(self, sample_0, sample_1, seed):
        self.means_ = np.stack([sample_0.rows.mean(0), sample_1.rows.mean(0)])
        self.diagnostics_ = None

    def _log_ratio(self, X):
        return (X - self.means_.mean(0)) @ (self.means_[1] - self.means_[0])
'''
USE = """
import sys
from pathlib import Path
import numpy as np
import secant.estimators
from sklearn.base import clone
assert Path(secant.__file__).is_relative_to(sys.argv[1]), secant.__file__
rng = np.random.default_rng(0)
x_0, x_1 = rng.normal(0.0, 1.0, (400, 1)), rng.normal(1.0, 1.0, (400, 1))
ratio = clone(secant.estimators.MeanShift(random_state=0)).fit_samples(x_0, x_1)
assert ratio.log_ratio([[0.5]])[0].round(1) == 0.0
ratio.save(sys.argv[1] + "/model.secant")
again = secant.load(sys.argv[1] + "/model.secant")
assert np.array_equal(again.log_ratio(x_1), ratio.log_ratio(x_1))
found = secant.kl_divergence(x_0, x_1, estimator=secant.estimators.MeanShift(), random_state=0)
assert abs(found.estimate - 0.5) < 4.0 * found.standard_error, found
"""


def test_an_estimator_touches_two_files(tmp_path):
    source = tmp_path / "secant"
    shutil.copytree(PACKAGE, source, ignore=shutil.ignore_patterns("__pycache__"))
    before = {path: path.read_bytes() for path in source.rglob("*.*") if path.is_file()}
    (source / "estimators" / "mean_shift.py").write_text(OWN_FILE, encoding="utf-8")
    with (source / "estimators" / "__init__.py").open("a", encoding="utf-8") as exports:
        exports.write("from secant.estimators.mean_shift import MeanShift  # noqa\n")
    command = [sys.executable, "-c", USE, str(tmp_path)]
    environment = {"PYTHONPATH": str(tmp_path), "PATH": "", "HOME": str(tmp_path)}
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    written = (path for path in source.rglob("*.py") if before.get(path) != path.read_bytes())
    assert {str(path.relative_to(source)) for path in written} == {
        "estimators/__init__.py",
        "estimators/mean_shift.py",
    }

"""A real table whose source is biased by a known rule: weighting corrects it for every seed."""

from dataclasses import replace

import numpy as np
from sklearn.datasets import load_diabetes
from sklearn.linear_model import LinearRegression

from secant import CovariateShift
from secant_bench import Job, Recipe, Selection, Sweep
from secant_bench import covariate_shift as benchmark
from secant_bench.benchmark import attempted

METHOD = "logistic regression"
ONE = Selection(methods=frozenset({METHOD}))


def test_weighting_brings_back_the_population_mean(tmp_path):
    sweep = Sweep(Recipe("covariate-shift"), tmp_path / "rows", ONE)
    rows = list(sweep.run())
    assert [row.status for row in rows] == ["finished"] * 20
    off, back = benchmark.shares(rows)
    assert off == 1.0  # the selection is felt in every draw
    assert back >= 0.9  # nominally 0.954
    errors = np.abs([(row.plain - row.truth, row.weighted - row.truth) for row in rows])
    assert errors[:, 1].mean() < 0.4 * errors[:, 0].mean()
    assert list(sweep.run()) == []  # nothing is run twice


def test_a_failed_fit_is_a_row():
    suite = replace(benchmark.covariate_shift(), methods={METHOD: lambda: "no estimator"})
    (row,) = attempted(suite, Job(*suite.pairs[0], 0)).rows
    assert row.status == "failed"
    assert "TypeError" in row.traceback
    assert benchmark.shares([row])[1] == 0.0


def test_a_line_fitted_to_weighted_rows_is_nearer_to_the_populations_line():
    X, y = load_diabetes(return_X_y=True)
    bmi = X[:, [2]]
    y = y + 40.0 * (bmi[:, 0] / bmi.std()) ** 2  # a bend that no line can follow
    whole = LinearRegression().fit(bmi, y).predict(bmi)
    distances = []
    for seed in range(10):
        kept = benchmark._biased(bmi[:, 0], np.random.default_rng(seed))
        shift = CovariateShift(LinearRegression(), benchmark.METHODS[METHOD](), random_state=seed)
        fits = (
            LinearRegression().fit(bmi[kept], y[kept]),
            shift.fit(bmi[kept], y[kept], bmi),
        )
        distances.append([np.sqrt(np.mean((fit.predict(bmi) - whole) ** 2)) for fit in fits])
    plain, weighted = np.mean(distances, axis=0)
    assert weighted < 0.7 * plain  # 0.55: the log ratio is not quite linear

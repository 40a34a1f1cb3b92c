"""The suites of densities: rows, resumption, absent data and tables."""

from dataclasses import replace
from types import SimpleNamespace

import jax
import numpy as np
import pytest
from benchmarks.tests.unit.sweeping import swept
from sklearn.neighbors import KernelDensity
from tests.fabricated import without_training

import secant
from secant.datasets import toys
from secant.diagnostics import log_normaliser
from secant.integration import SecantSteps
from secant.models import ResidualMLP, SpectralSecant, TangentNetwork
from secant.tasks.learned_density import LogNormalizer
from secant_bench.density import DENSITY_SUITES, DensitySuite
from secant_bench.density.density_report import density_sections
from secant_bench.density.methods import _WIDE, METHODS, _as_fitted, _by_evaluations
from secant_bench.density.pictures import Window, densities_figure, picture_name
from secant_bench.density.rows import DensityRow
from secant_bench.density.tasks import DensityTask, Split, power_task, toy_tasks
from secant_bench.rows import keep_rows, read_rows
from secant_bench.suites.shared import EVALUATIONS, tangents


def normal_rows(seed):
    rng = np.random.default_rng(seed)
    return Split(rng.normal(size=(400, 2)), rng.normal(size=(300, 2)), truth=2.838)


TRUNK = ResidualMLP(width=8, depth=0)
TINY = {"training": secant.Training(steps=10, batch_size=16), "scaling": secant.Identity()}
TASK = DensityTask("normal", normal_rows)
GAUSSIAN = {"Gaussian": METHODS["Gaussian"]}


def suite(**settings):
    return replace(DensitySuite("density-2d", "…", (TASK,), GAUSSIAN, 2), **settings)


def test_a_run_writes_one_row_a_job_and_resumes(tmp_path):
    first = swept(suite(), tmp_path, n_seeds=1)
    assert [row.key for row in first] == [("normal", "Gaussian", 0)]
    assert first[0].status == "finished"
    assert first[0].nll == pytest.approx(2.838, abs=5 * first[0].nll_error)
    rest = swept(suite(), tmp_path)
    assert [row.seed for row in rest] == [1]
    assert read_rows(tmp_path / "rows.jsonl", DensityRow) == first + rest


def test_absent_data_are_a_row_that_says_how_to_obtain_them(tmp_path, monkeypatch):
    monkeypatch.setenv("SECANT_DATA", str(tmp_path / "nowhere"))
    (row,) = swept(suite(tasks=(power_task(),)), tmp_path, n_seeds=1)
    assert row.status.startswith("skipped: no folder")
    assert "SECANT_DATA" in row.status
    assert row.nll is None
    # Once the data are there, it is run.
    assert len(swept(suite(tasks=(power_task(),)), tmp_path, n_seeds=1)) == 1


def test_rows_with_their_atoms_spread_are_judged_as_well(tmp_path):
    shifted = DensityTask("normal", lambda seed: replace(normal_rows(seed), spread=np.ones((9, 2))))
    (row,) = swept(suite(tasks=(shifted,)), tmp_path, n_seeds=1)
    assert row.nll_spread == pytest.approx(np.log(2 * np.pi) + 1.0, abs=0.3)


def test_the_first_seed_leaves_a_picture(tmp_path):
    pictured = replace(TASK, grid=lambda: np.array([[0.0, 0.0], [40.0, 0.0]]))
    swept(suite(tasks=(pictured,)), tmp_path)
    (kept,) = (tmp_path / "rows").iterdir()
    assert kept.name == "normal-Gaussian.npy"
    assert np.load(kept) == pytest.approx([-np.log(2 * np.pi), -100.0], abs=0.3)


def test_a_figure_shows_the_truth_and_the_methods_that_have_pictures(tmp_path):
    moons = next(toy for toy in toys() if toy.name == "moons")
    grid = Window.of(moons).grid()
    truth = np.asarray(jax.jit(moons.log_density)(grid))
    np.save(tmp_path / picture_name("moons", "exact"), truth.astype(np.float16))
    shown = densities_figure([moons], ["exact", "absent"], tmp_path, tmp_path / "f.png")
    panels = [axes.images[0].get_array() for axes in shown.axes]
    np.testing.assert_allclose(panels[1], panels[0], rtol=0.02, atol=1e-3)
    # Rows of the set lie where its picture is bright, neither turned nor mirrored.
    rows = np.asarray(jax.jit(moons.draw, static_argnums=1)(jax.random.key(1), 200))
    cells = np.linalg.norm(rows[:, None] - grid[None], axis=2).argmin(axis=1)
    assert panels[0].ravel()[cells].mean() > 3 * panels[0].mean()
    assert densities_figure([moons], ["absent"], tmp_path, tmp_path / "g.png") is None


def test_evaluations_stand_across(tmp_path):
    row = DensityRow("paper-tabular", "power", "D3RE", 0)
    rows = []
    for count, nll in ((1, 2.0), (50, -0.25)):
        found = replace(row, evaluations=count, nll=nll, log_normalizer=-0.5, normalised_by="x (y)")
        rows.append(found)
    keep_rows(tmp_path / "paper-tabular.jsonl", rows)
    page = "\n".join(density_sections(tmp_path))
    assert "| table | method | 1 | 50 | seeds |" in page
    assert "| power | D3RE | 2.00 (0.50†) | -0.25 (0.50†) | 1 |" in page


def test_a_failure_is_a_row_with_its_traceback(tmp_path):
    (row,) = swept(suite(methods={"Gaussian": lambda train, seed: 1 / 0}), tmp_path, n_seeds=1)
    assert row.status == "failed"
    assert "ZeroDivisionError" in row.traceback


def test_kernel_densities_choose_their_width(tmp_path):
    name = "kernel density"
    (row,) = swept(suite(methods={name: METHODS[name]}), tmp_path, n_seeds=1)
    assert 2.8 < row.nll < 3.0


def test_every_suite_has_three_seeds():
    assert all(make().n_seeds >= 3 for make in DENSITY_SUITES.values())


def test_a_third_partys_class_is_a_method(tmp_path):
    rows = swept(suite().with_method("sklearn", KernelDensity), tmp_path, n_seeds=1)
    assert [row.method for row in rows] == ["Gaussian", "sklearn"]
    assert rows[1].nll > rows[0].nll


def test_the_truth_of_a_toy_is_that_of_its_test_rows():
    task = next(task for task in toy_tasks() if task.name == "checkerboard")
    assert task.split(0).truth == pytest.approx(np.log(8.0), abs=1e-5)
    assert task.split(0).train.shape == (50_000, 2)
    assert not np.array_equal(task.split(0).train, task.split(1).train)


@pytest.mark.parametrize(("doubt", "shown"), [(None, "+0.250 ± 0.100 |"), ("why", "± 0.100† |")])
def test_a_doubted_normaliser_is_marked(tmp_path, doubt, shown):
    mass = LogNormalizer(0.25, 0.1, "annealing", log_normaliser(np.zeros(100)), doubt)
    density = SimpleNamespace(score_samples=lambda X: -X[:, 0], normalizer_=mass, ratio_=None)
    judged = _as_fitted(density, np.ones((5, 1)))
    row = DensityRow("density-tables", "power", "m", 0, nll=1.0, seconds=1.0, peak_mib=9)
    known = {k: v for k, v in vars(judged).items() if k not in ("log_density", "evaluations")}
    keep_rows(tmp_path / "density-tables.jsonl", [replace(row, **known)])
    assert shown in "\n".join(density_sections(tmp_path))


def test_tables_show_excess_and_mass(tmp_path):
    row = DensityRow("paper-toy2d", "moons", "secant", 0, nll=2.5, truth=2.4, seconds=3.0)
    keep_rows(tmp_path / "paper-toy2d.jsonl", [replace(row, log_normalizer=-0.01)])
    skipped = DensityRow("density-tables", "power", "secant", 0, status="skipped: no folder")
    keep_rows(tmp_path / "density-tables.jsonl", [skipped])
    page = "\n".join(density_sections(tmp_path))
    assert "| moons | 2.40 | +0.100 (0.0100) |" in page
    assert "skipped: no folder" in page


@pytest.mark.parametrize(
    ("ratio", "rule"),
    [
        pytest.param(
            secant.SecantRatio(SpectralSecant(4, TRUNK), **TINY),
            SecantSteps,
            marks=pytest.mark.slow,
        ),
        (secant.DREInfinity(TangentNetwork(TRUNK), **TINY), tangents),
    ],
)
def test_one_fit_is_judged_and_normalised_at_every_number_of_evaluations(ratio, rule):
    split, rules = normal_rows(0), [rule(m) for m in EVALUATIONS]
    with without_training():
        answers = _by_evaluations(lambda: ratio, rules)(split.train, 0)(split.test)
    assert [answer.evaluations for answer in answers] == [1, 2, 5, 10, 50]
    assert np.ptp(answers[0].log_density - answers[-1].log_density) > 0.0  # a network, not zeros
    base = _WIDE.fitted(split.train, 0)
    for answer, one in zip(answers, rules, strict=True):
        # Each rule has its own constant: log densities, and the mass they were divided by.
        log_ratio = ratio.integrate(base.coordinates(split.test), one).value
        whole = np.asarray(log_ratio) + base.log_prob(split.test)
        np.testing.assert_allclose(answer.log_density, whole - answer.log_normalizer, atol=1e-6)


def test_a_ratio_without_a_path_is_judged_once():
    split, ratio = normal_rows(0), secant.SklearnRatio(folds=None)
    (answer,) = _by_evaluations(lambda: ratio, [None])(split.train, 0)(split.test)
    assert answer.evaluations == 1
    assert np.isfinite(answer.log_density).all()

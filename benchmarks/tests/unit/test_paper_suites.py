"""The paper's experiments: what each suite holds, the variances, and the pages made of rows."""

from pathlib import Path

import jax
import numpy as np
import pytest
from benchmarks.tests.unit.sweeping import swept
from equinox import filter_jit

from secant_bench import Budget, Recipe
from secant_bench.paper_report import paper_sections
from secant_bench.rows import Row, keep_rows
from secant_bench.trajectories import TrajectoryRow, trajectories


@pytest.mark.parametrize(
    ("name", "n_pairs"),
    [
        ("paper-gaussian-mi", 4 * 8 + 1),
        ("paper-geometric-mi", 6 * 9),
        ("paper-toy2d", 9 * 6),
        ("paper-tabular", 5 * 5),
        ("paper-ablation", 2 * 3 * 4),
        ("paper-training", 4),
        ("paper-secant-vs-tangent", 3),
        ("paper-frame", 2 * 2),
    ],
)
def test_suites_are_whole_in_every_budget(name, n_pairs):
    for budget in Budget:
        found = Recipe(name, budget).build()
        assert len(set(found.pairs)) == n_pairs
        assert found.n_seeds >= 3


def test_budgets_have_files_of_their_own():
    assert Recipe("paper-frame").file == "paper-frame.jsonl"
    assert Recipe("paper-frame", Budget.SMALL).file == "paper-frame-small.jsonl"
    assert Recipe("paper-frame", Budget.PAPER).file == "paper-frame-paper.jsonl"


def test_exact_secants_are_means_of_exact_time_scores():
    exact = trajectories(Budget.SMALL).methods["exact"](None, 0)
    secant, time_score = filter_jit(exact.secant), filter_jit(exact.time_score)
    x = np.linspace(-2.0, 3.0, 7, dtype=np.float32)[:, None]
    zero, l, t, one = (np.full(7, time, np.float32) for time in (0.0, 0.2, 0.9, 1.0))
    nodes, weights = np.polynomial.legendre.leggauss(30)
    times = [np.full(7, 0.55 + 0.35 * node, np.float32) for node in nodes]
    scores = np.stack([time_score(x, time) for time in times])
    np.testing.assert_allclose(secant(x, l, t), 0.5 * weights @ scores, rtol=1e-4)
    # And they end in the pair's own ratio.
    pair = trajectories(Budget.SMALL).tasks[0]
    np.testing.assert_allclose(secant(x, zero, one), jax.jit(pair.log_ratio)(x), rtol=1e-4)


def test_the_inequality_holds_at_every_row(tmp_path):
    (row,) = swept(trajectories(Budget.SMALL), tmp_path, n_seeds=1, match="exact")
    assert row.holds == 1.0
    assert 0.0 < row.ratio < 1.0
    kept = np.load(tmp_path / "rows" / "exact.npy")
    assert kept.shape == (2, 40, 101)
    assert np.isfinite(kept).all()
    np.testing.assert_allclose(kept[0, :, 0], kept[1, :, 0])


def test_pages_come_from_rows(tmp_path, monkeypatch):
    assert paper_sections(tmp_path) == []
    monkeypatch.chdir(tmp_path)
    for seed, error in enumerate((0.1, -0.3)):
        rows = [
            Row("s", "d=40", "ours", seed, m, truth=10.0, error=error / m, seconds=2.0 + seed)
            for m in (1, 2)
        ]
        for name in ("paper-gaussian-mi", "paper-ablation", "paper-frame"):
            keep_rows(Path(f"{name}.jsonl"), rows)
        found = TrajectoryRow("s", "x", "exact", seed, 1.0, 4.0, 0.25, 1.0 - 0.1 * seed)
        keep_rows(Path("paper-secant-vs-tangent.jsonl"), [found])
    failed = Row("s", "d=40", "theirs", 0, 1, status="failed", traceback="…")
    another = Row("s", "d=40", "another's", 0, 1, truth=10.0, error=0.2, seconds=1.0)
    for row in (failed, another):
        keep_rows(Path("paper-gaussian-mi.jsonl"), [row])
    Path("paper-secant-vs-tangent").mkdir()
    np.save("paper-secant-vs-tangent/exact.npy", np.zeros((2, 40, 101)))
    page = "\n".join(paper_sections(Path()))
    assert (
        "| d=40 | ours | 0.0500 (0.0100 … 0.0900) | 0.0125 (0.0025 … 0.0225) | 2.00 | 2 |" in page
    )
    assert "| d=40 | theirs | failed | – | – | 1 |" in page
    assert "| d=40 | ours | 1 | 10.0 | 10.1 / 9.70 | 2 |" in page
    assert "| exact | 1.00 | 4.00 | 0.25 | 90.0% | 2 |" in page
    for name in ("paper-gaussian-mi", "paper-secant-vs-tangent"):
        assert Path(f"docs/figures/{name}.png").stat().st_size > 5_000


@pytest.mark.slow
@pytest.mark.parametrize("method", ["SecantRatio", "ISADRE"])
def test_learned_secants_vary_as_the_exact_ones_do(method, tmp_path):
    rows = swept(trajectories(Budget.SMALL), tmp_path, n_seeds=1)
    by_method = {row.method: row for row in rows}
    assert by_method[method].ratio == pytest.approx(by_method["exact"].ratio, rel=0.3)

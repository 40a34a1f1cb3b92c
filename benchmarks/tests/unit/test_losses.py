from pathlib import Path

from secant_bench.density.rows import DensityRow
from secant_bench.information.rows import InformationRow
from secant_bench.losses import losses, lost_section
from secant_bench.rows import Row, keep_rows


def told(path: Path, task: str, **estimates: float) -> None:
    rows = [
        InformationRow("bmi", task, method.replace("_", " "), 0, 500, 1.0, estimate)
        for method, estimate in estimates.items()
    ]
    for row in rows:
        keep_rows(path / "bmi.jsonl", [row])


def test_a_task_is_lost_where_another_method_is_nearer(tmp_path):
    told(tmp_path, "lost", secant=1.3, KSG=0.9, MINE=2.0)
    told(tmp_path, "won", secant=1.1, KSG=0.7)
    told(tmp_path, "ours either way", secant=1.1, path_entropy=1.0)
    (loss,) = losses(tmp_path)
    assert (loss.task, loss.winner) == ("lost", "KSG")
    assert "| bmi | lost | error | 0.30 | 0.1000 | KSG |" in lost_section(tmp_path)[2]


def test_a_difference_that_is_not_shown_is_none(tmp_path):
    told(tmp_path, "equal", secant=1.20001, KSG=1.2)
    assert lost_section(tmp_path) == []


def test_ratios_count_by_their_rows(tmp_path):
    for method, error in {"secant": 0.4, "SecantRatio": 0.1, "densratio, 5k rows": 0.2}.items():
        keep_rows(
            tmp_path / "peers-ratio.jsonl", [Row("peers-ratio", "pair", method, 0, 1, rmse_1=error)]
        )
    (loss,) = losses(tmp_path)
    assert (loss.ours, loss.theirs, loss.winner) == (0.4, 0.2, "densratio, 5k rows")


def test_likelihoods_with_a_doubtful_normaliser_count_for_nobody(tmp_path):
    for method, nll, by in (
        ("secant", -1.0, "annealing along the path"),
        ("lucky", -9.0, "importance sampling (heavy-tailed weights)"),
        ("honest", -2.0, "importance sampling"),
    ):
        row = DensityRow("density-tables", "t", method, 0, nll=nll, normalised_by=by)
        keep_rows(tmp_path / "density-tables.jsonl", [row])
    (loss,) = losses(tmp_path)
    assert (loss.winner, loss.theirs) == ("honest", -2.0)

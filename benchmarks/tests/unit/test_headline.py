import pytest

from secant_bench.density.rows import DensityRow
from secant_bench.headline import headline
from secant_bench.rows import keep_rows


@pytest.mark.parametrize(
    ("theirs", "line"),
    [
        (2.0, "| 2.00 (spline flow) | **1.00** |"),
        (0.5, "| **0.50** (spline flow) | 1.00 |"),
        (None, "| – | **1.00** |"),
    ],
)
def test_the_better_figure_stands_out(tmp_path, theirs, line):
    found = {"secant": 1.0} if theirs is None else {"secant": 1.0, "spline flow": theirs}
    rows = [
        DensityRow("peers-density", "miniboone", method, 0, nll=nll, status="finished")
        for method, nll in found.items()
    ]
    keep_rows(tmp_path / "peers-density.jsonl", rows)
    assert headline(tmp_path).endswith(line)


@pytest.mark.parametrize(
    ("doubted", "line"),
    [
        (-9.0, "| 2.00 (honest); -9.00 † (lucky) | **1.00** |"),
        (3.0, "| 2.00 (honest) | **1.00** |"),
    ],
)
def test_what_is_not_to_be_reliable_is_shown_and_not_counted(tmp_path, doubted, line):
    for method, nll, by in (
        ("secant", 1.0, "annealing along the path"),
        ("honest", 2.0, "importance sampling"),
        ("lucky", doubted, "importance sampling (heavy-tailed weights)"),
        ("SecantRatio", -20.0, "importance sampling (heavy-tailed weights)"),  # our own
    ):
        row = DensityRow("paper-tabular", "power", method, 0, nll=nll, normalised_by=by)
        keep_rows(tmp_path / "paper-tabular.jsonl", [row])
    assert headline(tmp_path).endswith(line)


@pytest.mark.parametrize(
    ("by", "shown"),
    [("importance sampling", "3.00"), ("importance sampling (heavy-tailed weights)", "3.00 †")],
)
def test_the_papers_method_has_a_column_of_its_own(tmp_path, by, shown):
    for method, nll in (("secant", 1.0), ("honest", 4.0), ("ISADRE", 3.0)):
        how = by if method == "ISADRE" else "importance sampling"
        row = DensityRow("paper-tabular", "power", method, 0, nll=nll, normalised_by=how)
        keep_rows(tmp_path / "paper-tabular.jsonl", [row])
    assert headline(tmp_path).endswith(f"| {shown} | 4.00 (honest) | **1.00** |")


def test_a_doubted_likelihood_gives_way_once_its_mass_was_sought_by_annealing(tmp_path):
    doubt = "importance sampling (heavy-tailed weights)"
    for suite, method, nll, by in (
        ("density-tables", "secant", 1.0, "annealing along the path"),
        ("density-tables", "lucky, annealed", 5.0, "annealing along the path"),
        ("paper-tabular", "honest", 2.0, "importance sampling"),
        ("paper-tabular", "lucky", -9.0, doubt),
        ("paper-tabular", "open", -3.0, doubt),
    ):
        row = DensityRow(suite, "power", method, 0, nll=nll, normalised_by=by)
        keep_rows(tmp_path / f"{suite}.jsonl", [row])
    assert headline(tmp_path).endswith("| 2.00 (honest); -3.00 † (open) | **1.00** |")


def test_one_doubted_seed_makes_its_method_doubted(tmp_path):
    for method, seed, nll, by in (
        ("secant", 0, 1.0, "annealing along the path"),
        ("honest", 0, 2.0, "importance sampling"),
        ("lucky", 0, -3.0, "importance sampling"),
        ("lucky", 1, -9.0, "importance sampling (heavy-tailed weights)"),
    ):
        row = DensityRow("paper-tabular", "power", method, seed, nll=nll, normalised_by=by)
        keep_rows(tmp_path / "paper-tabular.jsonl", [row])
    assert headline(tmp_path).endswith("| 2.00 (honest); -6.00 † (lucky) | **1.00** |")

import pytest

from secant.benchmarks.density.rows import DensityRow
from secant.benchmarks.headline import headline
from secant.benchmarks.rows import keep_rows


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

from secant_bench import Row
from secant_bench.report import _outdated
from secant_bench.rows import keep_rows


def test_rows_of_an_older_list_are_told(tmp_path):
    keep_rows(tmp_path / "core.jsonl", [Row("core", "t", "m", seed, 1) for seed in range(2)])
    assert _outdated(tmp_path) == []
    keep_rows(tmp_path / "core.jsonl", [Row("core", "t", "m", 2, 1, version=7)])
    (line,) = _outdated(tmp_path)
    assert line.startswith("**core**: 1 of its rows are of another version")

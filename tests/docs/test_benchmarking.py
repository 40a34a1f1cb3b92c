"""The guide to benchmarks: its modules are written to files and its sweep is run."""

import re
import sys

from tests.docs.guides import text_of


def test_the_guide_brings_a_method_and_a_task_of_its_own(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    blocks = re.findall(r"```python\n(.*?)```", text_of("benchmarking.md"), flags=re.DOTALL)
    assert len(blocks) == 3  # every one is run
    for block in blocks[:2]:
        name = block.splitlines()[0].removeprefix("# ")
        (tmp_path / name).write_text(block, encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    found = {}
    exec(blocks[2], found)
    rows = {row.method: row for row in found["rows"]}
    assert {row.status for row in rows.values()} == {"finished"}
    assert abs(rows["mean shift"].error) < 0.1
    assert abs(rows["logistic"].error) < 0.2
    assert (tmp_path / "results" / "mine.jsonl").exists()

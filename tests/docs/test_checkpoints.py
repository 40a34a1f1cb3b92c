"""The guide to checkpoints, run as written."""

from pathlib import Path

import pytest
from tests.docs.guides import run

pytestmark = pytest.mark.usefixtures("unoptimised")


@pytest.mark.slow
def test_the_blocks_do_what_they_say(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    names = run("checkpoints.md")
    assert names["same"]
    short, longer = (names[name].diagnostics_.steps for name in ("short", "longer"))
    assert 0 < short < longer
    printed = capsys.readouterr().out
    assert f"{short} {longer}" in printed
    assert "it is of another fit, with other data" in printed
    folders = {path.name: len(list(path.iterdir())) for path in Path().iterdir()}
    assert folders == {"checkpoints": 1, "in-two-parts": 1, "divergence": 5}

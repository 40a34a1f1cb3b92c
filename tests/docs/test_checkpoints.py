"""The guide to fits that may be stopped, run as it stands."""

from pathlib import Path

import pytest
from tests.docs.guides import run

pytestmark = pytest.mark.usefixtures("unoptimised")


@pytest.mark.slow
def test_the_blocks_do_what_they_say(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    names = run("checkpoints.md")
    assert names["same"]
    assert (names["short"].diagnostics_.steps, names["longer"].diagnostics_.steps) == (20, 60)
    told = capsys.readouterr().out
    assert "20 60" in told
    assert "it is of another fit, with other data" in told
    folders = {path.name: len(list(path.iterdir())) for path in Path().iterdir()}
    assert folders == {"checkpoints": 1, "in-two-parts": 1, "information": 2}

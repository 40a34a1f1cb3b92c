"""The guide to model files, run as it stands."""

import re
from pathlib import Path

from tests.docs.guides import run, text_of

from secant.model_files import decoder
from secant.model_files.saving import FORMAT


def test_the_blocks_do_what_they_say(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = run("model_files.md")
    assert names["same"]
    assert names["read_metadata"]("model.secant") == {"trained on": "the table of May"}
    assert sorted(path.name for path in Path().iterdir()) == ["model.secant"]


def test_the_tables_name_every_key_of_the_format():
    text = text_of("model_files.md")
    assert f"| `format` | {FORMAT} |" in text
    rows = [set(re.findall(r"`(\w+)`", row)) for row in re.findall(r"^\| (`[^|]*) \|", text, re.M)]
    documented = {key for row in rows for key in row}
    readers = decoder._Decoder({})._readers()
    assert {key for keys in readers for key in keys} <= documented

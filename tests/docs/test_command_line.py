"""The guide to the command line documents every schema, key by key."""

import json
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
GUIDE = (ROOT / "docs" / "guides" / "command_line.md").read_text(encoding="utf-8")
TRANSCRIPTS = sorted(ROOT.glob("**/tests/golden/cli/*.json"))


def sections():
    """The text of each section, by the schemas in its heading."""
    parts = re.split(r"^### (.*)$", GUIDE, flags=re.MULTILINE)[1:]
    return {
        schema.strip(): text
        for heading, text in zip(parts[::2], parts[1::2], strict=True)
        for schema in heading.split(",")
    }


def keys(value):
    if isinstance(value, dict):
        for key, part in value.items():
            yield key
            if key not in ("settings", "versions", "breast_cancer"):  # whatever there is to name
                yield from keys(part)
    elif isinstance(value, list):
        for part in value:
            yield from keys(part)


@pytest.mark.parametrize("path", TRANSCRIPTS, ids=lambda path: path.stem)
def test_every_key_of_a_result_is_documented(path):
    printed = json.loads(path.read_text(encoding="utf-8"))
    text = sections()[printed["schema"]]
    assert [key for key in keys(printed["result"]) if f"`{key}`" not in text] == []


def test_there_are_transcripts():
    assert len(TRANSCRIPTS) >= 12

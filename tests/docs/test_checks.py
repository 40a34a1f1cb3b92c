"""docs/guides/checks.md, run as it stands."""

import re
import tomllib

from tests.docs.guides import run, text_of

from secant.limits import COLUMN_QUANTITIES, QUANTITIES, read_limits


def test_the_shift_of_age_is_found():
    found = run("checks.md")["found"]
    assert "columns.age.ks" in [row.name for row in found.failed]


def test_the_limits_shown_are_valid():
    (block,) = re.findall(r"```toml\n(.*?)```", text_of("checks.md"), re.DOTALL)
    assert len(read_limits(tomllib.loads(block))) == 6


def test_every_quantity_is_listed():
    whole, of_columns = re.findall(r"\| key.*?\n\n", text_of("checks.md"), re.DOTALL)
    assert set(re.findall(r"`(\w+)`", whole)) == set(QUANTITIES)
    assert set(re.findall(r"`(\w+)`", of_columns)) == set(COLUMN_QUANTITIES)

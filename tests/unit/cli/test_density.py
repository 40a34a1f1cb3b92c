"""`secant density fit`: its messages."""

import json

import numpy as np
import pyarrow as pa
import pytest
from typer.testing import CliRunner

from secant.cli import app
from secant.tables.files import write_table

pytestmark = pytest.mark.usefixtures("unoptimised")


@pytest.mark.parametrize("flag", [[], ["--dequantise"]])
def test_columns_with_atoms_are_named_with_the_option_that_helps(tmp_path, flag):
    rng = np.random.default_rng(0)
    columns = {"weight": rng.normal(size=200), "children": rng.integers(0, 3, 200).astype(float)}
    write_table(tmp_path / "t.csv", pa.table(columns))
    line = ["density", "fit", str(tmp_path / "t.csv"), "-o", str(tmp_path / "m.secant"), *flag]
    found = CliRunner().invoke(app, [*line, "--base", "gaussian", "--steps", "20", "--json"])
    messages = [
        warning["message"]
        for warning in json.loads(found.stdout)["warnings"]
        if warning["kind"] == "AtomsWarning"
    ]
    if flag:
        assert not messages
    else:
        (message,) = messages
        assert message.startswith("1 of 2 columns (children) hold values that most rows share")
        assert message.endswith("--dequantise spreads their values over the gaps between them.")

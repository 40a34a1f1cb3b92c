"""The command line starts, explains itself and runs the demonstration end to end."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from secant.cli import app


@pytest.mark.slow
def test_the_demo_writes_pictures_report_and_numbers(tmp_path: Path):
    arguments = ["demo", "--output", str(tmp_path), "--steps", "200", "--json"]
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 0, result.output
    numbers = json.loads(result.stdout)["result"]
    # The mean over 5,000 rows whose log ratio spreads by 8 nats: 40 within 4.5 standard errors.
    assert numbers["truth"] == pytest.approx(40.0, abs=4.5 * 8.0 / 5000**0.5)
    default, _, isadre, classifier = numbers["chasm"]
    # The anchor contains the truth; a classifier saturates many nats below it.
    assert abs(default["estimate"] - numbers["truth"]) < 0.5
    assert isadre["method"].startswith("ISADRE")
    assert classifier["estimate"] < 35.0
    for name in ("chasm.png", "breast-cancer.png", "report.html"):
        assert (tmp_path / name).stat().st_size > 1000

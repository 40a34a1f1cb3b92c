"""The output of every command, as text and as JSON."""

from importlib import import_module

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pytest
from tests.golden.transcripts import Golden

from secant.report.figures import Panel, histogram_figure, scatter_figure

pytestmark = pytest.mark.usefixtures("unoptimised")

demo = import_module("secant.cli.demo")  # the name in secant.cli is the command
LOGISTIC = ("--method", "logistic")
NO_EXTRAS = ("--no-correct", "--no-second-opinion", "--permutations", 19)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Two tables of numbers and a category."""
    path = tmp_path_factory.mktemp("golden")
    rng = np.random.default_rng(0)
    for name, n, shift in (("march.csv", 300, 0.0), ("april.csv", 300, 1.0)):
        age = rng.normal(40.0 + 10.0 * shift, 10.0, n)
        columns = {
            "age": age,
            "income": 0.8 * age + rng.normal(0.0, 6.0, n),
            "colour": rng.choice(["red", "blue"], n),
        }
        pyarrow.csv.write_csv(pa.table(columns), path / name)
    (path / "odd.toml").write_text('overlp = ">= 0.8"\n')
    (path / "quick.toml").write_text("[training]\nsteps = 30\nevaluate-every = 10\n")
    return path


@pytest.fixture
def golden(folder, request):
    return Golden(folder, request.config.getoption("--update-golden"))


def test_demo(golden, folder, monkeypatch):
    # It takes minutes, and has a slow test of its own.
    exact = np.linspace(20.0, 60.0, 50)

    def chasm(picture, session):
        scatter_figure([Panel("secant", exact, exact)], picture)
        return 40.0, [demo._Shown("SecantRatio (default)", 40.1, 0.2, 30.0)]

    def table(picture, session):
        histogram_figure(-exact, exact, picture, title="rows", labels=("x_0", "x_1"))
        return {"rows, columns": "569, 30"}

    monkeypatch.setattr(demo, "_chasm", chasm)
    monkeypatch.setattr(demo, "_breast_cancer", table)
    golden.text("demo", "demo", "-o", folder / "demo", keep_numbers=True)
    golden.json("demo", "demo", "-o", folder / "demo")
    assert "SecantRatio (default)" in (folder / "demo" / "report.html").read_text(encoding="utf-8")


def test_compare(golden, folder):
    tables = (folder / "march.csv", folder / "april.csv", "--columns", "age,income")
    arguments = ("compare", *tables, *LOGISTIC)
    golden.text("compare", *arguments, "-o", folder / "report")
    golden.json("compare", *arguments)
    page = (folder / "report" / "report.html").read_text(encoding="utf-8")
    assert "march.csv" in page
    assert "<html" in page


def test_check(golden, folder):
    (folder / "limits.toml").write_text(
        'rows = ">= 100"\noverlap = ">= 0.9"\np_value = ">= 0.01"\n[columns.age]\nks = "<= 0.2"\n'
    )
    (folder / "loose.toml").write_text('[columns."*"]\nks = "<= 0.9"\n')
    tables = ("check", folder / "march.csv", folder / "april.csv", *LOGISTIC)
    junit = ("--junit", folder / "junit.xml")
    golden.text("check", *tables, "--limits", folder / "limits.toml", *junit, code=1)
    golden.json("check", *tables, "--limits", folder / "limits.toml", code=1)
    golden.text("check-passed", *tables, "--limits", folder / "loose.toml")
    assert 'failures="3"' in (folder / "junit.xml").read_text(encoding="utf-8")


def test_monitor(golden, folder):
    rng = np.random.default_rng(1)
    hours = np.datetime64("2024-03-01T00:00") + np.arange(200) * np.timedelta64(36, "m")
    columns = {"age": rng.normal(40.0, 10.0, 200), "when": hours.astype("datetime64[s]")}
    columns["age"][120:] += 30.0
    pyarrow.csv.write_csv(pa.table(columns), folder / "stream.csv")
    tables = (folder / "march.csv", folder / "stream.csv", "--time", "when", "--every", "1d")
    arguments = ("monitor", *tables, "--columns", "age", *LOGISTIC)
    golden.text("monitor", *arguments, "-o", folder / "watch", code=1)
    golden.json("monitor", *arguments, "-o", folder / "watch", code=1)
    assert sorted(p.name for p in (folder / "watch").iterdir() if p.suffix) == [
        "report.html",
        "state.json",
        "summary.md",
    ]
    golden.text("error-time", "monitor", *tables[:2], "--time", "whne", "--every", "1d", code=2)


def test_fit_and_score(golden, folder):
    model = folder / "model.secant"
    tables = (folder / "march.csv", folder / "april.csv", "--columns", "age,income")
    arguments = ("fit", *tables, "-o", model, "--config", folder / "quick.toml")
    golden.text("fit", *arguments)
    golden.json("fit", *arguments)
    scored = ("score", model, folder / "april.csv", "-o", folder / "scores.csv", "--keep", "age")
    golden.text("score", *scored)
    golden.json("score", *scored)
    golden.text("export", "export", model, "-o", folder / "model.onnx")
    golden.json("export", "export", model, "-o", folder / "model.stablehlo", "--dtype", "float32")


def test_mi(golden, folder):
    chosen = ("--x", "age", "--y", "income", *NO_EXTRAS, *LOGISTIC)
    golden.text("mi", "mi", folder / "march.csv", *chosen, "-o", folder / "mi.md")
    golden.json("mi", "mi", folder / "march.csv", *chosen)
    assert "nats" in (folder / "mi.md").read_text(encoding="utf-8")


def test_mi_matrix(golden, folder):
    chosen = ("--matrix", "--columns", "age,income")
    arguments = ("mi", folder / "march.csv", *chosen, *NO_EXTRAS, *LOGISTIC)
    golden.text("mi-matrix", *arguments, "-o", folder / "matrix")
    golden.json("mi-matrix", *arguments, "-o", folder / "matrix.html")
    assert (folder / "matrix" / "matrix.png").read_bytes().startswith(b"\x89PNG")


def test_density(golden, folder):
    model = folder / "density.secant"
    chosen = ("--columns", "age,income", "--base", "gaussian")
    arguments = (
        "density",
        "fit",
        folder / "march.csv",
        "-o",
        model,
        *chosen,
        "--config",
        folder / "quick.toml",
    )
    golden.text("density-fit", *arguments, "--report", folder / "density.html")
    golden.json("density-fit", *arguments)
    scored = ("density", "score", model, folder / "april.csv", "-o", folder / "scores.parquet")
    golden.text("density-score", *scored)
    golden.json("density-score", *scored)


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("error-no-file", ("compare", "march.csv", "nothing.csv")),
        ("error-column", ("compare", "march.csv", "april.csv", "--columns", "agee")),
        ("error-limit", ("check", "march.csv", "april.csv", "--limits", "odd.toml")),
        ("error-no-x", ("mi", "march.csv", "--y", "age")),
        ("error-both", ("mi", "march.csv", "--x", "age", "--y", "*")),
        ("error-categories", ("mi", "march.csv", "--matrix")),
        ("error-no-model", ("score", "march.csv", "april.csv", "-o", "scores.csv")),
        ("error-logistic", ("fit", "march.csv", "april.csv", "-o", "m", "--method", "logistic")),
    ],
)
def test_mistakes(golden, folder, monkeypatch, name, arguments):
    monkeypatch.chdir(folder)
    golden.text(name, *arguments, code=2, keep_numbers=True)

"""What every command prints, as text and as JSON."""

import shutil
from importlib import import_module
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pytest
from tests.golden.transcripts import Golden

from secant.benchmarks import Row, Sweep, report
from secant.report.figures import Panel, histogram_figure, scatter_figure

pytestmark = pytest.mark.usefixtures("unoptimised")

demo = import_module("secant.cli.demo")  # the name in secant.cli is the command
ROOT = Path(__file__).parents[2]
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
    (path / "quick.toml").write_text("[training]\nsteps = 30\nevaluate-every = 10\n")
    return path


@pytest.fixture
def golden(folder, request):
    return Golden(folder, request.config.getoption("--update-golden"))


def test_demo(golden, folder, monkeypatch):
    # What it computes takes minutes, and has a slow test of its own.
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


def test_data(golden, folder):
    golden.text("data-list", "data", "list", keep_numbers=True)
    golden.json("data-list", "data", "list")
    np.save(folder / "data.npy", np.random.default_rng(0).normal(3.0, 2.0, (200, 43)))
    prepared = ("data", "prepare", "miniboone", folder, "-o", folder / "prepared")
    golden.text("data-prepare", *prepared, keep_numbers=True)
    golden.json("data-prepare", *prepared)
    golden.text("data-check", "data", "check", folder / "prepared", keep_numbers=True)
    golden.json("data-check", "data", "check", folder / "prepared")
    (folder / "prepared" / "test.parquet").unlink()
    golden.text("data-check-fails", "data", "check", folder / "prepared", code=2)


def test_bench(golden, folder, monkeypatch):
    rows = [
        Row("core", "normal-1d", "secant", 0, 1, 0.5, 0.6, 0.1, seconds=2.0, status="finished"),
        Row("core", "normal-1d", "secant", 1, 1, status="failed", traceback="ZeroDivisionError"),
    ]
    monkeypatch.setattr(Sweep, "run", lambda sweep, scheduler: iter(rows))
    golden.text("bench-list", "bench", "list", keep_numbers=True)
    golden.json("bench-list", "bench", "list")
    where = ("--scheduler", "local", "--results", folder)
    arguments = ("bench", "run", "core", "--seeds", 2, *where)
    golden.text("bench-run", *arguments, keep_numbers=True)
    golden.json("bench-run", *arguments)


def test_bench_report(golden, folder, monkeypatch):
    shutil.copy(ROOT / "README.md", folder)
    monkeypatch.chdir(folder)
    results = folder / "results"
    results.mkdir()
    for name in ("foundation", "paper-geometric-mi"):
        shutil.copy(ROOT / "benchmarks" / "results" / f"{name}.jsonl", results)
    arguments = ("bench", "report", "--results", results, "--page", "benchmarks.md")
    golden.text("bench-report", *arguments, "--html", folder / "benchmarks.html")
    assert "# Benchmarks" in (folder / "benchmarks.md").read_text(encoding="utf-8")
    assert "<h1>Benchmarks</h1>" in (folder / "benchmarks.html").read_text(encoding="utf-8")
    monkeypatch.setattr(report, "write_report", lambda results, page: None)  # once is enough
    golden.json("bench-report", *arguments)


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("error-no-file", ("compare", "march.csv", "nothing.csv")),
        ("error-column", ("compare", "march.csv", "april.csv", "--columns", "agee")),
        ("error-no-x", ("mi", "march.csv", "--y", "age")),
        ("error-both", ("mi", "march.csv", "--x", "age", "--y", "*")),
        ("error-categories", ("mi", "march.csv", "--matrix")),
        ("error-no-model", ("score", "march.csv", "april.csv", "-o", "scores.csv")),
        ("error-no-originals", ("data", "prepare", "power", "empty", "-o", "out")),
        ("error-no-suite", ("bench", "run", "cores")),
        ("error-logistic", ("fit", "march.csv", "april.csv", "-o", "m", "--method", "logistic")),
        ("error-method", ("bench", "run", "bmi", "--methods", "KSG; KSGG")),
        ("error-scheduler", ("bench", "run", "core", "--scheduler", "slurm")),
    ],
)
def test_mistakes(golden, folder, monkeypatch, name, arguments):
    monkeypatch.chdir(folder)
    golden.text(name, *arguments, code=2, keep_numbers=True)

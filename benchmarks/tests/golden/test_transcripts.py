"""What every command of the benchmarks prints, as text and as JSON."""

import shutil
from pathlib import Path

import numpy as np
import pytest
from tests.golden.transcripts import Golden

from secant_bench import Row, Sweep, report

ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("golden")


@pytest.fixture
def golden(folder, request):
    update = request.config.getoption("--update-golden")
    return Golden(folder, update, Path(__file__).parent / "cli")


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
    monkeypatch.chdir(folder)
    results = folder / "results"
    results.mkdir()
    for name in ("foundation", "paper-geometric-mi"):
        shutil.copy(ROOT / "benchmarks" / "results" / f"{name}.jsonl", results)
    arguments = ("bench", "report", "--results", results, "--page", "benchmarks.md")
    golden.text("bench-report", *arguments, "--html", folder / "benchmarks.html")
    assert "# Benchmarks" in (folder / "benchmarks.md").read_text(encoding="utf-8")
    assert "<h1>Benchmarks</h1>" in (folder / "benchmarks.html").read_text(encoding="utf-8")
    assert not (folder / "README.md").exists()
    monkeypatch.setattr(report, "write_report", lambda *_: None)  # once is enough
    golden.json("bench-report", *arguments)


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("error-no-originals", ("data", "prepare", "power", "empty", "-o", "out")),
        ("error-no-suite", ("bench", "run", "cores")),
        ("error-method", ("bench", "run", "bmi", "--methods", "KSG; KSGG")),
        ("error-scheduler", ("bench", "run", "core", "--scheduler", "slurm")),
    ],
)
def test_mistakes(golden, folder, monkeypatch, name, arguments):
    monkeypatch.chdir(folder)
    golden.text(name, *arguments, code=2, keep_numbers=True)

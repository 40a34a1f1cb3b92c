"""Scoring tables by model files: the same numbers as the library, in batches of any size."""

import json

import numpy as np
import pyarrow as pa
import pytest
from typer.testing import CliRunner

from secant import KernelRatio
from secant.cli import app
from secant.tables.encoding import Encoding, Missing
from secant.tables.files import read_table, write_table


def run(*arguments, code=0):
    found = CliRunner().invoke(app, [str(a) for a in arguments])
    assert found.exit_code == code, found.output
    return found


def table(n, seed, *, holes=False):
    rng = np.random.default_rng(seed)
    age = rng.normal(size=n).tolist()
    if holes:
        age[3] = None
    return pa.table(
        {"name": [f"row {i}" for i in range(n)], "age": age, "size": rng.normal(size=n)}
    )


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    """A model of the columns age and size, and what it is made of."""
    parts = [table(60, seed).select(["age", "size"]) for seed in (0, 1)]
    encoding = Encoding.fitted(parts, Missing.DROP)
    rows = [encoding.encode(part).rows for part in parts]
    ratio = KernelRatio(random_state=0).fit_samples(*rows)
    path = tmp_path_factory.mktemp("models") / "model.secant"
    ratio.save(path, metadata={"encoding": encoding.to_json()})
    return path, ratio, encoding


@pytest.mark.parametrize("ending", ["csv", "parquet", "feather"])
@pytest.mark.parametrize("batch_rows", [7, 1000])
def test_scores_are_the_librarys_beside_all_columns(model, tmp_path, ending, batch_rows):
    path, ratio, encoding = model
    data = table(40, 2)
    write_table(tmp_path / f"data.{ending}", data)
    output = tmp_path / f"out.{ending}"
    run("score", path, tmp_path / f"data.{ending}", "-o", output, "--batch-rows", batch_rows)
    found = read_table(output)
    assert found.column_names == ["name", "age", "size", "log_ratio"]
    assert found["name"].to_pylist() == data["name"].to_pylist()
    expected = ratio.log_ratio(encoding.encode(data).rows)
    np.testing.assert_allclose(found["log_ratio"].to_numpy(), expected, rtol=1e-12)


def test_a_row_that_cannot_be_scored_stays_with_an_empty_score(model, tmp_path):
    path, ratio, encoding = model
    data = table(10, 3, holes=True)
    write_table(tmp_path / "data.parquet", data)
    out = ("-o", tmp_path / "out.parquet", "--batch-rows", 4)
    found = run("score", path, tmp_path / "data.parquet", *out, "--json")
    scores = read_table(tmp_path / "out.parquet")["log_ratio"].to_pylist()
    assert [i for i, score in enumerate(scores) if score is None] == [3]
    result = json.loads(found.stdout)["result"]
    expected = ratio.log_ratio(encoding.encode(data).rows)
    assert (result["rows"], result["scored"]) == (10, 9)
    assert result["mean"] == pytest.approx(expected.mean())
    assert (result["least"], result["most"]) == pytest.approx((expected.min(), expected.max()))


def test_only_the_columns_to_keep_are_written(model, tmp_path):
    write_table(tmp_path / "data.csv", table(8, 4))
    out = tmp_path / "out.npy"
    run("score", model[0], tmp_path / "data.csv", "-o", out, "--keep", "s*", "--name", "r")
    assert np.load(out).shape == (8, 2)
    run(
        "score",
        model[0],
        tmp_path / "data.csv",
        "-o",
        tmp_path / "o.csv",
        "-k",
        "name",
        "-k",
        "age",
    )
    assert read_table(tmp_path / "o.csv").column_names == ["name", "age", "log_ratio"]


def test_a_column_is_not_written_over(model, tmp_path):
    data = table(8, 4).append_column("log_ratio", pa.array(np.zeros(8)))
    write_table(tmp_path / "data.csv", data)
    found = run("score", model[0], tmp_path / "data.csv", "-o", tmp_path / "o.csv", code=2)
    assert "--name" in found.stderr
    assert not (tmp_path / "o.csv").exists()


def test_a_column_that_lacks_is_named(model, tmp_path):
    write_table(tmp_path / "data.csv", table(8, 4).rename_columns(["name", "agee", "size"]))
    found = run("score", model[0], tmp_path / "data.csv", "-o", tmp_path / "o.csv", code=2)
    assert "'age'" in found.stderr
    assert "did you mean 'agee'" in found.stderr
    assert not (tmp_path / "o.csv").exists()


def test_a_model_fitted_on_arrays_takes_the_columns_in_their_order(tmp_path):
    rng = np.random.default_rng(0)
    ratio = KernelRatio(random_state=0).fit_samples(
        rng.normal(size=(60, 2)), rng.normal(1, 1, (60, 2))
    )
    ratio.save(tmp_path / "m.secant")
    rows = rng.normal(size=(9, 2))
    np.save(tmp_path / "rows.npy", rows)
    run("score", tmp_path / "m.secant", tmp_path / "rows.npy", "-o", tmp_path / "o.npy")
    np.testing.assert_allclose(np.load(tmp_path / "o.npy")[:, 2], ratio.log_ratio(rows), rtol=1e-12)
    np.save(tmp_path / "wide.npy", rng.normal(size=(9, 3)))
    found = run(
        "score", tmp_path / "m.secant", tmp_path / "wide.npy", "-o", tmp_path / "p.npy", code=2
    )
    assert "takes 2 columns" in found.stderr


def test_a_ratio_is_no_density(model, tmp_path):
    write_table(tmp_path / "data.csv", table(8, 4))
    out = ("-o", tmp_path / "o.csv")
    found = run("density", "score", model[0], tmp_path / "data.csv", *out, code=2)
    assert "use `secant score`" in found.stderr

"""Folders of tables: the scores of single files, also after interruptions."""

import json
import os
import signal
import time

import numpy as np
import pyarrow as pa
import pytest
from typer.testing import CliRunner

from secant import KernelRatio
from secant._host import clusters
from secant.cli import app
from secant.deploy.scoring import Scorer, score_folder, score_table
from secant.tables.encoding import Encoding, Missing
from secant.tables.files import TableError, read_table, write_table


def table(n, seed):
    rng = np.random.default_rng(seed)
    columns = {"age": rng.normal(seed, 1.0, n), "kind": rng.choice(["a", "b"], n)}
    return pa.table(columns)


def save_model(path, n=60):
    """Of a number and a category: noise on the latter must not depend on who scores."""
    parts = [table(n, 0), table(n, 1)]
    encoding = Encoding.fitted(parts, Missing.REFUSE)
    rows = [encoding.encode(part, seed=i).rows for i, part in enumerate(parts)]
    ratio = KernelRatio(random_state=0).fit_samples(*rows)
    ratio.save(path, metadata={"encoding": encoding.to_json()})
    return path


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    return save_model(tmp_path_factory.mktemp("models") / "model.secant")


@pytest.fixture
def data(tmp_path):
    folder = tmp_path / "data"
    folder.mkdir()
    for number, ending in enumerate(("parquet", "csv", "feather")):
        write_table(folder / f"{number}.{ending}", table(50 + number, number))
    (folder / "notes.txt").write_text("no table")
    return folder


def names(folder):
    return sorted(path.name for path in folder.iterdir() if path.name != ".secant")


def check_equal_to_serial(model, data, output, folder, batch_rows=65_536):
    """Every output is there, and is what `score_table` writes for its table alone."""
    folder.mkdir()
    scorer, files = Scorer.loaded(model), sorted(p for p in data.iterdir() if p.suffix != ".txt")
    assert names(output) == [path.name for path in files]
    for path in files:
        score_table(scorer, path, folder / path.name, batch_rows=batch_rows)
        assert read_table(output / path.name).equals(read_table(folder / path.name)), path


def test_files_have_the_scores_they_have_alone(model, data, tmp_path):
    seen = []
    found = score_folder(
        model, data, tmp_path / "out", report=lambda done, of: seen.append((done, of))
    )
    check_equal_to_serial(model, data, tmp_path / "out", tmp_path / "alone")
    assert (found.files, found.skipped, found.failures) == (3, 0, {})
    assert seen == [(1, 3), (2, 3), (3, 3)]
    scores = [read_table(p)["log_ratio"].to_numpy() for p in (tmp_path / "alone").iterdir()]
    together = np.concatenate(scores)
    assert (found.total.rows, found.total.scored) == (153, 153)
    assert found.total.mean == pytest.approx(together.mean(), rel=1e-12)
    assert (found.total.least, found.total.most) == (together.min(), together.max())


def changed_at(folder):
    return {path.name: path.stat().st_mtime_ns for path in folder.iterdir() if path.is_file()}


def test_what_is_done_is_skipped_and_what_changed_is_not(model, data, tmp_path):
    out = tmp_path / "out"
    first = score_folder(model, data, out)
    before = changed_at(out)
    again = score_folder(model, data, out)
    assert (again.skipped, again.total) == (3, first.total)
    assert changed_at(out) == before

    (out / "0.parquet").unlink()  # lost
    write_table(data / "1.csv", table(40, 9))  # new rows
    third = score_folder(model, data, out)
    assert (third.skipped, third.total.rows) == (1, 50 + 40 + 52)
    assert changed_at(out)["2.feather"] == before["2.feather"]
    write_table(out / "2.feather", table(4, 4))  # of another program
    assert score_folder(model, data, out).skipped == 2
    (out / ".secant" / "0.parquet.json").write_text("{")
    assert score_folder(model, data, out).skipped == 2


def test_other_models_and_settings_score_again(model, data, tmp_path):
    out = tmp_path / "out"
    score_folder(model, data, out)
    for changed in ({"seed": 1}, {"name": "r"}, {"keep": ["age"]}):
        assert score_folder(model, data, out, **changed).skipped == 0
        assert score_folder(model, data, out, **changed).skipped == 3
    score_folder(model, data, out)
    other = save_model(tmp_path / "other.secant", n=70)
    assert score_folder(other, data, out).skipped == 0
    moved = tmp_path / "moved.secant"
    moved.write_bytes(other.read_bytes())
    assert score_folder(moved, data, out, batch_rows=7).skipped == 3


def test_a_file_that_fails_is_told_and_the_others_are_written(model, data, tmp_path):
    (data / "1.csv").write_text("weight,kind\n1.5,a\n")
    (data / "broken.parquet").write_bytes(b"PAR1 but not really PAR1")
    out = tmp_path / "out"
    arguments = ["score", str(model), str(data), "-o", str(out), "--scheduler", "local", "--json"]
    found = CliRunner().invoke(app, arguments)
    assert found.exit_code == 2
    assert "2 of 4 files could not be scored; the others are written." in found.stderr
    assert "1.csv: " in found.stderr
    assert "'age'" in found.stderr
    assert names(out) == ["0.parquet", "2.feather"]
    result = json.loads(found.stdout)["result"]
    assert (result["files"], result["skipped"], result["rows"]) == (4, 0, 102)
    assert sorted(result["failures"]) == ["1.csv", "broken.parquet"]
    write_table(data / "1.csv", table(10, 1))  # mended
    (data / "broken.parquet").unlink()
    mended = CliRunner().invoke(app, arguments[:-1])
    assert mended.exit_code == 0, mended.output
    assert mended.stdout.startswith("3 files, 2 of them done before\n112 rows: log_ratio has mean")


def test_a_pattern_names_files(model, data, tmp_path):
    arguments = ["score", str(model), str(data / "*.[cp]*"), "-o", str(tmp_path / "out"), "-q"]
    found = CliRunner().invoke(app, [*arguments, "--scheduler", "local", "--keep", "kind"])
    assert found.exit_code == 0, found.output
    assert names(tmp_path / "out") == ["0.parquet", "1.csv"]
    assert read_table(tmp_path / "out" / "1.csv").column_names == ["kind", "log_ratio"]


def test_what_cannot_be_is_refused(model, data, tmp_path):
    with pytest.raises(TableError, match="is the folder of the tables"):
        score_folder(model, data, data)
    with pytest.raises(TableError, match="holds no table; a table ends in"):
        score_folder(model, data / "*.xls", tmp_path / "out")
    with pytest.raises(TableError, match="but is a file"):
        score_folder(model, data, model)
    with pytest.raises(ValueError, match="must be local, dask or an address"):
        score_folder(model, data, tmp_path / "out", scheduler="slurm")
    (tmp_path / "twin").mkdir()
    write_table(tmp_path / "twin" / "0.parquet", table(5, 0))
    with pytest.raises(TableError, match=r"several files named '0\.parquet'"):
        score_folder(model, tmp_path / "*" / "*.parquet", tmp_path / "out")
    one = ["score", str(model), str(data / "1.csv"), "-o", str(tmp_path / "o.csv")]
    found = CliRunner().invoke(app, [*one, "--scheduler", "dask"])
    assert found.exit_code == 2
    assert "is one table" in found.stderr


def test_without_dask_a_folder_is_scored_here(model, data, tmp_path, monkeypatch):
    monkeypatch.setattr(clusters, "find_spec", lambda name: None)
    assert score_folder(model, data, tmp_path / "out", scheduler=None).total.rows == 153
    with pytest.raises(ValueError, match=r"pip install 'secant\[distributed\]'"):
        score_folder(model, data, tmp_path / "out", scheduler="tcp://127.0.0.1:8786")


@pytest.mark.slow
@pytest.mark.parametrize("n_workers", [1, 2])
def test_a_killed_worker_loses_nothing(model, tmp_path, n_workers):
    distributed = pytest.importorskip("distributed")
    data, out = tmp_path / "data", tmp_path / "out"
    data.mkdir()
    for number in range(4):
        write_table(data / f"{number}.parquet", table(30, number))
    killed = []
    setup = {"threads_per_worker": 1, "dashboard_address": None}
    with (
        distributed.LocalCluster(n_workers=n_workers, **setup) as cluster,
        distributed.Client(cluster) as client,
    ):
        workers = client.run(os.getpid)

        def kill_a_busy_one(done, of):
            busy = [address for address, keys in client.processing().items() if keys]
            if not killed and busy:
                killed.append(workers[busy[0]])
                time.sleep(0.2)  # it is writing by now
                os.kill(workers[busy[0]], signal.SIGKILL)

        # A row at a time takes long enough for one to be killed in the middle.
        settings = {"scheduler": client.scheduler.address, "batch_rows": 1}
        found = score_folder(model, data, out, report=kill_a_busy_one, **settings)
    assert len(killed) == 1
    assert (found.files, found.failures, found.total.rows) == (4, {}, 120)
    check_equal_to_serial(model, data, out, tmp_path / "alone", batch_rows=1)


@pytest.mark.slow
def test_a_cluster_of_its_own_finds_the_same(model, data, tmp_path):
    (data / "bad.csv").write_text("weight,kind\n1.5,a\n")
    found = score_folder(model, data, tmp_path / "out", scheduler="dask")
    assert list(found.failures) == ["bad.csv"]
    assert "'age'" in found.failures["bad.csv"]
    (data / "bad.csv").unlink()
    check_equal_to_serial(model, data, tmp_path / "out", tmp_path / "alone")

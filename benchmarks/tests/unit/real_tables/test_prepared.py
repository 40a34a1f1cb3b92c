"""Prepared tables: what is written, and what a check finds."""

import json

import numpy as np
import pytest

from secant.tables.files import TableError, read_table, write_table
from secant_bench.real_tables import RealTable
from secant_bench.real_tables.prepared import (
    MANIFEST,
    check_prepared,
    read_manifest,
    write_prepared,
)


def made(rows=7):
    rng = np.random.default_rng(0)
    parts = [rng.normal(size=(n, 2)).astype(np.float32) for n in (rows, 3, 2)]
    return RealTable("TINY", *parts, ("a", "b"), "Made up.")


@pytest.mark.parametrize("suffix", [".parquet", ".arrow", ".csv", ".npy"])
def test_what_is_written_is_read_again_and_whole(tmp_path, suffix):
    table = made()
    written = write_prepared(tmp_path / "out", table, suffix)
    assert read_manifest(tmp_path / "out") == written
    found, problems = check_prepared(tmp_path / "out")
    assert problems == []
    assert [split.rows for split in found.splits.values()] == [7, 3, 2]
    read = read_table(tmp_path / "out" / f"train{suffix}")
    rows = np.column_stack([column.to_numpy() for column in read.columns])
    np.testing.assert_array_equal(rows.astype(np.float32), table.train)


def test_each_kind_of_damage_is_found(tmp_path):
    write_prepared(tmp_path, made(), ".parquet")
    (tmp_path / "test.parquet").unlink()
    train = read_table(tmp_path / "train.parquet")
    write_table(tmp_path / "train.parquet", train.slice(0, 5))
    (tmp_path / "validation.parquet").write_bytes(b"PAR1 nothing")
    _, problems = check_prepared(tmp_path)
    assert problems[:2] == [
        "train.parquet: the checksum differs: the file was changed or damaged",
        "train.parquet: there must be 7 rows; got 5",
    ]
    assert problems[2].startswith("validation.parquet: the checksum differs")
    assert problems[3].startswith("validation.parquet: the file cannot be read")
    assert problems[4] == "test.parquet: the file is missing"
    assert len(problems) == 5


def test_other_columns_and_odd_values_are_found(tmp_path):
    table = made()
    table.train[2, 1] = np.nan
    table.test[0, 0] = np.inf
    write_prepared(tmp_path, table, ".parquet")
    validation = read_table(tmp_path / "validation.parquet").rename_columns(["a", "z"])
    write_table(tmp_path / "validation.parquet", validation)
    _, problems = check_prepared(tmp_path)
    assert problems == [
        "train.parquet: 1 values are missing or infinite",
        "validation.parquet: the checksum differs: the file was changed or damaged",
        "validation.parquet: the columns must be a, b; got a, z",
        "test.parquet: 1 values are missing or infinite",
    ]


@pytest.mark.parametrize(
    "manifest", [None, "{", "[]", "{}", json.dumps({"splits": {"train": {"file": 3}}})]
)
def test_a_folder_without_a_manifest_is_refused(tmp_path, manifest):
    if manifest is not None:
        (tmp_path / MANIFEST).write_text(manifest)
    with pytest.raises(TableError, match="prepare"):
        check_prepared(tmp_path)


def test_a_manifest_does_not_lead_out_of_its_folder(tmp_path):
    write_prepared(tmp_path / "out", made(), ".csv")
    path = tmp_path / "out" / MANIFEST
    path.write_text(path.read_text().replace('"test.csv"', '"../secret.csv"'))
    (tmp_path / "secret.csv").write_text("a,b\n1,2\n")
    _, problems = check_prepared(tmp_path / "out")
    assert problems == ["../secret.csv: the file is missing"]

"""HEPMASS on small files of their layout."""

import gzip
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest

from secant_bench.real_tables import hepmass

Check = Callable[..., None]


def write_hepmass(
    folder: Path, *, stray: Sequence[str] = ("mass",), opened: Callable = open, end: str = ""
) -> dict[str, np.ndarray]:
    """27 features, of which f3 and f20 have an atom at their minimum; the test file has 28."""
    random, written = np.random.default_rng(0), {}
    for name, n, d in (("train", 300, 27), ("test", 200, 28)):
        features = random.normal(size=(n, d))
        features[:, [3, 20]] = np.maximum(features[:, [3, 20]], 0)
        label = random.integers(0, 2, n)
        header = ["# label", *(f"f{index}" for index in range(27))]
        if name == "test":
            header.extend(stray)
        rows = np.column_stack([label, features])
        with opened(folder / f"1000_{name}.csv{end}", "wt", encoding="utf-8") as file:
            np.savetxt(file, rows, delimiter=",", header=",".join(header), comments="")
        written[name] = features[label == 1, :27]
    return written


@pytest.mark.parametrize("stray", [["mass"], []])
def test_hepmass_keeps_signal_and_columns_without_atoms(
    stray: list[str], tmp_path: Path, assert_standardised: Check
) -> None:
    written = write_hepmass(tmp_path, stray=stray)
    table = hepmass(tmp_path)
    kept = [index for index in range(27) if index not in (3, 20)]
    assert table.columns == tuple(f"f{index}" for index in kept)
    known, test = written["train"][:, kept], written["test"][:, kept]
    scaled = (test - known.mean(axis=0)) / known.std(axis=0, ddof=1)
    np.testing.assert_allclose(table.test, scaled, atol=1e-5)
    assert len(table.validation) == int(0.1 * len(known))
    assert len(table.train) == len(known) - len(table.validation)
    assert_standardised(table.train, table.validation, ddof=1)


def test_hepmass_reads_compressed_files(tmp_path: Path) -> None:
    write_hepmass(tmp_path)
    plain = hepmass(tmp_path)
    for path in tmp_path.glob("*.csv"):
        path.unlink()
    write_hepmass(tmp_path, opened=gzip.open, end=".gz")
    np.testing.assert_array_equal(hepmass(tmp_path).train, plain.train)


def test_hepmass_names_files_that_do_not_match(tmp_path: Path) -> None:
    write_hepmass(tmp_path)
    (tmp_path / "1000_test.csv").write_text("# label,f0,f1\n1,0.5,0.5\n")
    with pytest.raises(ValueError, match=r"must have the 27 columns .* got 2 columns, f0 to f1"):
        hepmass(tmp_path)
    (tmp_path / "1000_test.csv").unlink()
    with pytest.raises(FileNotFoundError, match=r"Looked for `1000_test.csv`.*HEPMASS"):
        hepmass(tmp_path)

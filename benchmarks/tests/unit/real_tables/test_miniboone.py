"""MINIBOONE from each of its files."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from secant_bench.real_tables import miniboone

Check = Callable[..., None]


def test_miniboone_of_the_original_text(tmp_path: Path, assert_standardised: Check) -> None:
    random = np.random.default_rng(0)
    rows = 3 + 2 * random.normal(size=(150, 50))
    rows[:, 7] = np.maximum(rows[:, 7], 3)  # an atom
    rows[[10, 20], :] = -999  # not reconstructed
    with (tmp_path / "MiniBooNE_PID.txt").open("w") as file:
        np.savetxt(file, rows, header="   110    40", comments="", fmt="%13.5e")
    table = miniboone(tmp_path)
    kept = [index for index in range(50) if index != 7]
    signal = np.delete(rows[:110], [10, 20], axis=0)[:, kept]
    assert table.columns == tuple(f"pid_{index}" for index in kept)
    # int(0.1 · 108) = 10 test rows, int(0.1 · 98) = 9 of validation
    assert [len(part) for part in (table.train, table.validation, table.test)] == [89, 9, 10]
    assert_standardised(table.train, table.validation)
    rest = signal[:98]
    oracle = (signal - rest.mean(axis=0)) / rest.std(axis=0)
    ours = np.concatenate([table.train, table.validation, table.test])
    np.testing.assert_allclose(ours, oracle, atol=1e-4)  # the file has six digits


def test_miniboone_of_the_published_array(tmp_path: Path) -> None:
    rows = np.random.default_rng(0).normal(3, 2, (200, 43))
    np.save(tmp_path / "data.npy", rows)
    table = miniboone(tmp_path)
    assert table.name == "MINIBOONE"
    oracle = (rows - rows[:180].mean(axis=0)) / rows[:180].std(axis=0)
    np.testing.assert_allclose(table.test, oracle[180:], atol=1e-5)


def test_miniboone_refuses_pickled_arrays(tmp_path: Path) -> None:
    np.save(tmp_path / "data.npy", np.array([{}], dtype=object), allow_pickle=True)
    with pytest.raises(ValueError, match="allow_pickle=False"):
        miniboone(tmp_path)


def test_miniboone_needs_both_published_splits(tmp_path: Path) -> None:
    np.save(tmp_path / "val.npy", np.zeros((20, 43)))
    with pytest.raises(FileNotFoundError, match=r"`val.npy` with `test.npy`"):
        miniboone(tmp_path)


def test_miniboone_of_the_real_splits_is_labelled(
    assert_standardised: Check, real: Callable[[str], Path]
) -> None:
    table = miniboone(real("miniboone"))
    assert table.name == "MINIBOONE (6.9k rows)"
    assert "6.9k rows" in table.note
    assert table.train.shape == (5_616, 43)
    assert (len(table.validation), len(table.test)) == (623, 693)
    assert_standardised(table.train, table.validation)

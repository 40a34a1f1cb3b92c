"""What the tables share: errors, splits and dropped columns."""

from pathlib import Path

import numpy as np
import pytest

from secant_bench.real_tables import RealTable, bsds300, gas, hepmass, miniboone, power
from secant_bench.real_tables.preparation import has_ties_at_its_minimum, split

LOADERS = {loader.__name__: loader for loader in (power, gas, hepmass, miniboone, bsds300)}


@pytest.mark.parametrize("name", LOADERS)
def test_missing_files_say_what_where_and_whence(name: str, tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"Looked for `.*Obtain it from: .*'") as caught:
        LOADERS[name](tmp_path)
    assert str(tmp_path) in str(caught.value)
    with pytest.raises(FileNotFoundError, match="which is not a folder"):
        LOADERS[name](tmp_path / "nowhere")


def test_split_takes_the_last_rows() -> None:
    train, validation, test = split(np.arange(109.0)[:, None])
    # int(0.1 · 109) = 10 test rows, int(0.1 · 99) = 9 of validation
    assert (len(train), len(validation), len(test)) == (90, 9, 10)
    np.testing.assert_array_equal(np.concatenate([train, validation, test])[:, 0], np.arange(109))


def test_ties_count_at_the_minimum_only() -> None:
    rows = np.tile(np.arange(20.0)[:, None], (1, 3))
    rows[:5, 1] = 0.0  # five times: kept
    rows[:6, 2] = 0.0
    rows[10:, 1] = 19.0
    np.testing.assert_array_equal(has_ties_at_its_minimum(rows), [False, False, True])


def test_table_checks_its_splits() -> None:
    rows = np.zeros((3, 2), np.float32)
    assert (
        repr(RealTable("t", rows, rows, rows, ("a", "b"), ""))
        == "RealTable('t', 3 / 3 / 3 rows, 2 columns)"
    )
    with pytest.raises(ValueError, match=r"`test` of t must be float32 of shape \(n, 2\)"):
        RealTable("t", rows, rows, rows[:, :1], ("a", "b"), "")
    with pytest.raises(ValueError, match=r"`train` of t must be float32 .* got float64"):
        RealTable("t", rows.astype(float), rows, rows, ("a", "b"), "")

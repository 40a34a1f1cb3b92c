"""GAS on a small file of its layout."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from secant_bench.real_tables import gas
from secant_bench.real_tables.preparation import split

Check = Callable[..., None]


def write_gas(folder: Path, n: int) -> np.ndarray:
    """Sixteen sensors of which 1, 2 and 5 nearly agree, as do 3 and 4; spaces vary in width."""
    random = np.random.default_rng(0)
    sensors = 100 * random.normal(size=(n, 16))
    sensors[:, [1, 4]] = sensors[:, [0]] + random.normal(size=(n, 2))
    sensors[:, 3] = sensors[:, 2] + random.normal(size=n)
    sensors[:, 6] = -sensors[:, 5]  # the correlation −1 is kept
    sensors = sensors.round(2)
    lines = [
        f"{index / 100:.2f}  0.00 0.00   " + " ".join(f"{value:.2f}" for value in row) + "\n"
        for index, row in enumerate(sensors)
    ]
    header = "Time (seconds), CO conc (ppm), Ethylene conc (ppm), sensor readings (16 channels)\n"
    (folder / "ethylene_CO.txt").write_text(header + "".join(lines))
    return sensors


def test_gas_drops_the_first_of_columns_that_agree(
    tmp_path: Path, assert_standardised: Check
) -> None:
    sensors = write_gas(tmp_path, 400)
    table = gas(tmp_path, fraction=1.0)
    kept = [3, 4, *range(5, 16)]
    assert table.columns == tuple(f"sensor_{index + 1}" for index in kept)
    assert [len(part) for part in (table.train, table.validation, table.test)] == [324, 36, 40]
    assert_standardised(table.train, table.validation, table.test, ddof=1)
    scaled = (sensors - sensors.mean(axis=0)) / sensors.std(axis=0, ddof=1)
    rows = np.concatenate([table.train, table.validation, table.test])
    # The same rows in another order.
    np.testing.assert_allclose(np.sort(rows[:, 0]), np.sort(scaled[:, 3]), atol=1e-5)
    assert not np.allclose(rows[:, 0], scaled[:, 3])


def test_gas_draws_a_quarter_with_a_seed(tmp_path: Path) -> None:
    write_gas(tmp_path, 403)
    table = gas(tmp_path)
    assert sum(map(len, (table.train, table.validation, table.test))) == round(403 / 4)
    np.testing.assert_array_equal(gas(tmp_path).train, table.train)
    assert not np.array_equal(gas(tmp_path, seed=1).train, table.train)
    with pytest.raises(ValueError, match="`fraction` must lie in"):
        gas(tmp_path, fraction=0.0)


def test_gas_does_not_open_a_pickle(tmp_path: Path) -> None:
    (tmp_path / "ethylene_CO.pickle").write_bytes(b"cos\nsystem\n(S'exit 1'\ntR.")
    with pytest.raises(ValueError, match=r"put the original text file `ethylene_CO\.txt` there"):
        gas(tmp_path)


def test_gas_splits_have_the_published_sizes() -> None:
    # The original has 4,208,261 rows; the published training split is a share of its quarter.
    train, validation, test = split(np.empty((round(0.25 * 4_208_261), 0)))
    assert (len(train), len(validation), len(test)) == (852_174, 94_685, 105_206)

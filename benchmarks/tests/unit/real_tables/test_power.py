"""POWER against the published recipe, and the real file."""

import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from secant_bench.real_tables import RealTable, power

Check = Callable[..., None]

POWER_HEADER = (
    "Date;Time;Global_active_power;Global_reactive_power;Voltage;Global_intensity;"
    "Sub_metering_1;Sub_metering_2;Sub_metering_3\n"
)


def power_rows(n: int) -> np.ndarray:
    """(n, 8): active, reactive, voltage, intensity, three meters, minute of the day."""
    random = np.random.default_rng(0)
    numbers = random.uniform(0, 9, (n, 7)).round(3)
    return np.column_stack([numbers, random.integers(0, 1440, n)])


def write_power(folder: Path, rows: np.ndarray) -> None:
    lines = [
        f"16/12/2006;{int(row[7]) // 60:02d}:{int(row[7]) % 60:02d}:00;"
        + ";".join(f"{value:.3f}" for value in row[:7])
        + "\n"
        for row in rows
    ]
    lines.insert(3, "16/12/2006;00:01:00;?;?;?;?;?;?;\n")
    lines.insert(9, "16/12/2006;00:02:00;1.000;?;2.000;3.000;0.000;0.000;0.000\n")
    text = POWER_HEADER + "".join(lines)
    (folder / "household_power_consumption.txt").write_text(text)


def published_power(rows: np.ndarray) -> tuple[np.ndarray, ...]:
    """The published recipe, step by step."""
    random = np.random.RandomState(42)
    rows = rows.copy()
    random.shuffle(rows)
    n = len(rows)
    rows = np.delete(rows, [1, 3], axis=1)
    voltage, active = 0.01 * random.rand(n, 1), 0.001 * random.rand(n, 1)
    rows = rows + np.hstack([active, voltage, random.rand(n, 3), np.zeros((n, 1))])
    rest, test = rows[: -int(0.1 * n)], rows[-int(0.1 * n) :]
    n_validation = int(0.1 * len(rest))
    mean, scale = rest.mean(axis=0), rest.std(axis=0)
    return tuple(
        (part - mean) / scale for part in (rest[:-n_validation], rest[-n_validation:], test)
    )


def test_power_follows_the_published_recipe(tmp_path: Path) -> None:
    rows = power_rows(237)
    write_power(tmp_path, rows)
    table = power(tmp_path)
    oracle = published_power(rows)
    for ours, theirs in zip((table.train, table.validation, table.test), oracle, strict=True):
        np.testing.assert_allclose(ours, theirs, atol=1e-5)
    assert table.columns[1] == "Voltage"
    assert table.columns[-1] == "Time"
    assert "237 complete rows" in table.note


def test_power_reads_the_archive_as_it_is(tmp_path: Path) -> None:
    write_power(tmp_path, power_rows(50))
    plain = power(tmp_path)
    text = tmp_path / "household_power_consumption.txt"
    with zipfile.ZipFile(text.with_suffix(".zip"), "w", zipfile.ZIP_DEFLATED) as archive:
        archive.write(text, text.name)
    text.unlink()
    np.testing.assert_array_equal(power(tmp_path).train, plain.train)


def test_power_noise_on_the_time_leaves_the_rest_alone(tmp_path: Path) -> None:
    write_power(tmp_path, power_rows(2_000))
    plain, noisy = power(tmp_path), power(tmp_path, time_noise=1.0)
    np.testing.assert_array_equal(noisy.train[:, :5], plain.train[:, :5])
    assert len(np.unique(plain.train[:, 5])) < 1_440
    assert len(np.unique(noisy.train[:, 5])) > 1_600
    with pytest.raises(ValueError, match="`time_noise` must be at least 0"):
        power(tmp_path, time_noise=-1.0)


def test_power_of_the_real_file(
    real: Callable[[str], Path],
    assert_standardised: Check,
    gaussian_log_likelihood: Callable[[RealTable], tuple[float, float]],
) -> None:
    table = power(real("power"))
    # 2,049,258 complete rows, a tenth of them test, a tenth of the rest validation.
    sizes = [len(part) for part in (table.train, table.validation, table.test)]
    assert sizes == [1_659_900, 184_433, 204_925]
    assert_standardised(table.train, table.validation)
    value, standard_error = gaussian_log_likelihood(table)
    # The published Gaussian reaches −7.74; 4 standard errors.
    assert abs(value + 7.74) < 4 * standard_error
    assert standard_error < 0.03

"""BSDS300 from small images, the published file and the real images."""

from collections.abc import Callable
from pathlib import Path

import h5py
import numpy as np
import pytest
from PIL import Image

from secant_bench.real_tables import RealTable, bsds300


def write_images(folder: Path, n_train: int = 12) -> None:
    """Images of noise, so that a patch tells its image."""
    random = np.random.default_rng(0)
    for name, n in (("train", n_train), ("test", 3)):
        (folder / name).mkdir()
        for index in range(n):
            pixels = random.integers(0, 256, (20, 30, 3), dtype=np.uint8)
            Image.fromarray(pixels).save(folder / name / f"{index}.jpg", quality=95)


def test_bsds300_patches_are_centred_and_scaled(tmp_path: Path) -> None:
    write_images(tmp_path)
    table = bsds300(tmp_path, n_train=300, n_validation=100, n_test=200)
    assert [part.shape for part in (table.train, table.validation, table.test)] == [
        (300, 63),
        (100, 63),
        (200, 63),
    ]
    assert len(table.columns) == 63
    assert table.columns[-1] == "pixel_7_6"
    # The missing pixel makes the mean of a patch 0.
    last = -table.train.sum(axis=1, keepdims=True)
    values = np.concatenate([table.train, last], axis=1)
    assert np.abs(values).max() < 1
    # 256 grey levels without noise; in float32 a few of 19,200 values still agree.
    assert len(np.unique(values)) > 0.99 * values.size
    assert "new patches" in table.name


def test_bsds300_patches_are_patches_of_their_images(tmp_path: Path) -> None:
    write_images(tmp_path, n_train=2)
    table = bsds300(tmp_path, n_train=40, n_validation=40, n_test=1, seed=3)
    greys = [
        np.asarray(Image.open(path).convert("L"), float)
        for path in sorted((tmp_path / "train").glob("*.jpg"))
    ]
    owners = [{owner(row, greys) for row in part} for part in (table.train, table.validation)]
    assert owners in ([{0}, {1}], [{1}, {0}])  # no image serves two splits


def owner(row: np.ndarray, images: list[np.ndarray]) -> int:
    """The image that has the patch, up to noise within one grey level."""
    patch = 256 * np.append(row, -row.sum())
    found = [
        index
        for index, image in enumerate(images)
        for window in np.lib.stride_tricks.sliding_window_view(image, (8, 8)).reshape(-1, 64)
        if np.abs(patch - (window - window.mean())).max() < 1
    ]
    assert len(found) == 1
    return found[0]


def test_bsds300_is_seeded_and_names_bad_sizes(tmp_path: Path) -> None:
    write_images(tmp_path)
    sizes = {"n_train": 20, "n_validation": 5, "n_test": 5}
    first = bsds300(tmp_path, **sizes)
    np.testing.assert_array_equal(bsds300(tmp_path, **sizes).train, first.train)
    assert not np.array_equal(bsds300(tmp_path, **sizes, seed=1).train, first.train)
    with pytest.raises(ValueError, match=r"must be at least 1; got \(20, 0, 5\)"):
        bsds300(tmp_path, **{**sizes, "n_validation": 0})


def test_bsds300_reads_the_published_file(tmp_path: Path) -> None:
    rows = np.random.default_rng(0).normal(size=(9, 63))
    with h5py.File(tmp_path / "BSDS300.hdf5", "w") as file:
        for name, part in (("train", rows[:6]), ("validation", rows[6:8]), ("test", rows[8:])):
            file[name] = part
    table = bsds300(tmp_path)
    assert table.name == "BSDS300"
    np.testing.assert_allclose(table.train, rows[:6], rtol=1e-6)
    np.testing.assert_allclose(table.test, rows[8:], rtol=1e-6)


def test_bsds300_of_the_real_images(
    real: Callable[[str], Path],
    gaussian_log_likelihood: Callable[[RealTable], tuple[float, float]],
) -> None:
    table = bsds300(real("bsds300"), n_train=20_000, n_validation=2_000, n_test=20_000)
    value, standard_error = gaussian_log_likelihood(table)
    # The published Gaussian reaches 96.67; 4 standard errors.
    assert abs(value - 96.67) < 4 * standard_error
    assert standard_error < 0.6

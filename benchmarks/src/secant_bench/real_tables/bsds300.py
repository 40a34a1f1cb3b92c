"""BSDS300: small patches of photographs."""

from pathlib import Path

import h5py
import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray
from PIL import Image

from secant_bench.real_tables.files import find, missing
from secant_bench.real_tables.table import RealTable, Rows

__all__ = ["HOME", "bsds300"]

HOME = (
    "the Berkeley Segmentation Dataset and Benchmark, 'BSDS300', for the images; the data that "
    "accompany 'Masked Autoregressive Flow for Density Estimation' (Papamakarios and others, "
    "2017) on Zenodo, for the hdf5 file"
)
_WANTED = "`BSDS300.hdf5`, or folders `train` and `test` of jpg images"
_SIDE = 8
_COLUMNS = tuple(f"pixel_{row}_{column}" for row in range(_SIDE) for column in range(_SIDE))[:-1]
_IMAGES_PER_VALIDATION_IMAGE = (
    10  # 180 images train and 20 validate, as in the first use of the set
)


def bsds300(
    folder: str | Path,
    *,
    n_train: int = 1_000_000,
    n_validation: int = 50_000,
    n_test: int = 250_000,
    seed: int = 0,
) -> RealTable:
    """Grey patches of 8 × 8 pixels without their mean and last pixel: 63 columns.

    `(v + u)/256` of pixel values v with u ~ U(0, 1), minus its mean over the patch. `BSDS300.hdf5`
    is read if it exists. Otherwise new patches are drawn from the images: a tenth of the images
    in `train` are for validation only. These are the published images, but not the published
    patches, so results are near the published ones, but not equal.

    Args:
        folder: Contains `BSDS300.hdf5`, or folders `train` and `test` of jpg images.
        n_train: Patches for training; this and the other sizes do not apply to the hdf5 file.
        n_validation: Patches for validation.
        n_test: Patches for testing.
        seed: Of the patches and their noise.

    Returns:
        The table.

    Raises:
        FileNotFoundError: If neither exists.
        ImportError: If Pillow (images) or h5py (hdf5 file) is not installed.
        ValueError: If a size is below 1.
    """
    sizes = (n_train, n_validation, n_test)
    if min(sizes) < 1:
        raise ValueError(f"`n_train`, `n_validation` and `n_test` must be at least 1; got {sizes}.")
    published = find(folder, "BSDS300.hdf5")
    if published is not None:
        train, validation, test = _published(published)
        return RealTable("BSDS300", train, validation, test, _COLUMNS, "The published patches.")
    random = np.random.RandomState(seed)
    images = _image_files(folder, random)
    train, validation, test = (
        _patches(paths, n, random) for paths, n in zip(images, sizes, strict=True)
    )
    note = f"New patches from the published images (seed {seed})."
    return RealTable("BSDS300 (new patches)", train, validation, test, _COLUMNS, note)


def _published(path: Path) -> tuple[Rows, Rows, Rows]:
    with h5py.File(path, "r") as file:
        train, validation, test = (
            np.asarray(file[name], dtype=np.float32) for name in ("train", "validation", "test")
        )
    return train, validation, test


def _image_files(folder: str | Path, random: np.random.RandomState) -> tuple[list[Path], ...]:
    """Separate images for training, validation and testing."""
    known, test = (sorted((Path(folder) / name).glob("*.jpg")) for name in ("train", "test"))
    if len(known) < 2 or not test:
        raise missing(folder, _WANTED, HOME)
    n_validation = max(1, len(known) // _IMAGES_PER_VALIDATION_IMAGE)
    shuffled = [known[index] for index in random.permutation(len(known))]
    return shuffled[n_validation:], shuffled[:n_validation], test


def _patches(paths: list[Path], n: int, random: np.random.RandomState) -> Rows:
    """(n, 63) rows, each from a random place in a random image."""
    image_of_row = random.randint(len(paths), size=n)
    rows = np.empty((n, _SIDE**2 - 1), np.float32)
    for index, path in enumerate(paths):
        here = np.flatnonzero(image_of_row == index)
        rows[here] = _patches_of_image(_grey(path), len(here), random)
    return rows


def _patches_of_image(
    image: NDArray[np.uint8], n: int, random: np.random.RandomState
) -> NDArray[np.float64]:
    windows = sliding_window_view(image, (_SIDE, _SIDE))
    top, left = (random.randint(size, size=n) for size in windows.shape[:2])
    pixels = windows[top, left].reshape(n, _SIDE**2)
    values = (pixels + random.rand(*pixels.shape)) / 256
    return (values - values.mean(axis=1, keepdims=True))[:, :-1]


def _grey(path: Path) -> NDArray[np.uint8]:
    with Image.open(path) as image:
        return np.asarray(image.convert("L"))

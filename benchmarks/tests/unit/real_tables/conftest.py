"""Fixtures of the tests of tables."""

import os
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from secant_bench.real_tables import RealTable

BESIDE_THE_REPOSITORY = Path(__file__).resolve().parents[5] / "shared" / "data"


@pytest.fixture
def real() -> Callable[[str], Path]:
    """The folder of a real table, or a skip. `SECANT_DATA` names where the folders are."""
    place = Path(os.environ.get("SECANT_DATA", BESIDE_THE_REPOSITORY))

    def folder(name: str) -> Path:
        if not (place / name).is_dir():
            pytest.skip(f"no real data in {place / name}; set SECANT_DATA to their folder")
        return place / name

    return folder


@pytest.fixture
def assert_standardised() -> Callable[..., None]:
    """Checks that rows have mean 0 and scale 1 up to the rounding of float32."""

    def check(*rows: np.ndarray, ddof: int = 0) -> None:
        together = np.concatenate(rows).astype(float)
        np.testing.assert_allclose(together.mean(axis=0), 0, atol=1e-5)
        np.testing.assert_allclose(together.std(axis=0, ddof=ddof), 1, atol=1e-5)

    return check


@pytest.fixture
def gaussian_log_likelihood() -> Callable[[RealTable], tuple[float, float]]:
    """Mean log likelihood of test rows, and its standard error, under the Gaussian of the rest."""

    def of(table: RealTable) -> tuple[float, float]:
        train, test = table.train[:200_000].astype(float), table.test[:100_000].astype(float)
        fitted = stats.multivariate_normal(train.mean(axis=0), np.cov(train, rowvar=False))
        values = fitted.logpdf(test)
        return values.mean(), values.std() / np.sqrt(len(test))

    return of

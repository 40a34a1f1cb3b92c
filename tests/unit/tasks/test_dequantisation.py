"""Atoms: found, spread, and put back (N4)."""

import numpy as np
import pytest

from secant.exceptions import AtomsWarning
from secant.tasks.dequantisation import Dequantisation, columns_with_atoms, warn_of_atoms


def table(n=1000):
    rng = np.random.default_rng(0)
    counts, tenths = rng.poisson(3.0, n), rng.integers(0, 50, n) / 10
    return np.stack([rng.normal(size=n), counts.astype(float), tenths], axis=1)


def test_columns_with_atoms_are_found():
    np.testing.assert_array_equal(columns_with_atoms(table()), [False, True, True])


def test_rounded_columns_with_few_repeats_have_none():
    x = np.round(np.random.default_rng(0).normal(size=(1000, 1)), 4)
    assert not columns_with_atoms(x)[0]


def test_noise_fills_the_gaps_and_no_more():
    x = table()
    noisy = Dequantisation.of(x, [1, 2])(x, np.random.default_rng(1))
    np.testing.assert_array_equal(noisy[:, 0], x[:, 0])
    added = noisy - x
    assert 0.0 <= added[:, 1].min() < 0.01 < 0.99 < added[:, 1].max() <= 1.0
    assert 0.0 <= added[:, 2].min() < 0.001 < 0.099 < added[:, 2].max() <= 0.1 + 1e-12


def test_values_are_put_back():
    x = table()
    spread = Dequantisation.of(x, [1, 2])
    np.testing.assert_allclose(spread.floored(spread(x, np.random.default_rng(1))), x, atol=1e-9)


def test_the_warning_names_the_columns_and_the_remedy():
    with pytest.warns(AtomsWarning, match=r"2 of 3 columns \(b, c\).*dequantise='auto'"):
        warn_of_atoms(table(), ["a", "b", "c"])

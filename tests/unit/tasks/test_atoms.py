"""Atoms: found, spread and put back; indicators, and information of mixed columns."""

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import norm

import secant
from secant.exceptions import AtomsWarning
from secant.tasks.atoms import Dequantisation, columns_with_atoms, warn_of_atoms, with_atoms

QUICK = {"correct": False, "second_opinion": False, "n_folds": 2, "random_state": 0}


def test_continuous_columns_and_pairs_of_values_get_no_indicators():
    rng = np.random.default_rng(0)
    rows = np.stack([rng.normal(size=500), rng.integers(2, size=500)], axis=1)
    np.testing.assert_array_equal(with_atoms(rows), rows)


def test_categories_get_an_indicator_each_but_one():
    codes = np.random.default_rng(0).integers(4, size=(500, 1)).astype(float)
    found = with_atoms(codes)
    assert found.shape == (500, 4)
    one_hot = np.column_stack([found[:, 1:], 1.0 - found[:, 1:].sum(axis=1)])
    assert set(one_hot.sum(axis=1)) == {1.0}
    assert len(np.unique(np.column_stack([codes, one_hot]), axis=0)) == 4


def test_an_atom_in_a_continuous_column_gets_one():
    rain = np.maximum(np.random.default_rng(0).normal(size=500), 0.0)[:, None]
    np.testing.assert_array_equal(with_atoms(rain)[:, 1], (rain[:, 0] == 0.0))


def test_rare_ties_are_no_atoms():
    rows = np.concatenate([np.zeros(5), np.arange(1.0, 996.0)])[:, None]
    assert with_atoms(rows).shape == (1000, 1)


MEANS = np.array([0.0, 3.0, -1.0, 1.5])  # not in the order of the codes
SHARES = np.array([0.4, 0.3, 0.2, 0.1])


def category_and_normal(n):
    """y is one of four codes, x ~ N(means[y], 1); I = h(x) − h(x | y) by quadrature."""
    rng = np.random.default_rng(1)
    y = rng.choice(4, size=n, p=SHARES)
    x = MEANS[y] + rng.normal(size=n)

    def integrand(v):
        density = SHARES @ norm.pdf(v - MEANS)
        return -density * np.log(density)

    truth = quad(integrand, -10.0, 12.0, limit=200)[0] - 0.5 * np.log(2 * np.pi * np.e)
    return x, y, truth


@pytest.mark.parametrize("swapped", [False, True])
def test_a_category_and_a_number(swapped):
    x, y, truth = category_and_normal(1_500)
    found = secant.mutual_information(*((y, x) if swapped else (x, y)), **QUICK)
    assert found.estimate == pytest.approx(truth, abs=4 * found.standard_error)
    assert found.standard_error < 0.03
    assert found.on_path is None


def test_an_atom_that_switches_the_dependence_off():
    # Rain b·w: with chance ½ none; else w ~ N(ρ x, 1 − ρ²), kept apart from 0 by nothing.
    rng = np.random.default_rng(2)
    x = rng.normal(size=2_000)
    wet = rng.uniform(size=2_000) < 0.5
    rain = np.where(wet, 0.9 * x + np.sqrt(1 - 0.81) * rng.normal(size=2_000), 0.0)
    truth = 0.5 * -0.5 * np.log(1 - 0.81)  # I(x; b) = 0, and the rest is that of the wet rows
    found = secant.mutual_information(x, rain, **QUICK)
    assert found.estimate == pytest.approx(truth, abs=4 * found.standard_error)


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

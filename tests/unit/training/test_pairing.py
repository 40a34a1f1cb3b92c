"""Optimal-transport pairing: near rows together, both margins unchanged."""

import builtins

import jax
import numpy as np
import pytest

from secant.training.pairing import OptimalTransport
from secant.training.sources import ArraySource, PairedSource, Weighted


def clouds(n=256):
    rng = np.random.default_rng(0)
    x_0, x_1 = rng.normal(size=(2, n, 2)).astype(np.float32)
    return x_0, x_1 + np.float32(1.0)


def test_pairs_are_nearer_than_chance_and_rows_are_kept():
    x_0, x_1 = clouds()
    first, second = OptimalTransport()(x_0, x_1, key=jax.random.key(0))
    np.testing.assert_array_equal(first, x_0)
    before, after = (np.sum((x_0 - x) ** 2, axis=1).mean() for x in (x_1, second))
    # Independent rows: 2·2 + 2 = 6. The best map is the shift: 2, and n = 256 rows add a little.
    assert abs(before - 6.0) < 1.5
    assert 1.5 < after < 2.8
    # Partners are rows of x_1, drawn as often as any: the mean moves by the noise of a resampling.
    assert {tuple(r) for r in np.asarray(second)} <= {tuple(r) for r in x_1}
    np.testing.assert_allclose(second.mean(axis=0), x_1.mean(axis=0), atol=4 / np.sqrt(256))


def test_blocks_are_paired_within():
    x_0, x_1 = clouds(120)
    pairing = OptimalTransport()
    first, second = pairing.in_blocks(x_0, x_1, 50)
    np.testing.assert_array_equal(first, x_0)
    for block in (slice(0, 50), slice(50, 100), slice(100, 120)):
        partners = {tuple(r) for r in np.asarray(second[block])}
        assert partners <= {tuple(r) for r in x_1[block]}


def test_source_pairs_what_another_draws():
    x_0, x_1 = (Weighted.padded(x) for x in clouds())
    source = PairedSource(ArraySource(x_0, x_1), OptimalTransport())
    first, second = source.loaded([0], 1, 64).draw(jax.random.key(1), 64, 0)
    assert np.sum((np.asarray(first) - second) ** 2, axis=1).mean() < 3.5


@pytest.mark.parametrize("changed", [{"epsilon": 0.0}, {"epsilon": np.nan}, {"iterations": 0}])
def test_settings_are_checked(changed):
    with pytest.raises(ValueError, match="needs epsilon > 0 and iterations >= 1"):
        OptimalTransport(**changed)


def test_missing_package_is_told_at_once(monkeypatch):
    whole = builtins.__import__

    def without_ott(name, *rest):
        if name.startswith("ott"):
            raise ImportError(name)
        return whole(name, *rest)

    monkeypatch.setattr(builtins, "__import__", without_ott)
    with pytest.raises(ImportError, match=r"pip install 'secant\[transport\]'"):
        OptimalTransport()

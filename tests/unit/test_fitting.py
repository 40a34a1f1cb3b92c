"""Scoring in blocks: few programs, little memory, the same numbers whatever the fitting."""

import logging
import tracemalloc

import jax
import numpy as np
import pytest

from secant import fitting, integration

D = 3
SIZES = (1, 7, 999, 5000, 70_001)


def rows(n, dtype=np.float32):
    return np.random.default_rng(n).normal(size=(n, D)).astype(dtype)


@pytest.fixture
def compiled(caplog):
    """The names of the programs that were compiled so far."""
    with caplog.at_level(logging.WARNING), jax.log_compiles():
        yield lambda: [m for m in caplog.messages if m.startswith("Finished XLA compilation")]


def test_odd_numbers_of_rows_compile_little_and_then_nothing(fitted, compiled):
    fitted.log_ratio(rows(2))
    for n in SIZES:
        assert fitted.log_ratio(rows(n)).shape == (n,)
    assert len(compiled()) <= 6  # one for every size of a block, 256 to 8192
    found = len(compiled())
    for n in (3, 998, 4999, 70_003, 81_921):
        fitted.log_ratio(rows(n))
    assert len(compiled()) == found


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int64])
def test_blocks_do_not_matter(fitted, monkeypatch, dtype):
    x = 3 * rows(5000, np.float64)
    x = x.astype(dtype)
    expected = fitted.log_ratio(x)
    # Terms of a sum are as large as the largest log ratio, and so is their rounding.
    rounding = 8 * np.spacing(np.float32(np.abs(expected).max()))
    one_by_one = [fitted.log_ratio(row[None])[0] for row in x[::499]]
    np.testing.assert_allclose(expected[::499], one_by_one, rtol=0.0, atol=rounding)
    for size in (256, 2048):
        monkeypatch.setattr(fitting, "ROWS_AT_ONCE", size)
        np.testing.assert_allclose(fitted.log_ratio(x), expected, rtol=0.0, atol=rounding)


def test_tiles_do_not_matter(fitted):
    x = fitted.scaling_(rows(4096))
    tiled = integration._log_ratio(fitted.model_, x)
    whole = jax.jit(lambda x: fitted.model_.log_ratio(x))(x)
    rounding = 8 * np.spacing(np.float32(np.abs(whole).max()))
    np.testing.assert_allclose(tiled, whole, rtol=0.0, atol=rounding)


def peak(call, x):
    """Bytes that a call takes at most, beyond what it is given."""
    call(x[:100])
    tracemalloc.start()
    try:
        call(x)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("dtype", [np.float32, np.int32])
def test_memory_grows_by_the_answers_only(fitted, tmp_path, dtype):
    n = 400_000
    np.save(tmp_path / "x.npy", rows(n).astype(dtype))
    mapped = np.load(tmp_path / "x.npy", mmap_mode="r")
    answers = 4 * n * 8  # as they come, joined, and in double precision
    few_blocks = 8 * fitting.ROWS_AT_ONCE * D * 8
    assert peak(fitted.log_ratio, mapped) < answers + few_blocks
    if dtype is np.float32:
        assert peak(fitted.log_ratio, np.array(mapped)) < answers + few_blocks


def test_no_more_than_two_blocks_are_alive():
    alive, most = set(), 0

    def block(number):
        nonlocal most
        alive.add(number)
        most = max(most, len(alive))
        return number

    for number in fitting.one_behind(map(block, range(10))):
        alive.remove(number)
    assert (most, alive) == (2, set())


def test_mapped_rows_are_checked(fitted, tmp_path):
    x = rows(500)
    x[300, 1] = np.nan
    np.save(tmp_path / "x.npy", x)
    np.save(tmp_path / "wide.npy", np.zeros((5, D + 1)))
    with pytest.raises(ValueError, match="`X` contains NaN"):
        fitted.log_ratio(np.load(tmp_path / "x.npy", mmap_mode="r"))
    with pytest.raises(ValueError, match="expecting 3 features"):
        fitted.log_ratio(np.load(tmp_path / "wide.npy", mmap_mode="r"))

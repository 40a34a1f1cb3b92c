"""Sources: rows in proportion to their weights, from memory, from disk and from a sampler."""

import tracemalloc

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from equinox import filter_jit
from tests.unit.training.dial import Towards, key, turned

from secant.training import Status, sources
from secant.training.sources import (
    AllBut,
    ArraySource,
    BlockSource,
    MappedSource,
    SamplerSource,
    Weighted,
)

pytestmark = pytest.mark.usefixtures("unoptimised")

ROUND = jnp.zeros((), dtype=jnp.int32)


def numbered(n, offset=0.0):
    """Rows that carry their number."""
    return jnp.arange(n, dtype=jnp.float32)[:, None] + offset


def counts(weighted, n_draws, seed=0):
    bits = jax.random.bits(key(seed), (n_draws,), jnp.uint32)
    rows = filter_jit(weighted.drawn)(bits)
    return np.bincount(np.asarray(rows)[:, 0].astype(int), minlength=weighted.rows.shape[0])


def z_of(found, share):
    n = found.sum()
    return (found - n * share) / np.sqrt(np.maximum(n * share * (1 - share), 1e-12))


def test_rows_without_weights_are_drawn_alike():
    found = counts(Weighted(numbered(5)), 20_000)
    assert (np.abs(z_of(found, np.full(5, 0.2))) < 4.5).all()  # standard errors


def test_rows_are_drawn_in_proportion_to_their_weights():
    weights = np.array([0.0, 1.0, 3.0, 0.0, 6.0, 0.0])
    found = counts(Weighted(numbered(6), jnp.cumsum(jnp.asarray(weights))), 20_000)
    np.testing.assert_array_equal(found[weights == 0], 0)  # never, not even at the ends
    assert (np.abs(z_of(found, weights / 10)) < 4.5).all()  # standard errors


@pytest.mark.parametrize(("total", "share_of_one"), [(8.0, 2**29), (10.0, 838_861 << 9)])
def test_an_empty_row_is_not_drawn_even_by_a_number_on_its_edge(total, share_of_one):
    cumulative = jnp.array([0.0, 1.0, 4.0, 4.0, total, total])
    bits = jnp.array([0, share_of_one, 4 * share_of_one, 2**32 - 1], dtype=jnp.uint32)
    rows = Weighted(numbered(6), cumulative).drawn(bits)
    np.testing.assert_array_equal(np.asarray(rows)[:, 0], [1, 2, 4, 4])


@pytest.mark.parametrize("weighted", [False, True])
def test_rows_that_only_fill_the_room_are_never_drawn(weighted):
    weights = np.array([1.0, 0.0, 3.0])
    cumulative = np.cumsum(weights) if weighted else None
    rows = np.array([[1.0], [2.0], [3.0]], dtype=np.float32)  # the room is filled with zeros
    found = counts(Weighted.padded(rows, cumulative), 4000)
    share = weights / 4 if weighted else np.full(3, 1 / 3)
    assert found[1:4].sum() == 4000
    assert (np.abs(z_of(found[1:4], share)) < 4.5).all()  # standard errors


def test_a_few_rows_more_fit_in_the_same_room():
    def room(n):
        return Weighted.padded(np.zeros((n, 1), dtype=np.float32)).rows.shape[0]

    assert room(1000) == room(1010)
    for n in (1, 128, 129, 5000, 100_001):
        assert n <= room(n) <= max(n + n / 8, n + 127)


def test_both_samples_are_drawn_independently():
    source = ArraySource(Weighted(numbered(100)), Weighted(numbered(100)))
    x_0, x_1 = filter_jit(lambda key: source.draw(key, 4000, ROUND))(key())
    correlation = np.corrcoef(np.asarray(x_0)[:, 0], np.asarray(x_1)[:, 0])[0, 1]
    assert abs(correlation) < 4.5 / np.sqrt(4000)  # standard errors of a correlation


def test_samples_may_differ_in_length_and_keep_their_place():
    source = ArraySource(Weighted(numbered(3)), Weighted(numbered(50, offset=1000.0)))
    x_0, x_1 = filter_jit(lambda key: source.draw(key, 256, ROUND))(key())
    assert set(np.asarray(x_0)[:, 0]) == {0.0, 1.0, 2.0}
    assert np.asarray(x_1).min() >= 1000
    assert source.loaded([0], 3, 4) is source


def test_sampler_makes_fresh_scaled_rows():
    def sampler(key, n):
        x = jax.random.normal(key, (n, 2))
        return x, x + 10.0

    source = SamplerSource(sampler, lambda x: 2.0 * x)
    draw = jax.jit(lambda key: source.draw(key, 8, ROUND))
    x_0, x_1 = draw(key(0))
    np.testing.assert_allclose(x_1 - x_0, 20.0, rtol=1e-5)
    assert not np.array_equal(draw(key(1))[0], x_0)
    np.testing.assert_array_equal(draw(key(0))[0], x_0)


def test_blocks_are_dealt_round_by_round():
    x_0, x_1 = np.random.default_rng(0).standard_normal((2, 3, 4, 2))
    source = BlockSource(jnp.asarray(x_0), jnp.asarray(x_1))
    for step in range(3):
        first, second = source.draw(key(), 4, jnp.asarray(step))
        np.testing.assert_array_equal(first, source.x_0[step])
        np.testing.assert_array_equal(second, source.x_1[step])


def on_disk(path, n, d, fill=None):
    data = np.memmap(path, dtype=np.float32, mode="w+", shape=(n, d))
    if fill is not None:
        data[:] = fill
    return data


@pytest.fixture
def mapped(tmp_path):
    """Two files of numbered rows, of which some may be drawn, and a record of what is read."""
    seen = []

    def read(rows):
        seen.append(rows)
        return np.asarray(rows, dtype=np.float32) * 10

    files = [
        on_disk(tmp_path / f"x_{i}.bin", n, 1, np.arange(n)[:, None])
        for i, n in enumerate((40, 90))
    ]
    return MappedSource(*files, np.arange(0, 40, 2), np.arange(45, 90), read), seen


def test_mapped_rows_are_read_in_order_and_dealt_at_random(mapped):
    source, seen = mapped
    block = source.loaded([0], n_steps=5, batch_size=8)
    assert len(seen) == 2  # each sample once
    for x, rows in zip((block.x_0, block.x_1), seen, strict=True):
        assert (np.diff(rows[:, 0]) > 0).all()  # and each row once
        dealt = np.asarray(x)[:5].ravel()
        assert dealt.size == 5 * 8
        assert not (np.diff(dealt) >= 0).all()
        np.testing.assert_array_equal(np.unique(dealt), 10 * rows[:, 0])


def test_short_blocks_have_the_shape_of_long_ones(mapped):
    source, _ = mapped
    long, short = (
        source.loaded([0], n_steps=n, batch_size=8) for n in (sources._ROUNDS_AT_ONCE, 5)
    )
    assert short.x_0.shape == long.x_0.shape
    np.testing.assert_array_equal(short.x_0[5:], np.broadcast_to(short.x_0[4], short.x_0[5:].shape))


@pytest.mark.parametrize("n_steps", [1, 64, 65, 200])
def test_many_rounds_are_read_in_portions(mapped, n_steps):
    portions = list(mapped[0].rounds(n_steps))
    assert sum(portions) == n_steps
    assert max(portions) <= sources._ROUNDS_AT_ONCE


def test_mapped_rows_are_only_those_allowed(mapped):
    source, _ = mapped
    block = source.loaded([0], n_steps=20, batch_size=20)
    assert set(np.asarray(block.x_0).ravel()) == set(range(0, 400, 20))
    assert set(np.asarray(block.x_1).ravel()) <= set(range(450, 900, 10))


def test_mapped_draws_follow_the_key(mapped):
    source, _ = mapped
    first, again, other = (source.loaded([seed], 2, 8).x_0 for seed in (0, 0, 1))
    np.testing.assert_array_equal(first, again)
    assert not np.array_equal(first, other)


def test_mapped_rows_are_drawn_in_proportion_to_their_weights(tmp_path):
    x = on_disk(tmp_path / "x.bin", 6, 1, np.arange(6)[:, None])
    weights = np.array([0.0, 1.0, 3.0, 0.0])  # of rows 1, 2, 4 and 5
    rows = np.array([1, 2, 4, 5])
    source = MappedSource(x, x, rows, rows, np.asarray, np.cumsum(weights), None)
    block = source.loaded([0], n_steps=10, batch_size=400)
    counts_0, counts_1 = (
        np.bincount(np.asarray(b)[:10].ravel().astype(int), minlength=6)[rows]
        for b in (block.x_0, block.x_1)
    )
    np.testing.assert_array_equal(counts_0[weights == 0], 0)
    assert (np.abs(z_of(counts_0, weights / 4)) < 4.5).all()  # standard errors
    assert (np.abs(z_of(counts_1, np.full(4, 0.25))) < 4.5).all()


def test_mapped_rows_cannot_be_drawn_before_they_are_read(mapped):
    source, _ = mapped
    with pytest.raises(TypeError, match="must be loaded"):
        source.draw(key(), 8, ROUND)


def test_training_reads_a_chunk_of_mapped_rows_at_a_time(mapped):
    source, seen = mapped
    result = turned(Towards(5.0), Towards(5.0), rows=source, steps=25)
    assert result.status is Status.FINISHED
    # Three chunks of at most ten steps of four rows, each of both samples and no row twice.
    assert len(seen) == 6
    for rows, drawn in zip(seen, [40, 40, 40, 40, 20, 20], strict=True):
        assert 0 < len(rows) <= drawn
        assert len(np.unique(rows)) == len(rows)


def test_mapped_memory_does_not_grow_with_the_file(tmp_path):
    n, d = 2_000_000, 4  # 32 MB each, on a sparse file
    files = [on_disk(tmp_path / f"x_{i}.bin", n, d) for i in (0, 1)]
    source = MappedSource(*files, np.arange(n), np.arange(n), np.asarray)
    tracemalloc.start()
    source.loaded([0], n_steps=10, batch_size=64)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 2**20  # 640 rows of 16 bytes twice, with their indices; never the 64 MB


@pytest.mark.parametrize(
    "without", [[], [0], [9], [0, 1, 2], [7, 8, 9], [3], [2, 3, 6], list(range(9))]
)
def test_it_is_the_list_without_those(without):
    numbers = AllBut(10, np.array(without, dtype=np.int64))
    kept = np.setdiff1d(np.arange(10), without)
    assert numbers.size == kept.size
    np.testing.assert_array_equal(numbers[np.arange(numbers.size)], kept)


def test_places_may_have_any_shape_and_order():
    numbers = AllBut(6, np.array([1, 4]))
    np.testing.assert_array_equal(numbers[np.array([[3, 0], [2, 2]])], [[5, 0], [3, 3]])


def test_a_billion_rows_take_no_room():
    numbers = AllBut(10**9, np.array([5]))
    assert numbers[np.array([10**9 - 2])].tolist() == [10**9 - 1]

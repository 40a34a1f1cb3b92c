"""Samples in any form become the same scaled rows, held-out rows and moments."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from secant import Identity, Standardise, Training
from secant import samples as samples_module
from secant.gaussians import Gaussian
from secant.samples import Sample, prepared

N = 500
STEP = jnp.zeros((), dtype=jnp.int32)


@pytest.fixture
def rows():
    rng = np.random.default_rng(0)
    return rng.normal(size=(N, 2)), 1.0 + rng.normal(size=(N + 100, 2))


def trained_rows(data, end):
    sample = (data.source.x_0, data.source.x_1)[end]
    return sample.rows[: int(sample.count)]


def as_set(x):
    return set(map(tuple, np.asarray(x).tolist()))


def float32(x):
    return as_set(x.astype(np.float32))


def thirds(data, end):
    """Training rows, held-out rows and report rows."""
    held = ((data.held_0, data.held_1), (data.report_0, data.report_1))
    return [as_set(x) for x in (trained_rows(data, end), *(pair[end] for pair in held))]


@pytest.mark.parametrize(("share", "most", "n_held"), [(0.1, 8192, 50), (0.5, 20, 20)])
@pytest.mark.parametrize("weighted", [False, True])
def test_no_row_is_in_two_of_three(rows, share, most, n_held, weighted):
    training = Training(validation_share=share, validation_rows=most)
    # Weights so unequal that rows held out are drawn several times, but none of weight 0.
    weights = np.random.default_rng(1).exponential(size=N) if weighted else None
    data = prepared((Sample(rows[0], weights), Sample(rows[1])), Identity(), training, seed=0)
    for end in (0, 1):
        trained, held, report = thirds(data, end)
        assert not held & trained
        assert not report & trained
        assert not report & held
        if not (weighted and end == 0):
            assert held | report | trained == float32(rows[end])
    assert data.held_0.shape == data.report_0.shape == (n_held, 2)


@pytest.mark.parametrize("which", ["train", "held", "seen"])
def test_rows_to_report_on_choose_nothing(rows, which):
    """Other rows to report on change neither the scaling nor the moments nor what is chosen by."""
    samples = tuple(Sample(x) for x in rows)
    before = prepared(samples, Standardise(), Training(), seed=0)
    raw = prepared(samples, Identity(), Training(), seed=0).report_0
    changed = rows[0].copy()
    reported = np.isin(changed[:, 0].astype(np.float32), raw[:, 0])
    assert reported.sum() == 50
    changed[reported] += 100.0
    after = prepared((Sample(changed), samples[1]), Standardise(), Training(), seed=0)
    assert np.abs(after.report_0 - before.report_0).min() > 10.0
    if which == "train":
        np.testing.assert_array_equal(trained_rows(after, 0), trained_rows(before, 0))
        np.testing.assert_array_equal(after.rows_0, before.rows_0)
    elif which == "held":
        np.testing.assert_array_equal(after.held_0, before.held_0)
    else:
        np.testing.assert_array_equal(after.scaling.center, before.scaling.center)
        np.testing.assert_array_equal(after.scaling.scale, before.scaling.scale)
        np.testing.assert_array_equal(after.gaussian_0.covariance, before.gaussian_0.covariance)


@pytest.mark.parametrize("share", [0.01, 0.99])
def test_two_rows_are_one_to_train_on_and_one_for_the_rest(rows, share):
    samples = tuple(Sample(x[:2]) for x in rows)
    data = prepared(samples, Identity(), Training(validation_share=share), seed=0)
    assert data.held_0.shape == trained_rows(data, 0).shape == (1, 2)
    np.testing.assert_array_equal(data.report_0, data.held_0)


@pytest.mark.parametrize("n", [3, 4, 7, 20])
@pytest.mark.parametrize("share", [0.01, 0.4, 0.99])
def test_few_rows_leave_one_for_each(rows, n, share):
    samples = tuple(Sample(x[:n]) for x in rows)
    data = prepared(samples, Identity(), Training(validation_share=share), seed=0)
    trained, held, report = thirds(data, 0)
    assert min(map(len, (trained, held, report))) >= 1
    assert len(trained) + len(held) + len(report) == n


def test_the_split_follows_the_seed(rows):
    samples = tuple(Sample(x) for x in rows)
    first, same, other = (
        prepared(samples, Standardise(), Training(), seed).held_0 for seed in (0, 0, 1)
    )
    np.testing.assert_array_equal(first, same)
    assert as_set(first) != as_set(other)


def test_weights_are_repetitions(rows):
    x, count = rows[0], np.random.default_rng(1).integers(1, 4, size=N)
    scaling = Identity().fitted(x, x)
    weighted = Gaussian.of([scaling(x)], count.astype(float))
    again = np.repeat(x, count, axis=0)
    repeated = Gaussian.of([scaling(again)], None)
    np.testing.assert_allclose(weighted.mean, repeated.mean, rtol=1e-12)
    # Covariances are shrunk to their diagonal by d/(d + rows), and there are fewer distinct rows.
    np.testing.assert_allclose(np.diag(weighted.covariance), np.diag(repeated.covariance))
    np.testing.assert_allclose(weighted.covariance, repeated.covariance, atol=2 / N)


@pytest.mark.parametrize("size", [1e-60, 1.0, 1e60])
def test_rows_are_drawn_in_proportion_to_their_weight(rows, size):
    x = np.arange(6.0)[:, None] + 0.5
    weights = size * np.array([0.0, 1.0, 1.0, 2.0, 4.0, 0.0])
    training = Training(validation_share=0.01)  # one row is held out
    data = prepared((Sample(x, weights), Sample(x)), Identity(), training, seed=0)
    n = 100_000
    drawn, _ = data.source.draw(jax.random.key(0), n, STEP)
    kept = np.asarray(trained_rows(data, 0))[:, 0]
    share = weights[np.floor(kept).astype(int)]
    share = share / share.sum()
    frequency = (np.asarray(drawn) == kept).mean(axis=0)
    assert {0.5, 5.5}.isdisjoint(kept)  # a row of weight 0 counts as absent
    assert {0.5, 5.5}.isdisjoint(data.held_0[:, 0])
    # 4.5 standard errors of a frequency.
    assert (np.abs(frequency - share) <= 4.5 * np.sqrt(share * (1.0 - share) / n)).all()


def test_all_the_weight_on_one_row(rows):
    weights = np.zeros(N)
    weights[7] = 2.0
    samples = Sample(rows[0], weights), Sample(rows[1])
    data = prepared(samples, Identity(), Training(), seed=0)
    np.testing.assert_allclose(data.gaussian_0.mean, rows[0][7], rtol=1e-6)  # float32 rows
    assert as_set(data.held_0) == as_set(trained_rows(data, 0)) == float32(rows[0][[7]])


def mapped(x, path):
    np.save(path, x)
    return np.load(path, mmap_mode="r")


def test_memory_maps_prepare_as_arrays_do(rows, tmp_path):
    arrays = [Sample(x) for x in rows]
    maps = [Sample(mapped(x, tmp_path / f"{i}.npy")) for i, x in enumerate(rows)]
    from_arrays, from_maps = (
        prepared(samples, Standardise(), Training(), seed=3) for samples in (arrays, maps)
    )
    for one, other in (
        (from_arrays.gaussian_0, from_maps.gaussian_0),
        (from_arrays.gaussian_1, from_maps.gaussian_1),
    ):
        np.testing.assert_array_equal(one.mean, other.mean)
        np.testing.assert_array_equal(one.covariance, other.covariance)
    np.testing.assert_array_equal(from_arrays.held_0, from_maps.held_0)
    loaded = from_maps.source.loaded([0], n_steps=20, batch_size=100)
    drawn = as_set(loaded.x_0.reshape(-1, 2))
    assert drawn <= as_set(trained_rows(from_arrays, 0))
    assert len(drawn) > 0.9 * trained_rows(from_arrays, 0).shape[0]  # 2000 draws of 450: 1 % missed


def test_weighted_memory_maps_draw_by_weight(rows, tmp_path):
    weights = np.where(rows[0][:, 0] > 0.0, 1.0, 1e-9)
    sample = Sample(mapped(rows[0], tmp_path / "x.npy"), weights)
    data = prepared((sample, Sample(rows[1])), Identity(), Training(), seed=0)
    block = data.source.loaded([0], n_steps=2, batch_size=500)
    assert (np.asarray(block.x_0)[..., 0] > 0.0).all()
    assert (np.asarray(block.x_1)[..., 0] < 0.0).any()  # equal weights there


def test_moments_of_a_sampler():
    scale = jnp.array([2.0, 0.5])

    def sampler(key, n):
        key_0, key_1 = jax.random.split(key)
        return scale * jax.random.normal(key_0, (n, 2)), 1.0 + jax.random.normal(key_1, (n, 2))

    data = prepared(sampler, Identity(), Training(validation_rows=100), seed=0)
    n = 1_966_080  # rows behind the moments: 30 blocks of 65 536
    for gaussian, mean, spread in (
        (data.gaussian_0, np.zeros(2), np.array([2.0, 0.5])),
        (data.gaussian_1, np.ones(2), np.ones(2)),
    ):
        # 4.5 standard errors; float32 sums over a block add about 1e-6, far below them.
        assert (np.abs(gaussian.mean - mean) < 4.5 * spread / np.sqrt(n)).all()
        error = 4.5 * np.sqrt((1.0 + np.eye(2)) / n) * np.outer(spread, spread)
        assert (np.abs(gaussian.covariance - np.diag(spread**2)) < error).all()
    assert data.held_0.shape == (100, 2)
    squares = data.moments
    assert float(squares.square_0) == pytest.approx(4.25, rel=0.01)
    assert float(squares.square_1) == pytest.approx(4.0, rel=0.01)
    assert float(squares.cross) == pytest.approx(0.0, abs=0.02)


@pytest.mark.parametrize(("steps", "n"), [(1, 100), (20, 200), (1000, 500)])
def test_a_samplers_moments_are_of_as_many_rows_as_training_sees(monkeypatch, steps, n):
    seen = []
    monkeypatch.setattr(samples_module, "_BLOCK", 100)
    monkeypatch.setattr(samples_module, "_MOST_ROWS_FOR_MOMENTS", 500)
    monkeypatch.setattr(Gaussian, "shrunk", lambda mean, second, rows: seen.append(rows))
    monkeypatch.setattr(samples_module, "_prepared", lambda *_: None)
    training = Training(steps=steps, batch_size=10)

    def sampler(key, n_rows):
        return jax.random.normal(key, (2, n_rows, 3))

    prepared(sampler, Identity(), training, 0)
    assert seen == [n, n]

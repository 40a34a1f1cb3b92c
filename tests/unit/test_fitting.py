"""Scoring in blocks: few programs, little memory, the same numbers in any mode of JAX."""

import logging
import tracemalloc
from dataclasses import fields, replace

import jax
import numpy as np
import pytest
from tests import tiny
from tests.fabricated import without_training

from secant import fitting, integration
from secant.anchoring import GaussianMoments
from secant.exceptions import UntrainedWarning
from secant.fitting import Method, evaluated, fit, held_out_score
from secant.paths import DiffusionInterpolant
from secant.samples import Sample
from secant.targets import TangentVelocity

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
    assert len(compiled()) <= 2  # one for either size of a block
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


def test_rows_are_prepared_in_large_pieces():
    pieces = []

    def prepare(x):
        pieces.append(len(x))
        return 2.0 * x

    x = rows(fitting.ROWS_AT_ONCE + 300)
    blocks = [np.asarray(block) for block in fitting.padded_blocks(x, prepare)]
    assert pieces == [fitting.ROWS_AT_ONCE, 300]
    assert [len(block) for block in blocks] == [fitting.ROWS_AT_ONCE, 256, 256]
    np.testing.assert_allclose(np.concatenate(blocks)[: len(x)], 2.0 * x, rtol=1e-6)


def test_mapped_rows_are_checked(fitted, tmp_path):
    x = rows(500)
    x[300, 1] = np.nan
    np.save(tmp_path / "x.npy", x)
    np.save(tmp_path / "wide.npy", np.zeros((5, D + 1)))
    with pytest.raises(ValueError, match="`X` contains NaN"):
        fitted.log_ratio(np.load(tmp_path / "x.npy", mmap_mode="r"))
    with pytest.raises(ValueError, match="expecting 3 features"):
        fitted.log_ratio(np.load(tmp_path / "wide.npy", mmap_mode="r"))


GRID = [
    *(
        {"learning_rate": rate, "steps": steps, "patience": patience}
        for rate in (1e-3, 1e-2)
        for steps in (20, 45)
        for patience in (None, 2)
    ),
    {"warmup": 3},
    {"clip": 0.1},
    {"average": 0.5},
    {"evaluate_every": 7, "max_seconds": 100.0},
]


def test_settings_that_are_numbers_share_one_program(samples, new, compiled):
    # A batch size of its own: no test before this one has compiled for it.
    base = replace(tiny.TRAINING, batch_size=24)
    losses = set()
    for changed in GRID:
        found = new(training=replace(base, **changed)).fit_samples(*samples)
        losses.add(tuple(record.loss for record in found.history_[1:]))
    assert len(GRID) == 12
    assert sum("jit(run_steps)" in message for message in compiled()) == 1
    assert sum("jit(started)" in message for message in compiled()) <= 1
    assert len(losses) >= 8  # each number still has its effect, but for patience


METHOD = Method(
    tiny.MODEL,
    DiffusionInterpolant(),
    TangentVelocity(),
    training=tiny.TRAINING,
)


def untrained(method, samples):
    """What a fit gives but for its training."""
    with without_training():
        return fit(method, tuple(map(Sample, samples)), 0)


def test_diagnostics_are_of_rows_that_chose_nothing(samples):
    found = untrained(METHOD, samples)
    zero, one = (
        evaluated(found.model, rows, found.rule).value
        for rows in (found.data.report_0, found.data.report_1)
    )
    assert found.diagnostics.n_rows == len(found.data.report_0) == 20
    assert found.diagnostics.mean_log_ratio_0 == pytest.approx(zero.mean())
    assert found.diagnostics.mean_log_ratio_1 == pytest.approx(one.mean())
    chosen_by = evaluated(found.model, found.data.held_0, found.rule).value.mean()
    assert abs(found.diagnostics.mean_log_ratio_0 - chosen_by) > 1e-3


def test_the_loss_is_told_of_rows_that_chose_nothing(samples):
    found = fit(METHOD, tuple(map(Sample, samples)), 0)
    loss = held_out_score(METHOD, found.model, found.data.report_0, found.data.report_1)
    assert found.diagnostics.held_out_loss == pytest.approx(loss)
    kept_by = held_out_score(METHOD, found.model, found.data.held_0, found.data.held_1)
    assert found.result.held_out.value == pytest.approx(kept_by)
    assert abs(loss - kept_by) > 1e-3


def test_a_state_that_was_trained_is_kept_without_a_word(samples):
    assert fit(METHOD, tuple(map(Sample, samples)), 0).result.best_step > 0


def test_an_untrained_state_that_is_kept_is_told(samples):
    rows = Sample(samples.x_0), Sample(tiny.samples(seed=1).x_0)  # of one distribution
    with pytest.warns(UntrainedWarning, match=r"none of 40 steps .* every log ratio is the same"):
        found = fit(METHOD, rows, 0)
    assert found.result.best_step == 0
    answers = evaluated(found.model, found.data.report_0, found.rule).value
    assert np.ptp(answers) == 0.0


def test_on_top_of_an_anchor_there_is_nothing_to_tell(samples):
    rows = Sample(samples.x_0), Sample(tiny.samples(seed=1).x_0)
    found = fit(replace(METHOD, anchor=GaussianMoments()), rows, 0)
    assert found.result.best_step == 0


def test_a_fit_follows_its_key(samples):
    rows = Sample(samples.x_0), Sample(samples.x_1 + 1.0)
    first, same, other = (fit(METHOD, rows, key) for key in (0, 0, 1))
    x = first.data.report_1
    answers = [evaluated(f.model, x, f.rule).value for f in (first, same, other)]
    np.testing.assert_array_equal(answers[0], answers[1])
    assert not np.array_equal(answers[0], answers[2])


def test_another_default_generator_of_jax_changes_no_fit(samples):
    rows = tuple(map(Sample, samples))
    plain = fit(METHOD, rows, 0)
    with jax.default_prng_impl("unsafe_rbg"):  # whose keys are of four words
        found = fit(METHOD, rows, 0)
    np.testing.assert_array_equal(
        *(evaluated(f.model, plain.data.report_1, f.rule).value for f in (plain, found))
    )


@pytest.mark.parametrize("part", [f.name for f in fields(Method)])
def test_a_part_of_a_wrong_kind_is_refused_where_it_is_given(part):
    with pytest.raises(TypeError, match=f"`{part}` must be a .* or None; got 'a word'"):
        replace(METHOD, **{part: "a word"})

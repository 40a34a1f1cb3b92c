"""Devices and exchange between processes, tested with one device and one process."""

import signal
from types import SimpleNamespace

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import secant
from secant.training import (
    data_parallel,
    devices,
    settings,
)
from secant.training.checkpoints import holding_back_signals
from secant.training.devices import Devices, current_devices


def together(monkeypatch, module, **fields):
    """Let a module believe that there are several devices."""
    fields = {"own_rows": False, "processes": 2, "process": 0, "share": 0.5, **fields}
    monkeypatch.setattr(module, "current_devices", lambda: SimpleNamespace(**fields))


def heard(monkeypatch, *others):
    """Let the other processes say this."""
    monkeypatch.setattr(devices, "gathered", lambda own: [own, *others])


def test_without_it_nothing_is_moved():
    tree = {"array": jnp.ones(2), "key": jax.random.key(0), "name": "a"}
    for move in (Devices().everywhere, Devices().here, Devices().split, Devices().alike):
        assert move(tree) is tree


def test_what_was_everywhere_is_here_as_it_was():
    tree = {"array": jnp.arange(3.0), "key": jax.random.key(7), "host": np.ones(2), "name": "a"}
    with data_parallel() as several:
        moved = several.everywhere(tree)
        assert moved["array"].sharding.mesh == several.mesh
        back = several.here(moved)
    np.testing.assert_array_equal(back["array"], tree["array"])
    np.testing.assert_array_equal(*(jax.random.key_data(t["key"]) for t in (back, tree)))
    assert back["host"] is tree["host"]
    assert not hasattr(back["array"].sharding, "mesh")


def test_it_ends_with_its_block():
    with data_parallel() as several:
        assert current_devices() is several
    assert current_devices() == Devices()


def test_no_devices_are_refused():
    with pytest.raises(ValueError, match="some of every process; got 0 device"), data_parallel([]):
        pass


@pytest.mark.parametrize(("batch", "advice"), [(97, "96 or 100"), (3, "4"), (98, "96 or 100")])
def test_a_batch_that_cannot_be_shared_is_refused(batch, advice):
    four = Devices(SimpleNamespace(size=4))
    with pytest.raises(ValueError, match=rf"got {batch}\. Take {advice}\."):
        four.check(batch)
    four.check(96)


def test_only_the_first_process_shows_progress(monkeypatch, capsys):
    for process in (0, 1):
        together(monkeypatch, settings, process=process)
        with settings.progress_bar(10, show=True):
            pass
        assert bool(capsys.readouterr().err) == (process == 0)


def test_numbers_are_those_of_the_first_process():
    with data_parallel():
        assert devices.agreed(0.1, float("inf")) == [0.1, float("inf")]  # as float64


def test_the_highest_of_all(monkeypatch):
    heard(monkeypatch, np.array(15))
    assert devices.highest(0) == 15


def test_rows_of_their_own_are_pooled(monkeypatch):
    together(monkeypatch, devices, own_rows=True)
    replies = iter([[np.array(1), np.array(2)], [np.ones((2, 3)), np.full((2, 3), 2.0)]])
    monkeypatch.setattr(devices, "gathered", lambda own: next(replies))
    np.testing.assert_array_equal(devices.pooled(np.ones((1, 3)))[:, 0], [1.0, 2.0, 2.0])


def test_the_same_rows_are_not_pooled(monkeypatch):
    together(monkeypatch, devices)
    rows = np.ones((2, 3))
    assert devices.pooled(rows) is rows
    assert devices.summed(rows) is rows


@pytest.mark.parametrize(
    ("other", "told"),
    [
        ([3, 202.0, 240.0], "equal shares of x_1, to 1%; got 45.5%, 54.5%"),
        ([3, 190.0, 200.0], "equal shares of x_0, to 1%"),
        ([4, 200.0, 200.0], r"same columns; got \[3, 4\]"),
    ],
)
def test_unequal_shares_are_refused(monkeypatch, other, told):
    together(monkeypatch, devices, own_rows=True)
    heard(monkeypatch, np.array(other))
    with pytest.raises(ValueError, match=told):
        devices.check_even([100.0, 100.0], 3)


def test_shares_may_differ_by_a_percent(monkeypatch):
    together(monkeypatch, devices, own_rows=True)
    heard(monkeypatch, np.array([3, 201.0, 199.0]))
    devices.check_even([100.0, 100.0], 3)


@pytest.mark.usefixtures("as_in_a_terminal")
def test_a_signal_to_another_process_is_taken_as_ones_own():
    with holding_back_signals() as held:
        held.take(0)  # none came
        held.let_go()
        held.take(signal.SIGINT)
        with pytest.raises(KeyboardInterrupt):
            held.let_go()


@pytest.mark.parametrize(
    ("estimator", "part"),
    [
        (secant.KernelRatio(), "KernelRatio"),
        (secant.SklearnRatio(), "SklearnRatio"),
        (secant.ChasmSwitch(secant.KernelRatio()), "KernelRatio"),
    ],
)
def test_what_trains_no_network_refuses_rows_of_its_own(estimator, part):
    rows = np.random.default_rng(0).normal(size=(2, 50, 2))
    with (
        data_parallel(own_rows=True),
        pytest.raises(ValueError, match=f"{part} would fit those of one"),
    ):
        estimator.fit_samples(*rows)

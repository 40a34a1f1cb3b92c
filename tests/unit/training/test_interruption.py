"""Ctrl-C during a training: what is kept, and when it is passed on."""

import os
import signal

import pytest
from tests.unit.training.dial import Towards, turned

from secant.training import Status, keeping_best_on_interrupt
from secant.training.checkpoints import is_interrupted

pytestmark = pytest.mark.usefixtures("unoptimised", "as_in_a_terminal")


def press(at_step, number=signal.SIGINT):
    """A reporter that presses Ctrl-C, or sends another signal, at a look."""

    def report(record):
        if record.step == at_step:
            os.kill(os.getpid(), number)

    return report


def test_the_first_ends_the_training_and_keeps_the_best():
    # The held-out loss is lowest when the weight passes 1, long before step 50.
    whole = turned(Towards(5.0), Towards(1.0))
    with keeping_best_on_interrupt() as wish:
        result = turned(Towards(5.0), Towards(1.0), report=press(50))
        assert wish.is_set()
    assert result.status is Status.INTERRUPTED
    assert not result.status.is_good
    assert "best state so far is kept" in result.status.value
    assert result.steps == 50
    assert 0 < result.best_step == whole.best_step < 50
    assert result.model.weight == whole.model.weight


def test_so_does_the_end_of_a_job():
    with keeping_best_on_interrupt():
        result = turned(Towards(5.0), Towards(5.0), report=press(20, signal.SIGTERM))
    assert (result.status, result.steps) == (Status.INTERRUPTED, 20)


def test_later_stages_of_the_same_fit_do_not_begin():
    with keeping_best_on_interrupt():
        turned(Towards(5.0), Towards(5.0), report=press(10))
        second = turned(Towards(5.0), Towards(5.0))
    assert second.status is Status.INTERRUPTED
    assert second.steps == 0


def test_the_second_is_passed_on():
    with keeping_best_on_interrupt():
        os.kill(os.getpid(), signal.SIGINT)
        with pytest.raises(KeyboardInterrupt):
            os.kill(os.getpid(), signal.SIGINT)


def test_without_it_the_first_is_passed_on():
    with pytest.raises(KeyboardInterrupt):
        turned(Towards(5.0), Towards(5.0), report=press(10))


def test_afterwards_all_is_as_before():
    earlier = signal.getsignal(signal.SIGINT)
    with keeping_best_on_interrupt():
        os.kill(os.getpid(), signal.SIGINT)
        assert is_interrupted()
    assert not is_interrupted()
    assert signal.getsignal(signal.SIGINT) is earlier


def test_what_the_process_ignores_is_still_ignored():
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # as by `nohup`
    with keeping_best_on_interrupt():
        result = turned(Towards(5.0), Towards(5.0), report=press(20))
    assert result.status is Status.FINISHED


def test_a_training_that_was_done_anyway_is_finished():
    with keeping_best_on_interrupt():
        result = turned(Towards(5.0), Towards(5.0), report=press(20), steps=20)
    assert result.status is Status.FINISHED

"""A progress bar on a terminal, silence everywhere else."""

import io
import sys

import pytest

from secant.training import Record
from secant.training.progress import progress_bar

RECORD = Record(step=30, seconds=2.0, loss=-0.1234, held_out=-0.5678)


class Stream(io.StringIO):
    """Standard error that is a terminal or a pipe."""

    def __init__(self, *, terminal):
        super().__init__()
        self._terminal = terminal

    def isatty(self):
        return self._terminal


def shown(monkeypatch, *, terminal, show):
    stream = Stream(terminal=terminal)
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "140")
    with progress_bar(60, show=show, label="fitting") as report:
        report(RECORD)
    return stream.getvalue()


def test_a_terminal_gets_a_bar_with_losses_and_rate(monkeypatch):
    text = shown(monkeypatch, terminal=True, show=None)
    for piece in ("fitting", "30/60", "loss -0.1234", "held-out -0.5678", "15 steps/s"):
        assert piece in text


@pytest.mark.parametrize(("terminal", "show"), [(False, None), (True, False), (False, False)])
def test_nothing_is_written_elsewhere_or_when_told_not_to(monkeypatch, terminal, show):
    assert shown(monkeypatch, terminal=terminal, show=show) == ""


def test_a_bar_can_be_asked_for(monkeypatch):
    assert shown(monkeypatch, terminal=True, show=True)


def test_the_first_record_has_no_time_to_divide_by(monkeypatch):
    monkeypatch.setattr(sys, "stderr", Stream(terminal=True))
    with progress_bar(60, show=True) as report:
        report(RECORD._replace(seconds=0.0))


def test_errors_inside_pass_through(monkeypatch):
    monkeypatch.setattr(sys, "stderr", Stream(terminal=True))
    with pytest.raises(KeyError, match="inside"), progress_bar(60, show=True):
        raise KeyError("inside")

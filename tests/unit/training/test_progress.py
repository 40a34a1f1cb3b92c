"""A progress bar on a terminal, silence everywhere else."""

import io
import sys

import pytest

from secant.training import Record
from secant.training.settings import labelled, progress_bar

RECORD = Record(step=30, seconds=2.0, loss=-0.1234, held_out=-0.5678)


class Stream(io.StringIO):
    """Standard error that is a terminal or a pipe."""

    def __init__(self, *, terminal):
        super().__init__()
        self._terminal = terminal

    def isatty(self):
        return self._terminal


def shown(monkeypatch, *records, terminal=True, show=None):
    stream = Stream(terminal=terminal)
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "140")
    with progress_bar(60, show=show) as report:
        for record in records:
            report(record)
    return stream.getvalue()


def test_a_terminal_gets_a_bar_with_losses_and_rate(monkeypatch):
    text = shown(monkeypatch, RECORD)
    for piece in ("training", "30/60", "loss -0.1234", "held-out -0.5678", "15 steps/s"):
        assert piece in text


def test_until_the_first_look_it_says_compiling(monkeypatch):
    before, after = shown(monkeypatch), shown(monkeypatch, RECORD)
    assert "compiling" in before
    assert "0/60" in before
    assert "compiling" not in after[after.index("30/60") :]


def test_a_fit_among_others_is_named(monkeypatch):
    with labelled("fold 2 of 5"):
        assert "fold 2 of 5" in shown(monkeypatch, RECORD)
        with labelled("distilled"):
            assert "fold 2 of 5, distilled" in shown(monkeypatch, RECORD)
        assert "distilled" not in shown(monkeypatch, RECORD)
    assert "fold" not in shown(monkeypatch, RECORD)


@pytest.mark.parametrize(("terminal", "show"), [(False, None), (True, False), (False, False)])
def test_nothing_is_written_elsewhere_or_when_told_not_to(monkeypatch, terminal, show):
    assert shown(monkeypatch, RECORD, terminal=terminal, show=show) == ""


def test_a_bar_can_be_asked_for(monkeypatch):
    assert "30/60" in shown(monkeypatch, RECORD, show=True)


def test_the_first_record_has_no_time_to_divide_by(monkeypatch):
    text = shown(monkeypatch, RECORD._replace(step=0, seconds=0.0))
    assert "loss -0.1234" in text
    assert "0 steps/s" in text


def test_errors_inside_pass_through(monkeypatch):
    monkeypatch.setattr(sys, "stderr", Stream(terminal=True))
    with pytest.raises(KeyError, match="inside"), progress_bar(60, show=True):
        raise KeyError("inside")

"""Streams and groups as they should not be: a clear message or a plain result, nothing lost."""

import warnings
from datetime import UTC, datetime, timedelta, timezone

import numpy as np
import pandas as pd
import pytest

import secant
from secant.report import monitoring_page, rendered
from secant.tables.errors import TableError

LINEAR = secant.SklearnRatio(folds=None)
OPTIONS = {"estimator": LINEAR, "n_permutations": 99, "last_is_complete": True}
ROWS = 50
WINDOWS = 6


def frame(n, seed):
    rng = np.random.default_rng(seed)
    return pd.DataFrame({"speed": rng.normal(10.0, 2.0, n), "load": rng.normal(size=n)})


@pytest.fixture
def reference():
    return frame(300, 0)


@pytest.fixture
def stream():
    return frame(ROWS * WINDOWS, 1)


def test_a_sensor_that_is_stuck_is_named(reference, stream):
    stream.loc[3 * ROWS :, "speed"] = 10.0  # the mean of the others
    found = secant.monitor(reference, stream, every=ROWS, **OPTIONS)
    assert found.has_alarm
    assert found.windows[found.since].label == "rows 150–199"
    assert found.columns[0].name == "speed"
    rendered(monitoring_page(found))


def test_a_window_of_equal_rows_is_compared(reference, stream):
    stream.loc[2 * ROWS : 3 * ROWS - 1] = stream.loc[0].to_numpy()
    found = secant.monitor(reference, stream, every=ROWS, **OPTIONS)
    assert [w.found is None for w in found.windows] == [False] * WINDOWS
    assert found.windows[2].found.p_value < 0.05


def test_a_column_that_never_changes_is_quiet(reference, stream):
    for table in (reference, stream):
        table["constant"] = 7.0
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = secant.monitor(reference, stream, every=ROWS, **OPTIONS)
    assert found.proof is None


def test_a_group_with_a_constant_column_is_scored(reference, stream):
    for table in (reference, stream):
        table["e_0"], table["e_1"] = 1.0, table["load"] ** 2
    stream.loc[3 * ROWS :, "e_1"] += 3.0
    found = secant.monitor(reference, stream, every=ROWS, groups={"emb": "e_*"}, **OPTIONS)
    assert found.columns[0].name == "emb"


def test_a_group_of_constants_is_no_change(reference, stream):
    for table in (reference, stream):
        table["e_0"], table["e_1"] = 1.0, 2.0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", secant.ConstantColumnWarning)
        found = secant.compare(
            reference, stream, groups={"emb": "e_*"}, estimator=LINEAR, random_state=0
        )
    group = next(c for c in found.features if c.name == "emb")
    assert (group.margin.mean_shift, group.margin.ks_distance) == (0.0, 0.0)
    assert group.margin.p_value > 0.05


def test_hostile_names_of_groups_are_on_one_line_and_escaped(reference, stream):
    name = "<img src=x>\n\x1b[31m$"
    stream["speed"] += 5.0
    found = secant.monitor(
        reference, stream, every=ROWS, groups={name: ["speed", "load"]}, **OPTIONS
    )
    assert "\x1b" not in str(found)
    assert len(found.verdict.splitlines()) == 1
    assert "<img" not in rendered(monitoring_page(found))


def test_a_column_of_a_group_that_disappears_is_noted(reference, stream):
    for table in (reference, stream):
        for i in range(3):
            table[f"e_{i}"] = np.random.default_rng(i).normal(size=len(table))
    found = secant.monitor(
        reference, stream.drop(columns="e_1"), every=ROWS, groups={"emb": "e_*"}, **OPTIONS
    )
    assert any("lacks 'e_1'" in note for note in found.notes)
    gone = stream.drop(columns=["e_0", "e_1", "e_2"])
    with pytest.raises(TableError, match="Group 'emb': No column matches"):
        secant.monitor(reference, gone, every=ROWS, groups={"emb": "e_*"}, **OPTIONS)


def test_zones_of_reference_and_stream_may_differ(reference, stream):
    start = datetime(2024, 3, 30, tzinfo=timezone(timedelta(hours=2)))
    stream["when"] = pd.date_range(start, periods=len(stream), freq="30min").tz_convert(
        "Europe/Berlin"
    )
    reference["when"] = pd.date_range(datetime(2024, 1, 1, tzinfo=UTC), periods=300, freq="1h")
    found = secant.monitor(reference, stream, time="when", every="1d", **OPTIONS)
    labels = [w.label for w in found.windows]
    # 31 March has 23 hours in Berlin.
    assert labels[0] == "2024-03-29" or labels[0] == "2024-03-30"
    assert next(w.n_rows for w in found.windows if w.label == "2024-03-31") == 46
    assert found.zone == "Europe/Berlin"
    assert sum(w.n_rows for w in found.windows) == len(stream)


def test_rows_in_any_order_give_the_same_windows(reference, stream):
    stream["when"] = pd.date_range("2024-01-01", periods=len(stream), freq="30min")
    mixed = stream.sample(frac=1.0, random_state=0)
    same, other = (
        secant.monitor(reference, s, time="when", every="1d", **OPTIONS) for s in (stream, mixed)
    )
    assert [(w.label, w.n_rows) for w in same.windows] == [
        (w.label, w.n_rows) for w in other.windows
    ]
    assert any("were sorted" in note for note in other.notes)


def test_a_gap_of_months_is_shown_as_empty_windows(reference, stream):
    when = pd.date_range("2024-01-01", periods=len(stream), freq="1h")
    stream["when"] = when.where(np.arange(len(stream)) < 150, when + pd.Timedelta(days=90))
    found = secant.monitor(reference, stream, time="when", every="1w", **OPTIONS)
    empty = [w for w in found.windows if w.why_not == "no rows"]
    assert len(empty) >= 11
    assert sum(w.n_rows for w in found.windows) == len(stream)


def test_an_empty_stream_is_refused(reference, stream):
    with pytest.raises(TableError, match="There must be rows"):
        secant.monitor(reference, stream.head(0), every=ROWS, **OPTIONS)

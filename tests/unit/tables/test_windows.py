"""Windows of a table: by rows and by time, with gaps, time zones and errors."""

from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

import numpy as np
import pyarrow as pa
import pytest

from secant.tables.errors import TableError
from secant.tables.windows import Every, cut, order_in_time

BERLIN = ZoneInfo("Europe/Berlin")


def windows_of(times, every, **options):
    table = pa.table({"t": times})
    return cut(table, "t", Every.of(every), rows=np.arange(table.num_rows), **options)


@pytest.mark.parametrize(
    ("given", "expected"),
    [(500, "500 rows"), ("500", "500 rows"), ("1d", "1d"), (" 6 H ", "6h"), ("2mo", "2mo")],
)
def test_lengths(given, expected):
    assert str(Every.of(given)) == expected


@pytest.mark.parametrize("given", [0, 1, -5, True, "1y", "d", "1.5h", "0d", None, 2.5])
def test_refused_lengths(given):
    with pytest.raises(ValueError, match="expected a number of rows"):
        Every.of(given)


def test_rows_without_a_time():
    found = cut(None, None, Every.of(4), rows=np.arange(10))
    assert [w.label for w in found.windows] == ["rows 0–3", "rows 4–7", "rows 8–9"]
    assert [w.is_complete for w in found.windows] == [True, True, False]
    closed = cut(None, None, Every.of(4), rows=np.arange(10), last_is_complete=True)
    assert closed.windows[-1].is_complete
    with pytest.raises(ValueError, match="need a column of times"):
        cut(None, None, Every.of("1d"), rows=np.arange(10))


def test_days_are_sorted_and_empty_ones_are_kept():
    found = windows_of([date(2024, 3, 4), date(2024, 3, 1), date(2024, 3, 1)], "1d")
    labels = [w.label for w in found.windows]
    assert labels == ["2024-03-01", "2024-03-02", "2024-03-03", "2024-03-04"]
    assert [w.rows.tolist() for w in found.windows] == [[1, 2], [], [], [0]]
    assert not found.is_sorted
    assert not found.windows[-1].is_complete


def test_rows_of_equal_times_keep_their_order():
    found = windows_of([date(2024, 3, 1)] * 5, "1d")
    assert found.windows[0].rows.tolist() == [0, 1, 2, 3, 4]
    assert found.is_sorted


def test_weeks_start_on_monday_and_months_on_the_first():
    days = [date(2024, 2, 25), date(2024, 2, 26), date(2024, 3, 1)]  # a Sunday, a Monday
    assert [w.label for w in windows_of(days, "1w").windows] == ["2024-02-19", "2024-02-26"]
    assert [w.label for w in windows_of(days, "1mo").windows] == ["2024-02", "2024-03"]
    assert windows_of([date(1969, 12, 31)], "1mo").windows[0].label == "1969-12"


def test_days_are_those_of_the_time_zone():
    midnight = datetime(2024, 3, 31, tzinfo=BERLIN).astimezone(UTC)  # a day of 23 hours
    moments = [midnight + timedelta(hours=h) for h in range(47)]
    column = pa.array(moments, pa.timestamp("us", "Europe/Berlin"))
    found = windows_of(column, "1d")
    assert [w.label for w in found.windows] == ["2024-03-31", "2024-04-01"]
    assert [w.rows.size for w in found.windows] == [23, 24]
    assert found.zone == "Europe/Berlin"
    hours = windows_of(column, "1h")
    assert hours.zone == "UTC"
    assert all(w.rows.size == 1 for w in hours.windows)


def test_times_as_text():
    assert len(windows_of(["2024-03-01", "2024-03-03T10:00:00"], "1d").windows) == 3
    zoned = windows_of(["2024-03-01T23:30:00-02:00", "2024-03-02T01:00:00Z"], "1d")
    assert [w.label for w in zoned.windows] == ["2024-03-02"]


@pytest.mark.parametrize(
    ("times", "every", "message"),
    [
        (["3 May", "4 May"], "1d", "texts that are no times"),
        ([1.0, 2.0], "1d", "holds number values; expected dates or times"),
        ([True, False], 10, "holds boolean values"),
        ([date(2024, 3, 1), None], "1d", "lacks the time of 1 of 2 rows"),
        ([1.0, float("nan")], 10, "lacks the time of 1 of 2 rows"),
        ([date(1970, 1, 1), date(2024, 3, 1)], "1d", "19,784; 10,000 are the most"),
    ],
)
def test_refused_times(times, every, message):
    with pytest.raises(TableError, match=message):
        windows_of(times, every)


def test_an_unknown_zone_is_named():
    column = pa.array([0], pa.timestamp("us", "Mars/Olympus"))
    with pytest.raises(TableError, match="Mars/Olympus"):
        windows_of(column, "1d")


def test_numbers_order_windows_of_rows():
    found = windows_of([3.0, 1.0, 2.0, 0.0], 2)
    assert [w.label for w in found.windows] == ["0", "2"]
    assert [w.rows.tolist() for w in found.windows] == [[3, 1], [2, 0]]


def test_order_in_time():
    table = pa.table({"t": [2, 1], "text": ["a", "b"]})
    assert order_in_time(table, "t", Every.of(2)).tolist() == [1, 0]
    for name in (None, "absent", "text"):
        assert order_in_time(table, name, Every.of(2)) is None

"""Watching a stream: windows, alarm, columns, state, and what goes wrong with tables in time."""

import json
from dataclasses import replace
from datetime import UTC, datetime

import numpy as np
import pandas as pd
import polars as pl
import pytest

import secant
from secant.tables.errors import TableError
from secant.tasks.comparison_result import Degree

LINEAR = secant.SklearnRatio(folds=None)
QUICK = {"estimator": LINEAR, "n_permutations": 19}
N, PER_DAY, CHANGE = 240, 60, 4


def frame(n, rng, shift=0.0, start="2024-03-01"):
    """Rows with a time every 24 minutes, so that a day has 60."""
    return pd.DataFrame(
        {
            "when": pd.date_range(start, periods=n, freq="24min"),
            "age": rng.normal(shift, 1.0, n),
            "income": rng.normal(size=n),
        }
    )


@pytest.fixture(scope="module")
def tables():
    """A reference and a stream of seven days whose ages are 1.5 s.d. higher from day 4 on."""
    rng = np.random.default_rng(0)
    stream = frame(7 * PER_DAY, rng)
    stream.loc[stream["when"] >= "2024-03-05", "age"] += 1.5
    return frame(N, rng).drop(columns="when"), stream


@pytest.fixture(scope="module")
def found(tables):
    return secant.monitor(*tables, time="when", every="1d", last_is_complete=True, **QUICK)


def test_the_alarm_says_what_since_when_and_how_large(found):
    assert found.has_alarm
    assert found.windows[found.since].label == "2024-03-05"
    assert found.windows[found.alarm].label in ("2024-03-05", "2024-03-06")
    (age, *_) = found.columns
    assert (age.name, age.since) == ("age", "2024-03-05")
    assert age.direction.endswith("s.d. higher")
    assert age.mean_shift == pytest.approx(1.5, abs=4.5 * (1 / 60 + 1 / N) ** 0.5)
    assert found.degree is Degree.STRONG
    assert found.anytime_p_value < 0.05
    assert found.headline == "stream has changed since 2024-03-05"


def test_a_window_is_what_compare_finds(tables, found):
    reference, stream = tables
    rows = stream[stream["when"].dt.date == datetime(2024, 3, 6, tzinfo=UTC).date()]
    same = secant.compare(
        reference, rows.drop(columns="when"), estimator=LINEAR, n_permutations=19, random_state=0
    )
    window = found.windows[5].found
    assert window.p_value == same.p_value
    assert window.kl == pytest.approx(same.kl.estimate, abs=1e-12)
    assert window.overlap_interval == pytest.approx(same.overlap_interval, abs=1e-12)
    first = rows.index[same.unlike_1.numbers[0]]
    assert window.rows[0] == first
    assert window.cells[0][0] == f"{stream.loc[first, 'age']:.6g}"


def test_the_band_is_of_the_reference(found):
    assert found.band.n_blocks == 4
    assert found.band.n_rows == PER_DAY
    assert 0.6 < found.band.overlap <= 1.0
    assert "4 random blocks of 60 rows" in found.band.words


def test_a_stream_like_the_reference_is_quiet(tables):
    quiet = secant.monitor(
        tables[0], frame(300, np.random.default_rng(5)), time="when", every=60, **QUICK
    )
    assert not quiet.has_alarm
    assert quiet.degree is Degree.SAME
    assert quiet.columns == ()
    assert "looks like the reference" in str(quiet)


def test_it_continues_where_it_stopped(tables, found, tmp_path, monkeypatch):
    reference, stream = tables
    place = tmp_path / "state.json"
    options = {"time": "when", "every": "1d", "state": place, **QUICK}
    first = secant.monitor(reference, stream[: 3 * PER_DAY + 7], **options)
    assert [w.is_open for w in first.windows] == [False] * 3 + [True]
    assert first.n_new == 3
    calls = []
    compared = secant.compare
    monkeypatch.setattr(
        "secant.tasks.monitoring.compare", lambda *a, **k: calls.append(1) or compared(*a, **k)
    )
    second = secant.monitor(reference, stream, last_is_complete=True, **options)
    assert len(calls) == second.n_new == 4
    for one, other in zip(second.windows, found.windows, strict=True):
        assert one.log_evidence == pytest.approx(other.log_evidence, abs=1e-9)
        assert one.digest == other.digest
    assert second.verdict == found.verdict
    calls.clear()
    third = secant.monitor(reference, stream, last_is_complete=True, **options)
    assert calls == []
    assert third.windows == second.windows


def test_a_state_of_something_else_is_refused(tables, tmp_path):
    reference, stream = tables
    place = tmp_path / "state.json"
    options = {"time": "when", "every": "1d", **QUICK}
    secant.monitor(reference, stream[:150], state=place, **options)
    with pytest.raises(ValueError, match="another reference or other settings"):
        secant.monitor(reference[1:], stream, state=place, **options)
    with pytest.raises(ValueError, match=r"rows of window '2024-03-02' .* late or were corrected"):
        secant.monitor(reference, stream.drop(index=70), state=place, **options)
    with pytest.raises(ValueError, match="give the whole stream"):
        secant.monitor(reference, stream[120:], state=place, **options)
    text = place.read_text()
    for bad in ("", "{}", text[:-9], text.replace("/1", "/9"), text.replace('"scores":', '"x":')):
        place.write_text(bad)
        with pytest.raises(ValueError, match="no state of a watch"):
            secant.monitor(reference, stream, state=place, **options)
        assert place.read_text() == bad


def test_new_categories_and_medians_do_not_spoil_a_state(tables, tmp_path):
    rng = np.random.default_rng(0)
    reference, stream = (t.assign(colour=rng.choice(["red", "blue"], len(t))) for t in tables)
    reference.loc[3, "age"] = stream.loc[5, "age"] = np.nan
    stream.loc[150:, "colour"] = "green"
    options = {"time": "when", "every": "1d", "missing": "impute", **QUICK}
    options["state"] = tmp_path / "state.json"
    first = secant.monitor(reference, stream[:130], **options)
    second = secant.monitor(reference, stream[:190], **options)
    assert (first.n_new, second.n_new) == (2, 1)
    assert second.windows[:2] == first.windows[:2]
    assert second.windows[2].found.changed[0].name.startswith("colour=")


def test_infinite_numbers_survive_the_state(tables, tmp_path):
    """A column that is constant in a window, and another constant in the reference."""
    reference, stream = tables[0].assign(flag=0.0), tables[1].assign(flag=1.0)
    options = {"time": "when", "every": "1d", "state": tmp_path / "s.json", **QUICK}
    first = secant.monitor(reference, stream, **options)
    assert first.columns[0].name == "flag"
    assert first.columns[0].mean_shift == np.inf
    json.loads((tmp_path / "s.json").read_text(), parse_constant=pytest.fail)
    assert secant.monitor(reference, stream, **options).windows[:-1] == first.windows[:-1]


def test_gaps_few_rows_and_disorder_are_shown(tables):
    reference, stream = tables
    kept = stream[(stream["when"] < "2024-03-02 02:00") | (stream["when"] >= "2024-03-04")]
    mixed = kept.sample(frac=1.0, random_state=0)
    found = secant.monitor(reference, mixed, time="when", every="1d", **QUICK)
    reasons = [w.why_not for w in found.windows]
    assert reasons[:4] == ["", "too few rows: 5; 20 are needed", "no rows", ""]
    assert reasons[-1] == "still open"
    assert "not in the order of time" in found.notes[0]
    row = found.windows[0].found.rows[0]
    assert mixed.iloc[row]["when"] < pd.Timestamp("2024-03-02")


def test_a_column_that_disappears_or_appears(tables):
    reference, stream = tables
    other = stream.rename(columns={"income": "wealth"})
    found = secant.monitor(reference, other, time="when", every="1d", **QUICK)
    assert "lacks 'income' of the reference" in found.notes[0]
    assert "has 'wealth', which the reference lacks" in found.notes[1]
    with pytest.raises(TableError, match="share no column"):
        secant.monitor(reference[["income"]], other, time="when", every="1d", **QUICK)


def test_a_column_without_values_in_one_window(tables):
    reference, stream = tables
    broken = stream.copy()
    broken.loc[broken["when"].dt.day == 2, "income"] = np.nan
    options = {"time": "when", "every": "1d", **QUICK}
    with pytest.raises(TableError, match="Values are missing in the stream: 'income' 60 of 420"):
        secant.monitor(reference, broken, **options)
    dropped = secant.monitor(reference, broken, missing="drop", **options)
    assert dropped.windows[1].why_not == "too few rows: 0 of 60, no value of income; 20 are needed"
    assert dropped.windows[1].gone == ("income",)
    imputed = secant.monitor(reference, broken, missing="impute", **options)
    assert imputed.windows[1].gone == ("income",)
    assert imputed.windows[1].found.changed[0].name == "income"


def test_another_column_of_dates_is_pointed_out(tables):
    reference, stream = tables
    dated = reference.assign(born=pd.Timestamp("2000-01-01"))
    found = secant.monitor(
        dated, stream[:70].assign(born=stream["when"]), time="when", every="1d", **QUICK
    )
    assert found.notes == ("Dates always increase: leave 'born' out, or take differences.",)


def test_rows_without_a_time(tables):
    reference, stream = tables
    stream = stream.copy()
    stream.loc[3, "when"] = pd.NaT
    options = {"time": "when", "every": "1d", **QUICK}
    with pytest.raises(TableError, match="lacks the time of 1 of 420 rows"):
        secant.monitor(reference, stream, **options)
    found = secant.monitor(reference, stream, missing="drop", **options)
    assert found.windows[0].n_rows == PER_DAY - 1
    assert "1 rows of the stream have no time" in found.notes[0]


def test_a_window_that_is_apart_is_no_network(tables):
    stream = tables[1][PER_DAY : 2 * PER_DAY + 5].copy()
    stream.loc[:119, "age"] += 100.0
    found = secant.monitor(tables[0][:70], stream, time="when", every="1d", n_permutations=19)
    window = found.windows[0].found
    assert window.degree is Degree.APART
    assert window.model == "SklearnRatio, as given"
    assert found.band.n_blocks == 0
    assert "too few rows" in found.band.words


def test_a_change_that_is_tolerated_raises_no_alarm(found):
    tolerant = replace(found, least_overlap=0.2)
    assert tolerant.proof is not None
    assert not tolerant.has_alarm
    assert "0.2 is tolerated" in tolerant.verdict
    assert replace(found, least_overlap=0.9).has_alarm


def test_frames_files_and_arrays(tables, found, tmp_path):
    reference, stream = tables[0], tables[1][: 2 * PER_DAY]
    reference.to_parquet(tmp_path / "reference.parquet")
    stream.to_csv(tmp_path / "stream.csv", index=False)
    options = {"time": "when", "every": "1d", "last_is_complete": True, **QUICK}
    files = secant.monitor(tmp_path / "reference.parquet", str(tmp_path / "stream.csv"), **options)
    polars = secant.monitor(pl.from_pandas(reference), pl.from_pandas(stream), **options)
    numbers = stream.drop(columns="when").to_numpy()
    arrays = secant.monitor(reference.to_numpy(), numbers, every=PER_DAY, **QUICK)
    evidence = [w.log_evidence for w in found.windows[:2]]
    for other in (arrays, files, polars):
        assert [w.log_evidence for w in other.windows] == pytest.approx(evidence, abs=1e-9)
    assert files.sample_names == ("reference.parquet", "stream.csv")
    assert arrays.windows[0].label == "rows 0–59"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"time": "wehn", "every": "1d"}, "no column 'wehn' of times; did you mean 'when'"),
        ({"time": "income", "every": "1d"}, "'income' holds number values; expected dates"),
        ({"every": "1d"}, "need a column of times"),
        ({"time": "when", "every": "1y"}, "`every` is '1y'"),
        ({"time": "when", "every": "1d", "level": 5}, "`level` must lie between 0 and 1"),
        ({"time": "when", "every": "1d", "least_overlap": 0}, "`least_overlap` must be above 0"),
        ({"time": "when", "every": "1d", "n_permutations": 0}, "`n_permutations` must be"),
    ],
)
def test_refusals(tables, options, message):
    with pytest.raises(ValueError, match=message):
        secant.monitor(*tables, **options)


def test_arrays_have_no_column_of_times(tables):
    with pytest.raises(ValueError, match="`time` must be None for arrays"):
        secant.monitor(np.zeros((50, 2)), tables[1], time="when", every="1d")


def test_hostile_names_and_cells_are_on_one_line(tables):
    name = "a\nb\x1b[31m<script>"
    frames = [t.rename(columns={"age": name}) for t in tables]
    found = secant.monitor(
        frames[0], frames[1][:70], time="when", every="1d", sample_names=("r\n", "s\x1b"), **QUICK
    )
    assert "\x1b" not in str(found)
    assert len(found.verdict.splitlines()) == 1

"""Groups of columns count, are tested and are reported as one."""

import json

import numpy as np
import pandas as pd
import pytest
from scipy.stats import norm
from typer.testing import CliRunner

import secant
from secant.cli import app
from secant.limits import LimitError
from secant.tables.groups import ColumnGroup
from secant.tasks.anytime import AnytimeTest, WindowScores, likely_start
from secant.tasks.column_parts import column_parts
from secant.tasks.inference import pooled_p_value

LINEAR = secant.SklearnRatio(folds=None)
WIDTH, SHIFT = 10, 0.3  # every column of the group is shifted by this
DISTANCE = SHIFT * WIDTH**0.5  # standard deviations of the best linear score


def frame(n, seed, shift=0.0):
    rng = np.random.default_rng(seed)
    found = {f"e_{i}": rng.normal(shift, 1.0, n) for i in range(WIDTH)}
    return pd.DataFrame({"age": rng.normal(size=n), **found, "city": rng.choice(["a", "b"], n)})


@pytest.fixture(scope="module")
def tables():
    return frame(1500, 0), frame(1500, 1, SHIFT)


@pytest.fixture(scope="module")
def found(tables):
    return secant.compare(*tables, groups={"emb": "e_*"}, estimator=LINEAR, random_state=0)


def test_a_group_has_the_shift_and_the_distance_of_its_best_score(found):
    group = found.features[0]
    assert (group.name, group.n_columns) == ("emb", WIDTH)
    error = (2 / 1500) ** 0.5  # of a mean shift; the learned score is a little worse than the best
    assert group.margin.mean_shift == pytest.approx(DISTANCE, abs=4.5 * error)
    best = 2.0 * norm.cdf(DISTANCE / 2.0) - 1.0
    assert group.margin.ks_distance == pytest.approx(best, abs=4.5 * error / 2.0)
    assert group.margin.p_value == 0.001


def test_a_group_is_replaced_as_a_whole(found):
    """(A2): for a linear log ratio the group carries |shift|² nats."""
    group = found.features[0]
    assert group.contribution == pytest.approx(DISTANCE**2, abs=4.5 * group.contribution_error)


def test_gradients_of_a_group_are_the_sum_over_its_columns(tables):
    tiny = secant.ClassifierRatio(training=secant.Training(steps=20))
    given = [table.drop(columns="city") for table in tables]
    same = {"estimator": tiny, "n_folds": 2, "n_permutations": 19, "random_state": 0}
    each = {c.name: c.gradient for c in secant.compare(*given, **same).features}
    together = secant.compare(*given, groups={"emb": "e_*"}, **same).features
    group = next(c for c in together if c.name == "emb")
    assert group.gradient == pytest.approx(sum(each[f"e_{i}"] for i in range(WIDTH)), rel=1e-5)


def test_a_group_is_one_row_of_every_list(found):
    assert sorted(c.name for c in found.features) == ["age", "city=a", "city=b", "emb"]
    assert found.unlike_1.columns == ("age", "city")
    assert found.margins[0].name == "emb"
    shift = f"{found.features[0].margin.mean_shift:.2f} s.d. higher in x_1"
    assert found.changes == (f"“emb” (10 columns, their score {shift})",)
    assert "groups={'emb': 'e_*'}" in found.call


def test_all_columns_can_be_one_group(tables):
    given = [table.drop(columns=["age", "city"]) for table in tables]
    found = secant.compare(*given, groups={"all": "*"}, estimator=LINEAR, random_state=0)
    assert [c.name for c in found.features] == ["all"]
    assert found.unlike_1.columns == ()


def test_a_group_of_one_column_is_that_column(tables):
    names = {"years": ["age"]}
    parts = column_parts(
        *(t[["age", "e_0"]].to_numpy() for t in tables),
        ["age", "e_0"],
        (ColumnGroup("years", (0,)),),
        n_permutations=19,
        seed=0,
    )
    plain = secant.diagnostics.feature_drift(*(t[["age"]].to_numpy() for t in tables))
    assert [p.margin.name for p in parts] == ["e_0", *names]
    assert parts[1].margin.ks_distance == plain[0].ks_distance


def test_the_joint_test_of_a_group_keeps_its_level():
    p_values = []
    for seed in range(200):
        rng = np.random.RandomState(seed)
        x_0, x_1 = rng.normal(size=(40, 3)), rng.normal(size=(40, 3))
        p_values.append(pooled_p_value(x_0, x_1, n_permutations=39, rng=rng, singles=()))
    assert np.mean(np.array(p_values) <= 0.05) <= 0.05 + 3.0 * (0.05 * 0.95 / 200) ** 0.5


def test_a_limit_is_about_the_group(tables):
    limits = {"columns": {"emb": {"ks": "<= 0.1"}, "*": {"p_value": ">= 1e-4"}}}
    found = secant.check(*tables, groups={"emb": "e_*"}, limits=limits)
    assert [row.name for row in found.rows] == [
        "columns.emb.ks",
        "columns.age.p_value",
        "columns.city.p_value",
        "columns.emb.p_value",
    ]
    assert [row.name for row in found.failed] == ["columns.emb.ks"]
    carried = {"columns": {"emb": {"contribution": "<= 0.1"}}}
    same = secant.check(*tables, groups={"emb": "e_*"}, limits=carried, estimator=LINEAR)
    assert not same.passed


def test_a_limit_on_a_group_that_cannot_fail_is_refused(tables):
    limits = {"columns": {"emb": {"p_value": ">= 1e-4"}}}
    with pytest.raises(LimitError, match=r"columns\.emb\.p_value >= 0\.0001 can never fail"):
        secant.check(*tables, groups={"emb": "e_*"}, limits=limits)


def test_a_watch_names_the_group_and_continues(tables, tmp_path):
    reference, later = tables[0], frame(400, 2, SHIFT)
    stream = pd.concat([frame(200, 3), later], ignore_index=True)
    given = {"every": 100, "groups": {"emb": "e_*"}, "estimator": LINEAR, "n_permutations": 99}
    found = secant.monitor(reference, stream, state=tmp_path / "s.json", **given)
    assert found.has_alarm
    assert found.windows[found.since].label == "rows 200–299"
    assert found.columns[0].name == "emb"
    assert found.latest[1].row_columns == ("age", "city")
    again = secant.monitor(reference, stream, state=tmp_path / "s.json", **given)
    assert (again.n_new, again.log_evidence) == (0, found.log_evidence)
    with pytest.raises(ValueError, match="other settings"):
        secant.monitor(reference, stream, state=tmp_path / "s.json", **{**given, "groups": None})


def test_evidence_of_a_group_alone_raises_the_alarm():
    """A shift along one direction of 20 columns, none of which is ranked by itself."""
    rng, d = np.random.default_rng(0), 20
    direction = np.full(d, 1.5 / d**0.5)
    test = AnytimeTest(
        rng.normal(size=(1000, d + 1)), seed=0, columns=np.array([d]), groups=[range(d)]
    )
    scores = [test.add(i, rng.normal(size=(100, d + 1))) for i in range(3)]
    scores += [
        test.add(3 + i, rng.normal(size=(100, d + 1)) + np.append(direction, 0.0)) for i in range(3)
    ]
    assert test.log_evidence > np.log(20.0)
    assert scores[-1].groups[0] > 3.0 * scores[-1].n_learned ** 0.5
    assert likely_start(scores) == 3


def test_wealth_is_shared_by_columns_and_groups():
    from secant.tasks.anytime import Evidence

    nothing = WindowScores(0.0, 0, (0.0, 0.0), 0, (0.0, 0.0))
    evidence = Evidence(2, 2)
    evidence.add(nothing)
    shares = np.exp(evidence._weighted)
    assert shares.sum() == pytest.approx(1.0)
    assert shares == pytest.approx([0.5, *[0.5 / 6] * 6])


@pytest.mark.parametrize("name", ["compare", "check", "monitor"])
def test_commands_take_groups(name, tables, tmp_path):
    places = [tmp_path / "a.csv", tmp_path / "b.csv"]
    for table, place in zip(tables, places, strict=True):
        table.head(300).to_csv(place, index=False)
    more = {"compare": [], "check": ["--limits", tmp_path / "l.toml"], "monitor": ["--every", 100]}
    (tmp_path / "l.toml").write_text("[columns.emb]\nks = '<= 0.01'\n", encoding="utf-8")
    given = [name, *places, "--group", "emb=e_*", *more[name], "--json", "-q"]
    found = CliRunner().invoke(app, [str(a) for a in given])
    assert found.exit_code == (0 if name == "compare" else 1), found.output
    result = json.loads(found.stdout)["result"]
    shown = {
        "compare": lambda: result["features"][0]["name"],
        "check": lambda: result["limits"][0]["name"],
        "monitor": lambda: result["columns"][0]["name"],
    }[name]()
    assert shown in ("emb", "columns.emb.ks")


def test_a_group_without_columns_is_refused_by_a_command(tables, tmp_path):
    place = tmp_path / "a.csv"
    tables[0].head(30).to_csv(place, index=False)
    for value, words in (("emb", "NAME=COLUMNS"), ("emb=f_*", "No column matches 'f_*'")):
        found = CliRunner().invoke(app, ["compare", str(place), str(place), "--group", value])
        assert found.exit_code == 2
        assert words in found.stderr

"""The verdict and the report."""

from dataclasses import replace

import numpy as np
import pytest

from secant.diagnostics import (
    Diagnostics,
    Normaliser,
    RatioDiagnostics,
    feature_drift,
    log_normaliser,
)
from secant.integration import SelfCheck
from secant.training import Status

SHIFT = 0.7


def found(n=2000, slope=1.0, shift=SHIFT, columns=7, **training):
    rng = np.random.default_rng(0)
    x_0, x_1 = rng.normal(size=(n, columns)), rng.normal(size=(n, columns))
    x_1[:, 0] += shift
    scores = [slope * (shift * x[:, 0] - 0.5 * shift**2) for x in (x_0, x_1)]
    settings = {"status": Status.FINISHED, "best_step": 250, "steps": 300, "seconds": 2.5}
    common = RatioDiagnostics.from_scores(
        *scores,
        loss=(-0.5, 0.01),
        drift=feature_drift(x_0, x_1),
        self_check=SelfCheck(0.01, 0.02, 9),
    )
    return Diagnostics(**vars(common), **(settings | training))


def test_a_good_fit():
    lines = str(found()).splitlines()
    assert lines[0].startswith("usable for importance weights: yes (")
    assert found().verdict
    titles = [line for line in lines[1:] if line and not line.startswith(" ")]
    assert titles == [
        "fit",
        "normaliser",
        "overlap",
        "calibration",
        "self-check",
        "feature drift, x_0 to x_1, the 5 largest of 7",
    ]
    assert "300 steps in 2.5 s, the best after 250. All steps done." in str(found())
    assert max(len(line) for line in lines) < 100
    doubtful = str(replace(found(), normaliser=Normaliser(0.1, 0.2, 0.9, 2000)))
    assert "+0.100 ± 0.200 nats, unreliable\n" in doubtful


def test_lines_are_aligned():
    body = [line for line in str(found()).splitlines() if line.startswith("  ")]
    values = body[: body.index(next(line for line in body if line.startswith("  column ")))]
    assert {line[32:34] for line in values} == {"  "}
    assert all(line[34] != " " for line in values)
    table = body[len(values) :]
    assert len(table) == 6  # a header and five columns
    assert len({len(line) for line in table}) == 1
    assert table[1].startswith("  column 0 ")  # the one that moved


@pytest.mark.parametrize(
    ("trouble", "reason", "advice"),
    [
        (
            {"effective_sample_size": 3.14, "n_rows": 1000},
            "because the effective sample size is 3.1 of 1000 rows of x_0",
            "x_0 rows nearer",
        ),
        (
            {"normaliser": Normaliser(0.0, 0.01, 0.93, 1000)},
            "because heavy-tailed weights, Pareto shape 0.93, at most 0.67",
            "x_0 rows nearer",
        ),
        (
            {"normaliser": Normaliser(0.0, 0.01, np.nan, 20)},
            "because 20 rows of x_0 are too",
            "100",
        ),
        (
            {"normaliser": Normaliser(-4.0, 0.01, 0.1, 1000)},
            r"because the ratio averages exp\(-4\) over x_0, the true one 1",
            "SecantRatio",
        ),
        (
            {"status": Status.DIVERGED},
            r"because training ended early \(diverged, step 300\)",
            "learning rate a hundred times smaller",
        ),
    ],
)
def test_a_bad_fit_is_refused_with_a_number_and_advice(trouble, reason, advice):
    bad = replace(found(), **trouble)
    assert not bad.verdict
    first, second = str(bad).splitlines()[:2]
    assert first.startswith("usable for importance weights: no, ")
    with pytest.raises(AssertionError, match=reason):
        raise AssertionError(first)
    assert second.startswith("advice: ")
    assert advice in second


def test_a_log_ratio_too_steep_is_told():
    first = str(found(slope=2.0)).splitlines()[0]
    assert "no, because" in first
    assert "too steep, recalibration slope 0.5" in first
    assert "too flat, recalibration slope 2." in str(found(slope=0.5)).splitlines()[0]


def test_samples_apart_leave_the_slope_unknown_and_print():
    text = str(found(n=200, shift=30.0))
    assert "slope                           unknown" in text
    assert "0.000 ± 0.000 (0: nothing, 1: the same)" in text


def test_long_names_are_cut_and_missing_groups_left_out():
    x = np.random.default_rng(0).normal(size=(100, 1))
    drift = feature_drift(x, x + 1.0, ["a very long name of a column indeed, longer than most"])
    text = str(replace(found(), drift=drift, self_check=None))
    assert "a very long name of a column in…  " in text
    assert "self-check" not in text
    assert "feature drift" not in str(replace(found(), drift=()))


def test_normaliser_as_text():
    good = Normaliser(0.0123, 0.02, 0.4, 1000)
    assert good.is_reliable
    assert str(good) == "+0.012 ± 0.020 nats"
    heavy = replace(good, pareto_shape=0.9)
    assert not heavy.is_reliable
    assert "unreliable: heavy-tailed weights, Pareto shape 0.90, at most 0.67" in str(heavy)
    few = replace(good, standard_error=0.5)
    assert "unreliable: 4.0 effective rows of 1000" in str(few)


@pytest.mark.parametrize(
    ("shape", "n_rows", "reliable"),
    [
        (0.69, 10**6, True),
        (0.71, 10**6, False),  # 0.7 at most
        (0.49, 100, True),
        (0.51, 100, False),  # 1 − 1/log10(100) = ½
        (np.nan, 1000, False),
        (-np.inf, 1000, True),
    ],
)
def test_the_largest_pareto_shape_depends_on_the_rows(shape, n_rows, reliable):
    assert Normaliser(0.0, 1e-3, shape, n_rows).is_reliable is reliable


def test_the_normaliser_knows_its_effective_rows_and_tail():
    z = np.random.default_rng(0).standard_normal(5000)
    mild = log_normaliser(SHIFT * z)
    weights = np.exp(SHIFT * z)
    assert mild.effective_rows == pytest.approx(weights.sum() ** 2 / (weights**2).sum(), rel=1e-9)
    assert mild.is_reliable
    assert not log_normaliser(4.0 * z).is_reliable
    assert not Normaliser(0.0, 0.1).is_reliable  # nothing known of its rows

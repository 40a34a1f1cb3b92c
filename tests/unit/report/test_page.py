"""Pages: their texts, that they are self-contained, and that input is escaped."""

import base64
import hashlib
import os
import re
from dataclasses import replace
from html.parser import HTMLParser
from itertools import pairwise

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from tests.unit.report.shown import HOSTILE, compared

import secant
from secant.report import (
    comparison_page,
    information_page,
    markdown,
    matrix_page,
    rendered,
    write_comparison,
    write_density,
    write_page,
)
from secant.report.blocks import Pairs, Picture, Section, Text
from secant.report.page import Page, write_text
from secant.report.tables import text_table
from secant.tasks.information import MutualInformation, OnPath


class Outline(HTMLParser):
    """The tags of a page, the ids it has and those it points to."""

    def __init__(self, html):
        super().__init__()
        self.tags, self.attributes = [], []
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes.append(dict(attrs))

    def of(self, tag):
        return [a for t, a in zip(self.tags, self.attributes, strict=True) if t == tag]


def matrix(names=("a", "b", "c")):
    estimate = np.array([[np.nan, 0.5, 0.1], [0.5, np.nan, 0.0], [0.1, 0.0, np.nan]])
    p_value = np.where(estimate > 0.3, 0.01, 0.4)
    return secant.MutualInformationMatrix(names, estimate, np.full((3, 3), 0.02), p_value, "nats")


def information(found, **changes):
    pointwise = np.random.default_rng(0).normal(0.4, 1.0, 200)
    diagnostics = tuple(fit.diagnostics for fit in found.fits if fit.diagnostics is not None)
    fields = {
        "estimate": 0.4,
        "standard_error": 0.02,
        "p_value": 0.005,
        "pointwise": pointwise,
        "correction": 0.01,
        "base": "nats",
        "confidence": 0.95,
        "is_normalised": True,
        "diagnostics": diagnostics,
        "on_path": OnPath(0.9, 0.01),
    }
    return MutualInformation(**{**fields, **changes})


def pages(found):
    return {
        "comparison": comparison_page(found, command="secant compare a.csv b.csv"),
        "information": information_page(information(found)),
        "matrix": matrix_page(matrix()),
    }


@pytest.fixture(scope="module", params=["comparison", "information", "matrix"])
def html(request, found):
    return rendered(pages(found)[request.param])


def test_a_page_stands_alone(html):
    assert not re.search(r"https?://|@import|url\(", html)
    outline = Outline(html)
    assert all(a["href"].startswith(("#", "data:")) for t in ("a", "link") for a in outline.of(t))
    assert all(a["src"].startswith("data:") for a in outline.of("img"))
    assert not any("src" in a for a in outline.of("script"))


def test_its_policy_names_its_only_script_and_forbids_the_network(html):
    policy = next(a for a in Outline(html).of("meta") if "http-equiv" in a)["content"]
    (script,) = re.findall(r"<script>(.*?)</script>", html, re.DOTALL)
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert f"script-src 'sha256-{digest}'" in policy
    assert policy.startswith("default-src 'none';")


def test_it_can_be_read_by_those_who_cannot_see_it(html):
    outline = Outline(html)
    assert outline.of("html") == [{"lang": "en"}]
    levels = [int(t[1]) for t in outline.tags if re.fullmatch(r"h[1-6]", t)]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(b - a <= 1 for a, b in pairwise(levels))
    ids = [a["id"] for a in outline.attributes if "id" in a]
    assert len(ids) == len(set(ids))
    for attributes in outline.attributes:
        for target in attributes.get("aria-labelledby", "").split():
            assert target in ids
    for svg in outline.of("svg"):
        assert svg.get("aria-hidden") == "true" or svg["role"] == "img"


def test_a_comparison_says_all_it_has_found(found):
    html = rendered(comparison_page(found, command="secant compare old.csv new.csv --seed 0"))
    text = re.sub(r"<[^>]+>", " ", html)
    for needed in (
        "The samples differ strongly:",
        "KL(p₁‖p₀)",
        "KL(p₀‖p₁)",
        "Jensen–Shannon",
        "Share in common",
        "Effective rows of old as new",
        "Log ratio of every row",
        "Typical rows along the path",
        "Calibration",
        "Training",
        "secant compare old.csv new.csv --seed 0",
        "random_state=0)",
        found.versions["jax"],
        "Most of the difference is in “b” (",
        "s.d. higher in new)",
        "weight the rows (secant.importance_weights) or train again",
        "Model: SklearnRatio, as given.",
        f"{found.unlike_1.log_ratio[0]:+.2f}",
    ):
        assert needed in text, needed
    assert html.count("<tr>") == 3 + 5 + 10 + 10 + 1 + 2  # headers, columns, rows, fits


def test_samples_alike_have_no_empty_boxes():
    found = compared(shift=0.0)
    html = rendered(comparison_page(found))
    text = " ".join(re.sub(r"<[^>]+>", " ", html).split())
    assert "No difference was found:" in text
    assert re.search(r"at least \d+ % in common\.", text)
    assert re.search(r"KL\(p₁‖p₀\) .*at most 0\.\d+ nats", text)
    for absent in ("What changed", "least like", r"(?<![\d.])0 ± 0(?![\d.])", r"\bnan\b"):
        assert not re.search(absent, text), absent


def test_what_changed_comes_first_with_a_histogram_of_each_column(found):
    page = comparison_page(found)
    assert page.sections[0].title == "What changed"
    charts = [chart for block in page.sections[0].blocks for chart in block.blocks]
    assert [chart.title for chart in charts] == [margin.name for margin in found.margins]
    assert charts[0].caption == f"{found.features[0].direction('new').capitalize()}."


def test_rows_are_weighted_only_where_weights_have_support(found):
    few = replace(found.kl.support, effective_sample_size=1.0)
    html = rendered(comparison_page(replace(found, kl=replace(found.kl, support=few))))
    assert "importance_weights" not in html.split("<h2")[0]
    assert "collect rows where both samples have some" in html


def test_no_word_of_python_and_no_unrounded_number_is_shown(found):
    html = rendered(comparison_page(found))
    shown = re.sub(r"<[^>]+>", " ", re.sub(r"(?s)<(svg|pre|style|script).*?</\1>", " ", html))
    assert re.findall(r"\bNone\b|\bnan\b|\d\.\d{7,}", shown) == []


def test_wide_tables_say_that_they_scroll(found):
    html = rendered(comparison_page(found))
    assert html.count('class="sideways') == html.count('<table class="sortable"')
    names, one = tuple(f"column {i}" for i in range(14)), np.ones((14, 14))
    wide = secant.MutualInformationMatrix(names, 0.1 * one, 0.02 * one, 0.4 * one, "nats")
    assert 'class="sideways wide"' in rendered(matrix_page(wide))


def test_without_a_path_or_a_training_nothing_is_drawn_in_its_place(found):
    bare = replace(
        found,
        path=None,
        why_no_path="SklearnRatio has no secants.",
        fits=tuple(replace(fit, history=()) for fit in found.fits),
    )
    html = rendered(comparison_page(bare))
    assert "SklearnRatio has no secants." in html
    assert "Training" not in html


def test_hostile_names_and_cells_are_shown_as_they_are_and_do_nothing(hostile):
    html = rendered(comparison_page(hostile, command=HOSTILE[0]))
    outline = Outline(html)
    assert outline.tags.count("script") == 1
    assert outline.tags.count("style") == 1
    assert "img" not in outline.tags
    assert not any(name.startswith("on") for a in outline.attributes for name in a)
    assert "&lt;script&gt;window.pwned=1&lt;/script&gt;" in html
    assert "{{ 7 * 7 }}" in html


def test_a_matrix_names_the_strongest_pair_and_marks_what_is_sure():
    html = rendered(matrix_page(matrix(names=("a", "b<i>", "c"))))
    assert "1 of 3 pairs depend on each other" in html
    assert "“a” and “b&lt;i&gt;” with 0.500 ± 0.020 nats" in html
    assert html.count("0.50 •") == 2


def test_information_shows_its_settings(found):
    shown = information(found, settings={"n_folds": "<7>"})
    assert "&lt;7&gt;" in rendered(information_page(shown))


def test_information_tells_that_opinions_differ(found):
    assert "differ by more than their errors" in rendered(information_page(information(found)))
    agreed = information(found, on_path=OnPath(0.41, 0.02), p_value=0.6, pointwise=None)
    html = rendered(information_page(agreed))
    assert "No dependence was found" in html
    assert "differ by more" not in html
    assert "Which rows carry it" not in html


def test_a_density_tells_its_mass_and_its_least_likely_rows(tmp_path):
    rows = np.random.default_rng(0).normal(size=(300, 2))
    ratio = secant.SklearnRatio(LogisticRegression(), folds=2)
    density = secant.DensityEstimator(base="gaussian", estimator=ratio, random_state=0).fit(rows)
    scores = density.score_samples(rows)
    write_density(tmp_path / "d.html", density, log_density=scores, command="secant density fit")
    html = (tmp_path / "d.html").read_text(encoding="utf-8")
    assert "The density is normalised:" in html
    assert f"{np.sort(scores)[0]:.3f}".replace("-", "−") in html
    assert f'data-value="{int(np.argmin(scores))}"' in html
    assert "gaussian" in html
    assert "log Z" in markdown(density)
    with pytest.raises(NotFittedError):
        write_density(tmp_path / "e.html", secant.DensityEstimator())


def test_sections_of_text_tables_and_pictures_make_a_page(tmp_path):
    picture = tmp_path / "p.png"
    picture.write_bytes(b"\x89PNG-not-really")
    table = text_table("Suites", ("task", "error"), [("a", "0.31 ± 0.02"), ("b", "−1,200")])
    blocks = (Text("<b>"), table, Pairs([("k", "<v>")]), Picture(picture, "a <picture>"))
    write_page(tmp_path / "b.html", Page("<t>", [Section("<s>", blocks)], footer="<f>"))
    html = (tmp_path / "b.html").read_text(encoding="utf-8")
    assert base64.b64encode(picture.read_bytes()).decode() in html
    assert 'data-value="-1200.0"' in html
    assert all(f"&lt;{mark}&gt;" in html for mark in "btsvf")


def test_a_page_is_written_whole_or_not_at_all(tmp_path, found, monkeypatch):
    path = tmp_path / "deep" / "r.html"
    write_comparison(path, found)
    assert path.read_text(encoding="utf-8").endswith("</html>")
    before = path.read_bytes()

    def fails(*_):
        raise OSError("no space left")

    monkeypatch.setattr(os, "replace", fails)
    with pytest.raises(OSError, match="no space left"):
        write_text(path, "half")
    assert path.read_bytes() == before
    assert [p.name for p in path.parent.iterdir()] == ["r.html"]

"""Markdown, notebook fragments and figure files."""

import re
from dataclasses import replace

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from tests.unit.report.shown import HOSTILE, compared

import secant
from secant._host.notebook import fragment
from secant.report.figures import plot_secants, plot_training, write_figures
from secant.report.markdown import escaped, markdown, write_markdown
from secant.report.numbers import number


def test_markdown_has_the_verdict_the_numbers_and_the_call(found, tmp_path):
    write_markdown(tmp_path / "r.md", found)
    text = (tmp_path / "r.md").read_text(encoding="utf-8")
    assert text.startswith("# old and new\n\n**The samples differ strongly: ")
    assert found.call in text
    low, high = found.kl.interval
    estimate, ends = number(found.kl.estimate), f"{number(low)} to {number(high)}"
    assert f"| KL(p\\_1‖p\\_0) in nats | {estimate} | {ends} |" in text
    assert len({line.count(" |") for line in text.splitlines() if "KS" in line}) == 1


def test_markdown_shows_hostile_names_as_they_are(hostile):
    text = markdown(hostile)
    assert "<script" not in text
    assert "<img" not in text
    assert escaped("a|b\n[x](javascript:y)`*_") == r"a\|b \[x\](javascript:y)\`\*\_"


def test_markdown_refuses_what_is_no_result():
    with pytest.raises(TypeError, match="must be a Comparison"):
        markdown(3)


def test_a_fragment_escapes_everything():
    html = fragment(HOSTILE[0], [(HOSTILE[1], HOSTILE[2])], [HOSTILE[0]])
    assert "<script" not in html
    assert "<img" not in html


def test_results_show_themselves_in_notebooks(found, hostile):
    assert "The samples differ strongly" in found._repr_html_()
    for result in (hostile, hostile.kl):
        html = result._repr_html_()
        assert html.startswith("<div")
        assert "<script" not in html
        assert "<img" not in html
    names = (HOSTILE[0], "b")
    square = np.array([[np.nan, 0.5], [0.5, np.nan]])
    matrix = secant.MutualInformationMatrix(names, square, square, square, "bits")
    assert "&lt;script&gt;" in matrix._repr_html_()


def test_an_estimator_shows_its_diagram_before_and_its_fit_after():
    ratio = secant.SklearnRatio(LogisticRegression(), folds=2)
    before = ratio._repr_html_()
    assert "sk-container" in before
    rng = np.random.default_rng(0)
    ratio.fit_samples(rng.normal(size=(60, 2)), rng.normal(0.5, 1.0, size=(60, 2)))
    after = ratio._repr_html_()
    assert "sk-container" not in after
    assert "share in common" in after


def test_figures_are_written_in_every_format(found, tmp_path):
    written = write_figures(tmp_path / "figures", found, formats=("svg",))
    names = {path.stem for path in written}
    assert names == {"log-ratio", "columns", "calibration", "training", "secants"}
    assert all(path.stat().st_size > 1000 for path in written)
    bare = replace(found, path=None, fits=tuple(replace(f, history=()) for f in found.fits))
    assert write_figures(tmp_path / "none", bare, formats=()) == []
    assert plot_training(bare.fits) is None


def test_secants_are_drawn_with_any_name(found):
    axes = plot_secants(found.path, labels=("_hidden", "cost in $")).axes[0]
    shown = [text.get_text() for text in axes.get_legend().get_texts()]
    assert [re.sub(r"\\", "", name).strip() for name in shown] == ["_hidden", "cost in $"]


def test_no_difference_is_told_as_such():
    assert markdown(compared(shift=0.0)).split("\n")[2].startswith("**No difference was found: ")

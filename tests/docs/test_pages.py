"""Every page that shows code, run as it stands; some guides have tests of their own."""

import re
import shlex
from pathlib import Path

import numpy as np
import pytest
from tests.docs.guides import GUIDES, run
from typer.main import get_command
from typer.testing import CliRunner

import secant
from secant.cli import app

DOCS = GUIDES.parent
ROOT = DOCS.parent
PAGES = [*sorted(DOCS.rglob("*.md")), ROOT / "README.md"]
COMMAND = re.compile(r"^(?:\$ )?secant (.*)$", re.MULTILINE)


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def commands(page):
    """The lines of a page that call secant, split as a shell would, comments left out."""
    blocks = re.findall(r"```console\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)
    return [shlex.split(line, comments=True) for b in blocks for line in COMMAND.findall(b)]


def test_every_page_with_code_is_run_by_some_test():
    tests = "\n".join(p.read_text("utf-8") for p in Path(__file__).parent.glob("test_*.py"))
    shown = [page for page in PAGES[:-1] if "```python" in page.read_text(encoding="utf-8")]
    assert len(shown) > 10
    assert [page.name for page in shown if f'{page.name}")' not in tests] == []


def parse(words):
    """Refuses a command that does not exist, or an option that it does not have."""
    command, context = get_command(app), None
    while hasattr(command, "commands"):
        context = command.make_context(command.name, [], parent=context, resilient_parsing=True)
        command, words = command.commands[words[0]], words[1:]
    context = command.make_context(command.name, [], parent=context, resilient_parsing=True)
    context.resilient_parsing = False  # so that the parser complains
    command.make_parser(context).parse_args(words)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_commands_on_a_page_exist_with_these_options(page):
    for words in commands(page):
        parse(words)


def test_a_wrong_command_is_seen():
    with pytest.raises(KeyError):
        parse(["fitt", "a.csv", "b.csv"])
    with pytest.raises(Exception, match="No such option"):
        parse(["fit", "a.csv", "b.csv", "--outputt", "m.secant"])


def test_there_are_commands():
    assert sum(len(commands(page)) for page in PAGES) > 15


def test_home():
    first, second = run("../index.md")["ratio"].log_ratio([[1.0, 1.0], [-1.0, 0.0]])
    assert first > 0.0 > second


def test_getting_started():
    names = run("../getting-started.md")
    assert names["found"].interval[0] > 0.0
    assert names["found"].p_value < 0.02
    mean = names["weights"].mean(names["march"][:, 1])
    assert abs(mean.estimate - 0.7) < 4.0 * mean.standard_error
    mi, compare = commands(DOCS / "getting-started.md")
    quickly = ["--method", "logistic", "--no-correct", "--no-second-opinion"]
    for words in ([*mi, *quickly], compare):
        result = CliRunner().invoke(app, words)
        assert result.exit_code == 0, result.output
    assert "income" in Path("report.html").read_text(encoding="utf-8")


def test_choose_a_method():
    assert 0.3 < run("../choose-a-method.md")["first"].diagnostics_.overlap < 0.9


def test_faq():
    assert run("../faq.md")["test"].p_value > 0.001


def test_citing(capsys):
    run("../citing.md")
    assert "sugiyama2008direct" in capsys.readouterr().out
    assert "nguyen2010estimating" in Path("references.bib").read_text(encoding="utf-8")


def test_covariate_shift():
    plain, weighted = run("covariate-shift.md")["errors"]
    assert weighted < 0.7 * plain


@pytest.mark.slow
def test_big_data():
    ratio = run("big-data.md")["ratio"]
    assert np.isfinite(ratio.log_ratio(np.zeros((1, 4)))).all()


def test_extending():
    names = run("extending.md")
    for t, ends in ((0.0, (1.0, 0.0)), (1.0, (0.0, 1.0))):
        np.testing.assert_allclose(names["Smoothstep"]()(np.asarray(t)), ends, atol=1e-6)
    assert names["point"].x_t.shape == (5, 2)
    assert names["isadre"].curriculum.left_ends(None, 0.0, 1.0, 0.2) == 1.0
    at = np.array([[2.0, 2.0], [-1.0, -1.0]])
    for name in ("brier", "straight", "shift"):
        first, second = names[name].log_ratio(at)
        assert first > second, name
    # N(0, I) and N(1, I) in two columns: Jeffreys' divergence is 2 nats.
    assert abs(names["estimate"] - 2.0) < 4.0 * names["error"]
    # The blocks differ in their correlation only, which a linear log ratio cannot see.
    assert abs(names["judged"].estimate) < 0.1 < names["judged"].truth
    assert isinstance(names["shift"], secant.estimators.RatioEstimator)

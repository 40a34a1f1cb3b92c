"""Every page with code, run as written; some guides have tests of their own."""

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
IN_TEXT = re.compile(r"(?<!`)`secant ([a-z][^`]*)`(?!`)")
IN_ITS_OWN_WAY = {"benchmarking.md"}  # its blocks are modules, see test_benchmarking.py
ELSEWHERE = {"several-devices.md": {'python title="train.py"', "text"}}  # test_several_devices.py


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def commands(page):
    """The lines of a page's blocks that call secant, split as a shell would, without comments."""
    blocks = re.findall(r"```console\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)
    return [shlex.split(line, comments=True) for b in blocks for line in COMMAND.findall(b)]


def mentioned(page):
    """The commands within a page's text."""
    return [shlex.split(line) for line in IN_TEXT.findall(page.read_text(encoding="utf-8"))]


def test_every_page_with_code_is_run_by_some_test():
    tests = "\n".join(p.read_text("utf-8") for p in Path(__file__).parent.glob("test_*.py"))
    called = {(GUIDES / name).resolve() for name in re.findall(r'\brun\("(.+?)"\)', tests)}
    called |= {GUIDES / name for name in IN_ITS_OWN_WAY}
    shown = [page for page in PAGES if "```py" in page.read_text(encoding="utf-8")]
    assert len(shown) > 15
    assert [page.name for page in shown if page not in called] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_block_is_of_a_kind_that_is_checked(page):
    fences = re.findall(r"^ *```(.*)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    opened = fences[::2]
    kinds = {"python", "console", "bash", "toml", "json"} | ELSEWHERE.get(page.name, set())
    assert set(opened) <= kinds
    assert not any(fences[1::2])
    assert len(opened) == len(re.findall(r"^```\w", page.read_text("utf-8"), re.MULTILINE))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_targets_of_make_exist(page):
    known = re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE)
    blocks = re.findall(r"```(?:bash|console)\n(.*?)```", page.read_text("utf-8"), re.DOTALL)
    named = [name for b in blocks for name in re.findall(r"^(?:\$ )?make ([a-z-]+)", b, re.M)]
    assert set(named) <= set(known)


def parse(words):
    """Raise an error for an unknown command or option.

    Commands of installed packages count: they are found by name, not listed.
    """
    command, context = get_command(app), None
    while hasattr(command, "commands") and words:
        context = command.make_context(command.name, [], parent=context, resilient_parsing=True)
        name, words = words[0], words[1:]
        command = command.get_command(context, name)
        if command is None:
            raise KeyError(name)
    context = command.make_context(command.name, [], parent=context, resilient_parsing=True)
    context.resilient_parsing = False  # so that the parser raises an error
    command.make_parser(context).parse_args(words)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_commands_on_a_page_exist_with_these_options(page):
    for words in [*commands(page), *mentioned(page)]:
        parse(words)


def test_a_wrong_command_is_seen():
    with pytest.raises(KeyError):
        parse(["fitt", "a.csv", "b.csv"])
    with pytest.raises(Exception, match="No such option"):
        parse(["fit", "a.csv", "b.csv", "--outputt", "m.secant"])


def test_there_are_commands():
    assert sum(len(commands(page)) for page in PAGES) > 15
    assert sum(len(mentioned(page)) for page in PAGES) > 8


def invoke(words):
    result = CliRunner().invoke(app, words)
    assert result.exit_code == 0, result.output


def test_readme(capsys):
    shown = re.search(r"```python\n(.*?)```", (ROOT / "README.md").read_text("utf-8"), re.DOTALL)[1]
    assert len([line for line in shown.splitlines() if line]) == 9  # as it promises
    found = run("../../README.md")["est"].log_ratio([[1.0, 1.0], [-1.0, 0.0]])
    # N(1, ¼ I) over N(0, I): 2 log 2 − 2‖x − 1‖² + ½‖x‖².
    np.testing.assert_allclose(found, 2 * np.log(2) + np.array([1.0, -9.5]), atol=0.6)
    told = capsys.readouterr().out
    assert "log Ẑ" in told
    assert "chen2025diffusion" in told


def test_the_readme_is_short():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert text.removeprefix("# secant\n\n").startswith("Density-ratio estimation in JAX.")
    assert sum(bool(re.search(r"\w", word)) for word in text.split()) <= 600
    assert 0 < len(re.findall(r"^\|(?: ?:?-+:? ?\|)+$", text, re.MULTILINE)) <= 3
    assert {"make demo", "make test"} <= set(re.findall(r"^make \w+", text, re.MULTILINE))


def test_commands_of_the_readme():
    rng = np.random.default_rng(0)
    for name, rows in (("march", rng.normal(size=(300, 2))), ("april", rng.normal(1, 1, (300, 2)))):
        np.savetxt(f"{name}.csv", rows, delimiter=",", header="age,income", comments="")
    compare, fit, score, mi = commands(ROOT / "README.md")
    quick, logistic = ["--method", "classifier", "--steps", "20"], ["--method", "logistic"]
    for words in ([*compare, *logistic], [*fit, *quick], score, [*mi, *logistic, "--no-correct"]):
        invoke(words)
    assert "income" in Path("report/report.html").read_text(encoding="utf-8")
    assert len(Path("scored.csv").read_text(encoding="utf-8").splitlines()) == 301


@pytest.mark.usefixtures("optimised")
def test_home():
    names = run("../index.md")
    first, second = names["ratio"].log_ratio([[1.0, 1.0], [-1.0, 0.0]])
    assert first > 0.0 > second
    x = names["x_1"]
    truth = 2 * np.log(2) - 2 * np.sum((x - 1) ** 2, axis=1) + 0.5 * np.sum(x**2, axis=1)
    model = names["model"]
    assert model.n_steps == 1
    for n_steps in (1, 5):
        model.n_steps = n_steps
        error = model.log_ratio(x) - truth
        assert abs(error.mean()) < 0.1  # of a KL of 1.4 nats
        assert np.sqrt(np.mean(error**2)) < 0.3


def write_customers():
    """A realistic table: names with spaces, text, dates and missing values."""
    rng = np.random.default_rng(0)
    lines = ["Customer ID,Since,Age (years),Region,Premium?,Monthly Spend"]
    for number, age in enumerate(rng.integers(20, 70, 300)):
        region, spend = "NSEW"[number % 4], 20.0 + 0.5 * age + rng.normal()
        cells = f"2024-0{1 + number % 9}-15,{age if number != 7 else ''},{region},yes,{spend:.2f}"
        lines.append(f"C{number},{cells if number != 9 else cells.replace(f'{spend:.2f}', 'NA')}")
    Path("customers.csv").write_text("\n".join(lines), encoding="utf-8")


@pytest.mark.usefixtures("optimised")
def test_getting_started():
    names = run("../getting-started.md")
    assert names["found"].interval[0] > 0.0
    assert names["found"].p_value < 0.02
    mean = names["weights"].mean(names["march"][:, 1])
    assert abs(mean.estimate - 0.7) < 4.0 * mean.standard_error
    mi, messy, compare = commands(DOCS / "getting-started.md")
    write_customers()
    quickly = ["--method", "logistic", "--no-correct", "--no-second-opinion"]
    for words in ([*mi, *quickly], [*messy, *quickly], [*compare, *quickly[:2]]):
        invoke(words)
    assert "income" in Path("report.html").read_text(encoding="utf-8")


def test_choose_a_method():
    assert 0.3 < run("../choose-a-method.md")["first"].diagnostics_.overlap < 0.9


@pytest.mark.usefixtures("optimised")
def test_faq():
    assert run("../faq.md")["test"].p_value > 0.001


def test_citing(capsys):
    run("../citing.md")
    assert "chen2025diffusion" in capsys.readouterr().out
    assert "nguyen2010estimating" in Path("references.bib").read_text(encoding="utf-8")


def test_covariate_shift():
    plain, weighted = run("covariate-shift.md")["errors"]
    assert weighted < 0.7 * plain


@pytest.mark.slow
def test_big_data():
    ratio = run("big-data.md")["ratio"]
    # N(0, I) against N(0.5, I) in four columns: 0.5 Σx − 0.5.
    rows = np.random.default_rng(1).normal(0.25, 1.0, (500, 4))
    truth = 0.5 * rows.sum(axis=1) - 0.5
    found = ratio.log_ratio(rows)
    assert np.corrcoef(found, truth)[0, 1] > 0.8
    assert np.sqrt(np.mean((found - truth) ** 2)) < 0.8 * truth.std()


def test_every_seam_has_its_files_and_a_short_example():
    text = (GUIDES / "extending.md").read_text(encoding="utf-8")
    seams = ["schedule", "path", "time sampler", "curriculum", "target", "model", "scaling"]
    seams += ["anchor", "rule", "optimiser", "estimator", "task", "suite"]
    for seam in seams:
        (row,) = re.findall(rf"^\| an? {seam} \|(.*)$", text, re.MULTILINE)
        for file in re.findall(r"`((?:src|tests)/[^`]*)`", row):
            assert (ROOT / file).exists(), file
        section = re.search(rf"^## An? {seam}\n(.*?)(?=^## |\Z)", text, re.DOTALL | re.MULTILINE)
        blocks = re.findall(r"```python\n(.*?)```", section[1], re.DOTALL)
        assert blocks, seam
        for block in blocks:
            assert len([line for line in block.splitlines() if line.strip()]) <= 15, seam


@pytest.mark.slow
def test_extending():
    names = run("extending.md")
    for t, ends in ((0.0, (1.0, 0.0)), (1.0, (0.0, 1.0))):
        np.testing.assert_allclose(names["Smoothstep"]()(np.asarray(t)), ends, atol=1e-6)
    assert isinstance(names["bridged"].path_.schedule, names["Smoothstep"])
    bridge = names["bridged"].path_
    np.testing.assert_allclose(bridge.noise_scale(np.array([0.0, 1.0])), bridge.epsilon**0.5)
    assert names["late"].curriculum.left_ends(None, 0.0, 1.0, 0.2) == 1.0
    at = np.array([[2.0, 2.0], [-1.0, -1.0]])
    for name in ("bridged", "late", "brier", "straight", "shift"):
        first, second = names[name].log_ratio(at)
        assert first > second, name
    # N(0, I) and N(0.7, I) in two columns: Jeffreys' divergence is 2 · 0.7² nats.
    assert abs(names["estimate"] - 0.98) < 4.0 * names["error"]
    # The blocks differ in their correlation only, which a linear log ratio cannot see.
    assert abs(names["judged"].estimate) < 0.1 < names["judged"].truth
    assert isinstance(names["shift"], secant.estimators.RatioEstimator)

"""The pages in a real browser: sorting works, nothing is requested, no injected script runs."""

import os
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from tests.unit.report.shown import HOSTILE, compared, hostile_comparison, watched, with_path

import secant
from secant.report import comparison_page, matrix_page, rendered, write_comparison, write_monitoring
from secant.report.page import write_text

CHROMIUM = next(
    (
        path
        for name in ("chromium", "chromium-browser", "google-chrome")
        if (path := shutil.which(name))
    ),
    None,
)
ABSENT = "no Chromium: `make test` installs it where apt-get may be used, or set it up yourself"


@pytest.fixture(scope="module")
def browser():
    if CHROMIUM is None:
        if os.environ.get("SECANT_NEEDS_BROWSER"):
            pytest.fail(ABSENT)
        pytest.skip(ABSENT)
    playwright = pytest.importorskip("playwright.sync_api", reason="needs the `dev` extra")
    with playwright.sync_playwright() as driver:
        # Containers run as root, where Chromium's own sandbox refuses to start.
        started = driver.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield started
        started.close()


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    """Files by name: a comparison, one of samples apart, one of hostile names, and a matrix."""
    folder = tmp_path_factory.mktemp("pages")
    found = with_path(compared())
    apart = compared(shift=30.0, names=["a_very_long_column_name_without_a_break"] * 5)
    matrix = secant.MutualInformationMatrix(
        tuple(f"column {i}" for i in range(14)),
        np.abs(np.random.default_rng(0).normal(size=(14, 14))),
        np.full((14, 14), 0.02),
        np.full((14, 14), 0.03),
        "nats",
    )
    write_comparison(folder / "comparison.html", found, command="secant compare a.csv b.csv")
    write_comparison(folder / "apart.html", apart)
    write_comparison(folder / "hostile.html", hostile_comparison(), command=HOSTILE[1])
    write_monitoring(folder / "watch.html", watched(names=HOSTILE[:2], last_is_complete=True))
    write_text(folder / "matrix.html", rendered(matrix_page(matrix)))
    return {path.stem: path for path in folder.iterdir()}


class Visit:
    """An opened page, with its requests and console messages."""

    def __init__(self, browser, path: Path, *, width=1200, scheme="light"):
        self.requests, self.troubles = [], []
        self.page = browser.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme)
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.on("console", lambda message: self.troubles.append(message.text))
        self.page.on("pageerror", lambda error: self.troubles.append(str(error)))
        self.page.goto(path.as_uri())

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.page.close()

    def press_every_header(self):
        self.page.evaluate("document.querySelectorAll('thead button').forEach(b => b.click())")

    def column(self, name):
        """The sort keys of a column of the first table, from top to bottom."""
        return self.page.evaluate(
            """name => {
                const table = document.querySelector("table.sortable");
                const heads = [...table.tHead.rows[0].cells];
                const i = heads.findIndex(h => h.textContent.trim() === name);
                return [...table.tBodies[0].rows].map(
                    r => r.cells[i].dataset.value ?? r.cells[i].textContent.trim());
            }""",
            name,
        )


NAMES = ("comparison", "apart", "hostile", "matrix", "watch")


@pytest.mark.parametrize("name", NAMES)
def test_a_page_opens_without_a_word_and_asks_for_nothing(browser, pages, name):
    with Visit(browser, pages[name]) as visit:
        visit.press_every_header()
        visit.page.wait_for_timeout(100)
        assert visit.troubles == []
        own = pages[name].as_uri()
        assert [u for u in visit.requests if u != own and not u.startswith("data:")] == []


def test_headers_sort_by_click(browser, pages):
    with Visit(browser, pages["comparison"]) as visit:
        head = visit.page.locator("table.sortable").first.locator("th", has_text="KS distance")
        before = [float(v) for v in visit.column("KS distance")]
        assert before != sorted(before)
        head.locator("button").click()
        assert [float(v) for v in visit.column("KS distance")] == sorted(before, reverse=True)
        assert head.get_attribute("aria-sort") == "descending"
        head.locator("button").click()
        assert [float(v) for v in visit.column("KS distance")] == sorted(before)
        assert head.get_attribute("aria-sort") == "ascending"


def test_headers_sort_by_keyboard_words_by_their_letters(browser, pages):
    with Visit(browser, pages["comparison"]) as visit:
        table = visit.page.locator("table.sortable").first
        head = table.locator("th", has_text="column").first
        before = visit.column("column")
        assert before[0] == "b"  # the column that moved carries most
        head.locator("button").focus()
        visit.page.keyboard.press("Enter")
        assert visit.column("column") == ["a", "b", "c", "d", "e"]
        visit.page.keyboard.press("Space")
        assert visit.column("column") == ["e", "d", "c", "b", "a"]
        visit.page.keyboard.press("Tab")
        visit.page.keyboard.press("Enter")
        assert head.get_attribute("aria-sort") is None
        assert table.locator("[aria-sort]").count() == 1


def test_nothing_hostile_runs(browser, pages):
    with Visit(browser, pages["hostile"]) as visit:
        page = visit.page
        visit.press_every_header()
        page.wait_for_timeout(200)
        assert page.evaluate("window.pwned") is None
        assert page.locator("script").count() == 1
        assert page.locator("style").count() == 1
        assert page.locator("img").count() == 0
        assert page.locator("[href^='javascript']").count() == 0
        text = page.locator("body").inner_text()
        for payload in HOSTILE:
            assert payload in text


def test_the_policy_stops_a_script_and_a_request_that_got_in(browser, pages, tmp_path):
    """Were the escaping to fail, the policy is the second wall: without it, this page runs both."""
    html = pages["comparison"].read_text(encoding="utf-8")
    inside = (
        "<script>window.pwned = 1</script><img src='data:,' onerror='window.pwned = 2'>"
        "<img src='https://example.invalid/x.png'></main>"
    )
    write_text(tmp_path / "broken.html", html.replace("</main>", inside))
    with Visit(browser, tmp_path / "broken.html") as visit:
        visit.page.wait_for_timeout(200)
        assert visit.page.evaluate("window.pwned") is None
        assert any("Content Security Policy" in trouble for trouble in visit.troubles)
    open_door = html.replace("default-src 'none'", "default-src *").replace("script-src", "x-src")
    bare = open_door.replace("</main>", "<script>window.pwned = 1</script></main>")
    write_text(tmp_path / "bare.html", bare.replace('http-equiv="Content-Security-Policy"', ""))
    with Visit(browser, tmp_path / "bare.html") as visit:
        assert visit.page.evaluate("window.pwned") == 1  # so the test above can fail


@pytest.mark.parametrize("name", NAMES)
def test_a_phone_need_not_scroll_sideways(browser, pages, name):
    with Visit(browser, pages[name], width=360) as visit:
        assert visit.page.evaluate("document.documentElement.scrollWidth") <= 360
        visit.page.evaluate("window.scrollTo(500, 0)")
        assert visit.page.evaluate("window.scrollX") == 0


CONTRASTS = """() => {
    const canvas = new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true });
    const rgba = colour => {
        canvas.clearRect(0, 0, 1, 1);
        canvas.fillStyle = colour;
        canvas.fillRect(0, 0, 1, 1);
        return [...canvas.getImageData(0, 0, 1, 1).data];
    };
    const light = ([r, g, b]) => {
        const f = [r, g, b].map(v => v / 255).map(
            v => v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
        return 0.2126 * f[0] + 0.7152 * f[1] + 0.0722 * f[2];
    };
    const behind = node => {
        for (; node; node = node.parentElement) {
            const found = rgba(getComputedStyle(node).backgroundColor);
            if (found[3] === 255) return found;
        }
        return [255, 255, 255, 255];
    };
    const weak = [];
    const words = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (words.nextNode()) {
        const node = words.currentNode.parentElement;
        if (!words.currentNode.data.trim()) continue;
        if (/^(SCRIPT|STYLE|title|desc)$/.test(node.nodeName)) continue;
        const style = getComputedStyle(node);
        const colour = node.closest("svg") ? style.fill : style.color;
        const [a, b] = [light(rgba(colour)), light(behind(node))].sort((x, y) => y - x);
        const ratio = (a + 0.05) / (b + 0.05);
        if (ratio < 4.5) weak.push([words.currentNode.data.trim(), colour, ratio]);
    }
    return weak;
}"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", ["comparison", "apart", "matrix"])
def test_words_stand_out_in_light_and_in_dark(browser, pages, name, scheme):
    with Visit(browser, pages[name], scheme=scheme) as visit:
        paper = visit.page.evaluate("getComputedStyle(document.body).backgroundColor")
        assert (paper == "rgb(255, 255, 255)") == (scheme == "light")
        assert visit.page.evaluate(CONTRASTS) == []


def test_it_prints_in_light_colours_without_its_list_of_sections(browser, pages):
    with Visit(browser, pages["comparison"], scheme="dark") as visit:
        visit.page.emulate_media(media="print", color_scheme="dark")
        paper = visit.page.evaluate("getComputedStyle(document.body).backgroundColor")
        assert paper == "rgb(255, 255, 255)"
        assert not visit.page.locator("nav").is_visible()
        assert visit.page.pdf().startswith(b"%PDF")


def test_without_scripts_everything_can_still_be_read(browser, tmp_path):
    found = compared()
    page = comparison_page(replace(found, why_no_path="No path here."))
    write_text(tmp_path / "plain.html", rendered(page))
    context = browser.new_context(java_script_enabled=False)
    tab = context.new_page()
    tab.goto((tmp_path / "plain.html").as_uri())
    for fold in tab.locator("details.fold > summary").all():
        fold.click()  # folds open without scripts, too
    text = tab.locator("body").inner_text()
    assert "No path here." in text
    assert f"{found.unlike_1.log_ratio[0]:+.2f}" in text
    context.close()

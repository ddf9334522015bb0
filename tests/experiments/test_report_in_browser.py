"""The report as people see it: in a browser every figure shows, nothing complains, and nothing is fetched."""

import os

import pytest

from coalface.experiments.pages import write_report
from coalface.experiments.tables import write_tables
from tests.experiments.browser import NAMES, Browser, find_browser, problems
from tests.experiments.made_findings import ABLATIONS, LINES, RIVALS, learning

pytestmark = [
    pytest.mark.skipif(find_browser() is None, reason=f"needs a browser: one of {', '.join(NAMES)}"),
    pytest.mark.skipif(os.name != "posix", reason="the browser is driven through POSIX pipes"),
]
MANY = {name: LINES[name] for name in ("passive", "coal 0.01", "coal 0.001")}
EVERYTHING = LINES | ABLATIONS | RIVALS
STUDIES = {  # what is made, and how many figures that gives
    "one dataset, four lines": (learning, 2),
    "five datasets, all there is": (lambda: learning(EVERYTHING, list("abcde"), n=3, price_unit="seconds"), 5),
    "28 datasets, three lines": (lambda: learning(MANY, [f"data-{i}" for i in range(28)], rates=[0.5], n=3), 1),
}


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    with Browser(find_browser(), tmp_path_factory.mktemp("profile")) as running:
        yield running


@pytest.fixture(scope="module")
def reports(tmp_path_factory):
    written = {}
    for name, (make, n_figures) in STUDIES.items():
        folder = tmp_path_factory.mktemp("report")
        write_tables(make(), folder)
        written[name] = write_report(folder), n_figures
    return written


@pytest.mark.parametrize("name", STUDIES)
def test_a_report_shows_its_figures_and_is_silent_and_alone(browser, reports, name):
    page, n_figures = reports[name]
    assert problems(browser.look_at(page), n_figures) == []


def test_a_dark_screen_gets_dark_paper_and_light_ink(browser, reports):
    page, n_figures = reports["one dataset, four lines"]
    light, dark = browser.look_at(page), browser.look_at(page, dark=True)
    assert problems(dark, n_figures) == []
    assert light.paper == "rgb(255, 255, 255)"
    assert sum(map(int, dark.paper[4:-1].split(","))) < 120
    assert light.ink != dark.ink


def test_every_figure_shows_alone_too(browser, reports):
    page, n_figures = reports["five datasets, all there is"]
    files = sorted((page.parent / "figures").glob("*.svg"))
    assert len(files) == n_figures
    for file in files:
        assert problems(browser.look_at(file), n_figures=1) == []


FIGURE = '<figure><svg width="200" height="100"><path d="M0 0 L200 100" stroke="black"/></svg></figure>'


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (FIGURE + "<script>console.error('all is lost')</script>", "the console says: all is lost"),
        (FIGURE + "<script>nobody.there()</script>", "the console says: Uncaught"),
        (FIGURE + '<img src="https://example.org/spy.png">', "it loads https://example.org/spy.png"),
        (FIGURE + '<style>body { background: url("http://example.org/a.png") }</style>', "it loads http://example.org"),
        (FIGURE + "<script>fetch('https://example.org/tell')</script>", "it loads https://example.org/tell"),
        (FIGURE + '<img src="beside.png">', "it loads file://"),
        (FIGURE + FIGURE, "it has 2 figures instead of 1"),
        ("", "it has 0 figures instead of 1"),
        ("<figure><svg width='0' height='100'></svg></figure>", "figure 0 is empty"),
        ("<figure><svg width='200' height='100'></svg></figure>", "figure 0 is empty"),
        (FIGURE + "<div style='width: 5000px'>wide</div>", "pixels wider than the window"),
    ],
)
def test_a_page_with_a_fault_is_found_out(browser, tmp_path, body, said):
    page = tmp_path / "page.html"
    page.write_text(f"<!DOCTYPE html><html><body>{body}</body></html>")
    found = problems(browser.look_at(page), n_figures=1)
    assert any(problem.startswith(said) or said in problem for problem in found), found


def test_a_page_without_fault_is_not(browser, tmp_path):
    page = tmp_path / "page.html"
    page.write_text(f"<!DOCTYPE html><html><body>{FIGURE}</body></html>")
    assert problems(browser.look_at(page), n_figures=1) == []

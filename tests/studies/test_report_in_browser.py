"""The report as people see it: in a browser every figure shows, nothing complains, and nothing is fetched."""

import os
import re

import pytest

from coalface.studies.report.pages import write_report
from coalface.studies.tables import write_tables
from tests.studies.browser import NAMES, Browser, find_browser, problems
from tests.studies.made_findings import ABLATIONS, BASELINES, LINES, learning

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(find_browser() is None, reason=f"needs a browser: one of {', '.join(NAMES)}"),
    pytest.mark.skipif(os.name != "posix", reason="the browser is driven through POSIX pipes"),
]
MANY = {name: LINES[name] for name in ("passive", "coal 0.01", "coal 0.001")}
EVERYTHING = LINES | ABLATIONS | BASELINES
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


def test_a_dark_screen_gets_a_dark_page_and_light_text(browser, reports):
    page, n_figures = reports["one dataset, four lines"]
    light, dark = browser.look_at(page), browser.look_at(page, dark=True)
    assert problems(dark, n_figures) == []
    assert light.paper == "rgb(255, 255, 255)"
    assert sum(map(int, dark.paper[4:-1].split(","))) < 120
    assert light.ink != dark.ink


def widths(browser, page, *, screen, media="screen"):
    """How wide the page and its figures are on a screen or paper of so many pixels."""
    target = browser._call("Target.createTarget", url="about:blank")["targetId"]
    session = browser._call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
    size = {"width": screen, "height": 800, "deviceScaleFactor": 1, "mobile": True}
    browser._call("Emulation.setDeviceMetricsOverride", session, **size)
    browser._call("Emulation.setEmulatedMedia", session, media=media)
    browser._call("Page.enable", session)
    browser.events.clear()
    browser._call("Page.navigate", session, url=page.as_uri())
    browser._wait_for("Page.loadEventFired")
    figures = "[...document.querySelectorAll('figure svg')].map(svg => svg.getBoundingClientRect().width)"
    asked = {"expression": f"[document.documentElement.scrollWidth, ...{figures}]", "returnByValue": True}
    seen = browser._call("Runtime.evaluate", session, **asked)["result"]["value"]
    browser._call("Target.closeTarget", targetId=target)
    return seen[0], seen[1:]


@pytest.mark.parametrize("name", STUDIES)
def test_on_a_phone_figures_stay_readable_and_scroll_by_themselves(browser, reports, name):
    page, n_figures = reports[name]
    drawn = [float(width) for width in re.findall(r'<svg [^>]*viewBox="0 0 ([\d.]+) ', page.read_text("utf-8"))]
    whole, figures = widths(browser, page, screen=400)
    assert whole == 400
    assert len(figures) == n_figures
    assert figures == pytest.approx(drawn, abs=1)  # a point is a pixel then, and text of 10 points has 10 pixels


def test_on_paper_figures_are_as_wide_as_the_paper(browser, reports):
    page, n_figures = reports["one dataset, four lines"]
    assert widths(browser, page, screen=500, media="print")[1] == [500] * n_figures


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

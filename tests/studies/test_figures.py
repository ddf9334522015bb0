"""Figures and pages: their data, and that they are self-contained."""

import re
import xml.etree.ElementTree as ET

import matplotlib as mpl
import numpy as np
import pytest
from jinja2 import UndefinedError

from coalface import CoalClassifier
from coalface.evaluate.curve import Curve
from coalface.evaluate.summary import rules_panel
from coalface.report import figure_style, html_page
from coalface.report.charts import draw_curves, draw_ranges, range_bars
from coalface.report.html_page import package_versions
from coalface.studies.report.pages import TableCell


def a_run(test_cost=(0.5, 0.2)):
    asked = np.array([10, 40])
    return Curve(asked, asked, asked, asked, np.array(test_cost), np.array(test_cost), seconds=0.0)


@pytest.fixture(scope="module")
def queries():
    X = np.eye(4)[np.arange(60) % 4]
    cost = 1.0 - np.eye(4)[np.arange(60) % 4]
    learner = CoalClassifier(classes=["a", "b", "c", "d"]).partial_fit(X, cost=cost)
    return learner.ask(np.vstack([np.eye(4), np.full((1, 4), 0.5)]))


def test_range_bars_are_the_numbers_of_the_question(queries):
    bars = range_bars(queries, 2)
    assert bars.labels == ("a", "b", "c", "d")
    assert bars.guaranteed_cost == queries.ranges.highest[2].min()
    assert np.array_equal(bars.lowest, queries.ranges.lowest[2])
    for k, meaning in enumerate(bars.meanings):
        assert (meaning == "asked") == queries.mask[2, k]
        assert meaning in ("asked", str(queries.reasons[2, k]))


def test_settings_of_one_rule_share_its_colour_and_differ_in_their_dashes():
    lines = rules_panel("all", {"coal 0.1": [a_run()], "passive": [a_run()], "coal 0.01": [a_run()]}).lines
    assert [line.style.colour.name for line in lines] == ["coal", "passive", "coal"]
    assert [line.style.dash for line in lines] == [0, 0, 1]


@pytest.mark.parametrize("test_cost", [(0.5, 0.2), (0.5, 0.0), (0.3, 0.3)])
def test_a_curve_figure_is_well_formed_and_says_what_it_shows(test_cost):
    svg = ET.fromstring(draw_curves([rules_panel("a <b> & c", {"coal": [a_run(test_cost)]})], "Test cost"))
    assert svg.get("aria-label") == "Test cost: a <b> & c"
    texts = [element.text for element in svg.iter("{http://www.w3.org/2000/svg}text")]
    assert {"costs asked for", "test cost", "10", "20", "40"} <= set(texts)


def test_figures_keep_no_colour_that_the_page_cannot_change(queries):
    svg = draw_curves([rules_panel("all", {"coal": [a_run()]})], "Test cost") + draw_ranges(range_bars(queries, 0))
    outside_variables = re.sub(r"var\(--[a-z-]+, #[0-9a-f]{6}\)", "", svg)
    assert not re.findall(r"#[0-9a-f]{6}\b(?!\w)", re.sub(r'(href="|url\()#\w+', "", outside_variables))
    assert "font-family: inherit" in svg
    assert "DejaVu" not in svg


def test_two_figures_on_one_page_share_no_ids():
    panels = [rules_panel("x", {"coal": [a_run()]})]
    both = draw_curves(panels, "Against costs") + draw_curves(panels, "Against examples")
    ids = re.findall(r'\bid="([^"]+)"', both)
    assert len(ids) == len(set(ids))


def test_the_same_figure_is_drawn_twice_alike_and_leaves_matplotlib_as_it_was():
    before = dict(mpl.rcParams)
    panels = [rules_panel("x", {"coal": [a_run()]})]
    assert draw_curves(panels, "Test cost") == draw_curves(panels, "Test cost")
    assert dict(mpl.rcParams) == before


def test_every_colour_is_readable_on_its_background():
    def luminance(color):
        channels = np.array([int(color[i : i + 2], 16) for i in (1, 3, 5)]) / 255
        linear = np.where(channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)
        return float(linear @ [0.2126, 0.7152, 0.0722])

    def contrast(one, other):
        low, high = sorted((luminance(one), luminance(other)))
        return (high + 0.05) / (low + 0.05)

    for colour in figure_style.EVERY_COLOUR:
        if colour not in (figure_style.FAINT, figure_style.PAGE):  # the grid stays in the background, the page is it
            assert contrast(colour.light, "#ffffff") >= 3, colour
            assert contrast(colour.dark, "#14181c") >= 3, colour


def part(name, *values):
    """A part that several pages share, as HTML."""
    return str(getattr(html_page.environment().get_template("parts.html").module, name)(*values))


def test_text_on_a_page_cannot_become_markup():
    nasty = "<script>alert('x')</script>"
    cells = [nasty, TableCell(nasty, nasty, best=True)]
    parts = {
        "table": ([nasty], [cells], 0),
        "grouped_table": ([nasty], {nasty: [cells], "b": []}),
        "bullets": ([nasty],),
        "pairs": ({nasty: nasty},),
        "facts": ({nasty: nasty},),
        "figure": ('<svg viewBox="0 0 8 8"></svg>', nasty),
    }
    found = {name: part(name, *values).count("&lt;script&gt;") for name, values in parts.items()}
    assert found == {"table": 4, "grouped_table": 5, "bullets": 1, "pairs": 2, "facts": 2, "figure": 1}
    html = html_page.page("base.html", nasty, nasty, footer=nasty)
    assert html.count("&lt;script&gt;") == 4  # the title is in the head, too
    assert "<script" not in html + "".join(part(name, *values) for name, values in parts.items())


def test_a_template_that_lacks_a_value_is_an_error():
    with pytest.raises(UndefinedError, match="headings"):
        html_page.page("run.html", "A run", "What it cost", curves='<svg viewBox="0 0 8 8"></svg>')


def test_a_page_has_a_light_a_dark_and_a_printed_version_and_names_its_versions():
    html = html_page.page("base.html", "A run", "What it cost")
    assert "color-scheme: light dark" in html
    assert "prefers-color-scheme: dark" in html
    assert "@media print" in html
    assert figure_style.RULES["coal"].dark in html
    assert all(f"{name} {number}" in html for name, number in package_versions().items())


def test_a_page_names_its_versions_once_and_may_say_something_else_instead():
    assert html_page.page("base.html", "A run", "").count("Made with coalface") == 1
    html = html_page.page("base.html", "A run", "", footer="Runs made <elsewhere>.")
    assert "<footer>Runs made &lt;elsewhere&gt;.</footer>" in html
    assert "Made with" not in html


def test_a_figure_tells_a_narrow_screen_how_wide_it_was_drawn():
    svg = draw_curves([rules_panel("x", {"coal": [a_run()]})], "Test cost")
    (width,) = re.findall(r'viewBox="0 0 ([\d.]+) ', svg)
    assert f'<div class="drawing" style="--drawn: {float(width):.0f}px"><svg' in part("figure", svg, "caption")


def test_a_page_that_fails_to_be_written_leaves_the_old_one(tmp_path):
    path = tmp_path / "run.html"
    html_page.write_page(path, "old")
    with pytest.raises(UnicodeEncodeError):
        html_page.write_page(path, "new \ud800")
    assert path.read_text() == "old"
    assert [file.name for file in tmp_path.iterdir()] == ["run.html"]

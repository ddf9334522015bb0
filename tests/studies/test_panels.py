"""Panels and dots: marks that fit their axes, lines that differ, figures for a page or a file."""

import re
import xml.etree.ElementTree as ET

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from coalface.evaluate.curve import Curve
from coalface.evaluate.summary import panel
from coalface.report import figure_style
from coalface.report.charts import MARKERS, DotColumn, DotLine, DotPlot, axis_of, draw_curves, draw_dots, styles_for
from coalface.report.figure_style import standalone
from coalface.studies.report.pages import TableCell

from .test_figures import part

SVG_TEXT = "{http://www.w3.org/2000/svg}text"


def a_run(asked, test_cost):
    asked, test_cost = np.array(asked), np.array(test_cost)
    return Curve(asked, asked, asked, asked, test_cost, test_cost, seconds=0.0)


def some_panels(n, test_cost=(0.5, 0.2)):
    passive, coal = styles_for(["passive", "coal"])
    runs = [("passive", passive, [a_run([10, 80], test_cost)]), ("coal", coal, [a_run([10, 40], test_cost)])]
    return [panel(f"data {i}", "costs asked for", runs, "costs_queried", target=0.2) for i in range(n)]


def a_plot(factor, low, high, rows=("a", "b")):
    (style,) = styles_for(["coal"])
    line = DotLine("coal", style, np.array(factor), np.array(low), np.array(high))
    return DotPlot(rows, 0, (DotColumn("fewer costs", (line,)),), "passive")


def texts_of(svg):
    return [element.text for element in ET.fromstring(svg).iter(SVG_TEXT)]


@given(st.floats(1e-6, 1e3), st.floats(1.02, 1e4))
def test_a_log_axis_has_enough_round_numbers_all_of_them_on_it(low, ratio):
    marks = figure_style.round_numbers(low, low * ratio)
    assert all(low <= mark <= low * ratio for mark in marks)
    assert marks == sorted(set(marks))
    if ratio > 1.2:
        assert 2 <= len(marks) <= 12


@given(st.floats(0.001, 1000), st.floats(1, 1000))
def test_powers_of_two_reach_around_what_is_shown(low, ratio):
    marks = figure_style.powers_of_two(low, low * ratio)
    assert marks[0] <= low <= marks[0] * 2
    assert marks[-1] / 2 <= low * ratio <= marks[-1]


@given(st.integers(1, 60), st.integers(1, 12))
def test_marks_are_thinned_evenly_to_what_fits(n, most):
    kept = figure_style.thinned([float(i) for i in range(n)], most)
    assert 1 <= len(kept) <= most
    assert kept[0] == 0
    assert len(set(np.diff(kept))) <= 1


@given(st.floats(0.01, 1e12))
def test_a_short_number_is_short_and_close(value):
    text = figure_style.short(value)
    units = {"k": 1e3, "M": 1e6, "G": 1e9}
    read = float(text.rstrip("kMG").replace(",", "")) * units.get(text[-1], 1.0)
    assert read == pytest.approx(value, rel=0.006)
    assert len(text) <= 6 or value > 1e12 / 2


@pytest.mark.parametrize(("n", "rows"), [(1, 1), (2, 1), (3, 1), (4, 2), (9, 3)])
def test_panels_are_in_rows_of_at_most_three(n, rows):
    svg = draw_curves(some_panels(n), "Test cost")
    texts = texts_of(svg)
    assert [text for text in texts if text.startswith("data")] == [f"data {i}" for i in range(n)]
    assert texts.count("test cost") == rows
    assert texts.count("passive") == 1  # one legend for all


def test_the_panel_is_described_for_those_who_cannot_see_it():
    assert ET.fromstring(draw_curves(some_panels(2), "Test cost")).get("aria-label") == "Test cost: data 0, data 1"


@pytest.mark.parametrize("test_cost", [(0.5, 0.0), (0.3, 0.3), (0.1302, 0.1300)])
def test_any_test_costs_can_be_drawn_and_have_numbers_beside_them(test_cost):
    texts = texts_of(draw_curves(some_panels(1, test_cost), "Test cost"))
    assert sum(re.fullmatch(r"\d\.\d+", text) is not None for text in texts) >= 2


def test_lines_of_one_rule_differ_in_dash_and_all_lines_in_marker():
    styles = styles_for(["passive", "coal", "coal", "vw", "coal", "unheard-of"])
    assert [style.dash for style in styles] == [0, 0, 1, 0, 2, 0]
    assert len({MARKERS[style.marker] for style in styles}) == 6
    assert styles[-1].colour == figure_style.TEXT


def test_a_line_shows_its_marker_at_every_doubling_and_a_larger_one_at_its_end():
    (one,) = some_panels(1)
    passive, coal = one.lines
    assert passive.markers[0].tolist() == [10, 20, 40]  # its end, 80, has the larger one
    assert coal.markers[0] == pytest.approx(np.array([10, 20]) * 2**0.06)
    for line in one.lines:
        on_the_line = np.interp(np.log2(line.markers[0]), np.log2(line.curve.asked), line.curve.median)
        assert line.markers[1] == pytest.approx(on_the_line)
    outlined = re.findall(r"<use [^>]*stroke: var\(--page, #ffffff\)", draw_curves([one], "Test cost"))
    assert len(outlined) == (3 + 1) + (2 + 1) + 2  # the legend has one each


def test_no_marker_is_after_the_end_of_its_line():
    styles = styles_for(["passive", *["coal"] * 4])
    runs = [(f"{i}", style, [a_run([10, 40 + i / 10], (0.5, 0.2))]) for i, style in enumerate(styles)]
    lines = panel("data", "costs", runs, "costs_queried").lines
    assert max(line.bars.asked.max() / line.curve.asked[-1] for line in lines) > 1
    for line in lines:
        assert len(line.markers[0]) == 2
        assert line.markers[0].max() < line.curve.asked[-1]


def test_every_rule_has_a_colour_of_its_own():
    assert len({colour.name for colour in figure_style.EVERY_COLOUR}) == len(figure_style.EVERY_COLOUR)
    assert len({colour.light for colour in figure_style.RULES.values()}) == len(figure_style.RULES)
    assert len({colour.dark for colour in figure_style.RULES.values()}) == len(figure_style.RULES)


def test_what_is_never_reached_is_left_of_every_factor():
    plot = a_plot([0.3, 0.0], [0.0, 0.0], [8.0, 0.0])
    marks, never = axis_of(plot.columns[0])
    assert never < min(marks) <= 0.3
    assert max(marks) >= 8
    assert "never" in texts_of(draw_dots(plot, "Savings"))


@pytest.mark.parametrize(
    ("factor", "low", "high"),
    [([4.0, 0.0], [2.0, 0.0], [8.0, 0.0]), ([4.0, np.nan], [np.nan, np.nan], [np.nan, np.nan]), ([0.0, 0.0],) * 3],
)
def test_dots_name_every_row_and_what_they_compare_with(factor, low, high):
    texts = texts_of(draw_dots(a_plot(factor, low, high), "Savings"))
    assert {"a", "b", "fewer costs", "coal", "times fewer than passive"} <= set(texts)


def test_a_figure_of_a_page_has_variables_and_one_alone_has_colours():
    svg = draw_curves(some_panels(1), "Test cost")
    alone = standalone(svg)
    assert "var(--coal, #0072b2)" in svg
    assert "font-family: inherit" in svg
    assert "var(" not in alone
    assert "inherit" not in alone
    assert "#0072b2" in alone
    assert ET.fromstring(alone.encode()).get("width").endswith("pt")
    assert "#fe01" not in svg + alone


def test_grouped_tables_name_their_groups_unless_there_is_one():
    rows = [["x", TableCell("1.0", "0.9 to 1.1"), TableCell("<b>", best=True)]]
    one, two = (part("grouped_table", ["line", "n", "m"], dict.fromkeys(names, rows)) for names in (["a"], ["a", "b"]))
    assert "rowgroup" not in one
    assert two.count('scope="rowgroup"') == 2
    assert "<td>1.0<small>0.9 to 1.1</small></td>" in one
    assert "<td class=best>&lt;b&gt;</td>" in one


@pytest.mark.parametrize(
    ("n", "name"), [(6, "hindsight need"), (6, "coal"), (9, "a name that fills a third of the row")]
)
def test_no_name_of_the_legend_is_cut_off(n, name):
    runs = [(f"{name} {i}", style, [a_run([10, 80], (0.5, 0.2))]) for i, style in enumerate(styles_for(["coal"] * n))]
    svg = ET.fromstring(draw_curves([panel("data", "costs asked for", runs, "costs_queried")], "what"))
    width = float(svg.get("viewBox").split()[2])
    names = [element for element in svg.iter(SVG_TEXT) if element.text.startswith(name)]
    starts = [float(element.get("x")) for element in names]
    assert len(starts) == n
    handle = 45  # what stands before a name
    assert min(starts) > handle
    assert max(starts) + 5.5 * len(names[0].text) < width  # 10-point letters

"""A curve as a value: its area and its JSON."""

import json
import sys
from dataclasses import replace
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.figure import Figure

from coalface import CoalClassifier, Curve, simulate
from coalface.errors import FileFormatError, InputError
from coalface.evaluate.serving import ServedCurve

from ..problems import dense_problem


def curve(test_cost, at_doublings, **others):
    n = len(test_cost)
    return Curve(
        checkpoints=np.arange(1, n + 1),
        costs_queried=np.arange(1, n + 1) * 10,
        examples_queried=np.arange(1, n + 1),
        rounds=np.arange(1, n + 1) * 5,
        test_cost=np.array(test_cost, float),
        at_doublings=np.array(at_doublings, float),
        seconds=0.5,
        **others,
    )


costs = st.floats(-1e6, 1e6)


@given(st.lists(costs, min_size=1, max_size=5), st.lists(costs, min_size=2, max_size=8), st.booleans())
def test_a_curve_survives_being_written_as_json(test_cost, at_doublings, interrupted):
    one = curve(test_cost, at_doublings, interrupted=interrupted)
    other = Curve.from_json(one.to_json())
    for name in ("checkpoints", "costs_queried", "examples_queried", "rounds", "test_cost", "at_doublings"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name))
        assert getattr(one, name).dtype.kind == getattr(other, name).dtype.kind
    assert (one.seconds, one.interrupted, one.auc) == (other.seconds, other.interrupted, other.auc)
    assert json.loads(one.to_json())["auc"] == one.auc


@given(st.lists(st.floats(0, 1), min_size=2, max_size=9))
def test_the_area_is_the_sum_of_trapezoids(heights):
    assert curve([0.5], heights).auc == pytest.approx(np.trapezoid(heights), abs=1e-12)


@given(st.lists(st.tuples(st.floats(0, 1), st.integers(0, 1000)), min_size=2, max_size=9))
def test_the_published_area_is_that_under_the_performance_against_the_logarithm_of_the_questions(steps):
    heights, asked = [cost for cost, _ in steps], np.cumsum([10] + [more for _, more in steps])[1:]
    run = replace(curve([0.5], heights), asked_at_doublings=asked.astype(np.float64))
    expected = np.trapezoid(1 - np.array(heights), np.log2(asked))
    assert run.auc_published == pytest.approx(expected, abs=1e-9)
    assert Curve.from_json(run.to_json()).auc_published == run.auc_published


def test_a_run_that_never_asks_has_no_published_area_and_an_older_curve_an_unknown_one():
    silent = curve([0.5], [0.5, 0.5])
    assert replace(silent, asked_at_doublings=np.zeros(2)).auc_published == 0.0
    assert np.isnan(silent.auc_published)
    assert "asked_at_doublings" not in silent.to_values()


@given(st.floats(0, 1), st.integers(2, 9))
def test_a_run_that_never_asks_does_not_win(cost, n):
    asks_nothing, learns = curve([cost], [cost] * n), curve([cost / 2], [cost] + [cost / 2] * (n - 1))
    assert learns.auc <= asks_nothing.auc


def test_without_test_data_the_costs_are_null_in_json():
    X, cost = dense_problem(1, 2, 30)
    one = simulate(CoalClassifier(), X, cost)
    values = json.loads(one.to_json())
    assert set(values["test_cost"]) == {None}
    assert values["auc"] is None
    assert np.isnan(Curve.from_json(one.to_json()).auc)


@pytest.mark.parametrize("text", ["", "{", "[]", "3", "{}", '{"checkpoints": []}', '{"budgets": []}', "null"])
def test_other_texts_are_refused(text):
    with pytest.raises(FileFormatError, match="not a curve"):
        Curve.from_json(text)


def test_damaged_numbers_are_refused():
    values = json.loads(curve([0.5], [0.5, 0.5]).to_json())
    for name, value in (("test_cost", ["x"]), ("checkpoints", None), ("rounds", [0.5]), ("at_doublings", 3)):
        with pytest.raises(FileFormatError, match="not a curve"):
            Curve.from_json(json.dumps({**values, name: value}))


def test_in_words():
    assert str(curve([0.5, 0.25], [0.5, 0.5])) == "20 costs on 2 of 10 examples, test cost 0.2500"


def test_a_plot_has_the_numbers_of_the_curve_on_the_given_axes():
    one, axes = curve([0.5, 0.25], [0.5, 0.5]), Figure().subplots()
    assert one.plot(axes, label="coal") is axes
    (line,) = axes.get_lines()
    np.testing.assert_array_equal(line.get_xydata(), [[10, 0.5], [20, 0.25]])
    assert (line.get_label(), axes.get_xscale()) == ("coal", "log")


def test_a_plot_without_axes_makes_a_figure(monkeypatch):
    from matplotlib import pyplot

    monkeypatch.setattr(pyplot, "subplots", lambda: (None, Figure().subplots()))
    assert len(curve([0.5], [0.5, 0.5]).plot().get_lines()) == 1


def test_a_curve_without_questions_or_test_costs():
    nothing = replace(curve([0.5], [0.5, 0.5]), costs_queried=np.array([0]))
    assert nothing.plot(Figure().subplots()).get_xscale() == "linear"
    with pytest.raises(InputError, match="Pass X_test to simulate"):
        curve([np.nan], [0.5, 0.5]).plot(Figure().subplots())


def test_a_frame_has_a_row_per_entry_and_the_price_if_there_is_one():
    frame = curve([0.5, 0.25], [0.5, 0.5]).to_frame()
    assert frame["costs_queried"].tolist() == [10, 20]
    assert frame["test_cost"].tolist() == [0.5, 0.25]
    assert "spent" not in frame
    assert curve([0.5], [0.5, 0.5], spent=np.array([3.0])).to_frame()["spent"].tolist() == [3.0]


def test_without_pandas_a_frame_is_one_clear_line(monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(InputError, match=r"to_frame needs pandas.*pip install pandas"):
        curve([0.5], [0.5, 0.5]).to_frame()


def test_a_notebook_shows_the_measured_points_and_the_sentence():
    counts, costs = np.array([0, 10, 20, 40]), np.array([0.9, 0.5, np.nan, 0.2])
    shown = ElementTree.fromstring(Curve(counts, counts, counts, counts, costs, costs, seconds=0.1)._repr_html_())
    dots = [(float(dot.get("cx")), float(dot.get("cy"))) for dot in shown.iter("circle")]
    assert len(dots) == 2  # no cost was asked for at the first, no test cost was measured at the third
    assert dots[0][0] < dots[1][0]
    assert dots[0][1] < dots[1][1]  # a smaller cost is lower in the picture
    texts = [text.text for text in shown.iter("text")]
    assert {"10", "40", "0.5", "0.2"} <= set(texts)
    assert "40 costs" in shown.find("figcaption").text


def test_a_notebook_shows_the_sentence_alone_without_test_data():
    counts, costs = np.array([10, 20]), np.full(2, np.nan)
    curve = Curve(counts, counts, counts, counts, costs, costs, seconds=0.1)
    assert curve._repr_html_() == str(curve)


def test_a_notebook_shows_the_mean_cost_of_what_was_served():
    cost = np.r_[np.ones(50), np.zeros(950)]
    served = ServedCurve(np.full(1000, "a"), np.ones(1000), cost, costs_bought=3)
    shown = ElementTree.fromstring(served._repr_html_())
    dots = [(float(dot.get("cx")), float(dot.get("cy"))) for dot in shown.iter("circle")]
    assert 10 < len(dots) < 40
    assert dots == sorted(dots)  # later is to the right, and cheaper is lower
    texts = [text.text for text in shown.iter("text")]
    assert {"1", "1,000", "0.05", "examples served"} <= set(texts)
    assert shown.find("figcaption").text == "1,000 labels served at a mean cost of 0.05, 3 costs bought"


def test_a_notebook_shows_the_sentence_alone_where_costs_are_unknown():
    served = ServedCurve(np.array(["a"]), np.ones(1), np.array([np.nan]), costs_bought=0)
    assert served._repr_html_() == str(served) == "1 label served at a mean cost of nan"

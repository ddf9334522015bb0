"""The report of a study: made of its tables alone, its numbers are those of the runs, and it hides no loss."""

import dataclasses
import re
import xml.etree.ElementTree as ET

import numpy as np
import pytest

from coalface.errors import FileFormatError
from coalface.report.charts import DotPlot
from coalface.studies.measures import COSTS
from coalface.studies.report.analysis import Analysis
from coalface.studies.report.figure_data import MEAN_ROW, figures_for
from coalface.studies.report.headline import facts_of
from coalface.studies.report.pages import write_report
from coalface.studies.report.where_coal_loses import no_losses_text, where_coal_loses
from coalface.studies.tables import write_tables
from tests.pages import assert_needs_nothing_else
from tests.studies.made_findings import ABLATIONS, BASELINES, LINES, K, a_run, findings, learning
from tests.studies.reports import report_of, rows_of

EVERYTHING = LINES | ABLATIONS | BASELINES


@pytest.fixture(scope="module")
def everything(tmp_path_factory):
    folder = tmp_path_factory.mktemp("everything")
    report_of(learning(EVERYTHING, ("one", "two"), price_unit="seconds"), folder)
    return folder


@pytest.fixture(scope="module")
def many(tmp_path_factory):
    folder = tmp_path_factory.mktemp("many")
    lines = {name: EVERYTHING[name] for name in ("passive", "coal 0.01", "coal 0.001", "margin", "all-or-none 0.01")}
    report_of(learning(lines, [f"data-{i}" for i in range(28)], rates=[0.5], n=3), folder)
    return folder


def names_in(folder):
    return {path.name for path in folder.iterdir()}


def both(*names):
    return {f"{name}.{ending}" for name in names for ending in ("svg", "csv")}


# Figures


def test_a_study_has_the_figures_that_say_something(everything, many, tmp_path):
    assert names_in(everything / "figures") == both("costs", "examples", "price", "answers", "ablations")
    assert names_in(many / "figures") == both("savings", "answers", "ablations")
    report_of(learning(), tmp_path)
    assert names_in(tmp_path / "figures") == both("costs", "examples")


def test_a_second_report_leaves_no_figure_of_the_first(tmp_path):
    report_of(learning(LINES | ABLATIONS), tmp_path)
    (tmp_path / "figures" / "my own.svg").write_text("kept")
    report_of(learning(), tmp_path)
    assert names_in(tmp_path / "figures") == both("costs", "examples") | {"my own.svg"}


def test_ablations_have_a_figure_with_the_coal_lines_of_the_same_settings():
    figures = {figure.name: figure for figure in figures_for(Analysis.of(learning(EVERYTHING)))}
    drawn = {name: [line.name for line in figure.shown[0].lines] for name, figure in figures.items()}
    assert drawn["ablations"] == ["passive", "coal 0.01", "coal 0.001", "all-or-none 0.01", "no-domination 0.001"]
    assert drawn["costs"] == drawn["examples"] == [*LINES, *BASELINES]


def test_ablations_without_settings_in_their_names_are_shown_with_every_coal_line():
    lines = LINES | {"all-or-none": ABLATIONS["all-or-none 0.01"]}
    figure = figures_for(Analysis.of(learning(lines)))[-1]
    assert [line.name for line in figure.shown[0].lines] == [*LINES, "all-or-none"]


def test_a_line_has_the_same_style_in_all_figures():
    styles = {}
    for figure in figures_for(Analysis.of(learning(EVERYTHING))):
        for line in figure.shown[0].lines:
            assert styles.setdefault(line.name, line.style) == line.style
    assert len({(style.colour, style.dash) for style in styles.values()}) == len(EVERYTHING)
    assert len({style.marker for style in styles.values()}) == len(EVERYTHING)


def test_the_figure_shows_percentiles_of_the_runs_at_the_best_rate(everything):
    study = learning(EVERYTHING, ("one", "two"), price_unit="seconds")
    ends = [r.test_cost for r in study.runs if (r.data, r.line, r.learning_rate) == ("two", "coal 0.01", 0.5)]
    rows = [r for r in rows_of(everything / "figures" / "costs.csv") if (r["data"], r["line"]) == ("two", "coal 0.01")]
    last = [row for row in rows if row["drawn"] == "line"][-1]
    assert float(last["asked"]) == LINES["coal 0.01"][0]
    assert float(last["median"]) == np.median(ends)
    assert [float(last["lower_15"]), float(last["upper_85"])] == pytest.approx(np.percentile(ends, [15, 85]).tolist())


def test_bars_are_just_after_the_doublings_and_no_two_at_the_same_place(everything):
    rows = [
        row for row in rows_of(everything / "figures" / "costs.csv") if row["drawn"] == "bar" and row["data"] == "one"
    ]
    places = np.array([float(row["asked"]) for row in rows if row["line"] != "margin"])
    assert len(np.unique(places.round(6))) == len(places)
    offset = np.log2(places / (10 * K)) % 1
    assert (offset < 0.3).all()


def test_the_price_figure_has_its_unit_and_only_priced_data(tmp_path):
    study = learning(data=("free", "dear"), price_unit="seconds")
    free = dataclasses.replace(study.data[0], price_unit="")
    figures = {f.name: f for f in figures_for(Analysis.of(dataclasses.replace(study, data=(free, study.data[1]))))}
    assert [panel.title for panel in figures["price"].shown] == ["dear"]
    assert figures["price"].shown[0].unit == "price in seconds"
    assert len(figures["costs"].shown) == 2


def test_a_label_is_all_its_costs_in_one_figure_and_one_answer_in_the_other():
    figures = {figure.name: figure for figure in figures_for(Analysis.of(learning(EVERYTHING)))}
    ends = {
        name: {line.name: line.curve.asked[-1] for line in figures[name].shown[0].lines}
        for name in ("costs", "answers")
    }
    assert ends["answers"]["margin"] * K == pytest.approx(ends["costs"]["margin"])
    assert ends["answers"]["coal 0.01"] == ends["costs"]["coal 0.01"]


def test_many_datasets_are_dots_sorted_by_the_best_saving_with_the_mean_below(many):
    rows = rows_of(many / "figures" / "savings.csv")
    names = list(dict.fromkeys(row["data"] for row in rows))
    assert len(names) == 29
    assert names[-1] == MEAN_ROW
    costs = [float(r["saving"]) for r in rows if (r["counted"], r["line"]) == ("fewer costs", "coal 0.01")]
    assert costs[:-1] == sorted(costs[:-1], reverse=True)
    assert costs[-1] == pytest.approx(np.exp(np.mean(np.log(costs[:-1]))))
    assert {r["line"] for r in rows} == {"coal 0.01", "coal 0.001", "margin"}


def test_dots_of_lines_without_runs_on_some_data_are_unknown_not_never():
    study = learning({name: LINES[name] for name in ("passive", "coal 0.01")}, [f"d{i}" for i in range(10)], n=2)
    some = tuple(run for run in study.runs if (run.data, run.line) != ("d3", "coal 0.01"))
    (figure,) = figures_for(Analysis.of(dataclasses.replace(study, runs=some)))
    assert isinstance(figure.shown, DotPlot)
    (line,) = figure.shown.columns[0].lines
    assert np.isnan(line.factor[figure.shown.rows.index("d3")])
    assert "<svg" in figure.svg()


def test_figures_alone_are_well_formed_and_need_no_page(everything, many):
    for folder in (everything, many):
        for path in (folder / "figures").glob("*.svg"):
            text = path.read_text(encoding="utf-8")
            assert ET.fromstring(text.encode()).get("aria-label")
            assert "var(" not in text
            assert "#fe01" not in text
            assert "background: #ffffff" in text
            assert "inherit" not in text


# Tables


def test_the_saving_table_holds_what_the_analysis_says(everything):
    analysis = Analysis.of(learning(EVERYTHING, ("one", "two"), price_unit="seconds"))
    rows = {(row["data"], row["line"], row["counted"]): row for row in rows_of(everything / "tables" / "savings.csv")}
    assert len(rows) == 2 * len(EVERYTHING) * 4
    for outcome in analysis.outcomes:
        for measure, saving in outcome.savings.items():
            row = rows[outcome.data, outcome.line, measure.name]
            assert float(row["saving"]) == saving.factor
            assert float(row["saving_low"]) == saving.interval.low
            assert float(row["share_of_draws_that_reach"]) == saving.reached
            assert float(row["excess"]) == float(row["test_cost"]) - float(row["baseline_test_cost"])


def test_the_rate_table_marks_one_best_rate_per_line_and_dataset(everything):
    rows = rows_of(everything / "tables" / "best_rates.csv")
    best = [(row["data"], row["line"], row["learning_rate"]) for row in rows if row["best"] == "1"]
    assert len(rows) == 2 * len(EVERYTHING) * 3
    assert sorted(best) == sorted((data, line, "0.5") for data in ("one", "two") for line in EVERYTHING)


def test_the_same_tables_give_the_same_report(everything):
    before = {path: path.read_bytes() for path in everything.rglob("*") if path.is_file()}
    write_report(everything)
    assert {path: path.read_bytes() for path in everything.rglob("*") if path.is_file()} == before


# The page


def test_the_page_loads_nothing_and_has_no_script(everything, many):
    for folder in (everything, many):
        assert_needs_nothing_else((folder / "report.html").read_text(encoding="utf-8"))


def test_the_page_has_every_part(everything):
    page = (everything / "report.html").read_text(encoding="utf-8")
    titles = re.findall(r"<h2>(.*?)</h2>", page)
    assert titles[-7:] == [
        "Savings",
        "Savings over all data",
        "Where COAL loses",
        "Best learning rates",
        "Data",
        "Settings",
        "Times",
    ]
    assert page.count("<figure>") == 5
    assert 'class="notice"' not in page  # nothing is missing, and no rate is at the edge
    for text in (
        "A made study",
        "Lines that fall as a formula says.",
        "5, one pass each",
        "50.000\u00a0%",
        "1.5 s",
        "0.1.0",
    ):
        assert text in page


def test_ids_are_unique_on_the_page(everything):
    ids = re.findall(r'\bid="([^"]+)"', (everything / "report.html").read_text(encoding="utf-8"))
    assert len(ids) == len(set(ids))


def test_missing_and_failed_runs_are_reported_before_anything_else(tmp_path):
    study = dataclasses.replace(learning(), missing=3, failures=("digits, coal, permutation 4: no <memory>",))
    page = report_of(study, tmp_path).read_text(encoding="utf-8")
    before = page[: page.index('class="facts"')]
    assert "Not finished yet: 3 runs of this study." in before
    assert "Failed and left out: 1 run." in before
    assert "permutation 4: no &lt;memory&gt;" in before


def test_a_study_whose_baseline_has_not_run_yet_says_so_and_shows_what_there_is(tmp_path):
    study = findings([a_run([100, 200], [0.5, 0.3])], lines=["passive", "coal"])
    page = report_of(study, tmp_path).read_text(encoding="utf-8")
    assert "No finished run has passive." in page
    assert "Nothing is compared on digits" in page
    assert "Nothing can be compared" in page
    assert "Best learning rates" in page


def test_a_best_rate_at_the_edge_of_the_grid_is_a_warning_on_the_page(tmp_path):
    page = report_of(learning(rates=(0.5, 1.0)), tmp_path).read_text(encoding="utf-8")
    assert "The best learning rate is the smallest or the largest one tried" in page
    assert "coal 0.01 on digits (0.5)" in page
    assert "0.5 (edge)" in page


def test_one_permutation_and_one_checkpoint_are_enough_for_a_page(tmp_path):
    study = findings([a_run([100], [0.5], line="passive"), a_run([100], [0.4])])
    page = report_of(study, tmp_path).read_text(encoding="utf-8")
    assert "<figure>" in page
    assert "95 % interval" not in page[: page.index("<h2>")]


def test_a_perfect_test_cost_does_not_break_the_log_axis(tmp_path):
    runs = [
        a_run([100, 200, 400], [0.5, 0.1, 0.0], line=line, permutation=p)
        for line in ("passive", "coal")
        for p in (0, 1)
    ]
    assert "<figure>" in report_of(findings(runs), tmp_path).read_text(encoding="utf-8")


def test_a_line_that_ends_between_two_doublings_before_any_checkpoint_is_drawn(tmp_path):
    passive = [a_run([100, 200, 400], [0.5, 0.4, 0.3], line="passive", permutation=p) for p in (0, 1)]
    collapsed = [a_run([150], [0.9], permutation=p) for p in (0, 1)]
    page = report_of(findings([*passive, *collapsed]), tmp_path).read_text(encoding="utf-8")
    assert "coal ends worse than passive" in page
    drawn = [(r["line"], r["drawn"], r["asked"]) for r in rows_of(tmp_path / "figures" / "costs.csv")]
    assert ("coal", "line", "150.0") in drawn
    assert not [row for row in drawn if row[:2] == ("coal", "bar")]


def test_a_run_that_asked_for_nothing_is_drawn(tmp_path):
    runs = [a_run([100, 200], [0.5, 0.4], line="passive"), a_run([0], [0.9], examples=[0])]
    assert "<figure>" in report_of(findings(runs), tmp_path).read_text(encoding="utf-8")


def test_nothing_is_written_from_damaged_tables(tmp_path):
    write_tables(learning(), tmp_path)
    (tmp_path / "curves.csv").write_text("nonsense\n")
    with pytest.raises(FileFormatError, match=r"curves.csv, line 1: the columns must be"):
        write_report(tmp_path)
    assert not (tmp_path / "report.html").exists()
    assert not (tmp_path / "figures").exists()


# What to remember, and where COAL loses


def test_few_datasets_are_remembered_one_by_one_with_their_best_coal_line():
    analysis = Analysis.of(learning(EVERYTHING, ("one", "two")))
    facts = facts_of(analysis)
    assert len(facts) == 2
    best = max(analysis.on("one", ["coal 0.1", "coal 0.01", "coal 0.001"]), key=lambda o: o.savings[COSTS].factor)
    (text,) = [what for what in facts if " on one: " in what]
    assert f"{best.line} needs" in text
    assert facts[text] == f"{best.savings[COSTS].factor:.1f}x"


def test_many_datasets_are_remembered_by_the_line_that_gets_there_most_often(many):
    page = (many / "report.html").read_text(encoding="utf-8")
    assert "the mean of coal 0.01 over the 28 of 28 datasets where it gets there" in page
    assert "28 of 28" in page


def test_a_coal_line_that_ends_worse_than_the_baseline_is_reported():
    (told,) = [text for text in where_coal_loses(Analysis.of(learning())) if text.startswith("coal 0.001")]
    assert "ends worse than passive, so that it never reaches its final test cost, on digits" in told
    assert "95 % interval +" in told
    assert "chance" not in told


def test_a_loss_within_the_noise_is_reported_as_such():
    passive = [a_run([100, 400], [0.5, 0.2 + p / 100], line="passive", permutation=p) for p in range(5)]
    coal = [a_run([100, 200], [0.5, 0.2 + (5 - p) / 100], permutation=p) for p in range(5)]
    (told,) = where_coal_loses(Analysis.of(findings([*passive, *coal])))
    assert "this may be chance" in told


def test_a_coal_line_that_needs_more_than_the_baseline_is_reported():
    passive = [a_run([100, 200, 400, 800], [0.5, 0.2, 0.2, 0.2], line="passive")]
    coal = [a_run([100, 200, 400, 800], [0.5, 0.4, 0.2, 0.2])]
    told = where_coal_loses(Analysis.of(findings([*passive, *coal])))
    assert "coal needs more costs than passive for the same test cost, on digits (0.5x)." in told


def test_a_baseline_that_needs_less_or_ends_better_is_reported():
    told = where_coal_loses(Analysis.of(learning(EVERYTHING)))
    assert any(text.startswith("margin needs fewer costs than the best coal line to get as good") for text in told)
    assert any(text.startswith("margin needs fewer answers than") for text in told)
    assert any(text.startswith("margin ends better than every coal line, on digits (at ") for text in told)
    assert not any(text.startswith("vw needs fewer costs") for text in told)


def test_losses_on_several_datasets_are_counted():
    told = where_coal_loses(Analysis.of(learning(data=("one", "two", "three"))))
    assert any("coal 0.001" in text and "on 3 of 3 datasets: one (" in text for text in told)


def test_where_nothing_is_lost_the_page_says_that_too(tmp_path):
    study = learning({name: LINES[name] for name in ("passive", "coal 0.01")})
    analysis = Analysis.of(study)
    assert where_coal_loses(analysis) == []
    assert no_losses_text(analysis) in report_of(study, tmp_path).read_text(encoding="utf-8")


def test_a_study_without_coal_has_nothing_to_lose():
    analysis = Analysis.of(learning({"passive": LINES["passive"]} | BASELINES))
    assert where_coal_loses(analysis) == []
    assert no_losses_text(analysis) == "No line of this study uses the coal rule."
    assert all("margin" in what for what in facts_of(analysis))


def test_a_line_called_default_differs_from_others_of_its_rule():
    lines = {"passive": LINES["passive"], "coal 0.01": LINES["coal 0.01"], "default": LINES["coal 0.01"]}
    figure = figures_for(Analysis.of(learning(lines, ["one"])))[0]
    colours = {line.name: line.style.colour for line in figure.shown[0].lines}
    assert len(set(colours.values())) == 3

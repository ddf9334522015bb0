"""What a report says first, and that it says it plainly: savings, trades, little data, and what was left out."""

import dataclasses
import re

import numpy as np
import pytest

from coalface.studies.findings import COSTS
from coalface.studies.report.headline import facts_of, no_losses_text, where_coal_loses
from coalface.studies.report.pages import write_report
from coalface.studies.report.savings import Analysis
from tests.studies.made_findings import BASELINES, LINES, a_run, findings, learning
from tests.studies.reports import report_of

NEVER = {name: LINES[name] for name in ("passive", "coal 0.001")}


def page_of(study, folder):
    return report_of(study, folder).read_text(encoding="utf-8")


def runs_of(line, asked, test_cost, n=5):
    return [a_run(asked, test_cost, line=line, permutation=p) for p in range(n)]


def the_fact(runs, baseline="passive"):
    """The only fact: its text, without no-break spaces, and its number."""
    ((text, number),) = facts_of(Analysis.of(findings(runs, baseline=baseline))).items()
    return text.replace("\u00a0", " "), number


# Where no line gets as good as the baseline


def test_a_line_that_never_gets_as_good_is_remembered_by_what_it_gives_up_and_gets_for_it():
    text, number = the_fact(
        runs_of("passive", [100, 630], [0.5, 0.2]) + runs_of("coal 0.01", [100, 100], [0.5, 0.2116])
    )
    assert number == "6.3x"
    assert text.startswith("fewer costs than passive, ending 5.8 % above its test cost: coal 0.01 on digits (")
    assert "100 costs instead of 630, 0.2116 instead of 0.2" in text
    assert "No coal line gets as good as passive there; this one comes closest." in text
    assert "never" not in text


def test_of_several_lines_the_one_with_the_least_excess_is_remembered():
    passive = runs_of("passive", [100, 800], [0.5, 0.2])
    coal = runs_of("coal 0.1", [100, 400], [0.5, 0.22]) + runs_of("coal 0.01", [100, 100], [0.5, 0.3])
    text, number = the_fact(passive + coal)
    assert (number, "coal 0.1 on digits" in text) == ("2.0x", True)


@pytest.mark.parametrize(
    ("asked", "number", "said"),
    [(800, "1.0x", "as many costs as passive"), (1600, "2.0x", "more costs than passive"), (0, "0", "costs, unlike")],
)
def test_a_trade_that_saves_nothing_is_not_called_one(asked, number, said):
    coal = runs_of("coal", [asked], [0.3])
    text, shown = the_fact(runs_of("passive", [100, 800], [0.5, 0.2]) + coal)
    assert shown == number
    assert text.startswith(f"{said}")
    assert "ending 50.0 % above its test cost" in text


def test_the_baseline_is_counted_on_the_permutations_of_the_line():
    passive = [a_run([100, 800 + 100 * p], [0.5, 0.2], line="passive", permutation=p) for p in range(5)]
    text, number = the_fact([*passive, *runs_of("coal", [100, 100], [0.5, 0.3], n=1)])
    assert number == "8.0x"  # of 800, which is the first permutation
    assert "100 costs instead of 800" in text


def test_a_baseline_without_errors_is_ended_above_by_a_number():
    text, _ = the_fact(runs_of("passive", [100, 800], [0.5, 0.0]) + runs_of("coal", [100], [0.01]))
    assert "ending 0.0100 above its test cost" in text


def test_without_coal_the_closest_line_is_not_called_coal():
    text, _ = the_fact(runs_of("passive", [100, 800], [0.5, 0.2]) + runs_of("vw", [100], [0.3]))
    assert "No line gets as good as passive there" in text


def test_on_many_datasets_the_closest_one_is_in_the_headline_as_the_only_one():
    analysis = Analysis.of(learning(NEVER, [f"d{i}" for i in range(10)], rates=[0.5]))
    facts = facts_of(analysis)
    assert list(facts.values()) == ["16.0x", "0 of 10"]
    ours = analysis.on
    closest = min(
        (ours(name, ["coal 0.001"])[0] for name in analysis.data_names),
        key=lambda one: one.test_cost / one.baseline_test_cost,
    )
    assert f"coal 0.001 on {closest.data} (" in next(iter(facts))
    assert "No coal line gets as good as passive on any dataset; this one comes closest." in next(iter(facts))


def test_a_median_over_datasets_without_a_saving_is_called_no_saving():
    study = learning(NEVER, [f"d{i}" for i in range(10)], rates=[0.5])
    lucky = [
        dataclasses.replace(run, test_cost=0.001, points=dataclasses.replace(run.points, test_cost=end))
        for run in study.runs
        if (run.data, run.line) == ("d3", "coal 0.001")
        for end in [np.append(run.points.test_cost[:-1], 0.001)]
    ]
    others = [run for run in study.runs if (run.data, run.line) != ("d3", "coal 0.001")]
    facts = facts_of(Analysis.of(dataclasses.replace(study, runs=(*others, *lucky))))
    assert "no saving" in facts.values()
    assert "1 of 10" in facts.values()
    assert "never" not in facts.values()


# Intervals


def uneven_study():
    """Passive ends at 0.3; coal gets there on three of five permutations."""
    passive = runs_of("passive", [100, 200, 400, 800], [0.5, 0.45, 0.4, 0.3])
    coal = [a_run([100, 200], [0.5, 0.2 if p < 3 else 0.4], permutation=p) for p in range(5)]
    return findings([*passive, *coal])


def test_an_interval_that_begins_with_never_says_how_many_draws_save_nothing():
    analysis = Analysis.of(uneven_study())
    saving = analysis.best("digits", ["coal"]).savings[COSTS]
    assert saving.interval.low == 0 < saving.interval.high
    ((text, _),) = facts_of(analysis).items()
    missed = f"{100 * np.mean(saving.draws == 0):.0f}"
    assert f"95 % interval up to {saving.interval.high:.1f}, no saving in {missed}\u00a0% of draws" in text


def test_no_interval_reads_never_to_something(tmp_path):
    page = page_of(uneven_study(), tmp_path)
    assert "never to" not in page
    assert "<small>up to " in page


def test_the_page_says_why_more_costs_may_be_needed_than_asked(tmp_path):
    page = page_of(learning(), tmp_path)
    told = "They\nmay exceed the costs asked, which are those of the median run at its end"
    assert page.index("<h2>Savings</h2>") < page.index(told) < page.index("<h2>Where COAL loses</h2>")


@pytest.mark.parametrize(
    ("n", "said"),
    [(1, "A single permutation has no intervals"), (2, "Intervals from 2 permutations mean little"), (4, "from 4 per")],
)
def test_few_permutations_are_reported_before_any_number(tmp_path, n, said):
    page = page_of(learning(n=n), tmp_path)
    assert said in page[: page.index('class="facts"')]


def test_five_permutations_need_no_word(tmp_path):
    page = page_of(learning(n=5), tmp_path)
    assert "mean little" not in page
    assert "no intervals" not in page


def test_if_only_some_lines_have_few_permutations_they_are_named(tmp_path):
    study = learning()
    some = [run for run in study.runs if run.line != "coal 0.1" or run.permutation < 2]
    page = page_of(dataclasses.replace(study, runs=tuple(some)), tmp_path)
    assert "Intervals from 2 permutations mean little: other permutations may well lie outside, for coal 0.1 on" in page


# A coal line as the baseline


def test_a_lone_coal_line_is_the_baseline_and_has_nothing_beside_it(tmp_path):
    study = findings(runs_of("coal", [100, 200], [0.5, 0.3], n=2), baseline="coal")
    assert where_coal_loses(Analysis.of(study)) == []
    page = page_of(study, tmp_path)
    assert "The baseline, coal, is the only line, so there is nothing to compare it with." in page
    assert "uses the coal rule" not in page
    assert 'class="facts"' not in page
    assert "mean little" not in page


def test_a_coal_baseline_beside_others_is_not_said_to_be_missing():
    runs = runs_of("coal", [100, 200], [0.5, 0.3]) + runs_of("vw", [100, 400], [0.5, 0.3])
    told = no_losses_text(Analysis.of(findings(runs, baseline="coal")))
    assert told.startswith("The baseline, coal, is the only coal line")
    assert "No line" not in told


# The rest of the page


def test_numbers_and_their_per_cent_are_never_parted_in_a_table(tmp_path):
    page = page_of(learning(LINES | BASELINES), tmp_path)
    cells = re.findall(r"<td[^>]*>(.*?)</td>", page)
    with_percent = [cell for cell in cells if "%" in cell]
    assert len(with_percent) > 10
    assert all(re.search(r"\d\u00a0%", cell) and " %" not in cell for cell in with_percent)


def test_versions_are_given_once_at_the_foot_of_the_page(tmp_path):
    study = dataclasses.replace(learning(), versions={"coalface": "0.0.7", "numpy": "9.8.7"})
    page = page_of(study, tmp_path)
    assert page.count("9.8.7") == page.count("0.0.7") == 1
    assert "<footer>Runs made with coalface 0.0.7, numpy 9.8.7. Page made with coalface " in page


def test_four_tables_are_enough_for_the_whole_report_but_its_times(tmp_path):
    whole = page_of(learning(), tmp_path)
    for file in ("timings.csv", "timings.json"):
        (tmp_path / file).unlink()
    before = {path: path.read_bytes() for folder in ("tables", "figures") for path in (tmp_path / folder).iterdir()}
    rest = write_report(tmp_path).read_text(encoding="utf-8")
    (times,) = re.findall(r"<section><h2>Times</h2>.*?</section>\n?", whole, re.DOTALL)
    assert "a run of coal 0.1, median" in times
    assert whole.replace(times, "") == rest
    assert {path: path.read_bytes() for path in before} == before


def test_the_times_of_runs_may_be_missing_alone(tmp_path):
    report_of(learning(), tmp_path)
    (tmp_path / "timings.csv").unlink()
    page = write_report(tmp_path).read_text(encoding="utf-8")
    assert "1.5 s" in page
    assert "a run of" not in page
    assert "nan" not in re.findall(r"<h2>Times</h2>.*?</section>", page, re.DOTALL)[0]

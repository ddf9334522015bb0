"""Reports of studies that do not know everything: no number is made up, and the page says what is missing."""

import dataclasses
import re

import pytest

from coalface.errors import InputError
from coalface.studies.report.figure_data import figures_for
from coalface.studies.report.pages import write_report
from coalface.studies.report.savings import Analysis
from tests.studies.made_findings import BASELINES, LINES, a_run, findings, learning, unpriced
from tests.studies.reports import report_of, rows_of


def test_a_line_whose_price_is_not_known_has_no_line_in_the_price_figure_and_no_number_anywhere(tmp_path):
    study = unpriced(learning(LINES | BASELINES, ("dear",), price_unit="seconds"), "vw")
    page = report_of(study, tmp_path).read_text(encoding="utf-8")
    drawn = {
        name: {row["line"] for row in rows_of(tmp_path / "figures" / f"{name}.csv")} for name in ("costs", "price")
    }
    assert drawn["costs"] - drawn["price"] == {"vw"}
    assert "vw" in drawn["costs"]
    counted = {row["counted"] for row in rows_of(tmp_path / "tables" / "savings.csv") if row["line"] == "vw"}
    assert counted == {"costs", "examples", "answers"}
    (row,) = [row for row in re.findall(r"<tr><td>vw</td>.*?</tr>", page) if "%" in row]
    cells = re.findall(r"<td[^>]*>(.*?)</td>", row)
    headings = re.findall(r'<th scope="col">(.*?)</th>', page)
    assert cells[headings.index("lower price")] == ""
    assert "never" not in row
    assert "Prices are not compared where a run has none: vw on dear." in page


def test_unknown_prices_are_not_a_measure(tmp_path):
    study = learning({"passive": LINES["passive"]}, ("dear",), price_unit="seconds")
    page = report_of(unpriced(study, "passive"), tmp_path).read_text(encoding="utf-8")
    assert "lower price" not in page
    assert not (tmp_path / "figures" / "price.svg").exists()


def test_without_the_price_of_the_baseline_others_are_drawn_and_not_compared(tmp_path):
    names = ("passive", "coal 0.01")
    study = learning({name: LINES[name] for name in names}, ("dear", "too"), price_unit="seconds")
    page = report_of(unpriced(study, "passive"), tmp_path).read_text(encoding="utf-8")
    assert {row["line"] for row in rows_of(tmp_path / "figures" / "price.csv")} == {"coal 0.01"}
    assert 'colspan="4">lower price' not in page  # no empty group in the table of means


def test_many_datasets_have_no_dots_for_a_price_that_is_not_known():
    study = learning({name: LINES[name] for name in ("passive", "coal 0.01")}, [f"d{i}" for i in range(10)], n=2)
    priced = dataclasses.replace(study, data=[dataclasses.replace(facts, price_unit="s") for facts in study.data])
    one = dataclasses.replace(priced.runs[0], spent=1.0)
    (figure,) = figures_for(Analysis.of(dataclasses.replace(priced, runs=(one, *priced.runs[1:]))))
    assert [column.title for column in figure.shown.columns] == ["fewer costs", "fewer examples"]


def test_rates_with_unequal_numbers_of_permutations_are_named_below_their_table(tmp_path):
    study = learning()
    cut = [run for run in study.runs if (run.line, run.learning_rate) != ("coal 0.1", 1.0) or run.permutation < 3]
    page = report_of(dataclasses.replace(study, runs=tuple(cut)), tmp_path).read_text(encoding="utf-8")
    told = "coal 0.1 on digits (3 to 5 permutations, 3 of them shared)"
    assert page.index("Best learning rates") < page.index(told) < page.index("<h2>Data</h2>")
    assert page.count("permutations that all of them share") == 1


def test_rates_that_share_no_permutation_are_named_too(tmp_path):
    runs = [a_run([100], [0.5], line="passive", rate=rate, permutation=p) for rate, p in ((0.1, 0), (0.5, 1))]
    page = report_of(findings(runs), tmp_path).read_text(encoding="utf-8")
    assert "passive on digits (1 permutation each, none shared: each rate is judged by its own)" in page


def test_whole_permutations_need_no_word_about_them(tmp_path):
    assert "all of them share" not in report_of(learning(), tmp_path).read_text(encoding="utf-8")


def test_an_empty_folder_has_no_report(tmp_path):
    with pytest.raises(InputError, match=r"is not a sweep folder"):
        write_report(tmp_path)
    with pytest.raises(InputError, match=r"nowhere must be a sweep folder, but it does not exist"):
        write_report(tmp_path / "nowhere")
    assert list(tmp_path.iterdir()) == []

"""A learning rate that is a word: a line that finds its own goes through a whole study like any other."""

import csv
from copy import copy
from pathlib import Path

import pytest

from coalface.errors import StudyError
from coalface.studies import Study, learners, run_sweep, write_report_of
from coalface.studies.cells import cells_of, code_of
from coalface.studies.results import Results
from coalface.studies.selection import choose_rates
from coalface.studies.sweep import estimate_study
from coalface.studies.tables import read_tables, write_tables
from tests.studies.made_findings import a_run, findings

STUDIES = Path(__file__).parents[2] / "studies"
STUDY = """
plugins = ["baselines"]
data = ["iris"]
permutations = 2

[lines.passive]
rule = "passive"
learning_rate = [0.1, 0.3]

[lines.default]

[lines.half]
learner = "random-costs"
share = 0.5
learning_rate = 0.3
"""


@pytest.fixture
def automatic(monkeypatch):
    """A stand-in for a learner whose default rate and warm-up are words; it takes 0.3 and 5 for them."""
    coal = copy(learners.LEARNERS["coal"])
    check, run = coal.check, coal.run
    meant = {"learning_rate": 0.3, "rule.warm_up": 5}

    def told(settings):
        return {name: meant[name] if value == "auto" else value for name, value in settings.items()}

    coal.parameters = {**coal.parameters, **dict.fromkeys(meant, "auto")}
    coal.check = lambda given, n_labels: check(told(given), n_labels)
    coal.run = lambda given, *more: run(told(given), *more)
    monkeypatch.setitem(learners.LEARNERS, "coal", coal)


def rows_of(path):
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def test_a_line_without_a_rate_has_the_word_and_is_one_cell_per_permutation(automatic):
    study = Study.from_toml(STUDY, folder=STUDIES, allow_plugins=True)
    default = study.lines[1]
    assert (default.settings, default.rates) == ({}, ("auto",))
    cells = [cell for cell in cells_of(study, {"iris": "a"}, code_of(study)) if cell.line == "default"]
    assert [cell.settings for cell in cells] == [(("learning_rate", "auto"),)] * 2
    assert len({cell.key for cell in cells}) == 2


def test_a_sweep_its_tables_and_its_report_have_the_word(automatic, tmp_path):
    study = Study.from_toml(STUDY, folder=STUDIES, allow_plugins=True)
    outcome = run_sweep(study, tmp_path, workers=1)
    assert (outcome.finished, outcome.failed) == (2 * 4, 0)
    page = write_report_of(tmp_path).read_text(encoding="utf-8")
    assert "learner coal; learning rates auto" in page
    rates = {row["line"]: row["learning_rate"] for row in rows_of(tmp_path / "tables" / "savings.csv")}
    assert rates["default"] == "auto"
    assert float(rates["passive"]) in (0.1, 0.3)
    best = [row for row in rows_of(tmp_path / "tables" / "best_rates.csv") if row["line"] == "default"]
    assert [(row["learning_rate"], row["best"], row["at_edge"]) for row in best] == [("auto", "1", "0")]
    again = run_sweep(study, tmp_path, workers=1)
    assert (again.finished_before, again.finished) == (8, 0)


def test_the_word_is_what_the_learner_makes_of_it(automatic, tmp_path):
    same = '[lines.named]\nlearning_rate = 0.3\nrule.warm_up = 5\n[lines.default]\nrule.warm_up = "auto"\n'
    run_sweep(Study.from_toml(f'data = ["iris"]\npermutations = 1\n{same}'), tmp_path, workers=1)
    runs = {run["line"]: run for run in Results(tmp_path).finished.values()}
    named, default = runs["named"], runs["default"]
    assert default["settings"] == {"learning_rate": "auto", "rule.warm_up": "auto"}
    assert named["curve"]["test_cost"] == default["curve"]["test_cost"]


def test_the_time_of_such_a_line_is_estimated(automatic):
    study = Study.from_toml(STUDY, folder=STUDIES, allow_plugins=True)
    found = {row.line: row.seconds_each for row in estimate_study(study, None, "threads", 1).rows}
    assert found["default"] > 0


def test_a_word_among_numbers_comes_last_and_is_not_an_edge(tmp_path):
    runs = [a_run([100], [0.5], rate=rate, auc=auc) for rate, auc in (("auto", 1.0), (0.5, 3.0), (0.1, 2.0))]
    (choice,) = choose_rates(findings(runs, baseline="coal"))
    assert (choice.rates, choice.rate, choice.at_edge) == ((0.1, 0.5, "auto"), "auto", False)
    write_tables(findings(runs, baseline="coal"), tmp_path)
    assert [run.learning_rate for run in read_tables(tmp_path).runs] == [0.1, 0.5, "auto"]
    (again,) = choose_rates(read_tables(tmp_path))
    assert (again.rates, again.rate) == (choice.rates, choice.rate)


def test_the_largest_number_is_an_edge_though_a_word_comes_after_it():
    runs = [a_run([100], [0.5], rate=rate, auc=auc) for rate, auc in (("auto", 3.0), (0.5, 1.0), (0.1, 2.0))]
    assert choose_rates(findings(runs, baseline="coal"))[0].at_edge
    (choice,) = choose_rates(findings([run for run in runs if run.learning_rate != 0.1], baseline="coal"))
    assert (choice.rate, choice.at_edge) == (0.5, False)


def test_of_a_number_and_a_word_that_are_equally_good_the_number_is_taken():
    runs = [a_run([100], [0.5], rate=rate, auc=1.0) for rate in ("auto", 0.5)]
    assert choose_rates(findings(runs, baseline="coal"))[0].rate == 0.5


def test_the_word_twice_and_the_word_for_a_learner_that_does_not_know_it_are_refused(automatic):
    twice = 'data = ["iris"]\n[lines.coal]\nlearning_rate = ["auto", 0.1, "auto"]\n'
    with pytest.raises(StudyError, match=r"lines.coal: learning_rate must have each value once, got \['auto', 0.1"):
        Study.from_toml(twice)
    study = 'plugins = ["baselines"]\ndata = ["iris"]\n[lines.vw]\nlearner = "vw"\nlearning_rate = "auto"\n'
    with pytest.raises(StudyError, match=r"lines.vw: learning_rate must be a number for the learner 'vw', got 'auto'"):
        Study.from_toml(study, folder=STUDIES, allow_plugins=True)

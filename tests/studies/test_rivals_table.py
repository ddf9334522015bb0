"""The table of learners from the literature, and the table of missed labels."""

import runpy
from pathlib import Path

from tests.studies.made_findings import a_run

STUDIES = Path(__file__).parents[2] / "studies"
RIVALS = runpy.run_path(str(STUDIES / "rivals_table.py"))
CALIBRATION = runpy.run_path(str(STUDIES / "calibration.py"))


def runs_of(line, costs, permutations, auc=1.0):
    return [a_run([100, 200, 400], costs, line=line, permutation=p, auc=auc) for p in permutations]


def test_lines_are_compared_on_the_permutations_that_all_of_them_have():
    lines = {"one": runs_of("one", [0.5, 0.4, 0.3], range(4)), "two": runs_of("two", [0.5, 0.4, 0.3], range(2, 9))}
    found = RIVALS["shared"](lines)
    assert {line: [run.permutation for run in runs] for line, runs in found.items()} == {"one": [2, 3], "two": [2, 3]}


def test_a_cell_has_the_area_the_end_and_the_costs_needed():
    runs = runs_of("one", [0.5, 0.4, 0.3], range(3), auc=1.25)
    assert RIVALS["cell"](runs, target=0.4) == "1.25, 0.300, 200"
    assert RIVALS["cell"](runs, target=0.2) == "1.25, 0.300, never"


def test_rates_of_misses_are_over_all_audits_and_over_runs(monkeypatch):
    counted = [("a", 40, 2), ("b", 10, 2), ("c", 0, 0)]  # a run without audits has no rate
    runs = [{"data": data, "model": "forest", "audits": str(n), "missed": str(m)} for data, n, m in counted]
    monkeypatch.setitem(CALIBRATION["table"].__globals__, "finished", lambda: runs)
    assert CALIBRATION["table"]().splitlines()[-1] == "| forest | 50 | 8.0% | 12.5% | 20.0% |"

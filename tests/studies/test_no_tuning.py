"""The table that compares the default with published COAL tuned in hindsight."""

import runpy
from pathlib import Path

import numpy as np
import pytest

from coalface.studies.tables import write_tables
from tests.studies.made_findings import a_run, findings

SCRIPT = runpy.run_path(str(Path(__file__).parents[2] / "studies" / "no_tuning.py"))
ASKED = [100, 200, 400, 800]


def runs_of(line, costs, *, asked=ASKED, rate=0.5, data="digits", aucs=(2.0, 2.0, 2.0)):
    """Three runs through the same checkpoints."""
    return [
        a_run(asked, costs, data=data, line=line, rate=rate, permutation=permutation, auc=auc)
        for permutation, auc in enumerate(aucs)
    ]


def made(data="digits", online=(0.5, 0.2, 0.1)):
    return [
        *runs_of("passive", [0.6, 0.5, 0.4, 0.3], rate=0.1, data=data, aucs=(4, 4, 4)),
        *runs_of("passive", [0.8, 0.7, 0.5, 0.2], rate=0.5, data=data, aucs=(5, 5, 5)),  # ends better, AUC worse
        *runs_of("hindsight 0.01", [0.8, 0.6, 0.4, 0.2], data=data, aucs=(3, 3, 3)),  # reaches it, at 800
        *runs_of("hindsight 0.001", [0.4, 0.3], asked=[100, 200], data=data, aucs=(2, 2.5, 4)),  # has the best AUC
        *runs_of("published", [0.9, 0.8, 0.7, 0.6], data=data, aucs=(4, 4, 4)),
        *runs_of("vw", [0.9, 0.8, 0.7, 0.6], data=data),
        *runs_of("online", online, asked=ASKED[:3], rate="auto", data=data, aucs=(1, 2, 3)),
    ]


def test_a_row_has_passives_best_end_and_what_the_best_of_each_kind_needs_for_it():
    (row,) = SCRIPT["rows_of"](findings(made()))
    assert (row.target, row.passive_asks) == (0.2, 800)
    needed = {kind: None if np.isnan(costs) else round(costs) for kind, costs in row.needed.items()}
    assert needed == {"published": None, "vw": None, "hindsight": 800, "online": 200}
    assert row.saving == pytest.approx(4)


def test_aucs_are_compared_permutation_by_permutation_with_the_line_of_the_least_median():
    (row,) = SCRIPT["rows_of"](findings(made()))
    tuned, recommended = row.aucs["hindsight"], row.aucs["published"]
    assert tuned.median == pytest.approx(np.median([1 / 2, 2 / 2.5, 3 / 4]))
    assert (tuned.interval.low, tuned.interval.high) == (1 / 2, 2 / 2.5)
    assert recommended.median == pytest.approx(0.5)


def test_what_never_gets_there_says_so_and_has_no_saving():
    (row,) = SCRIPT["rows_of"](findings(made(online=(0.5, 0.4, 0.3))))
    assert np.isnan(row.saving)
    cells = dict(zip(SCRIPT["HEADINGS"], SCRIPT["as_cells"](row), strict=True))
    assert (cells["online needs"], cells["hindsight needs"], cells["hindsight / online"]) == ("never", "800", "")


def test_a_kind_that_the_study_has_not_is_an_empty_cell():
    (row,) = SCRIPT["rows_of"](findings([run for run in made() if run.line != "vw"]))
    cells = dict(zip(SCRIPT["HEADINGS"], SCRIPT["as_cells"](row), strict=True))
    assert (cells["vw needs"], cells["published needs"]) == ("", "never")


def test_the_table_comes_from_the_folders_and_many_datasets_have_their_own_summary(tmp_path, capsys):
    write_tables(findings(made()), tmp_path / "one")
    write_tables(findings([*made("a"), *made("b", online=(0.5, 0.4, 0.3))]), tmp_path / "many")
    SCRIPT["main"]([str(tmp_path / "one"), str(tmp_path / "many")])
    table, alone, many = capsys.readouterr().out.strip().split("\n\n")
    lines = table.splitlines()
    assert [line.split(" | ")[0] for line in lines] == ["| data", "| ---", "| digits", "| a", "| b"]
    assert len({line.count("|") for line in lines}) == 1
    assert alone.startswith("1 datasets: the AUC of online is 0.750 times that of hindsight, with an interval below 1")
    assert "on 1 and above 1 on 0" in alone
    assert many.startswith("2 datasets")
    assert "end on 1, hindsight on 2, both on 1, where hindsight needs 4.00 times as much" in many

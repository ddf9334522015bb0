"""The table of how much of the gap between the best single solver and the oracle is closed."""

import dataclasses
import runpy
from pathlib import Path

import numpy as np
import pytest

from coalface.data import CostDataset
from coalface.data.dataset import TrainTest
from coalface.errors import InputError
from coalface.studies.cells import fingerprint_of
from coalface.studies.findings import DataFacts
from coalface.studies.tables import write_tables
from stored_data import load as load_known
from tests.data.scenarios import write_archive
from tests.studies.made_findings import K, N, a_run, findings

SCRIPT = runpy.run_path(str(Path(__file__).parents[2] / "studies" / "closed_gap.py"))
Gap, rows_of, wins = SCRIPT["Gap"], SCRIPT["rows_of"], SCRIPT["wins"]
ALL = N * K
ASKED = [ALL // 10, ALL // 5, 2 * ALL // 5, ALL]
FOREST = "random-forest"
TEN = Gap(single=0.5, oracle=0.1)


def runs_of(line, *curves, asked=ASKED, data="digits"):
    """A permutation per curve."""
    found = [zip(asked, costs, strict=False) for costs in curves]
    return [
        a_run(*zip(*points, strict=True), data=data, line=line, permutation=permutation)
        for permutation, points in enumerate(found)
    ]


def test_the_single_solver_is_chosen_by_training_costs_and_paid_for_on_the_test_rows():
    train = CostDataset(np.eye(3), [[0.2, 0.9, 0.3], [0.2, 0.0, np.nan], [0.4, 0.0, 0.0]], list("abc"))
    test = CostDataset(np.eye(2, 3), [[0.0, 0.5, 0.6], [1.0, 0.2, 0.4]], list("abc"))
    gap = Gap.of(TrainTest(train, test))  # means 0.27, 0.3 and 0.15: c is taken, though b is best on the test rows
    assert (gap.single, gap.oracle) == (pytest.approx(0.5), pytest.approx(0.1))
    assert [round(gap.closed(cost), 6) for cost in (0.5, 0.3, 0.1, 0.7)] == [0.0, 0.5, 1.0, -0.5]
    assert np.isnan(Gap(0.5, 0.5).closed(0.5))


def test_a_row_has_the_median_share_closed_at_two_shares_of_the_costs_and_at_the_end():
    curves = [0.6, 0.5, 0.3, 0.1], [0.6, 0.4, 0.2, 0.15], [0.6, 0.45, 0.35, 0.2]
    (row,) = rows_of(findings(runs_of("coal", *curves), baseline="coal"), {"digits": TEN})
    assert row.closed == pytest.approx((0.125, 0.5, 0.875))
    assert (row.line, row.costs_asked) == ("coal", ALL)


def test_a_run_that_asks_for_less_keeps_its_end():
    early = runs_of("coal", [0.6, 0.3])  # ends at a fifth of all costs
    (row,) = rows_of(findings(early, baseline="coal"), {"digits": TEN})
    assert row.closed == pytest.approx((0.5, 0.5, 0.5))
    assert row.costs_asked == ALL // 5


def test_a_win_is_a_lower_end_than_the_forest_at_as_many_costs():
    forest = runs_of(FOREST, [0.6, 0.5, 0.3, 0.1], [0.6, 0.5, 0.3, 0.1])
    ahead = runs_of("default", [0.6, 0.4], [0.6, 0.4])  # at a fifth, where the forest is at 0.5
    behind = runs_of("default", [0.6, 0.55], [0.6, 0.55])
    assert wins(findings([*forest, *ahead], baseline="default")) == (1, 1)
    assert wins(findings([*forest, *behind], baseline="default")) == (0, 1)
    elsewhere = runs_of("default", [0.6, 0.4], data="wine")
    assert wins(findings([*forest, *ahead, *elsewhere], baseline="default")) == (1, 1)


def test_medians_leave_out_scenarios_without_a_gap():
    study = findings(
        [
            *runs_of("coal", [0.6, 0.5, 0.3, 0.1], data="a"),
            *runs_of("coal", [0.6, 0.5, 0.5, 0.5], data="b"),
            *runs_of("coal", [0.6, 0.5, 0.3, 0.2], data="c"),
        ],
        baseline="coal",
    )
    rows = list(rows_of(study, {"a": TEN, "b": Gap(0.5, 0.5), "c": TEN}))
    ((line, n_scenarios, closed),) = SCRIPT["medians"](rows)
    assert (line, n_scenarios) == ("coal", 2)
    assert closed == pytest.approx([0.0, 0.5, 0.875])
    assert SCRIPT["as_cells"](rows[1])[-1] == ""


def made_study(tmp_path, monkeypatch, **changes):
    """A written study of one scenario, whose data is under $COALFACE_DATA."""
    monkeypatch.setenv("COALFACE_DATA", str(tmp_path))
    write_archive(tmp_path / "aslib", "TOY")
    data = load_known("aslib/TOY")
    facts = DataFacts.of("aslib/TOY", data.train, data.test, fingerprint_of(data))
    asked = {"asked": [16, 32], "data": "aslib/TOY"}
    runs = [*runs_of("default", [0.5, 0.3], **asked), *runs_of(FOREST, [0.6, 0.4], **asked)]
    study = findings(runs, data=[dataclasses.replace(facts, **changes)], baseline="default")
    write_tables(study, tmp_path / "study")
    return data, str(tmp_path / "study")


def test_the_tables_come_from_the_folder_and_the_gap_from_the_data(tmp_path, monkeypatch, capsys):
    data, folder = made_study(tmp_path, monkeypatch)
    SCRIPT["main"]([folder])
    table, medians, won = capsys.readouterr().out.strip().split("\n\n")
    cells = [cell.strip() for cell in table.splitlines()[2].strip("|").split("|")]
    gap = Gap.of(data)
    assert cells[:5] == ["aslib/TOY", f"{gap.single:.4f}", f"{gap.oracle:.4f}", "default", "32"]
    assert cells[-1] == f"{100 * gap.closed(0.3):.1f} %"
    for rows in (table.splitlines(), medians.splitlines()):
        assert len(rows) == 4
        assert len({row.count("|") for row in rows}) == 1
    assert won == "At as many costs, default ends below random-forest on 1 of 1 scenarios."


def test_other_data_than_the_studys_is_refused(tmp_path, monkeypatch):
    _, folder = made_study(tmp_path, monkeypatch, fingerprint="f00d")
    with pytest.raises(InputError, match=r"'aslib/TOY' must be that of the study, but it has changed"):
        SCRIPT["main"]([folder])

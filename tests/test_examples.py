"""The examples run, and say what they promise."""

import runpy
from pathlib import Path

import pytest

EXAMPLES = sorted(Path(__file__).parents[1].joinpath("examples").rglob("*.py"))


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_runs_from_top_to_bottom(path, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # some write files
    runpy.run_path(str(path), run_name="__main__")
    assert capsys.readouterr().out.strip()


def test_the_ticket_example_rebuilds_its_model_and_asks_for_less_than_everything(capsys):
    runpy.run_path(str(EXAMPLES[[path.stem for path in EXAMPLES].index("route_tickets")]), run_name="__main__")
    printed = capsys.readouterr().out
    asked = int(printed.split("costs asked for: ")[1].split()[0])
    assert asked < 1200
    assert "the same: True" in printed

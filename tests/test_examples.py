"""The examples run, and say what they promise."""

import runpy
from pathlib import Path

import pytest

EXAMPLES = sorted(Path(__file__).parents[1].joinpath("examples").rglob("*.py"))


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_runs_from_top_to_bottom(path, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # some write files
    runpy.run_path(str(path), run_name="__main__")
    printed = capsys.readouterr().out
    if path.stem == "make":  # writes data for others
        return
    assert len(printed.splitlines()) >= 5  # a table
    (picture,) = tmp_path.glob("*.svg")
    assert picture.name in path.read_text(encoding="utf-8").partition('"""\n')[0]  # as its beginning says
    assert "<path" in picture.read_text(encoding="utf-8")
    CHECKS.get(path.stem, lambda _: None)(printed)


def _asks_for_little_and_rebuilds_its_model(printed):
    tickets, asked, everything, _ = printed.splitlines()[4].split()
    assert (tickets, everything) == ("600", "2,400")
    assert int(asked.replace(",", "")) < 1200
    assert "the same: True" in printed


def _needs_fewer_runs(printed):
    table = {line[:28].strip(): line[28:].split() for line in printed.splitlines()}
    runs = {name: int(table[name][0].replace(",", "")) for name in ("run them all", "coalface")}
    assert runs["run them all"] == 4000
    assert runs["coalface"] < 3000
    assert float(table["coalface"][1]) < float(table["the best single solver"][0])


CHECKS = {"route_tickets": _asks_for_little_and_rebuilds_its_model, "choose_a_solver": _needs_fewer_runs}

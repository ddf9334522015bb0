"""The tables of ``studies/routing.py``."""

import gzip
import runpy
import sys
from pathlib import Path

import pytest

STUDIES = Path(__file__).parents[2] / "studies"


@pytest.fixture
def study(monkeypatch):
    monkeypatch.syspath_prepend(str(STUDIES))
    yield runpy.run_path(str(STUDIES / "routing.py"))
    sys.modules.pop("routing_report", None)


@pytest.mark.parametrize("name", ["losses.csv", "losses.csv.gz"])
def test_a_table_grows_over_several_runs_and_has_each_line_once(tmp_path, study, name):
    table = study["Table"](tmp_path / name, ["seed", "loss"], ["seed"])
    table.add([{"seed": 1, "loss": 0.5}])
    again = study["Table"](tmp_path / name, ["seed", "loss"], ["seed"])
    assert again.has(seed=1)
    assert not again.has(seed=2)
    again.add([{"seed": 2, "loss": 0.25}])
    written = (tmp_path / name).read_bytes()
    text = gzip.decompress(written) if name.endswith(".gz") else written
    assert text.decode() == "seed,loss\n1,0.5\n2,0.25\n"


def test_the_summary_is_that_of_the_tables_in_the_repository():
    report, folder = runpy.run_path(str(STUDIES / "routing_report.py")), STUDIES / "routing"
    rows = [report["rows_in"](folder / name) for name in ("losses.csv", "dollars.csv.gz")]
    assert report["summary"](*rows) == (folder / "summary.md").read_text(encoding="utf-8")

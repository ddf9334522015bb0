"""The tables of ``studies/routing.py``."""

import gzip
import runpy
import sys
from pathlib import Path

import numpy as np
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


@pytest.mark.parametrize(("n_in_full", "least", "most"), [(0, 0.0, 0.9), (60, 1.0, 1.0)])
def test_a_router_of_the_study_begins_with_all_outcomes_of_as_many_prompts_as_its_line_says(
    study, n_in_full, least, most
):
    rows, loss = np.ones((60, 1), np.float32), np.tile([0.0, 1.0], (60, 1))
    task = study["Task"](
        "made up", "minilm", ["a", "b"], rows, rows, rows, rows, loss, loss, loss + 0.001, loss + 0.001
    )
    _, share = study["predicted_by"](task, 0, "router", "joint", "coal", n_in_full)
    assert least <= share <= most


def test_the_table_of_dollars_has_the_loss_at_each_price(study):
    report = runpy.run_path(str(STUDIES / "routing_report.py"))
    about = {"features": "words", "learner": "knn", "asked": "1.0", "seed": "0"}
    points = [("0.0", "0.5", "0.0001"), ("0.05", "0.1", "0.0003")]
    dollars = [{**about, "weight": weight, "loss": loss, "dollars": paid} for weight, loss, paid in points]
    line = report["summary"]([], dollars).splitlines()[-2]
    assert "| 0.3000 | 0.1000 | 0.1000 | 0.1000 | 1 |" in line

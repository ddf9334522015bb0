"""``coalface sweep`` and ``coalface report`` as a person meets them."""

import json
import signal
import subprocess
import sys
import time

import pytest

from coalface.studies.results import FILE, Results
from tests.cli.commands import refused, run

STUDY = """title = "Small"
data = ["iris"]
permutations = 2
[settings]
learning_rate = [0.1, 0.3]
[lines.passive]
rule = "passive"
[lines.coal]
mellowness = 0.01
"""


@pytest.fixture
def study(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "study.toml").write_text(STUDY)
    return tmp_path


def test_a_sweep_runs_all_cells_then_none_and_writes_its_report(study, capsys):
    code, out, err = run(capsys, "sweep study.toml --out results --workers 2")
    assert (code, err) == (0, "")
    assert "Finished: 8 runs in" in out
    assert "0 were finished before, 0 failed, of 8 in all." in out
    assert f"Report: {study / 'results' / 'report.html'}" in out
    code, out, _ = run(capsys, "sweep study.toml --out results --json")
    found = json.loads(out)
    assert (code, found["finished_before"], found["finished"], found["cells"]) == (0, 8, 0, 8)


def test_the_report_comes_from_the_tables_alone_just_as_well(study, capsys):
    run(capsys, "sweep study.toml --out results --no-report")
    assert not (study / "results" / "report.html").exists()
    assert run(capsys, "report results")[0] == 0
    first = {path.name: path.read_bytes() for path in (study / "results").rglob("*.csv")}
    (study / "results" / FILE).unlink()
    (study / "results" / "report.html").unlink()
    code, out, _ = run(capsys, "report results --json")
    assert (code, json.loads(out)) == (0, {"report": "results/report.html"})
    assert {path.name: path.read_bytes() for path in (study / "results").rglob("*.csv")} == first
    assert "Small" in (study / "results" / "report.html").read_text()


def test_a_dry_run_counts_and_estimates_and_writes_nothing(study, capsys):
    code, out, _ = run(capsys, "sweep study.toml --dry-run --workers 2")
    assert code == 0
    assert "8 runs; about" in out
    assert "with 2 threads" in out
    found = json.loads(run(capsys, "sweep study.toml --dry-run --json --workers 2")[1])
    assert (found["cells"], found["workers"], found["not_estimated"]) == (8, 2, 0)
    assert found["seconds"] > 0
    assert [path.name for path in study.iterdir()] == ["study.toml"]


def test_a_dry_run_for_a_gpu_opens_no_device(study, capsys, monkeypatch):
    def no_device(**_):
        raise AssertionError("the device was opened")

    monkeypatch.setattr("coalface.studies.cuda.executor.CudaDevice", no_device)
    code, out, _ = run(capsys, "sweep study.toml --dry-run --executor cuda --workers 2")
    assert code == 0
    assert "with 2 processes" in out
    assert "A GPU takes less" in out


def test_an_estimate_knows_what_finished_runs_took_and_counts_only_what_is_missing(study, capsys):
    run(capsys, "sweep study.toml --out results --no-report")
    records = Results(study / "results").finished.values()
    (study / "study.toml").write_text(STUDY.replace("permutations = 2", "permutations = 5"))
    found = json.loads(run(capsys, "sweep study.toml --out results --dry-run --json --workers 2")[1])
    assert (found["cells"], found["missing"]) == (20, 12)
    assert found["seconds"] == pytest.approx(sum(record["seconds"] for record in records) * 12 / 8 / 2)


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ("sweep study.toml", "--out must name the folder for the results, such as --out study-results."),
        ("sweep none.toml --out results", "none.toml cannot be read"),
        ("sweep study.toml --out results --executor gpu", "executor must be threads, processes, cuda or dask://"),
        ("sweep study.toml --out results --workers 0", "workers"),
        ("sweep study.toml --out study.toml", "--out must be a folder, study.toml is a file"),
        ("report nowhere", "nowhere"),
    ],
)
def test_a_mistake_is_one_line_and_exit_code_2(study, capsys, command, message):
    assert message in refused(capsys, command)


def test_failed_runs_are_counted_and_the_exit_code_says_so(study, capsys):
    (study / "study.toml").write_text(STUDY + "[lines.narrow]\ncost_bounds = [0.0, 0.5]\n")
    code, out, err = run(capsys, "sweep study.toml --out results")
    assert code == 1
    assert "Finished: 8 runs" in out
    assert "4 failed, of 12 in all" in out
    assert err.count("\n") == 1
    assert "4 runs failed: The cost" in err
    page = (study / "results" / "report.html").read_text()
    assert "must lie in [0, 0.5], got 1" in page


def test_ctrl_c_ends_cleanly_with_130_and_keeps_what_is_finished(study):
    (study / "study.toml").write_text(STUDY.replace('"iris"', '"digits"').replace("= 2", "= 500"))
    command = [sys.executable, "-m", "coalface", "sweep", "study.toml", "--out", "results", "--no-report"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=study)
    journal = study / "results" / FILE
    while process.poll() is None and not (journal.exists() and b'"curve"' in journal.read_bytes()):
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=300)
    assert process.returncode == 130, err
    assert "Traceback" not in err
    finished = len(Results(study / "results").finished)
    assert 0 < finished < 2000
    assert f"Interrupted, the same command continues: {finished:,} run" in out

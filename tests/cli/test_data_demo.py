"""``coalface data`` and ``coalface demo``."""

import json
import sys
from dataclasses import replace

import pytest

from coalface import read_dataset, simulate
from tests.cli.commands import LABELS, refused, run
from tests.studies.few_digits import N_TRAIN, use_few_digits


@pytest.fixture
def few_digits(calls, monkeypatch):
    """A folder to run a short demo in."""
    use_few_digits(monkeypatch)
    return calls


def test_data_info_counts_what_is_there(calls, capsys):
    code, out, _ = run(capsys, "data info calls.csv --label kind --json")
    found = json.loads(out)
    assert code == 0
    assert (found["n_examples"], found["n_labels"], found["n_features"], found["known_costs"]) == (150, 3, 4, 1.0)
    assert found["classes"] == LABELS
    assert "billing, other, refund" in run(capsys, "data info calls.csv --label kind")[1]


@pytest.mark.parametrize("target", ["copy.vw", "copy.npz", "copy.csv", "copy"])
def test_converted_data_is_the_same_data(calls, capsys, target):
    assert run(capsys, f"data convert calls.csv {target} --label kind")[0] == 0
    assert read_dataset(target).fingerprint == read_dataset("calls.csv", label="kind").fingerprint


def test_the_demo_prints_two_tables_and_where_its_report_is(few_digits, capsys):
    code, out, err = run(capsys, "demo --permutations 1 --report demo.html")
    assert (code, err) == (0, "")
    assert out.count("\n  passive  ") == 2
    assert out.splitlines()[-1] == f"Report: {few_digits / 'demo.html'}"
    assert (few_digits / "demo.html").read_text().startswith("<!DOCTYPE html>")


def test_the_demo_as_json_holds_the_same_table(few_digits, capsys):
    code, out, _ = run(capsys, "demo --permutations 1 --report demo.html --json")
    found = json.loads(out)
    assert code == 0
    assert set(found["tables"]) == {"0/1", "|i-j|/9"}
    assert found["tables"]["0/1"][0]["costs_asked"] == N_TRAIN * 10


def test_without_the_report_extra_the_demo_prints_its_tables_and_how_to_get_the_page(few_digits, capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)  # as if it were not installed
    code, out, _ = run(capsys, "demo --permutations 1")
    assert code == 0
    assert out.count("\n  passive  ") == 2
    lacking = "needs matplotlib, which is not installed. Run: pip install 'coalface[report]'"
    assert out.splitlines()[-1] == f"The HTML report {lacking}"
    assert json.loads(run(capsys, "demo --permutations 1 --json")[1])["report"] is None
    assert refused(capsys, "demo --report demo.html") == f"coalface: --report {lacking}\n"
    assert not list(few_digits.glob("*.html"))


def test_the_tables_of_the_demo_fit_a_small_terminal(few_digits, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("FORCE_COLOR", "1")  # as if a person looked at it
    code, out, _ = run(capsys, "demo --permutations 1 --report demo.html")
    assert code == 0
    assert "\x1b[" in out
    assert "…" not in out


def test_a_demo_that_is_interrupted_reports_nothing(few_digits, capsys, monkeypatch):
    def interrupted(*args, **options):
        return replace(simulate(*args, **options), interrupted=True)

    monkeypatch.setattr("coalface.studies.demo.simulate", interrupted)
    code, out, err = run(capsys, "demo --permutations 1 --report demo.html")
    assert (code, out, err) == (130, "", "coalface: Interrupted.\n")
    assert not (few_digits / "demo.html").exists()


def test_converting_does_not_overwrite_unasked(calls, capsys):
    for target in ("calls.vw", "folder"):
        command = f"data convert calls.csv {target} --label kind"
        assert run(capsys, command)[0] == 0
        kept = {path: path.read_bytes() for path in calls.rglob("*") if path.is_file()}
        message = refused(capsys, command.replace("calls.csv", "test.csv"))
        assert (
            f"{target} exists already. Choose another name, or overwrite it. On the command line: --force." in message
        )
        assert {path: path.read_bytes() for path in calls.rglob("*") if path.is_file()} == kept
        assert run(capsys, f"{command.replace('calls.csv', 'test.csv')} --force")[0] == 0
        assert len(read_dataset(target)) == 50

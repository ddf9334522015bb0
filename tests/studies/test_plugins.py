"""Plug-ins: where their code runs, what it does to the keys of cells, and that it runs only where that is allowed."""

import json
from pathlib import Path

import pytest

from coalface.errors import StudyError
from coalface.studies import run_sweep, write_report_of
from coalface.studies.results import Results
from coalface.studies.study import Study
from tests.cli.commands import refused, run

LEARNER = """
"A learner that asks for all costs until it has a part of them."

from coalface import CoalClassifier, simulate
from coalface.studies.learners import order_of

from .amounts import SHARE


class Half:
    name, asks, parameters, sources, package, is_linear = "half", "costs", {}, (), "", True

    def check(self, settings, n_labels):
        "All settings are fine."

    def run(self, settings, problem, permutation, checkpoints, progress=None):
        train, test = problem
        budget = {"costs": int(SHARE * train.cost.size)}
        return simulate(
            CoalClassifier(train.classes, model="online", rule="passive", budget=budget),
            train.X,
            train.cost,
            X_test=test.X,
            cost_test=test.cost,
            order=order_of(permutation, len(train)),
            checkpoints=checkpoints,
            progress=progress,
        )


LEARNERS = [Half()]
"""
DATA = """
from coalface.studies.known import load_known

DATA = {"flowers": lambda name: load_known("iris"), "bundled/*": lambda name: load_known(name.split("/")[1])}
"""
TOML = """
plugins = ["mine", "flowers"]
data = ["flowers", "bundled/wine"]
permutations = 2
[lines.passive]
rule = "passive"
[lines.half]
learner = "half"
"""


@pytest.fixture
def study(tmp_path):
    """A study file with a plug-in of two modules and one of one file."""
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "__init__.py").write_text(LEARNER)
    (tmp_path / "mine" / "amounts.py").write_text("SHARE = 0.5\n")
    (tmp_path / "flowers.py").write_text(DATA)
    (tmp_path / "study.toml").write_text(TOML)
    return tmp_path / "study.toml"


def asked(folder):
    """The costs asked at the end of each run, by line and data."""
    found = Results(folder).finished.values()
    return {
        (record["line"], record["data"], record["permutation"]): record["curve"]["costs_queried"][-1]
        for record in found
    }


@pytest.mark.parametrize("executor", ["threads", "processes"])
def test_workers_run_a_plug_in_without_its_files_and_the_report_does_not_run_it(study, tmp_path, executor):
    wanted = Study.read(study, allow_plugins=True)
    for file in (*(tmp_path / "mine").iterdir(), tmp_path / "flowers.py"):
        file.unlink()
    outcome = run_sweep(wanted, tmp_path / "out", executor, 2)
    assert (outcome.finished, outcome.failed) == (8, 0)
    costs = asked(tmp_path / "out")
    for data in ("flowers", "bundled/wine"):
        assert 0.4 < costs["half", data, 0] / costs["passive", data, 0] < 0.6
    assert "half" in write_report_of(tmp_path / "out").read_text(encoding="utf-8")


def keys(study, folder):
    """The keys of the finished cells of each line."""
    run_sweep(Study.read(study, allow_plugins=True), folder)
    found = Results(folder).finished
    return {line: {key for key in found if found[key]["line"] == line} for line in ("passive", "half")}


def test_a_changed_plug_in_gives_other_keys_to_the_runs_of_its_learners_and_a_comment_does_not(study, tmp_path):
    before = keys(study, tmp_path / "out")
    amounts = tmp_path / "mine" / "amounts.py"
    amounts.write_text("SHARE = 0.5  # of all costs\n")
    assert keys(study, tmp_path / "out") == before
    amounts.write_text("SHARE = 0.25\n")
    after = keys(study, tmp_path / "changed")
    assert after["passive"] == before["passive"]
    assert not after["half"] & before["half"]
    costs = asked(tmp_path / "changed")
    assert costs["half", "flowers", 0] < 0.4 * costs["passive", "flowers", 0]


def test_code_beside_a_file_runs_only_if_that_is_allowed(study, tmp_path, capsys):
    (tmp_path / "flowers.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w')")
    assert refused(capsys, f"sweep {study} --out {tmp_path / 'out'}") == (
        f"coalface: {study}: plugins names code to run, ['mine', 'flowers']. "
        "Read it, and pass --allow-plugins to run it.\n"
    )
    with pytest.raises(StudyError, match="pass --allow-plugins"):
        Study.read(study)
    assert not (tmp_path / "ran").exists()


def test_the_command_line_runs_it_when_told_to(study, tmp_path, capsys):
    code, out, _ = run(capsys, f"sweep {study} --out {tmp_path / 'out'} --allow-plugins --json")
    assert (code, json.loads(out)["finished"]) == (0, 8)


@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        ('"flowers"]', '"../flowers"]', r"list of names of Python modules beside the file, got '../flowers'"),
        ('"flowers"]', "3]", "list of names of Python modules beside the file, got 3"),
        ('"flowers"]', '"lost"]', r"plugins names lost, but .*lost.py cannot be read: No such file"),
        (
            '"half"\n',
            '"whole"\n',
            r"lines.half: learner must be one of .*, or of a plug-in that plugins names, got 'whole'",
        ),
        ('["flowers", ', '["roses", ', "There is no data named 'roses'"),
    ],
)
def test_a_mistake_is_one_line(study, old, new, complaint):
    assert TOML.count(old) == 1
    study.write_text(TOML.replace(old, new))
    with pytest.raises(StudyError, match=complaint) as caught:
        Study.read(study, allow_plugins=True)
    assert "\n" not in str(caught.value)


def test_code_that_cannot_be_imported_is_named(study, tmp_path):
    Path(tmp_path / "mine" / "amounts.py").write_text("import numppy")
    with pytest.raises(
        StudyError, match=r"plug-in mine cannot be imported \(ModuleNotFoundError: .*numppy.*\)\. Correct"
    ):
        Study.read(study, allow_plugins=True)

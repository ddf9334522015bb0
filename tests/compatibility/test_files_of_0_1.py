"""Files that version 0.1.0 wrote are read as they were meant, to the bit.

``write_files.py`` says how ``files`` and ``expected.json`` came to be. Every file is copied before it is opened.
"""

import asyncio
import csv
import json
import re
import shutil
from pathlib import Path

import httpx
import numpy as np
import pytest

import coalface
from coalface import CoalClassifier, JsonLinesLedger, SqlLedger, read_dataset
from coalface.cli import main
from coalface.desk.project.project import Project
from coalface.desk.service.desk import Desk
from coalface.desk.web.service import service_of
from coalface.files.atomic import exclusive
from tests.compatibility import facts

HERE = Path(__file__).parent
EXPECTED = json.loads((HERE / "expected.json").read_text(encoding="utf-8"))
ANNOTATORS = {"mail": ["ada", "bob", "cyd"], "truth": ["ada", "bob"]}


@pytest.fixture
def copy_of(tmp_path):
    """Copies a file or folder to where it may be changed."""

    def copy(*names):
        source, target = HERE.joinpath("files", *names), tmp_path / names[-1]
        return Path(shutil.copytree(source, target) if source.is_dir() else shutil.copy(source, target))

    return copy


@pytest.fixture
def opened():
    """Opens projects at the time at which they were looked at, and closes them at the end."""
    desks = []

    def open_project(folder):
        desks.append(Desk(Project.open(folder), clock=lambda: facts.NOW))
        return desks[-1]

    yield open_project
    for desk in desks:
        desk.close()


def run(*arguments):
    """Run a command that must end well."""
    assert main([str(argument) for argument in arguments]) == 0


# -- models and ledgers --------------------------------------------------------------------------


def rows_for(name):
    return facts.points(24) if name == "oracle-finite" else facts.examples(60)


@pytest.mark.parametrize("name", EXPECTED["models"])
def test_a_saved_learner_predicts_asks_and_goes_on_as_before(copy_of, name):
    expected, (X, cost) = EXPECTED["models"][name], rows_for(name)
    X, cost = (X[1:], cost[1:]) if name == "coal-names" else (X, cost)
    scale = 2.0 if name == "coal-cost-matrix" else 1.0
    with facts.quiet():
        learner = getattr(coalface, expected["kind"]).load(copy_of("models", f"{name}.coalface"))
        assert facts.of_learner(learner, X[:4]) == expected["now"]
        facts.interviewed(learner, X[4:10], scale * cost[4:10])
        assert facts.of_learner(learner, X[:4]) == expected["later"]


@pytest.mark.parametrize("name", EXPECTED["ledgers"])
def test_a_ledger_replays_to_the_same_learner_and_goes_on_recording(copy_of, name):
    expected, path, (X, cost) = EXPECTED["ledgers"][name], copy_of("ledgers", name), facts.examples(30)
    kind = getattr(coalface, expected["kind"])

    def replayed():
        ledger = SqlLedger(f"sqlite:///{path}") if path.suffix == ".db" else JsonLinesLedger(path)
        return ledger, kind.from_ledger(ledger)

    with facts.quiet():
        ledger, learner = replayed()
        assert len(ledger) == expected["entries"]
        assert facts.of_learner(learner, X[:4]) == expected["now"]
        facts.interviewed(learner, X[10:14], cost[10:14])
        if path.suffix == ".db":
            ledger.close()
        again, twin = replayed()
        assert len(again) == expected["entries"] + 4
        assert facts.of_learner(twin, X[:4]) == facts.of_learner(learner, X[:4])
        if path.suffix == ".db":
            again.close()


# -- projects ------------------------------------------------------------------------------------


@pytest.mark.parametrize("kept", ["all snapshots", "the older snapshot", "no snapshot"])
@pytest.mark.parametrize("name", EXPECTED["projects"])
def test_a_project_has_the_same_log_counts_questions_and_model(copy_of, opened, name, kept):
    folder = copy_of("projects", name)
    snapshots = sorted(folder.glob("snapshot-*"), key=lambda path: int(path.name.split("-")[1]))
    assert len(snapshots) == 2
    for path in {"all snapshots": [], "the older snapshot": snapshots[1:], "no snapshot": snapshots}[kept]:
        path.unlink()
    desk = opened(folder)
    assert facts.of_project(desk, ANNOTATORS[name]) == facts.project_of_0_1(EXPECTED["projects"][name])
    desk.close()  # writes a snapshot unless it began with one that knows all
    assert (set(folder.glob("snapshot-*")) == set(snapshots)) == (kept == "all snapshots")


@pytest.mark.parametrize("name", EXPECTED["projects"])
def test_the_newest_snapshot_is_the_model_of_the_project(copy_of, name):
    project = Project.open(copy_of("projects", name))
    newest = max(project.folder.glob("snapshot-*"), key=lambda path: int(path.name.split("-")[1]))
    assert costs_of_pool(CoalClassifier.load(newest), project) == costs_in(EXPECTED["projects"][name])


@pytest.mark.parametrize("name", EXPECTED["projects"])
def test_work_goes_on_in_a_project(copy_of, opened, name):
    desk = opened(copy_of("projects", name))
    question = desk.lease("dan")
    if desk.project.true_label:
        receipt = desk.answer_truth("dan", question.id, question.lease_id, "refund", "new key")
    else:
        costs = dict.fromkeys(question.labels, 0.5)
        receipt = desk.answer("dan", question.id, question.lease_id, costs, "new key")
    assert receipt.learned
    assert [answered.answer_id for answered in desk.recent("dan")] == [receipt.answer_id]


@pytest.mark.parametrize("name", EXPECTED["projects"])
def test_an_archive_becomes_the_same_project(copy_of, opened, tmp_path, name):
    run("import", copy_of("exports", f"{name}.zip"), tmp_path / "imported")
    assert facts.of_project(opened(tmp_path / "imported"), ANNOTATORS[name]) == facts.project_of_0_1(
        EXPECTED["projects"][name]
    )


def test_an_old_database_is_migrated_only_where_no_other_process_has_the_project_open(copy_of, tmp_path, capsys):
    folder = copy_of("projects", "mail")
    database, before = folder / "project.db", (folder / "project.db").read_bytes()
    with exclusive(folder / "project.toml"):  # as a service of version 0.1 does
        code = main(["export", str(folder), str(tmp_path / "mail.jsonl")])
    assert (code, database.read_bytes() == before) == (2, True)
    assert "is open in another process" in capsys.readouterr().err
    run("export", folder, tmp_path / "mail.jsonl")


@pytest.mark.parametrize("file", ["mail.jsonl", "truth.jsonl"])
def test_every_line_of_an_export_says_what_it_said(copy_of, tmp_path, file):
    run("export", copy_of("projects", file.split(".")[0]), tmp_path / file)
    before = facts.json_lines(HERE / "files" / "exports" / file)
    now = [line for line in facts.json_lines(tmp_path / file) if line["finished"]]  # the others were left out then
    assert [{name: line[name] for name in old} for line, old in zip(now, before, strict=True)] == before


@pytest.mark.parametrize("file", ["mail.csv", "mail.vw"])
def test_a_project_is_exported_to_the_same_bytes(copy_of, tmp_path, file):
    run("export", copy_of("projects", file.split(".")[0]), tmp_path / file)
    assert (tmp_path / file).read_bytes() == (HERE / "files" / "exports" / file).read_bytes()


def test_an_exported_model_is_the_model_of_the_project(copy_of):
    learner = CoalClassifier.load(copy_of("exports", "mail.coalface"))
    assert costs_of_pool(learner, Project.open(copy_of("projects", "mail"))) == costs_in(EXPECTED["projects"]["mail"])


@pytest.mark.parametrize(("token", "status"), [("coal_ada", 200), ("coal_eve", 401)])
def test_a_token_still_opens_the_service(copy_of, opened, token, status):
    service = service_of(opened(copy_of("projects", "mail")))

    async def progress():
        async with httpx.AsyncClient(transport=httpx.ASGITransport(service), base_url="http://here") as client:
            return await client.get("/api/v1/projects/mail/progress", headers={"authorization": f"Bearer {token}"})

    assert asyncio.run(progress()).status_code == status


def costs_of_pool(learner, project):
    return facts.bits(learner.predict_cost(project.pool.rows(np.arange(8))))


def costs_in(expected):
    return [list(prediction["costs"].values()) for prediction in expected["predictions"]]


# -- sweeps, lines and datasets ------------------------------------------------------------------


@pytest.mark.parametrize("out", ["results", "elsewhere"])
def test_a_study_gives_the_same_curves_in_the_old_folder_and_in_a_new_one(copy_of, out):
    sweep = copy_of("sweep")
    study = sweep / "study.toml"
    study.write_text(study.read_text().replace("budgets", "checkpoints"))  # its name today
    run("sweep", sweep / "study.toml", "--out", sweep / out, "--workers", 1, "--no-report")
    assert facts.of_results(facts.json_lines(sweep / out / "results.jsonl")) == EXPECTED["sweep"]


@pytest.mark.parametrize("kept", ["journal", "tables"])
def test_a_report_from_the_journal_or_from_the_tables_has_the_same_numbers(copy_of, kept):
    results = copy_of("sweep", "results")
    before = {path: numbers_in(path) for path in results.rglob("*.csv")}
    for path in [results / "results.jsonl"] if kept == "tables" else before:
        path.unlink()
    run("report", results)
    assert {path: numbers_in(path) for path in before} == before


def test_the_same_questions_are_asked(copy_of, capsys):
    lines = copy_of("lines")
    run("ask", lines / "model.coalface", lines / "new.csv", "--label", "team")
    asked, before = capsys.readouterr().out, (lines / "questions.jsonl").read_text()
    assert [question(line) for line in asked.splitlines()] == [question(line) for line in before.splitlines()]


def test_answered_lines_teach_the_same_model(copy_of):
    lines = copy_of("lines")
    run("tell", lines / "model.coalface", lines / "answers.jsonl")
    assert facts.of_learner(CoalClassifier.load(lines / "model.coalface"), facts.examples(4)[0]) == EXPECTED["lines"]


@pytest.mark.parametrize("name", EXPECTED["datasets"])
def test_a_dataset_has_the_same_rows_costs_and_fingerprint(copy_of, name):
    assert facts.of_dataset(read_dataset(copy_of("datasets", name))) == EXPECTED["datasets"][name]


def question(line):
    """A line of ``ask``; 0.1 listed the labels in another order, and those of "propensity" once more as "audit"."""
    parsed = json.loads(line)
    return {name: sorted(value) if name == "ask" else value for name, value in parsed.items() if name != "audit"}


def numbers_in(path):
    """The cells of a CSV file that are numbers."""
    with path.open(encoding="utf-8", newline="") as file:
        return [cell for row in csv.reader(file) for cell in row if re.fullmatch(r"-?[\d.]+(e-?\d+)?", cell)]

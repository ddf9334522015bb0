"""``coalface labels``: labels of models, projects and running services."""

import json

import pytest

from coalface import CoalClassifier
from coalface.desk.project.project import Project
from coalface.desk.service.desk import Desk
from tests.cli.commands import LABELS, answered, json_lines, refused, run
from tests.desk.serving import served


def test_a_model_takes_renames_and_retires_labels(empty_model, capsys):
    assert run(capsys, "labels m.coal")[:2] == (0, "billing\nother\nrefund\n")
    assert run(capsys, "labels m.coal --add legal")[0] == 0
    assert run(capsys, "labels m.coal --rename other rest")[0] == 0
    code, out, _ = run(capsys, "labels m.coal --retire refund")
    assert (code, out) == (0, "billing\nrest\nlegal\nrefund (retired)\n")
    learner = CoalClassifier.load(empty_model)
    assert (learner.classes_.tolist(), learner.labels_.retired) == (["billing", "rest", "refund", "legal"], ["refund"])
    assert json.loads(run(capsys, "labels m.coal --add refund --json")[1]) == {
        "labels": ["billing", "rest", "refund", "legal"],
        "retired": [],
    }


def test_telling_and_training_name_the_command_that_adds_an_unknown_label(empty_model, capsys):
    lines = json_lines(run(capsys, "ask m.coal new.csv --max-costs 3")[1])
    answers = "".join(answered(lines)).replace('"billing"', '"legal"')
    (empty_model.parent / "answers.jsonl").write_text(answers)
    before = empty_model.read_bytes()
    assert "coalface labels MODEL --add legal" in refused(capsys, "tell m.coal answers.jsonl")
    text = (empty_model.parent / "test.csv").read_text().replace("refund", "legal")
    (empty_model.parent / "legal.csv").write_text(text)
    line = refused(capsys, "train legal.csv --label kind --model m.coal --continue")
    assert "coalface labels MODEL --add legal" in line
    assert empty_model.read_bytes() == before
    assert run(capsys, "labels m.coal --add legal")[0] == 0
    assert run(capsys, "train legal.csv --label kind --model m.coal --continue")[0] == 0
    assert CoalClassifier.load(empty_model).model_.state.answered[3] == 50


def test_numbers_are_labels_of_a_model_of_numbers(calls, capsys):
    assert run(capsys, "train --classes 1,2,3 --model n.coal")[0] == 0
    assert run(capsys, "labels n.coal --add 7")[:2] == (0, "1\n2\n3\n7\n")
    assert "must be a number like the others" in refused(capsys, "labels n.coal --add seven")


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ("--add a --retire billing", "Exactly one of add, rename and retire"),
        ("--add billing", "'billing' exists already"),
        ("--retire legal", "Unknown label 'legal'"),
        ("--retire billing --cost-matrix costs.csv", "--cost-matrix must come with --add, got --retire"),
        ("--rename billing bills --cost-matrix costs.csv", "--cost-matrix must come with --add, got --rename"),
        ("--cost-matrix costs.csv", "Exactly one of add, rename and retire must be given, got none"),
    ],
)
def test_mistakes_are_one_line(empty_model, capsys, options, why):
    assert why in refused(capsys, f"labels m.coal {options}")


@pytest.mark.parametrize("address", ["http://[bad", "http://[bad/mail", "http://local\x01host/mail", "http://h:x/mail"])
def test_an_address_that_is_none_is_one_line(capsys, monkeypatch, address):
    monkeypatch.setenv("COALFACE_TOKEN", "coal_eve")
    assert "Check the address" in refused(capsys, f"labels {address} --add x")


def test_a_model_with_known_costs_takes_those_of_a_new_label_from_a_file(calls, capsys):
    names = ["truth", *LABELS, "legal"]
    rows = [[str(float(row != column)) for column in range(4)] for row in range(4)]
    wide = "\n".join([",".join(names), *(",".join([names[i + 1], *row]) for i, row in enumerate(rows))])
    (calls / "four.csv").write_text(wide)
    narrow = "\n".join(",".join(line.split(",")[:4]) for line in wide.splitlines()[:4])
    (calls / "three.csv").write_text(narrow)
    assert (
        run(
            capsys,
            f"train --classes {','.join(LABELS)} --model t.coal --price-of-truth 2 --cost-matrix three.csv",
        )[0]
        == 0
    )
    assert "needs the costs of all 4 labels" in refused(capsys, "labels t.coal --add legal")
    assert run(capsys, "labels t.coal --add legal --cost-matrix four.csv")[0] == 0


def test_a_project_changes_its_labels_also_through_its_running_service(calls, capsys, monkeypatch):
    examples = [{"id": str(i), "text": f"word{i}"} for i in range(8)]
    desk = Desk(Project.create(calls / "mail", examples, ["refund", "delivery"]))
    try:
        assert "already open in another process" in refused(capsys, "labels mail --add legal")
        assert run(capsys, "labels mail")[:2] == (0, "refund\ndelivery\n")  # reading is allowed
        with served(desk) as address:
            monkeypatch.delenv("COALFACE_TOKEN", raising=False)
            assert "needs the token of an engineer" in refused(capsys, f"labels {address}/mail")
            monkeypatch.setenv("COALFACE_TOKEN", "coal_ann")
            assert "engineer" in refused(capsys, f"labels {address}/mail --add legal")
            monkeypatch.setenv("COALFACE_TOKEN", "coal_eve")
            assert run(capsys, f"labels {address}/mail --add legal")[:2] == (0, "refund\ndelivery\nlegal\n")
            assert "exists already" in refused(capsys, f"labels {address}/mail --add legal")
            assert "must end in the name of the project" in refused(capsys, f"labels {address}")
            assert "There is no project 'post' here" in refused(capsys, f"labels {address}/post")
        assert desk.project.offered == ["refund", "delivery", "legal"]
    finally:
        desk.close()
    assert run(capsys, "labels mail --retire refund")[:2] == (0, "delivery\nlegal\nrefund (retired)\n")
    assert run(capsys, "labels mail")[1] == "delivery\nlegal\nrefund (retired)\n"

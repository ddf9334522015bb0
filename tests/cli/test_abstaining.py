"""Abstaining on the command line."""

import json

from coalface import Abstain, CoalClassifier, read_dataset
from tests.cli.commands import json_lines, refused, run


def test_train_and_predict_abstain_as_the_library_does(calls, capsys):
    train = "train calls.csv --label kind --model m.coal --abstain-cost 0.1 --no-shuffle"
    assert run(capsys, f"{train} --abstain-label none")[0] == 0
    labels = [line["label"] for line in json_lines(run(capsys, "predict m.coal new.csv")[1])]
    data, test = read_dataset("calls.csv", label="kind"), read_dataset("test.csv", label="kind")
    learner = CoalClassifier(abstain=Abstain(0.1, label="none"))
    learner.partial_fit(data.X, cost=data.cost, classes=data.classes)
    assert labels == learner.predict(test.X).tolist()
    assert 0 < labels.count("none") < len(labels)


def test_a_simulated_run_charges_for_abstaining(calls, capsys):
    command = "simulate calls.csv --label kind --test test.csv --json --save s.coal --abstain-cost 0.1"
    found = json.loads(run(capsys, command)[1])
    labels = [line["label"] for line in json_lines(run(capsys, "predict s.coal new.csv")[1])]
    test = read_dataset("test.csv", label="kind")
    column = {name: k for k, name in enumerate(test.classes.tolist())}
    paid = [0.1 if name == "abstain" else test.cost[row, column[name]] for row, name in enumerate(labels)]
    assert "abstain" in labels
    assert abs(found["test_cost"][-1] - sum(paid) / len(paid)) < 1e-6


def test_a_number_stands_for_abstaining_where_labels_are_numbers(calls, capsys):
    (calls / "train.svm").write_text("1 1:1\n2 5:1\n" * 20)
    train = "train train.svm --model m.coal --abstain-cost 0"
    assert run(capsys, f"{train} --abstain-label 2")[0] == 2
    assert not (calls / "m.coal").exists()
    assert run(capsys, f"{train} --abstain-label 0")[0] == 0
    assert {line["label"] for line in json_lines(run(capsys, "predict m.coal train.svm")[1])} <= {0, 1, 2}


def test_bad_costs_and_labels_of_abstaining_are_one_line(calls, capsys):
    for options, words in (
        ("--abstain-cost 7", "--abstain-cost must be a finite number at least 0 and at most 1, got 7.0."),
        ("--abstain-cost 0.5 --abstain-label refund", "--abstain-label must differ from every label, got 'refund'"),
    ):
        assert words in refused(capsys, f"train calls.csv --label kind --model m.coal {options}")

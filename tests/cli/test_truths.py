"""True labels on the command line: train, ask and tell, and simulated runs."""

import json

import numpy as np

from coalface import CoalClassifier, read_dataset, simulate
from tests.cli.commands import LABELS, json_lines, refused, run

MATRIX = np.array([[0, 0.2, 1], [0.5, 0, 1], [1, 0.4, 0]])


def test_true_labels_are_asked_for_told_and_counted(calls, capsys):
    np.save("costs.npy", MATRIX)
    command = f"train --classes {','.join(LABELS)} --model m.coal --price-of-truth 2 --cost-matrix costs.npy"
    assert run(capsys, command)[0] == 0
    code, out, err = run(capsys, "ask m.coal new.csv")
    lines = json_lines(out)
    assert code == 0
    assert all(line["ask_truth"] and set(line["ask"]) == set(LABELS) for line in lines)
    assert err == "50 true labels and 0 of 150 costs asked for, on 50 of 50 examples\n"
    assert 'line 1: "truth" must give the true label' in _refused(calls, capsys, lines)
    test = read_dataset("test.csv", label="kind")
    truths = [LABELS[k] for k in test.truth]
    answers = [json.dumps({**line, "truth": truth}) for line, truth in zip(lines, truths, strict=True)]
    (calls / "answers.jsonl").write_text("\n".join(answers))
    code, out, _ = run(capsys, "tell m.coal answers.jsonl")
    assert code == 0
    assert out.startswith(
        "m.coal: learned 50 true labels from 50 examples\n50 true labels in all, on 50 of 50 examples;"
    )
    told = CoalClassifier.load("m.coal")
    learner = CoalClassifier(classes=LABELS, price_of_truth=2, cost_matrix=MATRIX)
    learner.tell(test.X, MATRIX[test.truth], asked=learner.ask(test.X))
    assert (told.totals_.truths, told.costs_queried_) == (50, 0)
    predicted = json_lines(run(capsys, "predict m.coal new.csv")[1])
    assert [line["label"] for line in predicted] == learner.predict(test.X).tolist()


def _refused(calls, capsys, lines):
    (calls / "unanswered.jsonl").write_text("\n".join(map(json.dumps, lines)))
    return refused(capsys, "tell m.coal unanswered.jsonl")


def test_a_model_trained_on_true_labels_knows_their_costs(calls, capsys):
    np.save("costs.npy", MATRIX)
    assert run(capsys, "train calls.csv --label kind --cost-matrix costs.npy --price-of-truth 2 --model m.coal")[0] == 0
    learner = CoalClassifier.load("m.coal")
    np.testing.assert_allclose(learner.cost_matrix, MATRIX, atol=1e-7)
    assert learner.price_of_truth == 2


def test_a_simulated_run_equals_the_librarys(calls, capsys):
    np.save("costs.npy", MATRIX)
    command = "simulate calls.csv --label kind --cost-matrix costs.npy --test test.csv --no-shuffle --price-of-truth 2"
    curve = json.loads(run(capsys, f"{command} --json")[1])
    train = read_dataset("calls.csv", label="kind", cost_matrix=MATRIX)
    learner = CoalClassifier(classes=train.classes, cost_matrix=MATRIX, price_of_truth=2, shuffle=False)
    simulate(learner, train.X, train.cost)
    assert curve["truths_queried"][-1] == learner.totals_.truths > 0
    assert curve["costs_queried"][-1] == learner.costs_queried_
    code, out, _ = run(capsys, f"{command} --report run.html")
    assert code == 0
    assert "true labels asked" in out
    assert "true labels asked" in (calls / "run.html").read_text()


def test_data_with_single_costs_has_no_true_labels(calls, capsys):
    (calls / "costs.csv").write_text("a,cost:x,cost:y\n" + "1,0,1\n2,1,0\n" * 20)
    assert "--price-of-truth needs data with true labels" in refused(capsys, "simulate costs.csv --price-of-truth 2")
    err = refused(capsys, "train costs.csv --price-of-truth 2 --model m.coal")
    assert "--price-of-truth needs data with true labels" in err
    assert "--price-of-truth must be a finite number" in refused(
        capsys, "simulate calls.csv --label kind --price-of-truth 0"
    )


def test_an_empty_model_keeps_the_costs_of_true_labels(calls, capsys):
    np.save("costs.npy", MATRIX)
    assert run(capsys, f"train --classes {','.join(LABELS)} --cost-matrix costs.npy --model m.coal")[0] == 0
    np.testing.assert_array_equal(CoalClassifier.load("m.coal").cost_matrix, MATRIX)
    line = {"round": 1, "ask": LABELS[:1], "truth": LABELS[0], "features": {"a": 1.0}}
    wrong = float(MATRIX[0, 1]) / 2
    (calls / "answers.jsonl").write_text(json.dumps({**line, "costs": {LABELS[1]: wrong}}))
    assert f"Round 1 has the true label '{LABELS[0]}'" in refused(capsys, "tell m.coal answers.jsonl")
    (calls / "answers.jsonl").write_text(json.dumps(line))
    assert run(capsys, "tell m.coal answers.jsonl")[0] == 0
    assert CoalClassifier.load("m.coal").model_.state.answered[:3].tolist() == [1, 1, 1]

"""``coalface simulate``."""

import json
import sys
from contextlib import contextmanager

import numpy as np

from coalface import Coal, CoalClassifier, OnlineModel, read_dataset, simulate
from coalface.learner.parameters import flat
from coalface.studies.known.catalogue import load_known
from tests.cli.commands import json_lines, run


def test_simulate_prints_json_only_and_the_numbers_of_the_library(calls, capsys):
    code, out, err = run(capsys, "simulate calls.csv --label kind --test test.csv --warm-up 4 --json --seed 3")
    assert (code, err) == (0, "")
    train, test = read_dataset("calls.csv", label="kind"), read_dataset("test.csv", label="kind")
    curve = simulate(
        CoalClassifier(rule=Coal(warm_up=4), random_state=3),
        train.X,
        train.cost,
        X_test=test.X,
        cost_test=test.cost,
        order=np.random.default_rng(3).permutation(150),
        classes=train.classes,
    )
    found = json.loads(out)
    assert found["costs_queried"] == curve.costs_queried.tolist()
    assert found["test_cost"] == curve.test_cost.tolist()
    assert found["auc"] == curve.auc


def test_simulate_says_how_many_of_the_costs_asked_for_the_data_has(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    rows = [f"{i % 7},{'' if i % 2 else 0.25},{'' if i % 3 else 0.75}" for i in range(60)]
    (tmp_path / "half.csv").write_text("\n".join(["x,cost:a,cost:b", *rows]) + "\n")
    command = "simulate half.csv --test-fraction 0 --rule passive"
    found = json.loads(run(capsys, f"{command} --json")[1])
    assert (found["costs_queried"][-1], found["costs_answered"]) == (120, 30 + 20)
    assert "The data has 50 of the 120 costs asked for; the others are empty." in run(capsys, command)[1]
    (tmp_path / "whole.csv").write_text(
        "\n".join(["x,cost:a,cost:b", *(f"{i % 7},0.25,0.75" for i in range(60))]) + "\n"
    )
    assert "The data has" not in run(capsys, command.replace("half", "whole"))[1]


def test_a_rate_and_a_warm_up_may_be_words_which_the_learner_gets_as_they_are(calls, capsys):
    for words, meant in (("auto", ("auto", "auto")), ("7", (7.0, 7))):
        command = f"simulate calls.csv --label kind --save {words}.coal --learning-rate {words} --warm-up {words}"
        assert run(capsys, command)[0] == 0
        found = flat(CoalClassifier.load(f"{words}.coal").get_params(deep=False))
        assert (found["model.learning_rate"], found["rule.warm_up"]) == meant
        assert isinstance(found["rule.warm_up"], type(meant[1]))


def test_simulate_prints_a_table_without_colours_in_a_pipe_and_writes_what_was_wanted(calls, capsys):
    command = "simulate calls.csv --label kind --rule passive --report run.html --save sim.coal --no-shuffle"
    code, out, _ = run(capsys, f"{command} --checkpoints 30,90,10000")
    assert code == 0
    assert "\x1b" not in out
    assert [line.split()[:2] for line in out.splitlines() if line[:4].strip().isdigit()][:2] == [
        ["30", "10"],
        ["90", "30"],
    ]
    assert "AUC" in out
    page = (calls / "run.html").read_text()
    assert "test cost" in page
    for name, value in CoalClassifier(rule="passive").get_params().items():  # also the defaults
        assert (f"<td>{name}</td><td>{value}</td>" in page) == (name not in ("classes", "cost_matrix"))
    assert CoalClassifier.load(calls / "sim.coal").costs_queried_ == 120 * 3


def test_simulate_asks_in_batches(calls, capsys):
    command = "simulate calls.csv --label kind --test test.csv --json --no-shuffle --batch 20 --alike 0.9"
    code, out, _ = run(capsys, command)
    train, test = read_dataset("calls.csv", label="kind"), read_dataset("test.csv", label="kind")
    learner = CoalClassifier(classes=train.classes, rule=Coal(alike=0.9), shuffle=False)
    curve = simulate(learner, train.X, train.cost, X_test=test.X, cost_test=test.cost, batch=20)
    assert (code, json.loads(out)["costs_queried"]) == (0, curve.costs_queried.tolist())


def test_ctrl_c_prints_what_there_is_and_exits_with_130(calls, capsys, monkeypatch):
    @contextmanager
    def impatient(_):
        def progress(*_):
            raise KeyboardInterrupt

        yield progress

    monkeypatch.setattr(sys.modules["coalface.cli.simulate"], "progress_bar", impatient)
    code, out, _ = run(capsys, "simulate calls.csv --label kind --json --save sim.coal")
    assert code == 130
    result = json.loads(out)
    assert result["interrupted"]
    assert 0 < result["rounds"][-1] < 120
    assert CoalClassifier.load("sim.coal").round_ == result["rounds"][-1] + 1


def test_a_model_of_simulate_reads_its_training_data_though_the_test_data_had_more_features(calls, capsys):
    (calls / "train.vw").write_text("cat:0 dog:1 | purrs\ncat:1 dog:0 | barks\n" * 20)
    (calls / "test.vw").write_text("cat:0 dog:1 | purrs unseen rare\n")
    assert run(capsys, "simulate train.vw --test test.vw --save s.coal")[0] == 0
    code, out, _ = run(capsys, "predict s.coal train.vw")
    assert code == 0
    assert [line["label"] for line in json_lines(out)] == ["cat", "dog"] * 20
    lines = json_lines(run(capsys, "ask s.coal test.vw --max-costs 2")[1])
    assert run(capsys, "predict s.coal test.vw")[0] == 0
    assert [line["row"] for line in lines] == [0]


def test_numbered_features_of_the_test_data_may_be_fewer_or_more(calls, capsys):
    (calls / "train.svm").write_text("1 1:1\n2 5:1\n" * 20)
    for features in ("1:1", "1:1 9:1"):
        (calls / "test.svm").write_text(f"1 {features}\n1 2:1\n")
        assert run(capsys, "simulate train.svm --test test.svm --save s.coal")[0] == 0
        assert run(capsys, "predict s.coal train.svm")[0] == 0


def test_simulate_takes_known_data_with_its_own_test_part(calls, capsys):
    code, out, _ = run(capsys, "simulate iris --json --rule passive")
    train = load_known("iris").train
    assert (code, json.loads(out)["costs_queried"][-1]) == (0, train.cost.size)
    code, _, err = run(capsys, "simulate iris --test test.csv")
    assert code == 2
    assert "iris has a test part of its own, got --test test.csv as well" in err


def test_a_simulated_budget_is_spent_over_the_training_rows_and_said(calls, capsys):
    code, out, _ = run(capsys, "simulate calls.csv --label kind --test test.csv --budget costs=60 --save sim.coal")
    assert code == 0
    saved = CoalClassifier.load(calls / "sim.coal")
    assert saved.budget == {"over": 150, "costs": 60.0}
    assert saved.spent_ == saved.costs_queried_ <= 60
    assert f"Budget: {saved.costs_queried_} of 60 costs spent." in out
    code, out, _ = run(capsys, "simulate calls.csv --label kind --budget examples=9,over=30 --json")
    assert code == 0
    assert json.loads(out)["examples_queried"][-1] == 9


def test_simulate_with_interactions_is_that_of_the_library(calls, capsys):
    code, out, _ = run(capsys, "simulate calls.csv --label kind --test test.csv --interactions 2 --json")
    train, test = read_dataset("calls.csv", label="kind"), read_dataset("test.csv", label="kind")
    learner = CoalClassifier(train.classes, model=OnlineModel(interactions=2))
    order = np.random.default_rng(0).permutation(150)
    curve = simulate(learner, train.X, train.cost, X_test=test.X, cost_test=test.cost, order=order)
    assert code == 0
    assert json.loads(out)["test_cost"] == curve.test_cost.tolist()
    assert json.loads(out)["costs_queried"] == curve.costs_queried.tolist()

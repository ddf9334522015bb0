"""``coalface train`` and ``coalface predict``."""

import csv
import io
from pathlib import Path

import numpy as np
import pytest

from coalface import (
    Abstain,
    Audits,
    Coal,
    CoalClassifier,
    CommitteeModel,
    OnlineModel,
    RidgeModel,
    read_dataset,
)
from coalface.cli import main
from coalface.cli.learner_options import LearnerSettings
from coalface.data.streams.line_source import LineSource
from coalface.errors import InputError
from coalface.learner.named_learner import NamedLearner
from coalface.learner.recorder import plain_params
from coalface.models.choice import MODELS
from tests.cli.commands import LABELS, json_lines, refused, run


def predicted(capsys, train, data):
    """The labels that a model of one file predicts for the examples of another."""
    run(capsys, f"train {train} --model m.coal")
    code, out, _ = run(capsys, f"predict m.coal {data}")
    assert code == 0
    return [line["label"] for line in json_lines(out)]


def test_train_and_predict_equal_the_library(calls, capsys):
    assert run(capsys, "train calls.csv --label kind --model m.coal --learning-rate 0.3 --no-shuffle")[0] == 0
    code, out, _ = run(capsys, "predict m.coal new.csv --costs")
    train, test = read_dataset("calls.csv", label="kind"), read_dataset("test.csv", label="kind")
    learner = CoalClassifier(model=CommitteeModel(online=OnlineModel(learning_rate=0.3))).partial_fit(
        train.X, cost=train.cost, classes=train.classes
    )
    lines = json_lines(out)
    assert code == 0
    assert [line["row"] for line in lines] == list(range(50))
    assert [line["label"] for line in lines] == learner.predict(test.X).tolist()
    found = [[line["costs"][name] for name in LABELS] for line in lines]
    np.testing.assert_allclose(found, learner.predict_cost(test.X).clip(0, 1), atol=1e-6)


@pytest.mark.parametrize("costs", ["", "--costs", "--unclipped"])
@pytest.mark.parametrize("block", ["", "--block 7"])
def test_predictions_as_a_table_are_those_of_the_lines(calls, capsys, costs, block):
    rows = (calls / "new.csv").read_text().split()
    named = ["id," + rows[0], *(f"=call {i},{row}" for i, row in enumerate(rows[1:]))]
    (calls / "named.csv").write_text("\n".join(named))
    run(capsys, "train calls.csv --label kind --model m.coal")
    assert refused(capsys, "predict m.coal named.csv").endswith("On the command line: --id id.\n")
    lines = json_lines(run(capsys, f"predict m.coal named.csv --id id {costs}")[1])
    code, out, _ = run(capsys, f"predict m.coal named.csv --id id {costs} {block} --to csv")
    table = list(csv.DictReader(io.StringIO(out)))
    assert code == 0
    assert list(table[0]) == ["row", "id", "label", *(f"cost:{name}" for name in LABELS if costs)]
    assert len(table) == len(lines) == 50
    for cells, line in zip(table, lines, strict=True):
        assert (int(cells["row"]), cells["id"], cells["label"]) == (line["row"], f"'{line['id']}", line["label"])
        assert {name: float(cells[f"cost:{name}"]) for name in LABELS if costs} == line.get("costs", {})


def test_predictions_in_another_format_are_refused(calls, capsys):
    run(capsys, "train calls.csv --label kind --model m.coal")
    assert "--to must be jsonl or csv, got 'xlsx'" in refused(capsys, "predict m.coal new.csv --to xlsx")
    assert "--to csv is for one file" in refused(capsys, "predict m.coal new.csv new.csv --to csv")


def test_columns_of_a_csv_are_found_by_name(calls, capsys):
    rows = [line.split(",") for line in (calls / "new.csv").read_text().split()]
    (calls / "turned.csv").write_text("\n".join(",".join(row[::-1]) for row in rows) + "\n")
    run(capsys, "train calls.csv --label kind --model m.coal")
    assert run(capsys, "predict m.coal turned.csv") == run(capsys, "predict m.coal new.csv")


def test_a_csv_without_one_of_the_columns_is_refused(calls, capsys):
    rows = [line.split(",") for line in (calls / "new.csv").read_text().split()]
    (calls / "short.csv").write_text("\n".join(",".join(row[1:]) for row in rows) + "\n")
    run(capsys, "train calls.csv --label kind --model m.coal")
    code, out, err = run(capsys, "predict m.coal short.csv")
    assert (code, out) == (2, "")
    assert "missing 'a'" in err


def test_named_features_of_vw_text_keep_their_meaning_in_another_file(calls, capsys):
    (calls / "train.vw").write_text("cat:0 dog:1 | purrs\ncat:1 dog:0 | barks\n" * 20)
    (calls / "turned.vw").write_text("| barks unseen\n| purrs\n")
    assert predicted(capsys, "train.vw", "turned.vw") == ["dog", "cat"]


def test_numbered_features_may_be_fewer_than_in_training(calls, capsys):
    (calls / "train.svm").write_text("1 1:1\n2 9:1\n" * 20)
    (calls / "short.svm").write_text("1 1:1\n1 2:1\n")
    assert predicted(capsys, "train.svm", "short.svm")[0] == 1


def test_an_existing_model_is_not_overwritten_and_can_go_on(calls, capsys):
    command = "train calls.csv --label kind --model m.coal"
    run(capsys, command)
    before = (calls / "m.coal").read_bytes()
    code, _, err = run(capsys, command)
    assert (code, (calls / "m.coal").read_bytes()) == (2, before)
    assert "--continue" in err
    assert run(capsys, f"{command} --continue")[0] == 0
    assert CoalClassifier.load("m.coal").round_ == 301
    for given in ("--mellowness 0.3", "--seed 2", "--classes a,b"):
        code, _, err = run(capsys, f"{command} --continue {given}")
        assert code == 2
        assert f"{given.split()[0]} cannot change with --continue" in err


def test_training_reads_the_data_once(calls, capsys, monkeypatch):
    opened = []

    class Counted(LineSource):
        def __init__(self, path, **options):
            opened.append(path.name)
            super().__init__(path, **options)

    monkeypatch.setattr("coalface.data.streams.blocks.LineSource", Counted)
    for more in ("", " --continue"):
        assert run(capsys, f"train calls.csv --label kind --model m.coal{more}")[0] == 0
    assert opened == ["calls.csv"] * 2


def test_a_text_column_names_the_options_that_help(calls, capsys):
    run(capsys, "train calls.csv --label kind --model m.coal")
    code, _, err = run(capsys, "predict m.coal test.csv")
    assert code == 2
    assert "On the command line: --label kind or --ignore kind." in err
    for remedy in ("--label kind", "--ignore kind", "--reader ignore=kind"):
        assert run(capsys, f"predict m.coal test.csv {remedy}")[1] == run(capsys, "predict m.coal new.csv")[1]


@pytest.mark.parametrize(
    ("options", "given"),
    [
        ("", {}),
        ("--rule passive --mellowness 0 --warm-up 0", {"rule": Coal("passive", warm_up=0), "mellowness": 0.0}),
        (
            "--learning-rate 0.2 --width-scale 0",
            {"model": CommitteeModel(online=OnlineModel(learning_rate=0.2)), "rule": Coal(width_scale=0.0)},
        ),
        ("--slack published --audit-rate 0", {"rule": Coal(slack="published"), "audits": Audits(0.0)}),
        (
            "--no-in-turn --alike 0.9 --audits loss",
            {"rule": Coal(in_turn=False, alike=0.9), "audits": "loss"},
        ),
        (
            "--cost-model online --accumulator adagrad --sensitivity derivative",
            {"model": OnlineModel(accumulator="adagrad", sensitivity="derivative")},
        ),
        ("--cost-model ridge --no-intercept", {"model": RidgeModel(fit_intercept=False)}),
        ("--abstain-cost 0.3 --abstain-label none", {"abstain": Abstain(0.3, "none")}),
        ("--cost-model online", {"model": "online"}),
        ("--cost-bounds auto --seed 5", {"cost_bounds": "auto", "random_state": 5}),
        ("--cost-bounds -1 3 --seed 5", {"cost_bounds": (-1.0, 3.0), "random_state": 5}),
    ],
)
@pytest.mark.parametrize("command", ["train --model m.coal", "simulate --save m.coal"])
def test_settings_that_are_given_count_and_all_others_are_those_of_the_library(calls, capsys, command, options, given):
    assert run(capsys, f"{command} calls.csv --label kind {options}")[0] == 0
    found = plain_params(CoalClassifier.load(calls / "m.coal")) | {"classes": None}
    assert found == plain_params(CoalClassifier(**given))


def test_settings_change_those_of_the_paper_one_by_one(calls, capsys):
    command = "train calls.csv --label kind --model m.coal --as-published"
    assert run(capsys, f"{command} --rule passive --audit-rate 0.2 --accumulator adagrad")[0] == 0
    changed = {"rule__variant": "passive", "audits__rate": 0.2, "model__accumulator": "adagrad"}
    learner = CoalClassifier.load(calls / "m.coal")
    assert plain_params(learner) | {"classes": None} == plain_params(CoalClassifier.as_published(**changed))
    with pytest.raises(InputError, match="warm_up must be as the training began, 1, got 3"):
        LearnerSettings({"rule.variant": "passive", "rule.warm_up": 3}).check_same(learner)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ("--slack loose", "--slack must be one of 'published', 'noise-scaled', 'printed', got 'loose'"),
        ("--audit-rate 2", "--audit-rate must be a finite number at least 0 and at most 1, got 2"),
        ("--cost-model forest --learning-rate 0.1", "--cost-model ForestModel has no parameter 'learning_rate'"),
        ("--cost-model ridge --interactions 2", "--interactions needs the online model, got --cost-model ridge"),
        ("--abstain-label none", "--abstain-label needs --abstain-cost"),
    ],
)
def test_a_setting_that_is_not_allowed_is_refused_before_data_are_read(calls, capsys, options, said):
    assert said in refused(capsys, f"train lost.csv --model m.coal {options}")


@pytest.mark.parametrize("verb", ["train", "simulate"])
def test_the_help_lists_every_cost_model_and_the_default(verb, capsys):
    code, out, _ = run(capsys, f"{verb} --help")
    text = " ".join(out.replace("│", " ").split())
    listed = text.split("What predicts the costs: ")[1].split(".")[0]
    assert code == 0
    with_files = [name for name in MODELS if name != "shared"]  # files have no features of labels
    assert listed.replace(" or ", ", ").replace(" (default)", "").split(", ") == with_files
    assert f"{CoalClassifier().model} (default)" in listed


def test_spaces_between_the_labels_do_not_belong_to_them(calls):
    assert main(["train", "--classes", "refund, billing", "--model", "m.coal"]) == 0
    assert CoalClassifier.load("m.coal").classes_.tolist() == ["refund", "billing"]


@pytest.mark.parametrize(
    ("option", "interactions"), [("2", 2), ("0:2x2:4,0:2x0:2", [[[0, 2], [2, 4]], [[0, 2], [0, 2]]])]
)
def test_train_learns_interactions_and_keeps_them_in_the_model(option, interactions, calls, capsys):
    assert run(capsys, f"train calls.csv --label kind --model m.coal --no-shuffle --interactions {option}")[0] == 0
    train = read_dataset("calls.csv", label="kind")
    learner = CoalClassifier(model=OnlineModel(interactions=interactions))
    learner.partial_fit(train.X, cost=train.cost, classes=train.classes)
    loaded = NamedLearner.load(Path("m.coal")).learner
    np.testing.assert_array_equal(loaded.predict_cost(train.X), learner.predict_cost(train.X))
    assert loaded.model.interactions == interactions
    assert len(json_lines(run(capsys, "predict m.coal new.csv")[1])) == 50


def test_the_name_of_a_kind_of_model_is_not_a_file(calls, capsys):
    code, _, err = run(capsys, "train calls.csv --label kind --model forest")
    assert code == 2
    assert "pass --cost-model forest" in err
    assert not (calls / "forest").exists()


def test_interactions_cannot_change_and_must_be_ranges(calls, capsys):
    run(capsys, "train calls.csv --label kind --model m.coal")
    code, _, err = run(capsys, "train calls.csv --label kind --model m.coal --continue --interactions 2")
    assert code == 2
    assert "--interactions cannot change with --continue" in err
    for option, said in (
        ("all", "--interactions must be 2 or pairs of column ranges, got 'all'"),
        ("3", "interactions must be None, 2 or pairs of column ranges, got 3"),
        ("0:2", "interactions must have two column ranges here"),
    ):
        code, out, err = run(capsys, f"train calls.csv --label kind --model other.coal --interactions {option}")
        assert (code, out) == (2, "")
        assert said in err
        assert not (calls / "other.coal").exists()


@pytest.mark.filterwarnings("always")  # the command line prints warnings
def test_a_multiclass_file_of_vw_is_learned_as_class_labels(calls, capsys):
    (calls / "train.vw").write_text("cat | purrs\ndog | barks\n" * 20)
    code, _, err = run(capsys, "train train.vw --model m.coal")
    assert code == 0
    assert "coalface: warning: train.vw has one label per line and no costs" in err
    (calls / "test.vw").write_text("| purrs\n| barks\n")
    assert [line["label"] for line in json_lines(run(capsys, "predict m.coal test.vw")[1])] == ["cat", "dog"]


@pytest.mark.filterwarnings("always")  # the command line prints warnings
@pytest.mark.parametrize("true_label", ["dog", "dog:0"])
def test_the_true_label_of_a_line_is_not_its_only_candidate(calls, capsys, true_label):
    (calls / "train.vw").write_text("cat:0 dog:1 | purrs\ncat:1 dog:0 | barks\n" * 20)
    (calls / "test.vw").write_text(f"{true_label} | purrs\n| barks\n")
    run(capsys, "train train.vw --model m.coal")
    code, out, err = run(capsys, "predict m.coal test.vw")
    assert (code, [line["label"] for line in json_lines(out)]) == (0, ["cat", "dog"])
    assert err.count("\n") == 1
    assert "lists one label per line, which is taken for the true label and ignored. Pass --candidates" in err
    _, out, err = run(capsys, "predict m.coal test.vw --candidates")
    assert ([line["label"] for line in json_lines(out)], err) == (["dog", "dog"], "")
    assert "taken for the true label" in run(capsys, "ask m.coal test.vw")[2]
    asked = json_lines(run(capsys, "ask m.coal test.vw --candidates")[1])
    assert "cat" not in asked[0]["ask"]


def test_several_labels_of_a_line_are_candidates(calls, capsys):
    (calls / "train.vw").write_text("cat:0 dog:1 cow:1 | purrs\ncat:1 dog:0 cow:1 | barks\n" * 20)
    (calls / "test.vw").write_text("dog cow | purrs\ncow | barks\n")
    run(capsys, "train train.vw --model m.coal")
    code, out, err = run(capsys, "predict m.coal test.vw")
    assert (code, json_lines(out)[1]["label"], err) == (0, "cow", "")
    assert json_lines(out)[0]["label"] != "cat"


def test_data_without_a_known_cost_teach_nothing_and_are_refused(calls, capsys):
    (calls / "none.vw").write_text("| purrs\n| barks\n")
    message = refused(capsys, "train none.vw --model m.coal --reader classes=cat,dog")
    assert "cost must have a known cost to learn from, got only NaN" in message
    assert not (calls / "m.coal").exists()


def test_continuing_keeps_the_cost_matrix_and_refuses_another(calls, capsys):
    (calls / "costs.csv").write_text(",billing,other,refund\nbilling,0,0.1,0.2\nother,0.3,0,0.4\nrefund,0.5,0.6,0\n")
    (calls / "others.csv").write_text(",billing,other,refund\nbilling,0,1,0.2\nother,0.3,0,0.4\nrefund,0.5,0.6,0\n")
    train = "train calls.csv --label kind --no-shuffle --model"
    assert run(capsys, f"{train} twice.coal --cost-matrix costs.csv")[0] == 0
    assert run(capsys, f"{train} twice.coal --continue")[0] == 0
    assert run(capsys, f"{train} given.coal --cost-matrix costs.csv")[0] == 0
    assert run(capsys, f"{train} given.coal --continue --cost-matrix costs.csv")[0] == 0
    assert (calls / "twice.coal").read_bytes() == (calls / "given.coal").read_bytes()
    dataset = read_dataset("calls.csv", label="kind", cost_matrix="costs.csv")
    both = CoalClassifier(classes=dataset.classes).partial_fit(dataset.X, cost=dataset.cost)
    both.partial_fit(dataset.X, cost=dataset.cost)
    np.testing.assert_array_equal(
        NamedLearner.load(Path("twice.coal")).learner.predict_cost(dataset.X), both.predict_cost(dataset.X)
    )
    message = refused(capsys, f"{train} twice.coal --continue --cost-matrix others.csv")
    assert "--cost-matrix cannot change: the model was trained with another one" in message
    run(capsys, f"{train} plain.coal")
    assert "trained without one" in refused(capsys, f"{train} plain.coal --continue --cost-matrix costs.csv")


@pytest.mark.filterwarnings("always")
def test_class_labels_of_vw_text_do_not_replace_the_cost_matrix_of_a_model(calls, capsys):
    (calls / "costs.csv").write_text("0,5\n1,0\n")
    (calls / "a.svm").write_text("1 1:1\n2 2:1\n")
    (calls / "b.vw").write_text("1 | 1\n2 | 2\n")
    assert run(capsys, "train a.svm --model m.coal --cost-matrix costs.csv --cost-bounds 0 5")[0] == 0
    assert run(capsys, "train a.svm --model m.coal --continue")[0] == 0
    assert "cost must have a known cost" in refused(capsys, "train b.vw --model m.coal --continue")


def test_a_simulated_learner_keeps_the_cost_matrix(calls, capsys):
    np.save(calls / "costs.npy", [[0, 0.1, 0.2], [0.3, 0, 0.4], [0.5, 0.6, 0]])
    assert run(capsys, "simulate calls.csv --label kind --cost-matrix costs.npy --save s.coal")[0] == 0
    assert CoalClassifier.load("s.coal").cost_matrix == [[0, 0.1, 0.2], [0.3, 0, 0.4], [0.5, 0.6, 0]]


def test_a_cost_matrix_without_a_label_column_is_refused(calls, capsys):
    (calls / "costs.csv").write_text("0,5\n1,0\n")
    (calls / "full.csv").write_text("a,cost:x,cost:y\n1,0,1\n")
    message = refused(capsys, "train full.csv --model m.coal --cost-matrix costs.csv")
    assert "--cost-matrix needs label, the column of the true label" in message


def test_predicted_costs_are_shown_within_the_bounds(calls, capsys):
    (calls / "train.svm").write_text("1 1:1\n2 1:-1\n" * 30)
    (calls / "far.vw").write_text("| 0:9\n| 0:-9\n")
    run(capsys, "train train.svm --model m.coal --cost-model online")
    raw = NamedLearner.load(Path("m.coal")).learner.predict_cost([[9.0]])
    assert raw.min() < 0
    for command in ("predict m.coal far.vw --costs", "ask m.coal far.vw --explain"):
        for line in json_lines(run(capsys, command)[1]):
            shown = line.get("costs") or line["predicted"]
            assert all(0 <= cost <= 1 for cost in shown.values())


def test_predicted_costs_are_shown_as_they_are_on_request(calls, capsys):
    (calls / "train.svm").write_text("1 1:1\n2 1:-1\n" * 30)
    (calls / "far.vw").write_text("| 0:9\n| 0:-9\n")
    run(capsys, "train train.svm --model m.coal --cost-model online")
    lines = json_lines(run(capsys, "predict m.coal far.vw --unclipped")[1])
    learner = NamedLearner.load(Path("m.coal")).learner
    np.testing.assert_allclose(
        [[line["costs"][str(name)] for name in learner.classes_] for line in lines],
        learner.predict_cost([[9.0], [-9.0]]),
        atol=1e-6,
    )
    assert all(min(line["costs"], key=line["costs"].get) == str(line["label"]) for line in lines)
    assert "--unclipped is for one file" in refused(capsys, "predict m.coal far.vw more.vw --unclipped")


@pytest.mark.filterwarnings("always")
def test_a_model_that_learned_nothing_says_so_when_it_predicts(empty_model, capsys):
    code, out, err = run(capsys, "predict m.coal new.csv")
    assert (code, {line["label"] for line in json_lines(out)}) == (0, {"billing"})
    assert err == "coalface: warning: m.coal has learned no cost yet, so it predicts its first label. Tell it some.\n"


def test_train_names_labels_that_were_hardly_ever_best(calls, capsys):
    lines = ["cat:0 dog:1 eel:1 | purrs"] * 40 + ["cat:1 dog:0 eel:1 | barks"] * 3
    (calls / "rare.vw").write_text("\n".join(lines) + "\n")
    _, out, err = run(capsys, "train rare.vw --model m.coal")
    assert out.count("\n") == 1
    assert "predictions of it are guesses: eel (0), dog (3)" in err
    (calls / "few.vw").write_text("\n".join(lines[-5:]) + "\n")
    assert run(capsys, "train few.vw --model n.coal")[2] == ""

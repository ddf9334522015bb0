"""The command line: what each verb does, and that a mistake is one clear line and changes nothing."""

import io
import json
import os
import subprocess
import sys
import time
from contextlib import contextmanager
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
import typer

import coalface
from coalface import CoalClassifier, read_dataset, simulate
from coalface.cli import main
from coalface.cli.app import app
from coalface.cli.matching import match_features, match_labels
from coalface.cli.models import Model
from coalface.files import exclusive

LABELS = ["billing", "other", "refund"]


@pytest.fixture
def calls(tmp_path, monkeypatch):
    """A folder with labelled and unlabelled calls, which commands run in."""
    monkeypatch.chdir(tmp_path)
    random = np.random.default_rng(0)
    truth = random.integers(3, size=200)
    X = random.normal(size=(200, 4)).round(3)
    X[np.arange(200), truth] += 3
    lines = [",".join(map(str, row)) for row in X.tolist()]
    labelled = [f"{line},{LABELS[k]}" for line, k in zip(lines, truth, strict=True)]
    (tmp_path / "calls.csv").write_text("\n".join(["a,b,c,d,kind", *labelled[:150]]) + "\n")
    (tmp_path / "test.csv").write_text("\n".join(["a,b,c,d,kind", *labelled[150:]]) + "\n")
    (tmp_path / "new.csv").write_text("\n".join(["a,b,c,d", *lines[150:]]) + "\n")
    (tmp_path / "empty.csv").touch()
    return tmp_path


@pytest.fixture
def empty_model(calls):
    assert main(["train", "--classes", ",".join(LABELS), "--model", "m.coal", "--warm-up", "3"]) == 0
    return calls / "m.coal"


def verbs(command, path=()):
    for name, child in getattr(command, "commands", {}).items():
        yield (*path, name)
        yield from verbs(child, (*path, name))


def run(capsys, command):
    """Exit code, standard output and standard error of a command."""
    capsys.readouterr()
    code = main(command.split())
    return code, *capsys.readouterr()


def json_lines(text):
    return [json.loads(line) for line in text.splitlines()]


def answered(questions, cost_of=lambda label: float(len(label) % 2)):
    lines = []
    for question in questions:
        costs = {label: cost_of(label) for label in question["ask"]}
        lines.append(json.dumps({**question, **({"costs": costs} if costs else {})}) + "\n")
    return lines


# -- help, version, mistakes -------------------------------------------------------------------------------------


@pytest.mark.parametrize("verb", [(), *verbs(typer.main.get_command(app))], ids=" ".join)
def test_every_help_has_an_example_of_that_very_verb(verb, capsys):
    code, out, err = run(capsys, " ".join([*verb, "--help"]))
    assert (code, err) == (0, "")
    examples = [line for line in out.splitlines() if line.strip().startswith("Example: coalface")]
    assert examples
    assert all(" ".join(("coalface", *verb)) in line for line in examples)


def test_the_version_is_that_of_the_package(capsys):
    assert run(capsys, "--version") == (0, f"coalface {coalface.__version__}\n", "")


def test_no_verb_at_all_shows_the_help(capsys):
    assert run(capsys, "") == run(capsys, "--help")


def test_help_loads_nothing_heavy():
    code = (
        "import sys; from coalface.cli import main; main(['simulate', '--help']);"
        "print([name for name in ('numpy', 'scipy', 'sklearn', 'numba', 'matplotlib', 'rich') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


def test_the_shell_completes_verbs():
    done = subprocess.run(
        [sys.executable, "-c", "from coalface.cli import main; main()"],
        env={**os.environ, "_COALFACE_COMPLETE": "complete_bash", "COMP_WORDS": "coalface sim", "COMP_CWORD": "1"},
        capture_output=True,
        text=True,
    )
    assert done.stdout.strip() == "simulate"


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("nonsense", "nonsense"),
        ("simulate", "DATA"),
        ("simulate missing.csv", "There is no file or folder missing.csv"),
        ("simulate calls.csv", "Pass --label to name"),
        ("simulate calls.csv --label kind --cost-bounds 1 0", "--cost-bounds must be finite"),
        ("simulate calls.csv --label kind --seed -1", "--seed"),
        ("simulate calls.csv --label kind --test test.csv --seed -1", "--seed"),
        ("demo --seed -1", "--seed"),
        ("simulate calls.csv --label kind --rule greedy", "--rule must be one of 'coal'"),
        ("simulate calls.csv --label kind --mellowness much", "--mellowness"),
        ("simulate calls.csv --label kind --mellowness -1", "--mellowness must be"),
        (
            "simulate calls.csv --label kind --cost-bounds 0 0.5",
            "must lie in [0, 0.5], got 1.0. Make the model with --cost-bounds LOW HIGH",
        ),
        ("simulate calls.csv --label kind --test-fraction 7", "--test-fraction must"),
        ("simulate calls.csv --label kind --budgets 10,many", "--budgets must be"),
        ("simulate calls.csv --label kind --budgets tripling", "--budgets must be one of 'doubling'"),
        ("simulate calls.csv --label kind --report lost/run.html", "--report must lie in a folder that exists"),
        ("simulate calls.csv --label kind --reader ignore", "--reader must be NAME=VALUE"),
        ("simulate calls.csv --label kind --reader bits=4", "no option 'bits'"),
        ("simulate calls.csv --format excel", "Pass --format or rename"),
        ("train --model m.coal", "--classes"),
        ("train --classes a,,b --model m.coal", "--classes must be names with a comma between them, got 'a,,b'"),
        ("train --classes a,b,a --model m.coal", "--classes must be distinct, got 'a' twice"),
        ("train calls.csv --model m.coal --reader classes=a,", "--reader classes must be names"),
        ("train calls.csv --label kind --model lost/m.coal", "--model must lie in a folder that exists"),
        ("train calls.csv --label kind --model missing.coal --continue", "There is no model missing.coal"),
        ("predict calls.csv new.csv", "calls.csv is not a coalface model"),
        ("ask missing.coal new.csv", "There is no model missing.coal"),
        ("tell missing.coal -", "There is no model missing.coal"),
        ("data info new.csv", "got 'a', 'b', 'c', 'd'. Pass --label to name the column of the true label"),
        ("data info empty.csv", "empty.csv must begin with a line of column names, got an empty file"),
        ("data convert calls.csv calls.xyz --label kind", "Pass --to or rename"),
        ("data convert calls.csv lost/calls.vw --label kind", "lost/calls.vw: There is no folder"),
        ("demo --permutations 0", "permutations must be at least 1"),
    ],
)
def test_a_mistake_is_exit_code_2_and_one_line_that_names_it(calls, capsys, command, said):
    before = sorted(calls.iterdir())
    code, out, err = run(capsys, command)
    assert (code, out) == (2, "")
    assert err.count("\n") == 1
    assert said in err
    assert sorted(calls.iterdir()) == before


def test_debugging_shows_where_an_error_came_from(monkeypatch):
    monkeypatch.setenv("COALFACE_DEBUG", "1")
    with pytest.raises(coalface.errors.FileFormatError):
        main(["data", "info", "missing.csv"])


# -- simulate ------------------------------------------------------------------------------------------------------


def test_simulate_prints_json_only_and_the_numbers_of_the_library(calls, capsys):
    code, out, err = run(capsys, "simulate calls.csv --label kind --test test.csv --warm-up 4 --json --seed 3")
    assert (code, err) == (0, "")
    train, test = read_dataset("calls.csv", label="kind"), read_dataset("test.csv", label="kind")
    curve = simulate(
        CoalClassifier(warm_up=4, random_state=3),
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


def test_simulate_prints_a_table_without_colours_in_a_pipe_and_writes_what_was_wanted(calls, capsys):
    command = "simulate calls.csv --label kind --rule passive --report run.html --save sim.coal --no-shuffle"
    code, out, _ = run(capsys, f"{command} --budgets 30,90,10000")
    assert code == 0
    assert "\x1b" not in out
    assert [line.split()[:2] for line in out.splitlines() if line[:4].strip().isdigit()][:2] == [
        ["30", "10"],
        ["90", "30"],
    ]
    assert "AUC" in out
    assert "test cost" in (calls / "run.html").read_text()
    assert CoalClassifier.load(calls / "sim.coal").costs_queried_ == 120 * 3


def test_ctrl_c_prints_what_there_is_and_exits_with_130(calls, capsys, monkeypatch):
    @contextmanager
    def impatient(_):
        def progress(done, total):
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


# -- train and predict ---------------------------------------------------------------------------------------------


def test_train_and_predict_equal_the_library(calls, capsys):
    assert run(capsys, "train calls.csv --label kind --model m.coal --learning-rate 0.3")[0] == 0
    code, out, _ = run(capsys, "predict m.coal new.csv --costs")
    train, test = read_dataset("calls.csv", label="kind"), read_dataset("test.csv", label="kind")
    learner = CoalClassifier(learning_rate=0.3).partial_fit(train.X, cost=train.cost, classes=train.classes)
    lines = json_lines(out)
    assert code == 0
    assert [line["row"] for line in lines] == list(range(50))
    assert [line["label"] for line in lines] == learner.predict(test.X).tolist()
    found = [[line["costs"][name] for name in LABELS] for line in lines]
    np.testing.assert_allclose(found, learner.predict_cost(test.X), atol=1e-6)


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
    run(capsys, "train train.vw --model m.coal")
    code, out, _ = run(capsys, "predict m.coal turned.vw")
    assert code == 0
    assert [line["label"] for line in json_lines(out)] == ["dog", "cat"]


def test_numbered_features_may_be_fewer_than_in_training(calls, capsys):
    (calls / "train.svm").write_text("1 1:1\n2 9:1\n" * 20)
    (calls / "short.svm").write_text("1 1:1\n1 2:1\n")
    run(capsys, "train train.svm --model m.coal")
    code, out, _ = run(capsys, "predict m.coal short.svm")
    assert code == 0
    assert json_lines(out)[0]["label"] == 1


def test_an_existing_model_is_not_overwritten_and_can_go_on(calls, capsys):
    command = "train calls.csv --label kind --model m.coal"
    run(capsys, command)
    before = (calls / "m.coal").read_bytes()
    code, _, err = run(capsys, command)
    assert (code, (calls / "m.coal").read_bytes()) == (2, before)
    assert "--continue" in err
    assert run(capsys, f"{command} --continue")[0] == 0
    assert CoalClassifier.load("m.coal").round_ == 301


def test_training_reads_the_data_once(calls, capsys, monkeypatch):
    read = []

    def counted(path, *args, **options):
        read.append(path.name)
        return read_dataset(path, *args, **options)

    monkeypatch.setattr("coalface.data.readers.read_dataset", counted)
    for more in ("", " --continue"):
        assert run(capsys, f"train calls.csv --label kind --model m.coal{more}")[0] == 0
    assert read == ["calls.csv"] * 2


def test_a_label_column_in_the_way_is_told_how_to_be_passed(calls, capsys):
    run(capsys, "train calls.csv --label kind --model m.coal")
    code, _, err = run(capsys, "predict m.coal test.csv")
    assert code == 2
    assert "pass --label kind if it is the true label, or --reader ignore=kind to leave it out" in err
    for remedy in ("--label kind", "--reader ignore=kind"):
        assert run(capsys, f"predict m.coal test.csv {remedy}")[1] == run(capsys, "predict m.coal new.csv")[1]


def test_spaces_between_the_labels_do_not_belong_to_them(calls):
    assert main(["train", "--classes", "refund, billing", "--model", "m.coal"]) == 0
    assert CoalClassifier.load("m.coal").classes_.tolist() == ["refund", "billing"]


# -- ask and tell --------------------------------------------------------------------------------------------------


def test_asking_answering_and_telling_equals_the_library(empty_model, capsys):
    before = empty_model.read_bytes()
    code, out, _ = run(capsys, "ask m.coal new.csv")
    assert (code, empty_model.read_bytes()) == (0, before)
    questions = json_lines(out)
    X = read_dataset("test.csv", label="kind").X
    learner = CoalClassifier(classes=LABELS, warm_up=3)
    queries = learner.ask(X)
    assert [line["ask"] for line in questions] == [queries.labels(i).tolist() for i in range(50)]
    assert [line["round"] for line in questions] == list(range(1, 51))

    (empty_model.parent / "answers.jsonl").write_text("".join(answered(questions)))
    assert run(capsys, "tell m.coal answers.jsonl")[0] == 0
    cost = np.where(queries.mask, [[len(label) % 2 for label in LABELS]], np.nan)
    learner.tell(X, cost, queries)
    told = CoalClassifier.load(empty_model)
    assert (told.round_, told.costs_queried_, told.examples_queried_) == (
        learner.round_,
        learner.costs_queried_,
        learner.examples_queried_,
    )
    np.testing.assert_array_equal(
        json_lines(run(capsys, "predict m.coal new.csv")[1])[7]["label"], learner.predict(X)[7]
    )
    assert told.feature_names_in_.tolist() == ["a", "b", "c", "d"]


def test_a_line_without_a_question_is_short_and_closes_its_round(empty_model, capsys):
    lines = json_lines(run(capsys, "ask m.coal new.csv --max-costs 0")[1])
    assert lines[4] == {"row": 4, "round": 5, "ask": []}
    (empty_model.parent / "answers.jsonl").write_text("".join(answered(lines)))
    run(capsys, "tell m.coal answers.jsonl")
    model = CoalClassifier.load(empty_model)
    assert (model.round_, model.costs_queried_) == (51, 0)


def test_explain_gives_a_range_and_a_reason_for_every_label(empty_model, capsys):
    for line in json_lines(run(capsys, "ask m.coal new.csv --max-costs 4 --explain")[1]):
        assert set(line["ranges"]) == set(line["reasons"]) == set(line["predicted"]) == set(LABELS)
        assert all(low <= high for low, high in line["ranges"].values())


def test_a_column_that_was_zero_so_far_may_come_up_later(empty_model, capsys):
    (empty_model.parent / "zero.csv").write_text("a,b,rare\n1,2,0\n2,1,0\n")
    lines = json_lines(run(capsys, "ask m.coal zero.csv")[1])
    assert lines[0]["features"] == {"a": 1.0, "b": 2.0}
    (empty_model.parent / "answers.jsonl").write_text("".join(answered(lines)))
    assert run(capsys, "tell m.coal answers.jsonl")[0] == 0
    (empty_model.parent / "later.csv").write_text("rare,b,a\n7,2,1\n")
    later = json_lines(run(capsys, "ask m.coal later.csv")[1])
    assert later[0]["features"] == {"a": 1.0, "b": 2.0, "rare": 7.0}


def test_a_model_that_numbers_its_features_asks_with_numbers(calls, capsys):
    np.savez("calls.npz", X=np.eye(4), y=np.array(["x", "y", "x", "y"]))
    run(capsys, "train calls.npz --model m.coal")
    lines = json_lines(run(capsys, "ask m.coal new.csv")[1])
    assert lines[0]["indices"] == [0, 1, 2, 3]
    (calls / "answers.jsonl").write_text("".join(answered(lines)))
    assert run(capsys, "tell m.coal answers.jsonl")[0] == 0


def test_data_without_names_goes_by_position_if_it_has_as_many_features(calls, capsys):
    run(capsys, "train calls.csv --label kind --model m.coal")
    new = read_dataset("test.csv", label="kind").X.toarray()
    for width, code in ((4, 0), (3, 2)):
        np.savez("new.npz", X=new[:, :width], y=np.array(["other"] * 50))
        assert run(capsys, "predict m.coal new.npz")[0] == code
    np.savez("new.npz", X=new, y=np.array(["other"] * 50))
    assert run(capsys, "predict m.coal new.npz")[1] == run(capsys, "predict m.coal new.csv")[1]


def asked(empty_model, capsys):
    return json_lines(run(capsys, "ask m.coal new.csv")[1])


def test_the_same_answers_cannot_be_told_twice(empty_model, capsys):
    (empty_model.parent / "answers.jsonl").write_text("".join(answered(asked(empty_model, capsys))))
    run(capsys, "tell m.coal answers.jsonl")
    once = empty_model.read_bytes()
    code, _, err = run(capsys, "tell m.coal answers.jsonl")
    assert (code, empty_model.read_bytes()) == (2, once)
    assert "Round 1 was told already: the model is at round 51" in err


def test_answers_in_parts_and_in_any_order_give_the_same_model_as_at_once(empty_model, capsys, monkeypatch):
    lines = answered(asked(empty_model, capsys))
    start = empty_model.read_bytes()
    for number, part in enumerate((lines[:20][::-1], lines[20:][::-1])):
        (empty_model.parent / f"{number}.jsonl").write_text("".join(part))
        assert run(capsys, f"tell m.coal {number}.jsonl")[0] == 0
    in_parts = empty_model.read_bytes()
    empty_model.write_bytes(start)
    monkeypatch.setattr(sys, "stdin", io.StringIO("".join(lines)))
    assert run(capsys, "tell m.coal -")[0] == 0
    assert empty_model.read_bytes() == in_parts


def test_a_missing_line_is_noticed_and_can_be_filled(empty_model, capsys):
    lines = answered(asked(empty_model, capsys))
    (empty_model.parent / "answers.jsonl").write_text("".join(lines[:9] + lines[10:]))
    before = empty_model.read_bytes()
    code, _, err = run(capsys, "tell m.coal answers.jsonl")
    assert (code, empty_model.read_bytes()) == (2, before)
    assert "Round 10 is missing" in err
    assert run(capsys, "tell m.coal answers.jsonl --fill-gaps")[0] == 0
    assert CoalClassifier.load(empty_model).round_ == 51


def test_late_answers_are_counted_but_close_no_round(empty_model, capsys):
    lines = answered(asked(empty_model, capsys))
    (empty_model.parent / "answers.jsonl").write_text("".join(lines))
    run(capsys, "tell m.coal answers.jsonl")
    first = CoalClassifier.load(empty_model)
    late = {**json.loads(lines[0]), "costs": {"refund": 1.0}}
    (empty_model.parent / "late.jsonl").write_text(json.dumps(late))
    assert run(capsys, "tell m.coal late.jsonl --late")[0] == 0
    model = CoalClassifier.load(empty_model)
    assert (model.round_, model.examples_queried_) == (first.round_, first.examples_queried_)
    assert model.costs_queried_ == first.costs_queried_ + 1


def test_answers_to_rounds_to_come_are_not_late(empty_model, capsys):
    (empty_model.parent / "answers.jsonl").write_text("".join(answered(asked(empty_model, capsys))))
    code, _, err = run(capsys, "tell m.coal answers.jsonl --late")
    assert code == 2
    assert "rounds before 1" in err


def test_nobody_could_tell_counts_as_asked_and_teaches_nothing(empty_model, capsys):
    lines = answered(asked(empty_model, capsys), cost_of={}.get)
    (empty_model.parent / "answers.jsonl").write_text("".join(lines))
    assert run(capsys, "tell m.coal answers.jsonl")[0] == 0
    assert CoalClassifier.load(empty_model).costs_queried_ == sum(len(json.loads(line)["ask"]) for line in lines)
    for line in json_lines(run(capsys, "predict m.coal new.csv --costs")[1]):
        assert set(line["costs"].values()) == {0.0}


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"costs": {"refund": 0.5}}, "must answer 'billing', 'other'"),
        ({"costs": {"billing": 0, "other": 0, "refund": "cheap"}}, "the cost of 'refund' must be a finite number"),
        ({"costs": {"billing": 0, "other": 0, "refund": 3.5}}, "must lie in [0, 1], got 3.5"),
        ({"costs": {"billing": 0, "other": 0, "refund": 0, "cat": 1}}, "Unknown label 'cat'"),
        ({"costs": [1, 2]}, '"costs" must be an object'),
        ({"ask": ["cat"], "costs": {"cat": 1}}, "Unknown label 'cat'"),
        ({"round": "two"}, "round must be a whole number"),
        ({"round": 1}, "round 1 must be told once"),
        ({"features": {"a": float("nan")}}, "the feature 'a' must be a finite number"),
        ({"features": None}, '"features" must be an object'),
        (
            {"costs": {"billing": 0, "other": 0, "refund": 10**400}},
            "the cost of 'refund' must be a finite number, got 1000",
        ),
        ({"ask": ["refund", "refund"]}, "\"ask\" must hold 'refund' once"),
        ({"candidates": ["billing", "other"]}, "\"candidates\" must hold 'refund', which is asked about or answered"),
        ({"candidates": LABELS, "costs": dict.fromkeys([*LABELS, "cat"], 0)}, "\"candidates\" must hold 'cat'"),
        ({"features": None, "indices": [1], "values": [1]}, '"features" must be an object'),
        ({"indices": [1], "values": [1]}, '"features" and "indices" must not both be there'),
        ({"indices": [3, 1, 3], "values": [1, 1, 1]}, '"indices" must hold 3 once'),
        ({"indices": [10**30], "values": [1]}, "an index must be a whole number from 0 on and below 2147483647"),
        ({"audit": ["refund"]}, '"audit" and "propensity" must name the same labels'),
        ({"audit": ["cat"], "propensity": {"cat": 0.5}}, "\"ask\" must hold 'cat'"),
        ({"audit": ["refund"], "propensity": {"refund": 0}}, "the propensity of 'refund' must be above 0"),
        ({"audit": ["refund"], "propensity": {"refund": 2}}, "at most 1, got 2.0"),
    ],
)
def test_one_bad_line_is_named_and_nothing_is_learned(empty_model, capsys, changes, said):
    questions = asked(empty_model, capsys)
    lines = answered(questions)
    lines[1] = json.dumps({**json.loads(lines[1]), **changes}) + "\n"
    (empty_model.parent / "answers.jsonl").write_text("".join(lines))
    before = empty_model.read_bytes()
    code, out, err = run(capsys, "tell m.coal answers.jsonl")
    assert (code, out, empty_model.read_bytes()) == (2, "", before)
    assert said in err
    assert "ine 2: " in err or "row 1" in err
    assert err.count("\n") == 1


@pytest.mark.parametrize(
    "text",
    [
        "{",
        "[]",
        "7",
        '{"ask": []}',
        '{"round": 1, "ask": ["refund"], "costs": {"refund": 1}}',
        '{"round": 1, "round": 2, "ask": []}',
        '{"round": 1, "ask": ["refund"], "features": {"a": 1}, "costs": {"refund": 1, "refund": 0}}',
        pytest.param("[" * 200_000, id="nested"),
        pytest.param(f'{{"round": 1{"0" * 5000}, "ask": []}}', id="long number"),
    ],
)
def test_a_line_that_is_no_answer_is_named(empty_model, capsys, text):
    (empty_model.parent / "answers.jsonl").write_text(text)
    code, _, err = run(capsys, "tell m.coal answers.jsonl")
    assert code == 2
    assert "answers.jsonl, line 1: " in err
    assert err.count("\n") == 1


def test_a_mistyped_round_is_named_and_not_filled_up_to(empty_model, capsys):
    before = empty_model.read_bytes()
    (empty_model.parent / "answers.jsonl").write_text('{"round": 1, "ask": []}\n{"round": 1000000000, "ask": []}\n')
    code, _, err = run(capsys, "tell m.coal answers.jsonl --fill-gaps")
    assert (code, empty_model.read_bytes()) == (2, before)
    assert "Line 2: --fill-gaps closes 1,000,000 rounds at most, but round 1000000000" in err


def test_late_lines_without_any_answer_are_refused(empty_model, capsys):
    (empty_model.parent / "answers.jsonl").write_text('{"round": 1, "ask": []}\n')
    assert run(capsys, "tell m.coal answers.jsonl")[0] == 0
    code, _, err = run(capsys, "tell m.coal answers.jsonl --late")
    assert code == 2
    assert "--late answers must have costs in some line" in err


def test_a_line_separator_inside_a_label_does_not_end_the_line(calls, capsys):
    main(["train", "--classes", "a\u2028b,c", "--model", "m.coal"])
    line = {"round": 1, "ask": ["a\u2028b"], "features": {"x": 1}, "costs": {"a\u2028b": 1}}
    (calls / "answers.jsonl").write_text(json.dumps(line, ensure_ascii=False), encoding="utf-8")
    assert run(capsys, "tell m.coal answers.jsonl")[0] == 0


def test_audits_and_their_chances_travel_with_the_lines(calls, capsys):
    run(capsys, "train calls.csv --label kind --model m.coal --audit-rate 1 --mellowness 0")
    lines = json_lines(run(capsys, "ask m.coal new.csv")[1])
    X = read_dataset("test.csv", label="kind").X
    queries = CoalClassifier.load("m.coal")
    queries.__dict__.pop("feature_names_in_")
    queries = queries.ask(X)
    assert queries.audit.any()
    for i, line in enumerate(lines):
        audited = queries.classes[queries.audit[i]].tolist()
        assert line.get("audit", []) == audited
        assert line.get("propensity", {}) == dict(zip(audited, queries.propensity[i, queries.audit[i]], strict=True))
        assert ("audit" in line) == bool(audited)
    (calls / "answers.jsonl").write_text("".join(answered(lines)))
    assert run(capsys, "tell m.coal answers.jsonl")[0] == 0


SLOW_TELL = """
import sys, time
from coalface.cli import main, models
load = models.Model.load
def slow(path):
    model = load(path)
    time.sleep(0.3)
    return model
models.Model.load = slow
sys.exit(main(sys.argv[1:]))
"""


def test_answers_told_by_two_processes_at_once_are_all_learned(empty_model, capsys):
    (empty_model.parent / "answers.jsonl").write_text("".join(answered(asked(empty_model, capsys))))
    run(capsys, "tell m.coal answers.jsonl")
    first = CoalClassifier.load(empty_model).costs_queried_
    late = {"round": 1, "ask": [], "features": {"a": 1.0}}
    (empty_model.parent / "0.jsonl").write_text(json.dumps({**late, "costs": {"refund": 1}}))
    (empty_model.parent / "1.jsonl").write_text(json.dumps({**late, "costs": {"refund": 1, "other": 0}}))
    commands = [["tell", "m.coal", f"{number}.jsonl", "--late"] for number in range(2)]
    processes = [subprocess.Popen([sys.executable, "-c", SLOW_TELL, *command]) for command in commands]
    assert [process.wait(60) for process in processes] == [0, 0]
    assert CoalClassifier.load(empty_model).costs_queried_ == first + 3


@pytest.mark.parametrize(
    "command", ["tell m.coal answers.jsonl", "train calls.csv --label kind --model m.coal --continue"]
)
def test_a_model_that_somebody_else_holds_is_busy_and_stays_as_it_is(empty_model, capsys, monkeypatch, command):
    (empty_model.parent / "answers.jsonl").write_text("".join(answered(asked(empty_model, capsys))))
    before = empty_model.read_bytes()
    with exclusive(empty_model):
        monkeypatch.setattr("coalface.files.exclusive", partial(exclusive, patience=0))
        code, out, err = run(capsys, command)
    assert (code, out, empty_model.read_bytes()) == (2, "", before)
    assert err.startswith("coalface: m.coal must be changed by one process at a time")
    assert err.count("\n") == 1


def test_the_time_to_match_names_does_not_grow_with_their_square(calls):
    names = [f"f{number}" for number in range(20_000)]
    costs = [f"cost:{name}" for name in names]
    (calls / "wide.csv").write_text(",".join([*names, *costs]) + "\n" + ",".join(["1"] * 40_000) + "\n")
    began = time.process_time()
    dataset = match_features(read_dataset("wide.csv"), Model(CoalClassifier(), tuple(names[::-1])), sparse=False)
    matched = match_labels(dataset, np.array([*names[::-1], "another"]))
    assert time.process_time() - began < 5  # a fiftieth of it is usual; looking through all names for each took longer
    assert matched.feature_names == tuple(names[::-1])
    assert matched.cost.shape == (1, 20_001)


# -- data ----------------------------------------------------------------------------------------------------------


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


# -- demo ----------------------------------------------------------------------------------------------------------


def test_the_demo_prints_two_tables_and_where_its_report_is(calls, capsys):
    code, out, err = run(capsys, "demo --permutations 1 --report demo.html")
    assert (code, err) == (0, "")
    assert out.count("\n  passive  ") == 2
    assert out.splitlines()[-1] == f"Report: {calls / 'demo.html'}"
    assert (calls / "demo.html").read_text().startswith("<!DOCTYPE html>")


def test_the_demo_as_json_holds_the_same_table(calls, capsys):
    code, out, _ = run(capsys, "demo --permutations 1 --report demo.html --json")
    found = json.loads(out)
    assert code == 0
    assert set(found["tables"]) == {"0/1", "|i-j|/9"}
    assert found["tables"]["0/1"][0]["costs_asked"] == 12970


def test_the_tables_of_the_demo_fit_a_small_terminal(calls, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("FORCE_COLOR", "1")  # as if a person looked at it
    code, out, _ = run(capsys, "demo --permutations 1 --report demo.html")
    assert code == 0
    assert "\x1b[" in out
    assert "…" not in out


def test_a_demo_that_is_interrupted_reports_nothing(calls, capsys, monkeypatch):
    def interrupted(*args, **options):
        return replace(simulate(*args, **options), interrupted=True)

    monkeypatch.setattr("coalface.demo.runs.simulate", interrupted)
    code, out, err = run(capsys, "demo --permutations 1 --report demo.html")
    assert (code, out, err) == (130, "", "coalface: Interrupted.\n")
    assert not (calls / "demo.html").exists()

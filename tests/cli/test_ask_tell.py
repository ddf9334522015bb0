"""``coalface ask`` and ``coalface tell``: every answer is learned, and once."""

import io
import json
import multiprocessing
import sys
import time
from functools import partial

import numpy as np
import pytest

from coalface import Coal, CoalClassifier, read_dataset
from coalface.cli import main
from coalface.files.atomic import exclusive
from coalface.learner.named_learner import NamedLearner
from tests.cli.commands import LABELS, answered, json_lines, refused, run


def test_asking_answering_and_telling_equals_the_library(empty_model, capsys):
    before = empty_model.read_bytes()
    code, out, _ = run(capsys, "ask m.coal new.csv")
    assert (code, empty_model.read_bytes()) == (0, before)
    questions = json_lines(out)
    X = read_dataset("test.csv", label="kind").X
    learner = CoalClassifier(classes=LABELS, rule=Coal(warm_up=3))
    queries = learner.ask(X)
    assert [line["ask"] for line in questions] == [list(queries.round(i).ask) for i in range(50)]
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


def test_costs_of_served_labels_are_reported_apart_from_those_asked_for(empty_model, capsys):
    line = {"indices": [0], "values": [1.0], "served": "refund", "probability": 0.5, "costs": {"refund": 0.2}}
    log = "".join(json.dumps({"round": i + 1, **line}) + "\n" for i in range(7))
    (empty_model.parent / "served.jsonl").write_text(log)
    _, out, _ = run(capsys, "tell m.coal served.jsonl")
    assert out == "m.coal: learned 7 served costs from 7 examples\n7 served costs in all; next round 8\n"


def test_explain_gives_a_range_and_a_reason_for_every_label(empty_model, capsys):
    for line in json_lines(run(capsys, "ask m.coal new.csv --max-costs 4 --explain")[1]):
        assert set(line["ranges"]) == set(line["reasons"]) == set(line["predicted"]) == set(LABELS)
        assert all(low <= high for low, high in line["ranges"].values())


def test_a_file_is_asked_about_as_a_batch(empty_model, capsys):
    (empty_model.parent / "copies.csv").write_text("a,b\n" + "1,2\n" * 20 + "1,2.01\n" * 20)

    def n_asked(options=""):
        return [len(line["ask"]) for line in json_lines(run(capsys, f"ask m.coal copies.csv {options}")[1])]

    before = empty_model.read_bytes()
    assert n_asked() == [3, *[0] * 19, 3, *[0] * 19]
    assert n_asked("--alike 0.99") == [3, *[0] * 39]
    assert empty_model.read_bytes() == before


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
    for _ in range(2):  # before it was told anything, and after
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


def test_the_same_answers_cannot_be_learned_twice(empty_model, capsys):
    (empty_model.parent / "answers.jsonl").write_text("".join(answered(asked(empty_model, capsys))))
    run(capsys, "tell m.coal answers.jsonl")
    once = empty_model.read_bytes()
    code, _, err = run(capsys, "tell m.coal answers.jsonl")
    assert (code, empty_model.read_bytes()) == (2, once)
    assert "Round 1 was learned already: the model is at round 51" in err


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


def test_only_the_option_makes_an_answer_late(empty_model, capsys):
    line = {"round": 1, "late": True, "ask": ["refund"], "features": {"a": 1.0}, "costs": {"refund": 0.5}}
    (empty_model.parent / "sly.jsonl").write_text(json.dumps(line))
    assert "next round 2" in run(capsys, "tell m.coal sly.jsonl")[1]
    code, _, err = run(capsys, "tell m.coal sly.jsonl")
    assert (code, "Round 1 was told already" in err or "already" in err) == (2, True)


def test_tell_warns_of_a_learner_that_stopped_asking_although_it_errs(empty_model, capsys, monkeypatch):
    warned = []
    note = "coalface.learner.named_learner.warn_if_collapsed"
    monkeypatch.setattr(note, lambda learner: warned.append(learner.round_))
    lines = answered(asked(empty_model, capsys))
    (empty_model.parent / "answers.jsonl").write_text("".join(lines))
    run(capsys, "tell m.coal answers.jsonl")
    assert warned == [51]


def test_answers_to_open_rounds_are_not_late(empty_model, capsys):
    (empty_model.parent / "answers.jsonl").write_text("".join(answered(asked(empty_model, capsys))))
    code, _, err = run(capsys, "tell m.coal answers.jsonl --late")
    assert code == 2
    assert "rounds before 1" in err


@pytest.mark.filterwarnings("ignore:m.coal has learned no cost yet")
def test_cannot_tell_counts_as_asked_and_teaches_nothing(empty_model, capsys):
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
        ({"round": "two"}, '"round" must be a non-negative integer'),
        ({"round": 1}, "round 1 must appear once, line 1 has it too"),
        ({"features": {"a": float("nan")}}, "'a' of \"features\" must be a finite number"),
        ({"features": None}, '"features" must be an object'),
        (
            {"costs": {"billing": 0, "other": 0, "refund": 10**400}},
            "the cost of 'refund' must be a finite number, got 1000",
        ),
        ({"ask": ["refund", "refund"]}, "\"ask\" must hold 'refund' only once"),
        ({"candidates": ["billing", "other"]}, "\"candidates\" must hold 'refund', which is asked about or answered"),
        ({"candidates": LABELS, "costs": dict.fromkeys([*LABELS, "cat"], 0)}, "\"candidates\" must hold 'cat'"),
        ({"features": None, "indices": [1], "values": [1]}, '"features" must be an object'),
        ({"indices": [1], "values": [1]}, 'a round must have "features" or "indices", got both'),
        ({"indices": [3, 1, 3], "values": [1, 1, 1]}, '"indices" must hold 3 only once'),
        ({"indices": [10**30], "values": [1]}, 'a number of "indices" must be a non-negative integer below 2147483647'),
        ({"propensity": {"cat": 0.5}}, "\"ask\" must hold 'cat'"),
        ({"propensity": {"refund": 0}}, "the propensity of label 'refund' must be above 0"),
        ({"propensity": {"refund": 2}}, "at most 1, got 2.0"),
        ({"outlook": {"label": "refund", "predicted": 0, "reachable": 0}}, '"chance" is missing'),
        ({"outlook": {"label": [], "predicted": 0, "reachable": 0, "chance": 1}}, "must be text or null, got []"),
        (
            {"outlook": {"label": "refund", "predicted": 0, "reachable": 7, "chance": 1}},
            "must lie in [0, 1], got [0.0, 7",
        ),
        (
            {"outlook": {"label": "refund", "predicted": 0, "reachable": 0, "chance": 0}},
            "must be above 0 and at most 1",
        ),
        ({"outlook": {"label": "cat", "predicted": 0, "reachable": 0, "chance": 1}}, "Unknown label 'cat'"),
    ],
)
def test_one_bad_line_is_named_and_nothing_is_learned(empty_model, capsys, changes, said):
    questions = asked(empty_model, capsys)
    lines = answered(questions)
    lines[1] = json.dumps({**json.loads(lines[1]), **changes}) + "\n"
    (empty_model.parent / "answers.jsonl").write_text("".join(lines))
    before = empty_model.read_bytes()
    err = refused(capsys, "tell m.coal answers.jsonl")
    assert empty_model.read_bytes() == before
    assert said in err
    assert "ine 2: " in err or "row 1" in err


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
def test_a_line_that_is_not_an_answer_is_named(empty_model, capsys, text):
    (empty_model.parent / "answers.jsonl").write_text(text)
    assert "answers.jsonl, line 1: " in refused(capsys, "tell m.coal answers.jsonl")


def test_a_mistyped_round_is_named_and_not_filled_up_to(empty_model, capsys):
    before = empty_model.read_bytes()
    (empty_model.parent / "answers.jsonl").write_text('{"round": 1, "ask": []}\n{"round": 1000000000, "ask": []}\n')
    code, _, err = run(capsys, "tell m.coal answers.jsonl --fill-gaps")
    assert (code, empty_model.read_bytes()) == (2, before)
    assert "--fill-gaps closes at most 1,000,000 rounds in a row, but after round 1 comes round 1000000000" in err


def test_late_lines_without_any_answer_are_refused(empty_model, capsys):
    (empty_model.parent / "answers.jsonl").write_text('{"round": 1, "ask": []}\n')
    assert run(capsys, "tell m.coal answers.jsonl")[0] == 0
    code, _, err = run(capsys, "tell m.coal answers.jsonl --late")
    assert code == 2
    assert "--late answers must have costs in some round" in err


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
        assert line.get("propensity", {}) == dict(zip(audited, queries.propensity[i, queries.audit[i]], strict=True))
        assert ("propensity" in line) == bool(audited)
    (calls / "answers.jsonl").write_text("".join(answered(lines)))
    assert run(capsys, "tell m.coal answers.jsonl")[0] == 0


def tell_slowly(command, barrier):
    """Tell in a process of its own, which is within ``load`` when the other one begins, unless it has to wait."""
    load = NamedLearner.load
    NamedLearner.load = lambda path: (load(path), time.sleep(0.3))[0]
    barrier.wait()
    sys.exit(main(command.split()))


def test_answers_from_two_processes_at_once_are_all_learned(empty_model, capsys):
    (empty_model.parent / "answers.jsonl").write_text("".join(answered(asked(empty_model, capsys))))
    run(capsys, "tell m.coal answers.jsonl")
    first = CoalClassifier.load(empty_model).costs_queried_
    late = {"round": 1, "ask": [], "features": {"a": 1.0}}
    (empty_model.parent / "0.jsonl").write_text(json.dumps({**late, "costs": {"refund": 1}}))
    (empty_model.parent / "1.jsonl").write_text(json.dumps({**late, "costs": {"refund": 1, "other": 0}}))
    context = multiprocessing.get_context("fork")  # starts in no time, with all modules loaded
    commands, barrier = [f"tell m.coal {number}.jsonl --late" for number in range(2)], context.Barrier(2)
    processes = [context.Process(target=tell_slowly, args=(command, barrier)) for command in commands]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    assert [process.exitcode for process in processes] == [0, 0]
    assert CoalClassifier.load(empty_model).costs_queried_ == first + 3


@pytest.mark.parametrize(
    "command", ["tell m.coal answers.jsonl", "train calls.csv --label kind --model m.coal --continue"]
)
def test_a_model_locked_by_another_process_stays_as_it_is(empty_model, capsys, monkeypatch, command):
    (empty_model.parent / "answers.jsonl").write_text("".join(answered(asked(empty_model, capsys))))
    before = empty_model.read_bytes()
    with exclusive(empty_model):
        monkeypatch.setattr("coalface.files.atomic.exclusive", partial(exclusive, patience=0))
        err = refused(capsys, command)
    assert empty_model.read_bytes() == before
    assert err.startswith("coalface: m.coal must be changed by one process at a time")


def test_a_model_keeps_to_the_budget_it_was_made_with_over_files_and_commands(calls, capsys):
    code, _, _ = run(capsys, "train calls.csv --label kind --model b.coal --budget costs=12,over=50")
    assert code == 0
    asked = 0
    for _ in range(3):
        code, out, err = run(capsys, "ask b.coal new.csv")
        questions = json_lines(out)
        assert (code, len(questions)) == (0, 50)
        assert f"Budget: {asked} of 12 costs spent before these." in err
        asked += sum(len(question["ask"]) for question in questions)
        (calls / "answers.jsonl").write_text("".join(answered(questions)))
        assert run(capsys, "tell b.coal answers.jsonl")[0] == 0
    assert asked == 12
    code, _, _ = run(
        capsys, "train test.csv --label kind --model b.coal --continue --budget price=9,price_per_cost=3,over=9"
    )
    assert code == 0
    _, _, err = run(capsys, "ask b.coal new.csv")
    assert "Budget: 0 of 9 price spent before these." in err


def test_lines_of_the_version_before_are_learned(calls, capsys):
    train = "train calls.csv --label kind --audit-rate 1 --mellowness 0 --model"
    for model in ("m.coal", "old.coal"):
        run(capsys, f"{train} {model}")
    lines = json_lines(run(capsys, "ask m.coal new.csv")[1])
    assert any("propensity" in line for line in lines)
    (calls / "answers.jsonl").write_text("".join(answered(lines)))
    old = [{**line, "audit": list(line["propensity"])} if "propensity" in line else line for line in lines]
    old = [{**line, "ask": sorted(line["ask"])} for line in old]
    (calls / "old.jsonl").write_text("".join(answered(old)))
    assert run(capsys, "tell m.coal answers.jsonl")[0] == run(capsys, "tell old.coal old.jsonl")[0] == 0
    assert (calls / "m.coal").read_bytes() == (calls / "old.coal").read_bytes()


def test_an_example_of_zeros_can_be_answered(calls, capsys):
    np.savez("zeros.npz", X=np.zeros((1, 4)), y=np.array(["x"]))
    main(["train", "--classes", "x,y", "--model", "m.coal"])
    lines = json_lines(run(capsys, "ask m.coal zeros.npz")[1])
    assert (lines[0]["indices"], lines[0]["values"]) == ([], [])
    (calls / "answers.jsonl").write_text("".join(answered(lines)))
    assert run(capsys, "tell m.coal answers.jsonl")[0] == 0


def test_a_mistake_in_telling_names_the_option_that_helps(empty_model, capsys):
    lines = answered(asked(empty_model, capsys))
    (empty_model.parent / "answers.jsonl").write_text("".join(lines[1:]))
    assert "On the command line: --fill-gaps." in run(capsys, "tell m.coal answers.jsonl")[2]
    (empty_model.parent / "answers.jsonl").write_text("".join(lines))
    run(capsys, "tell m.coal answers.jsonl")
    assert "On the command line: --late." in run(capsys, "tell m.coal answers.jsonl")[2]

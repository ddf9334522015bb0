"""Rounds that ask for the true label: as lines, with its costs, and as old ledgers lack them."""

import json

import pytest

from coalface import CoalClassifier, JsonLinesLedger, SqlLedger, simulate
from coalface.errors import FileFormatError
from coalface.learner.teaching import tell_rounds
from coalface.rounds.lines import read_rounds
from coalface.rounds.round import Round
from tests.problems import dense_problem, state_of

LABELS = ["cat", "dog", "cow"]
QUESTION = {"round": 1, "ask": LABELS, "ask_truth": True, "indices": [0], "values": [1.0]}


def read(**line):
    return read_rounds([json.dumps(line)], "answers.jsonl", labels=LABELS)[0]


def told(one):
    learner = CoalClassifier(classes=LABELS, price_of_truth=1.5, model="online")
    tell_rounds(learner, [one])
    return learner.totals_.truths, learner.costs_queried_, learner.model_.state.answered[:3].tolist()


def test_a_line_with_the_true_label_gives_all_costs_and_counts_once():
    one = read(**QUESTION, truth="dog")
    assert (one.ask_truth, one.truth, dict(one.costs)) == (True, "dog", {})
    assert told(one) == (1, 0, [1, 1, 1])
    assert told(read(round=1, truth="dog", indices=[0], values=[1.0])) == (1, 0, [1, 1, 1])


def test_a_true_label_beside_single_questions_counts_the_questions():
    assert told(read(**{**QUESTION, "ask": ["cow"], "ask_truth": False}, truth="dog")) == (0, 1, [1, 1, 1])


def test_null_says_that_the_true_label_cannot_be_told():
    one = read(**QUESTION, truth=None)
    assert dict(one.costs) == dict.fromkeys(LABELS)
    assert told(one) == (1, 0, [0, 0, 0])


def test_all_costs_answer_the_question_too():
    assert told(read(**QUESTION, costs={"cat": 1, "dog": 0, "cow": 1})) == (1, 0, [1, 1, 1])


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({}, '"truth" must give the true label; write null for "can\'t tell"'),
        ({"truth": "bird"}, "Unknown label 'bird'"),
        ({"truth": ["cat"]}, '"truth" must be a label, or null'),
        ({"truth": True}, '"truth" must be a label, or null'),
        ({"ask_truth": "yes", "truth": "cat"}, '"ask_truth" must be true or false'),
    ],
)
def test_a_bad_line_is_named(more, words):
    with pytest.raises(FileFormatError, match=words) as caught:
        read(**{**QUESTION, **more})
    assert str(caught.value).startswith("answers.jsonl, line 1: ")


def test_a_line_with_the_true_label_needs_the_example():
    with pytest.raises(FileFormatError, match='a line with "truth" must have "example" or "features"'):
        read(round=1, truth="cat")


def test_a_round_without_true_labels_is_written_as_before():
    line = Round(1, ask=("cat",), costs={"cat": 0.5}).to_json()
    assert not {"truth", "ask_truth"} & line.keys()
    assert not Round.from_json(line).ask_truth


@pytest.mark.parametrize("kind", ["json lines", "sql"])
def test_ledgers_keep_who_was_true(kind, tmp_path):
    X, cost = dense_problem(0, 4, 60)
    cost = (cost > cost.min(axis=1, keepdims=True)).astype(float)
    new = (
        (lambda: JsonLinesLedger(tmp_path / "answers.jsonl"))
        if kind == "json lines"
        else (lambda: SqlLedger(f"sqlite:///{tmp_path}/answers.db"))
    )
    learner = CoalClassifier(classes=["a", "b", "c", "d"], price_of_truth=2, model="online", shuffle=False)
    ledger = new()
    simulate(learner.record_to(ledger), X, cost)
    if kind == "sql":
        ledger.close()
    again = new()
    found = list(again)
    for i, one in enumerate(found):
        assert one.truth == ("abcd"[cost[i].argmin()] if one.ask_truth else None)
    assert sum(one.ask_truth for one in found) == learner.totals_.truths > 0
    assert state_of(CoalClassifier.from_ledger(again)) == state_of(learner)
    if kind == "sql":
        again.close()

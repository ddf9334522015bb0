"""Errors name the mistake, not a consequence of it, in one line of bearable length."""

import numpy as np
import pytest

from coalface import (
    Coal,
    CoalClassifier,
    CostDataset,
    JsonLinesLedger,
    read_dataset,
    simulate,
)
from coalface.errors import FileFormatError, InputError

X, COST = [[1.0, 2.0], [2.0, 1.0]] * 5, [[0.1, 0.9], [0.9, 0.1]] * 5
LONG = np.linspace(0, 1, 900).reshape(30, 30).tolist()


def test_nothing_to_fit_is_said_to_be_nothing():
    for call in (CoalClassifier().fit, CoalClassifier().partial_fit):
        for empty in ([], np.zeros((0, 2))):
            with pytest.raises(InputError, match=r"X must be a table of numbers|0 sample\(s\)") as caught:
                call(empty, [])
            assert "classes" not in str(caught.value)


@pytest.mark.parametrize("labels", [["a", 1], [1, "a"], np.array(["a", 1], object), ("a", 2.5)], ids=str)
def test_texts_beside_numbers_are_refused_as_labels(labels):
    calls = [
        lambda: CoalClassifier().fit([[1.0], [2.0]], labels),
        lambda: CoalClassifier().partial_fit([[1.0], [2.0]], labels, classes=labels),
        lambda: CoalClassifier(labels).ask([[1.0]]),
        lambda: CostDataset.from_labels([[1.0], [2.0]], labels),
    ]
    for call in calls:
        with pytest.raises(InputError, match=r"must be all strings or all numbers, got 'a' and (1|2.5). Turn"):
            call()


LONG_VALUES = {
    "cost_bounds": lambda: CoalClassifier(["a", "b"], cost_bounds=LONG).ask(X),
    "mellowness": lambda: CoalClassifier(["a", "b"], mellowness=LONG).ask(X),
    "rule": lambda: CoalClassifier(["a", "b"], rule=LONG).ask(X),
    "model": lambda: CoalClassifier(["a", "b"], model=LONG).ask(X),
    "warm_up": lambda: CoalClassifier(["a", "b"], rule=Coal(warm_up=LONG)).ask(X),
    "budget": lambda: CoalClassifier(["a", "b"], budget=LONG).ask(X),
    "classes": lambda: CoalClassifier(["a", "b"]).fit(X, cost=COST).partial_fit(X, cost=COST, classes=range(900)),
    "order": lambda: simulate(CoalClassifier(["a", "b"]), X, COST, order=np.arange(900.0)),
    "checkpoints": lambda: simulate(CoalClassifier(["a", "b"]), X, COST, checkpoints=np.zeros(900)),
    "max_costs": lambda: CoalClassifier(["a", "b"]).ask(X, max_costs=LONG),
}


@pytest.mark.parametrize("name", LONG_VALUES)
def test_long_values_are_cut_short(name):
    with pytest.raises(InputError, match=name) as caught:
        LONG_VALUES[name]()
    assert len(str(caught.value)) < 500
    assert "\n" not in str(caught.value)


def test_cost_bounds_are_a_tuple_after_loading(tmp_path):
    learner = CoalClassifier(["a", "b"], cost_bounds=(0, 2)).record_to(JsonLinesLedger(tmp_path / "log"))
    learner.tell(X, COST).save(tmp_path / "model")
    assert CoalClassifier.load(tmp_path / "model").cost_bounds == (0, 2)
    assert CoalClassifier.from_ledger(JsonLinesLedger(tmp_path / "log")).cost_bounds == (0, 2)


def test_a_ledger_that_is_not_there_is_not_called_empty(tmp_path):
    with pytest.raises(InputError, match=r"There is no ledger .*nowhere.jsonl. Check it"):
        CoalClassifier.from_ledger(JsonLinesLedger(tmp_path / "nowhere.jsonl"))


@pytest.mark.parametrize("seed", [2**62, 2**63 - 1, 2**64])
def test_seeds_that_are_too_large_are_said_to_be_so(seed):
    with pytest.raises(InputError, match=rf"random_state must be .* at most 2\^62 - 1, got {seed}"):
        CoalClassifier(["a", "b"], random_state=seed).ask(X)
    CoalClassifier(["a", "b"], random_state=2**62 - 1).ask(X)


@pytest.mark.parametrize("answer", ["much", None, 2.0, -0.5, [0.1, 0.2]])
def test_a_bad_answer_names_its_label_and_its_example(answer):
    learner = CoalClassifier(["walk", "fly"])
    with pytest.raises(InputError, match=r"answer must return a number from 0 to 1, .* for label 'fly' of example 2"):
        learner.interview(X, lambda i, label: answer if (i, label) == (2, "fly") else 0.5)
    assert learner.round_ == 3  # the examples before it are learned
    learner.interview(X, lambda _i, _label: np.nan)


@pytest.mark.parametrize("first", [b"", b'{"a": 1}\n'])
def test_text_in_latin_1_names_its_line(tmp_path, first):
    (tmp_path / "latin.jsonl").write_bytes(first + '{"größe": 1}\n'.encode("latin-1"))
    number = 1 + first.count(b"\n")
    with pytest.raises(
        FileFormatError, match=f"latin.jsonl, line {number}: text must be UTF-8. Save the file as UTF-8"
    ):
        read_dataset(tmp_path / "latin.jsonl", label="a")


def test_one_of_a_kind_is_singular():
    assert repr(CostDataset([[1.0]], [[0.5]])) == "CostDataset(1 example, 1 feature, 1 label)"

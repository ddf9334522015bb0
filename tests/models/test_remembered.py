"""The rows that a committee remembers: a uniform sample of the answered ones, kept to the bit."""

import numpy as np
import pytest

from coalface import CoalClassifier, MemoryLedger
from coalface.data import check_rows
from coalface.errors import FileFormatError
from coalface.models.remembered import RememberedRows

from ..problems import dense_problem, state_of
from .committees import NAMES, NAN, K, auto, begun, names_of

CAPACITY = 256


def add(remembered, number, n_labels=3):
    """Remember a row whose values all tell its number."""
    n_values = 1 + number % 3
    row = check_rows(np.full((1, n_values), number + 1.0))
    answers = np.full(n_labels, number, np.float32)
    answers[number % n_labels] = NAN
    allowed = np.arange(n_labels) != number % n_labels
    remembered.add(row, answers, allowed, np.full(n_labels, 1 / (1 + number)), np.full(n_labels, number), [number, 0.5])


def after(n_rows):
    remembered = RememberedRows(2, 3)
    for number in range(n_rows):
        add(remembered, number)
    return remembered


def numbers_in(remembered):
    found = remembered.all()
    return [round(found.rows.row(i)[1][0] - 1) for i in range(len(found.rows))]


def equal(one, other):
    ours, theirs = one.saved(), other.saved()
    return ours.keys() == theirs.keys() and all(
        ours[name].dtype == theirs[name].dtype and ours[name].tobytes() == theirs[name].tobytes() for name in ours
    )


def test_as_many_rows_as_there_is_room_for_are_all_remembered_with_what_belongs_to_them():
    found = after(CAPACITY).all()
    number = np.arange(CAPACITY)
    assert numbers_in(after(CAPACITY)) == number.tolist()
    np.testing.assert_array_equal(np.isnan(found.answers), np.arange(3) == number[:, None] % 3)
    np.testing.assert_array_equal(np.isnan(found.answers), ~found.candidates)
    np.testing.assert_array_equal(np.nanmax(found.answers, axis=1), number)
    np.testing.assert_array_equal(found.chances, np.tile(1 / (1 + number), (3, 1)).T)
    np.testing.assert_array_equal(found.offsets, np.tile(number, (3, 1)).T)
    np.testing.assert_array_equal(found.costs, np.c_[number, np.full(CAPACITY, 0.5)])


@pytest.mark.parametrize("n_rows", [512, 1024, 2048, 4096])
def test_of_more_rows_a_uniform_sample_is_remembered_each_at_most_once(n_rows):
    remembered = after(n_rows)
    numbers = numbers_in(remembered)
    assert len(remembered) == len(set(numbers)) == CAPACITY
    np.testing.assert_array_equal(np.nanmax(remembered.all().answers, axis=1), numbers)
    of_each_eighth = np.bincount(np.array(numbers) * 8 // n_rows, minlength=8)
    deviation = np.sqrt(CAPACITY * 1 / 8 * 7 / 8 * (1 - CAPACITY / n_rows))  # hypergeometric
    assert np.abs(of_each_eighth - CAPACITY / 8).max() < 4 * deviation


def test_every_row_is_among_those_compared_if_it_stays_long_enough():
    remembered, compared = after(CAPACITY), set()
    for number in range(CAPACITY, 3000):
        add(remembered, number)
        some = remembered.some()
        assert len(some.rows) == len(some.costs) == 32
        compared |= set(some.costs[:, 0].tolist())
    assert compared >= {number for number in numbers_in(remembered) if number < 1000}


@pytest.mark.parametrize("n_rows", [0, 1, 40, 300])
def test_what_is_saved_is_restored_exactly_and_goes_on_alike(n_rows):
    remembered, again = after(n_rows), RememberedRows(2, 3)
    again.restore(remembered.saved())
    for number in range(n_rows, n_rows + 300):
        assert equal(again, remembered)
        add(remembered, number)
        add(again, number)
    assert all(
        np.array_equal(a, b, equal_nan=True) for a, b in zip(again.some()[1:], remembered.some()[1:], strict=True)
    )


def test_a_label_that_is_added_has_no_answers_and_is_a_candidate():
    remembered, before = after(40), after(40).all()
    remembered.add_label()
    found = remembered.all()
    for name in ("answers", "candidates", "chances", "offsets"):
        np.testing.assert_array_equal(getattr(found, name)[:, :3], getattr(before, name))
    assert np.isnan(found.answers[:, 3]).all()
    assert found.candidates[:, 3].all()
    assert (found.chances[:, 3] == 1).all()
    assert (found.offsets[:, 3] == 0).all()
    add(remembered, 40, n_labels=4)
    assert np.nanmax(remembered.all().answers[40]) == 40


@pytest.mark.parametrize(
    "damage",
    [
        {"facts": np.array([-1, 3])},
        {"facts": np.array([39, 3])},
        {"facts": np.array([40, 2])},  # a column beyond the width
        {"indptr": np.arange(41)[::-1].copy()},
        {"indptr": np.full(41, -1)},
        {"columns": np.full(79, -1, np.int32)},
        {"values": np.zeros(78, np.float32)},
        {"costs": np.zeros((40, 3))},
        {"answers": np.zeros((40, 4), np.float32)},
    ],
    ids=str,
)
def test_damaged_rows_are_refused(damage):
    saved = after(40).saved()
    assert len(saved["columns"]) == 79
    with pytest.raises(FileFormatError, match=r"(damaged|no usable array).*Restore a copy"):
        RememberedRows(2, 3).restore({**saved, **damage})
    with pytest.raises(FileFormatError, match="no usable array"):
        RememberedRows(2, 3).restore({name: saved[name] for name in saved.keys() - damage.keys()})


# -- of a committee


def test_a_replay_and_a_file_have_the_same_sample(tmp_path):
    X, cost = dense_problem(1, K, 300)
    ledger = MemoryLedger()
    learner = auto().record_to(ledger)
    for start, stop in ((0, 1), (1, 20), (20, 300)):
        learner.tell(X[start:stop], cost[start:stop])
    assert names_of(learner) == NAMES
    assert learner.model_.arrays()["remembered_facts"].tolist() == [300, X.shape[1]]
    learner.save(tmp_path / "model")
    for again in (CoalClassifier.from_ledger(ledger), CoalClassifier.load(tmp_path / "model")):
        assert state_of(again) == state_of(learner)


def test_a_committee_that_has_judged_no_row_yet_is_kept_too(tmp_path):
    X, cost = dense_problem(2, K, 20)
    learner = auto().tell(X, cost, late=True)
    learner.save(tmp_path / "model")
    assert names_of(learner) == NAMES
    assert state_of(CoalClassifier.load(tmp_path / "model")) == state_of(learner)


def test_rows_without_answers_are_not_remembered():
    X, cost = dense_problem(3, K, 30)
    cost[::3] = NAN
    remembered = auto().tell(X, cost).model_.arrays()
    np.testing.assert_array_equal(remembered["remembered_answers"], cost[~np.isnan(cost[:, 0])])


def test_a_file_with_damaged_rows_is_refused():
    X, cost = dense_problem(4, K, 40)
    saved = auto().tell(X, cost).model_.saved()
    begun().restore_saved(saved)
    with pytest.raises(FileFormatError, match="The rows that the committee remembers are damaged"):
        begun().restore_saved({**saved, "remembered_facts": np.array([40, 1])})

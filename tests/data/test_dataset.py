import dataclasses

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import coo_array, csr_array, csr_matrix

from coalface.data import CostDataset
from coalface.errors import InputError, UnknownLabelError
from tests.data.strategies import assert_same, datasets, label_words

PETS = CostDataset([[1, 0], [0, 2], [3, 4]], [[0, 1], [1, np.nan], [0.5, 0.5]], ["cat", "dog"], name="pets")


@given(datasets(labels=label_words, candidates=True), st.data())
def test_a_subset_holds_the_chosen_rows_in_their_order(dataset, data):
    rows = data.draw(st.lists(st.integers(0, len(dataset) - 1)))
    part = dataset.subset(rows)
    np.testing.assert_array_equal(part.X.toarray(), dataset.X.toarray()[rows])
    np.testing.assert_array_equal(part.cost, dataset.cost[rows])
    np.testing.assert_array_equal(part.candidates, dataset.candidates[rows])


def test_a_subset_may_be_a_slice_or_a_mask():
    assert_same(PETS.subset(slice(1, 3)), PETS.subset([1, 2]))
    assert_same(PETS.subset([False, True, True]), PETS.subset([1, 2]))


def test_a_split_shares_out_all_examples_and_repeats_exactly():
    dataset = CostDataset.from_labels(np.arange(1, 101)[:, None], np.arange(100) % 3)
    train, test = dataset.split(0.25, random_state=7)
    assert (len(train), len(test)) == (75, 25)
    assert sorted([*train.X.data, *test.X.data]) == list(range(1, 101))
    assert_same(dataset.split(0.25, random_state=7)[1], test)
    assert dataset.split(0.25, random_state=8)[1].fingerprint != test.fingerprint
    with pytest.raises(InputError, match=r"test_fraction .* got 1.5"):
        dataset.split(1.5)


def test_compact_costs_equal_their_table():
    matrix = np.array([[0, 1, 2], [3, 0, 4], [5, 6, 0]])
    compact = CostDataset.from_labels(np.eye(3), ["b", "c", "a"], cost_matrix=matrix)
    full = CostDataset(np.eye(3), matrix[[1, 2, 0]], ["a", "b", "c"])
    assert_same(compact, full)
    assert compact.table is None
    assert compact.subset([2]).cost.tolist() == [[0, 1, 2]]


@pytest.mark.parametrize("form", [np.asarray, csr_array, csr_matrix, coo_array])
def test_every_form_of_the_examples_gives_the_same_fingerprint(form):
    X = np.array([[1.0, 0.0, 2.0], [0.0, 0.0, 3.0]])
    assert CostDataset(form(X), [[0, 1], [1, 0]]).fingerprint == CostDataset(X, [[0, 1], [1, 0]]).fingerprint


def test_repeated_and_stored_zero_entries_are_folded_without_touching_the_callers_matrix():
    X = csr_array((np.array([1, 2, 0], np.float32), [1, 1, 0], [0, 3]), shape=(1, 2))
    dataset = CostDataset(X, [[0.0]])
    assert (dataset.X.data.tolist(), dataset.X.indices.tolist()) == ([3.0], [1])
    assert X.data.tolist() == [1, 2, 0]


@pytest.mark.parametrize(
    "other",
    [
        CostDataset([[1, 0], [0, 2], [3, 5]], PETS.cost, PETS.classes),
        CostDataset(PETS.X, [[0, 1], [1, 0], [0.5, 0.5]], PETS.classes),
        CostDataset(PETS.X, PETS.cost, ["cat", "cow"]),
        CostDataset(PETS.X, PETS.cost, PETS.classes, candidates=np.ones((3, 2), bool)),
        PETS.subset([2, 1, 0]),
    ],
)
def test_the_fingerprint_changes_with_the_content(other):
    assert other.fingerprint != PETS.fingerprint


def test_the_fingerprint_does_not_depend_on_the_names():
    assert dataclasses.fields(PETS)
    named = CostDataset(PETS.X, PETS.cost, PETS.classes, feature_names=["a", "b"], name="other")
    assert named.fingerprint == PETS.fingerprint


def test_statistics_count_examples_labels_and_known_costs():
    facts = PETS.statistics()
    assert (facts.n_examples, facts.n_labels, facts.n_features) == (3, 2, 2)
    assert facts.nonzeros_per_row == pytest.approx(4 / 3)
    assert facts.density == pytest.approx(4 / 6)
    assert facts.known_costs == pytest.approx(5 / 6)


def test_a_dataset_cannot_be_changed():
    with pytest.raises(dataclasses.FrozenInstanceError):
        PETS.name = "dogs"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"X": [[1]]}, "either cost, or truth and cost_matrix"),
        ({"X": [1, 2], "cost": [[0]]}, r"X must be a table .* got shape \(2,\)"),
        ({"X": [["a"]], "cost": [[0]]}, "X must hold numbers"),
        ({"X": [[np.nan]], "cost": [[0]]}, "X must be finite .* got nan"),
        (
            {"X": [[1]], "cost": [[0, 1]], "classes": ["a"]},
            r"cost must have the shape \(1, 1\), got \(1, 2\)",
        ),
        ({"X": [[1]], "cost": [[np.inf]]}, "cost must be finite, or NaN"),
        ({"X": [[1]], "cost": [[0, 1]], "classes": ["a", "a"]}, "classes must be distinct, got 'a' twice"),
        (
            {"X": [[1]], "cost": [[0]], "classes": [None]},
            "classes must be all strings or all numbers, got None",
        ),
        ({"X": [[1]], "cost": [[0]], "feature_names": ["a", "b"]}, "feature_names must be 1 distinct names"),
        ({"X": [[1]], "cost": [[0]], "candidates": [[1]]}, "candidates must be a boolean array"),
        ({"X": [[1]], "truth": [1], "cost_matrix": [[0]]}, r"truth must lie in 0..0, got 1..1"),
        ({"X": [[1]], "truth": ["a"], "cost_matrix": [[0]]}, "truth must be 1 integers"),
    ],
)
def test_a_broken_field_is_named_with_rule_and_value(arguments, words):
    with pytest.raises(InputError, match=words):
        CostDataset(**arguments)


def test_a_true_label_outside_the_classes_is_unknown():
    with pytest.raises(UnknownLabelError, match="'cow'"):
        CostDataset.from_labels([[1]], ["cow"], classes=["cat", "dog"])


@pytest.mark.parametrize("seed", [-1, "seven"])
def test_an_invalid_seed_of_a_split_is_refused(seed):
    with pytest.raises(InputError, match="random_state must be a non-negative whole number, got"):
        CostDataset.from_labels(np.eye(4), list("abab")).split(0.5, seed)

"""The hash table of features against a dictionary, and its memory per feature."""

from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from coalface import CoalClassifier
from coalface.kernels.features import INTERCEPT, find_slot, first_place
from coalface.kernels.state import SLOTS_USED, UNSEEN

from ..problems import csr

features = st.one_of(
    st.integers(0, 30),  # many repeats
    st.integers(0, 2**31 - 2),  # anything
    st.integers(0, 10**6).map(lambda n: n * 1024),  # a regular pattern
)

online = partial(CoalClassifier, model="online")


def table_of(learner):
    model = learner.model_.state
    return model.table, model.features, int(model.counters[SLOTS_USED])


@given(st.lists(st.lists(features, min_size=1, max_size=40, unique=True), max_size=20))
def test_every_learned_feature_is_found_and_no_other(rows):
    learner, seen = online(classes=["a", "b"]), {INTERCEPT}
    for number, columns in enumerate(rows):
        row = csr(np.ones(len(columns)), columns, width=2**31 - 1)
        row = csr(np.ones(len(columns)), columns, width=2**31 - 1)
        if number % 3 == 2:  # asked about, but not learned
            learner.tell(row, [[np.nan, np.nan]], asked=learner.ask(row))
        else:
            learner.tell(row, [[0.3, 0.9]])
            seen.update(columns)
    if not rows:
        return
    table, kept, used = table_of(learner)
    assert used - 1 == len(seen)
    assert set(kept[1:used].tolist()) == seen
    slots = {feature: find_slot(table, kept, np.int32(feature)) for feature in seen}
    assert sorted(slots.values()) == list(range(1, used))
    assert all(kept[slot] == feature for feature, slot in slots.items())
    unseen = {7, 1023, 2**31 - 2, 2**30} - seen
    assert all(find_slot(table, kept, np.int32(feature)) == UNSEEN for feature in unseen)
    assert np.count_nonzero(table) == used - 1
    assert used * 4 <= len(table) * 3


@given(st.integers(-1, 2**31 - 2), st.integers(1, 10**6))
def test_the_search_starts_inside_the_table(feature, size):
    assert 0 <= first_place(np.int32(feature), size) < size


def test_neighbouring_features_spread_over_the_table():
    size = 4096
    places = [first_place(np.int32(feature), size) for feature in range(size)]
    assert len(set(places)) > 0.6 * size  # chance alone would fill 1 - 1/e


def rows_with(n_features, per_row, random):
    columns = random.choice(2**20, n_features, replace=False)
    indptr = np.arange(0, n_features + 1, per_row)
    return sparse.csr_array((np.ones(n_features, np.float32), columns, indptr), shape=(len(indptr) - 1, 2**20))


@pytest.mark.parametrize("n_labels", [3, 8, 40])
@pytest.mark.parametrize("n_features", [5_000, 20_000])
def test_memory_follows_the_features_seen_and_not_their_numbers(n_labels, n_features):
    X = rows_with(n_features, 50, np.random.default_rng(0))
    learner = online(classes=range(n_labels)).tell(X, np.full((X.shape[0], n_labels), 0.5))
    lanes = -(-n_labels // 8) * 8
    assert table_of(learner)[2] == n_features + 2
    assert learner.model_.nbytes <= 1.2 * 12 * n_features * lanes


def test_asking_about_new_features_takes_no_memory():
    X = rows_with(5_000, 50, np.random.default_rng(1))
    learner = online(classes=["a", "b"], rule="passive").tell(X[:1], [[0.0, 1.0]])
    before = learner.model_.nbytes
    learner.ask(X)
    learner.predict(X)
    learner.tell(X, np.full((X.shape[0], 2), np.nan))
    assert learner.model_.nbytes <= before + 50 * 200


def test_reserved_memory_changes_no_bit_and_is_not_reserved_twice():
    random = np.random.default_rng(2)
    X = rows_with(600, 30, random)
    cost = random.random((X.shape[0], 5)).astype(np.float32)
    plain, roomy = online(classes=range(5)), online(classes=range(5))
    roomy.ask(X[:1])
    roomy.model_.reserve(500)  # it has more features than that, and grows
    for learner in (plain, roomy):
        learner.tell(X[:9], cost[:9])
    n_slots = len(roomy.model_.state.features)
    roomy.model_.reserve(10_000)
    assert len(roomy.model_.state.features) == n_slots >= 501
    for learner in (plain, roomy):
        learner.tell(X, cost)
    for name, array in plain.model_.arrays().items():
        np.testing.assert_array_equal(array, roomy.model_.arrays()[name], name)


def test_a_model_survives_growing_while_it_is_in_use():
    random = np.random.default_rng(2)
    X = rows_with(6_000, 30, random)
    cost = random.random((X.shape[0], 5)).astype(np.float32)
    growing, roomy = online(classes=range(5)), online(classes=range(5))
    roomy.ask(X[:1])
    roomy.model_.make_room(10_000)
    for i in range(X.shape[0]):
        growing.tell(X[i : i + 1], cost[i : i + 1])
    roomy.tell(X, cost)
    np.testing.assert_array_equal(growing.predict_cost(X), roomy.predict_cost(X))

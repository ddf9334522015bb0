"""Input that is strange, but right: it gives the right answer."""

from contextlib import suppress

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy import sparse

from coalface import Coal, CoalClassifier, simulate
from coalface.errors import CoalfaceError, InputError
from coalface.learner.pool import possible_savings

from ..problems import COST, ROW, csr, state_of

NAN, INF = np.nan, np.inf


def test_no_rows_are_no_work(learner):
    before = state_of(learner)
    for nothing in (np.zeros((0, 3)), sparse.csr_array((0, 3))):
        assert learner.ask(nothing).mask.shape == (0, 3)
        assert learner.predict(nothing).shape == (0,)
        assert learner.predict_cost(nothing).shape == (0, 3)
        learner.tell(nothing, np.zeros((0, 3)))
        with pytest.raises(InputError, match=r"0 sample\(s\)"):
            learner.partial_fit(nothing, [])
        with pytest.raises(InputError, match=r"0 sample\(s\)"):
            learner.score(nothing, [])
    assert state_of(learner) == before


def test_a_row_of_unknown_costs_only_closes_a_round(learner):
    predicted = learner.predict_cost(np.eye(3))
    learner.tell(ROW, [[NAN] * 3])
    np.testing.assert_array_equal(learner.predict_cost(np.eye(3)), predicted)
    assert (learner.round_, learner.costs_queried_) == (5, 9)


def test_an_example_without_any_candidate_asks_and_learns_nothing_and_has_no_prediction(learner):
    no_label = [[False] * 3]
    assert not learner.ask(ROW, candidates=no_label).mask.any()
    predicted = learner.predict_cost(np.eye(3))
    learner.tell(ROW, COST, candidates=no_label)
    np.testing.assert_array_equal(learner.predict_cost(np.eye(3)), predicted)
    with pytest.raises(InputError, match="candidates must leave at least one label, row 0 has none"):
        learner.predict(ROW, candidates=no_label)
    with pytest.raises(InputError, match="candidates must leave at least one label, row 0 has none"):
        learner.score(ROW, cost=COST, candidates=no_label)
    assert possible_savings(learner, ROW, candidates=no_label).tolist() == [0.0]
    assert np.isnan(learner.cost_range(ROW, candidates=no_label).guaranteed_cost).all()


@pytest.mark.parametrize("index_type", [np.int32, np.int64])
def test_columns_given_twice_unsorted_or_as_zeros_mean_their_sum(index_type):
    odd = csr([1.0, 2.0, 0.0, 3.0], np.array([2, 0, 1, 2], index_type))
    odd.indptr = odd.indptr.astype(index_type)
    given = odd.indices.copy(), odd.data.copy()
    one = CoalClassifier(classes=["a", "b"]).tell(odd, [[0.0, 1.0]])
    other = CoalClassifier(classes=["a", "b"]).tell([[2.0, 0.0, 4.0]], [[0.0, 1.0]])
    np.testing.assert_array_equal(one.predict_cost(np.eye(3)), other.predict_cost(np.eye(3)))
    np.testing.assert_array_equal(odd.indices, given[0])  # the user's matrix is the user's
    np.testing.assert_array_equal(odd.data, given[1])


@pytest.mark.parametrize("kind", ["csr", "csc", "coo", "lil", "dok", "bsr", "dia"])
def test_every_kind_of_sparse_matrix_is_rows(kind):
    X = sparse.csr_array([[1.0, 0.0, 2.0], [0.0, 3.0, 0.0]]).asformat(kind)
    one = CoalClassifier(classes=["a", "b"]).tell(X, [[0.0, 1.0], [1.0, 0.0]])
    other = CoalClassifier(classes=["a", "b"]).tell(X.toarray(), [[0.0, 1.0], [1.0, 0.0]])
    assert state_of(one) == state_of(other)


@pytest.mark.parametrize("dtype", [np.float64, np.float16, np.int8, np.uint64, np.bool_])
def test_numbers_of_every_type_are_values(dtype):
    X = np.array([[1, 0, 1], [0, 1, 0]])
    one = CoalClassifier(classes=["a", "b"]).tell(X.astype(dtype), np.eye(2))
    other = CoalClassifier(classes=["a", "b"]).tell(X.astype(np.float32), np.eye(2))
    assert state_of(one) == state_of(other)
    if dtype != np.float16:  # of which there are no sparse matrices
        again = CoalClassifier(classes=["a", "b"]).tell(sparse.csr_array(X.astype(dtype)), np.eye(2))
        assert state_of(again) == state_of(other)


@pytest.mark.parametrize("n_labels", [1, 2, 5000])
def test_any_number_of_labels(n_labels):
    learner = CoalClassifier(classes=range(n_labels), rule=Coal(warm_up=1))
    cost = np.linspace(1, 0, n_labels)[None] if n_labels > 1 else np.array([[0.5]])
    learner.tell(ROW, cost).tell(ROW, cost)
    assert learner.predict(ROW)[0] == n_labels - 1
    assert learner.ask(ROW).mask.shape == (1, n_labels)
    curve = simulate(learner, ROW * 5, np.repeat(cost, 5, axis=0))
    assert curve.rounds[-1] == 7
    if n_labels == 1:
        assert not learner.ask(ROW).mask.any()  # nothing to choose from


@given(st.permutations([1e-30, 1e30, 1.0, -1e30, 1e-38, 3e38]))
def test_values_far_apart_in_one_feature_leave_a_sound_learner(values):
    X = np.array(values)[:, None]
    learner = CoalClassifier(classes=["a", "b"]).tell(X, np.tile([[0.2, 0.9]], (6, 1)))
    predicted = learner.predict_cost(X)
    assert np.isfinite(predicted).all()
    ranges = learner.cost_range(X)
    assert np.all((ranges.lowest >= 0) & (ranges.highest <= 1) & (ranges.width >= 0))
    assert learner.predict([[1.0]])[0] == "a"


def test_values_too_small_for_single_precision_are_zeros():
    one = CoalClassifier(classes=["a", "b"]).tell([[1e-300, 1.0]], [[0.0, 1.0]])
    other = CoalClassifier(classes=["a", "b"]).tell([[0.0, 1.0]], [[0.0, 1.0]])
    assert state_of(one) == state_of(other)


def test_unknown_costs_may_be_none(learner):
    learner.tell(ROW, [[None, 0.5, 1]])
    assert learner.costs_queried_ == 9 + 2


def test_late_is_yes_or_no_however_it_is_spelled(learner):
    for late in (1, np.True_, True):
        learner.tell(ROW, COST, late=late)
    assert learner.round_ == 4


junk = st.one_of(
    st.none(),
    st.text(max_size=3),
    st.floats(),
    st.integers(),
    st.lists(st.floats(), max_size=4),
    st.lists(st.lists(st.floats(width=32), min_size=3, max_size=3), min_size=1, max_size=2),
    st.lists(st.lists(st.one_of(st.none(), st.text(max_size=2), st.booleans()), max_size=3), max_size=2),
)


@given(junk, junk, junk)
@example([[None, ""]], None, None)
def test_whatever_is_thrown_at_it_the_learner_learns_it_or_says_no(rows, cost, asked):
    learner = CoalClassifier(classes=["a", "b", "c"]).tell(np.eye(3), np.eye(3))
    before = state_of(learner)
    learned = False
    with suppress(CoalfaceError):
        learner.tell(rows, cost, asked=asked)
        learned = True
    assert learned or state_of(learner) == before
    assert all(np.isfinite(array).all() for array in learner.model_.arrays().values())


@pytest.mark.parametrize("cost", [[[0.0, 1.0], [1.0]], [0.0, 1.0], [["x"]], 3.0, np.zeros((1, 0))], ids=str)
def test_costs_that_cannot_name_the_labels(cost):
    with pytest.raises(InputError, match="cost"):
        CoalClassifier().partial_fit(ROW, cost=cost)
    with pytest.raises(InputError, match="cost"):
        simulate(CoalClassifier(), ROW, cost)

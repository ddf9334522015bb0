"""Questions that were told before, or that are about other examples, are refused."""

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from coalface import CoalClassifier
from coalface.data.rows import check_rows
from coalface.errors import InputError

from ..problems import dense_problem, state_of

X, COST = dense_problem(2, 3, 20)


def test_the_same_questions_cannot_count_twice():
    learner = CoalClassifier(range(3))
    queries = learner.ask(X)
    learner.tell(X, COST, asked=queries)
    before = state_of(learner)
    for again in (queries, queries.limited_to(5), pickle.loads(pickle.dumps(queries))):
        with pytest.raises(InputError, match="asked must continue from round 21, but its round 1 was learned already"):
            learner.tell(X, COST, asked=again)
    assert state_of(learner) == before
    learner.tell(X, COST, asked=queries, late=True)  # second answers
    learner.tell(X, COST, asked=queries.mask)


def test_questions_about_other_examples_are_refused():
    learner = CoalClassifier(range(3))
    before, queries = state_of(learner.begin()), learner.ask(X[:10])
    with pytest.raises(InputError, match=r"for these examples, got questions about others. Pass the same X"):
        learner.tell(X[10:], COST[10:], asked=queries)
    with pytest.raises(InputError, match="for these examples"):
        learner.tell(X[:10][::-1], COST[:10], asked=queries)
    assert state_of(learner) == before
    learner.tell(sparse.csr_array(X[:10]), COST[:10], asked=queries)  # the same numbers in another form


def test_later_rounds_and_other_learners_may_take_questions():
    learner = CoalClassifier(range(3))
    first, second = learner.ask(X[:10]), learner.ask(X[10:], first_round=11)
    learner.tell(X[:10], COST[:10], asked=first).tell(X[10:], COST[10:], asked=second)
    assert learner.round_ == 21
    other = CoalClassifier(range(3)).tell(X[10:], COST[10:], asked=second)
    assert other.round_ == 11
    assert other.costs_queried_ == second.mask.sum()


@given(st.lists(st.lists(st.sampled_from([0.0, 1.0, 0.5, -2.0]), min_size=3, max_size=3), min_size=1, max_size=4))
def test_a_checksum_depends_on_the_numbers_alone(rows):
    dense = np.array(rows)
    columns = np.tile(np.arange(3), len(rows))
    full = sparse.csr_array((dense.ravel(), columns, np.arange(0, dense.size + 1, 3)), shape=dense.shape)  # with zeros
    wider = np.hstack([dense, np.zeros((len(rows), 2))])
    assert check_rows(dense).checksum() == check_rows(full).checksum() == check_rows(wider).checksum()
    other = dense.copy()
    other[-1, 0] += 1.0
    assert check_rows(other).checksum() != check_rows(dense).checksum()

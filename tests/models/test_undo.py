"""An undo log takes back exactly what was learned."""

import tracemalloc

import numpy as np
import pytest
from scipy.sparse import csr_array

from coalface import CoalClassifier
from coalface.models.online import OnlineModel
from coalface.models.undo import UndoLog


def told(learner, rng, n_rows, width):
    X = np.zeros((n_rows, 40))
    X[:, :width] = rng.random((n_rows, width)) * (rng.random((n_rows, width)) < 0.4)
    return learner.encoded(X)[0], X, rng.random((n_rows, 3))


@pytest.mark.parametrize("interactions", [None, 2])
@pytest.mark.parametrize("n_before", [0, 20])
def test_what_was_learned_since_is_taken_back_bit_by_bit(interactions, n_before):
    rng = np.random.default_rng(1)
    learner = CoalClassifier(["a", "b", "c"], model=OnlineModel(interactions)).begin()
    if n_before:
        _, X, costs = told(learner, rng, n_before, 6)
        learner.tell(X, costs)
    before = {name: array.tobytes() for name, array in learner.model_.arrays().items()}
    log = UndoLog(learner.model_)
    for _ in range(2):  # a log can be used again
        for width in (6, 9, 40):  # new features make the model grow
            rows, X, costs = told(learner, rng, 5, width)
            log.before(rows, learner.settings_for())
            learner.tell(X, costs)
        log.undo()
        assert {name: array.tobytes() for name, array in learner.model_.arrays().items()} == before
    never = CoalClassifier(["a", "b", "c"], model=OnlineModel(interactions)).begin()
    never.model_.restore(learner.model_.arrays())
    _, X, costs = told(learner, rng, 8, 40)
    assert (learner.tell(X, costs).predict_cost(X) == never.tell(X, costs).predict_cost(X)).all()


def test_a_long_row_takes_no_memory_from_the_short_ones_after_it():
    learner = CoalClassifier(["a", "b"], model="online").tell(np.ones((1, 50_000)), [[0.0, 1.0]])
    short, _ = learner.encoded(csr_array(([1.0], ([0], [7])), shape=(1, 50_000)))
    log = UndoLog(learner.model_)
    tracemalloc.start()
    for _ in range(100):
        log.before(short, learner.settings_for())
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 1_000_000  # a cell takes 96 bytes; 50,000 of them for each row would be 480 MB

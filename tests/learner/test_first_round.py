"""Examples asked about at rounds of their own."""

import numpy as np
import pytest

from coalface import Audits, Coal, CoalClassifier
from coalface.errors import InputError
from tests.problems import dense_problem


def test_each_example_is_decided_at_its_own_round_and_nothing_changes():
    X, cost = dense_problem(2, 4, 60)
    learner = CoalClassifier(
        classes=list("abcd"), rule=Coal(warm_up=3, alike=None), mellowness=0.001, audits=Audits(0.5)
    )
    learner.tell(X[:10], cost[:10])
    before = {name: array.copy() for name, array in learner.model_.arrays().items()}
    whole, rest = learner.ask(X[10:]), learner.ask(X[30:], first_round=31)
    assert rest.first_round == 31
    for one, other in ((whole.mask, rest.mask), (whole.reason_codes, rest.reason_codes), (whole.next, rest.next)):
        assert np.array_equal(one[20:], other)
    assert rest.audit.any()
    assert not np.array_equal(learner.ask(X[30:]).audit, rest.audit)  # other rounds, other draws
    assert learner.round_ == 11
    after = learner.model_.arrays()
    assert all(np.array_equal(before[name], after[name]) for name in before)


@pytest.mark.parametrize("wrong", [0, -1, 1.5, "1"])
def test_rounds_are_whole_numbers_of_at_least_1(wrong):
    with pytest.raises(InputError, match="first_round"):
        CoalClassifier(classes=["a", "b"]).ask([[1.0]], first_round=wrong)

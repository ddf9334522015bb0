"""The general interface and the compiled parser give the same costs and the same model."""

import numpy as np
import pytest

from coalface import CoalClassifier
from coalface.search import DependencyParser, ParsingTask, SearchLearner
from tests.search.made_trees import crossing_sentences, sentences

POLICY = ("rule", "mellowness", "width_scale", "learning_rate", "slack", "in_turn", "audit_rate", "random_state")
POLICY += ("accumulator", "sensitivity")


@pytest.mark.parametrize("system", ["arc-hybrid", "arc-eager"])
@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"rule": "passive", "learning_rate": 0.5, "roll_out": "reference"},
        {"wrong_label": 0.3, "random_state": 5, "hash_bits": 9},
        {"accumulator": "adagrad"},
    ],
    ids=["default", "passive, all losses", "other costs", "adagrad"],
)
def test_two_passes_give_the_same_costs_and_the_same_model(system, settings):
    trees = [*sentences(12), *crossing_sentences(4)]
    parser = DependencyParser(system, passes=2, shuffle=False, averaged=False, warm_up=3, **settings).fit(trees)
    task = ParsingTask.of(trees, parser.wrong_label, system=system, hash_bits=parser.hash_bits)
    policy = CoalClassifier(model="online", **{name: getattr(parser, name) for name in POLICY})
    learner = SearchLearner(task, policy, roll_out=parser.roll_out, passes=2, warm_up=3).fit(trees)
    assert learner.costs_queried_ == parser.costs_queried_ > parser.costs_paid_ > 0
    needs_rollouts = "roll_out" in settings or "wrong_label" in settings
    assert learner.rollouts_ == (parser.costs_paid_ if needs_rollouts else 0)
    for name, array in parser.policy_.model_.arrays().items():
        assert np.array_equal(array, learner.policy_.model_.arrays()[name]), name
    test = list(sentences(10, seed=1))
    assert learner.predict(test) == parser.predict(test)

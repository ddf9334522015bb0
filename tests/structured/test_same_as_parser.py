"""The general interface and the compiled parser give the same costs and the same model."""

import numpy as np
import pytest

from coalface import Audits, Coal, CoalClassifier, OnlineModel
from coalface.structured import DependencyParser, ParsingTask, SearchLearner
from tests.structured.made_trees import any_trees, crossing_sentences, sentences


@pytest.mark.parametrize("system", ["arc-hybrid", "arc-eager"])
@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"rule": "passive", "model": OnlineModel(learning_rate=0.5), "roll_out": "reference"},
        {"wrong_label": 0.3, "random_state": 5, "hash_bits": 9},
        {"model": OnlineModel(accumulator="adagrad")},
    ],
    ids=["default", "passive, all losses", "other costs", "adagrad"],
)
def test_two_passes_give_the_same_costs_and_the_same_model(system, settings):
    trees = [*sentences(12), *crossing_sentences(4)]
    needs_rollouts = "roll_out" in settings or "wrong_label" in settings
    check_same_model(trees, list(sentences(10, seed=1)), system, needs_rollouts, **settings)


@pytest.mark.parametrize("seed", [1, 9])
@pytest.mark.parametrize("roll_out", ["none", "reference"])
@pytest.mark.parametrize("system", ["arc-hybrid", "arc-eager"])
def test_any_trees_give_the_same_costs_and_the_same_model(system, roll_out, seed):
    """Costs are known only in equal states; with seed 9, words on the stack of arc-eager have a head or not."""
    settings = {"roll_out": roll_out, "mellowness": 0.01, "hash_bits": 1, "rule": Coal(slack="published")}
    settings |= {"model": OnlineModel(learning_rate=0.5, accumulator="adagrad"), "audits": Audits(1.0)}
    check_same_model(any_trees(12, seed), any_trees(8, seed + 20), system, roll_out == "reference", **settings)


@pytest.mark.parametrize("system", ["arc-hybrid", "arc-eager"])
def test_losses_do_not_depend_on_the_order_in_which_mistakes_are_made(system):
    """The sum of 1, 0.3 and 0.3 must be the same in any order, or costs that are known would be paid for again."""
    settings = {"rule": "passive", "model": OnlineModel(learning_rate=0.5), "wrong_label": 0.3}
    check_same_model(any_trees(16, seed=3), any_trees(2, seed=4), system, True, **settings)


def check_same_model(trees, test, system, needs_rollouts, **settings):
    """Fit both, and check that they agree bit for bit."""
    own = {name: settings.pop(name) for name in ("wrong_label", "hash_bits", "roll_out") if name in settings}
    policy = CoalClassifier(**{"model": "online", "mellowness": 0.5, **settings})
    parser = DependencyParser(system, policy, passes=2, shuffle=False, warm_up=3, **own).fit(trees)
    task = ParsingTask.of(trees, parser.wrong_label, system=system, hash_bits=parser.hash_bits)
    learner = SearchLearner(task, policy, roll_out=parser.roll_out, passes=2, warm_up=3).fit(trees)
    assert learner.costs_queried_ == parser.costs_queried_ > parser.costs_paid_ > 0
    assert learner.rollouts_ == (parser.costs_paid_ if needs_rollouts else 0)
    for name, array in parser.policy_.model_.arrays().items():
        assert np.array_equal(array, learner.policy_.model_.arrays()[name]), name
    assert learner.predict(test) == parser.predict(test)

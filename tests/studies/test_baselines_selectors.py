"""Selectors of asf, compared with votes of scikit-learn's forests counted by hand."""

from itertools import combinations

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier

from baselines.selectors import SELECTORS
from coalface.errors import InputError
from tests.studies.baseline_problems import BASELINES, order_of, pets, with_table

pytest.importorskip("asf")
TEST, SEED = pets(40, seed=1), 5


def run(train, checkpoints=(30, 210), **parameters):
    given = {"n_trees": 12, **parameters}
    return BASELINES["asf"].curve(given, train, TEST, order_of(train), np.array(checkpoints), SEED)


@pytest.mark.parametrize(("checkpoint", "n_examples"), [(30, 10), (210, 70)])
def test_the_pairwise_classifier_takes_the_label_with_the_most_votes(checkpoint, n_examples):
    data = pets()
    order = order_of(data)[:n_examples]
    X, cost, votes = data.X.toarray()[order], data.cost[order], np.zeros((40, 3))
    for one, other in combinations(range(3), 2):
        forest = RandomForestClassifier(12, random_state=SEED)
        forest.fit(X, cost[:, one] < cost[:, other], sample_weight=np.abs(cost[:, one] - cost[:, other]))
        first = forest.predict(TEST.X.toarray())
        votes[:, one] += first
        votes[:, other] += ~first
    curve = run(data)
    place = curve.costs_queried.tolist().index(checkpoint)
    assert curve.test_cost[place] == pytest.approx(TEST.cost[np.arange(40), votes.argmax(axis=1)].mean())
    assert curve.examples_queried[place] == n_examples


@pytest.mark.parametrize("selector", SELECTORS)
def test_every_selector_is_better_than_the_best_single_label(selector):
    assert run(pets(), selector=selector).test_cost[-1] < 0.8 * TEST.cost.mean(axis=0).min()


def test_unknown_costs_and_candidates_are_refused():
    data = pets()
    cost = data.cost.copy()
    cost[3, 1] = np.nan
    candidates = np.ones(cost.shape, bool)
    candidates[0, 0] = False
    for changes in ({"cost": cost}, {"candidates": candidates}):
        with pytest.raises(InputError, match=r"'asf' needs all costs of every example.* Choose the learner"):
            run(with_table(data, **changes))


def test_a_selector_that_does_not_exist_is_refused():
    with pytest.raises(InputError, match=r"selector must be one of 'pairwise-classifier', .*, got 'satzilla'"):
        run(pets(), selector="satzilla")

"""Audits: random questions with known chances."""

import numpy as np

from coalface import Audits, Coal, CoalClassifier, MemoryLedger, simulate

from ..problems import dense_problem, trained


def test_every_label_is_audited_as_often_as_its_recorded_chance_says():
    X, cost = dense_problem(6, 5, 40)
    learner = CoalClassifier(
        classes=range(5), rule=Coal(warm_up=2, alike=None, miss_rate=None), mellowness=0.001, audits=Audits(0.3)
    )
    simulate(learner, X, cost)
    X, _ = dense_problem(7, 5, 20000)
    queries = learner.ask(X)
    chance = np.where(queries.propensity < 1, queries.propensity, 0)
    assert np.all(queries.audit.sum(axis=1) <= 1)
    unasked = (queries.mask & ~queries.audit).sum(axis=1) < 5
    np.testing.assert_allclose(chance.sum(axis=1)[unasked], 0.3, rtol=1e-12)
    expected, deviation = chance.sum(axis=0), np.sqrt((chance * (1 - chance)).sum(axis=0))
    assert np.all(np.abs(queries.audit.sum(axis=0) - expected) < 4 * deviation)
    assert np.all(expected > 100)


def test_half_of_the_audits_are_about_the_predicted_label_and_the_others_about_the_seldom_asked():
    # the online model fills in no costs here
    params = {"rule": Coal(warm_up=0), "mellowness": 0.0, "audits": Audits(0.8), "model": "online"}
    learner = CoalClassifier(classes=["often", "seldom", "best"], **params)
    learner.tell(np.ones((50, 1)), np.tile([0.5, np.nan, 0.1], (50, 1)))
    learner.tell(np.ones((1, 1)), [[0.5, 0.5, 0.1]])
    assert learner.predict([[1.0]])[0] == "best"
    weights = np.array([1 / 52, 1 / 2, 1 / 52])
    expected = 0.8 * (np.array([0.0, 0.0, 0.5]) + 0.5 * weights / weights.sum())
    np.testing.assert_allclose(learner.ask([[1.0]]).propensity[0], expected, rtol=1e-12)
    # If the predicted label is not a candidate, the next best one takes its place.
    allowed = np.array([[True, True, False]])
    weights = np.array([1 / 52, 1 / 2, 0])
    best = int(np.argmin(learner.predict_cost([[1.0]])[0, :2]))
    expected = 0.8 * (0.5 * np.eye(3)[best] + 0.5 * weights / weights.sum())
    np.testing.assert_allclose(learner.ask([[1.0]], candidates=allowed).propensity[0], expected, rtol=1e-12)


def test_where_the_rule_asks_for_the_predicted_label_all_audits_are_about_the_seldom_asked():
    learner, X = trained(3, 4, audits=Audits(0.4), rule="coal", mellowness=0.001)
    queries = learner.ask(X)
    best = learner.predict(X)
    by_rule = queries.mask & ~queries.audit
    asked_best = by_rule[np.arange(len(X)), best] & ~by_rule.all(axis=1)
    assert asked_best.any()
    weights = np.where(by_rule, 0.0, 1 / (1 + learner.model_.state.asked[:4]))
    expected = np.where(by_rule, 1.0, 0.4 * weights / weights.sum(axis=1, keepdims=True))
    np.testing.assert_allclose(queries.propensity[asked_best], expected[asked_best], rtol=1e-12)


def test_weighting_by_the_chance_gives_an_unbiased_estimate_of_a_labels_mean_cost():
    # The rule alone never sees the expensive label again, so the plain mean of its answers says little.
    X, cost = dense_problem(8, 4, 4000)
    cost = cost.astype(np.float64)
    X[:, 0] = 1.0
    ledger = MemoryLedger()
    learner = CoalClassifier(
        classes=range(4), rule=Coal(warm_up=0), mellowness=0.001, audits=Audits(0.4), random_state=5
    )
    learner.record_to(ledger)
    # Within one batch nothing is learned, so the chances and the variance stay the same.
    learner.tell(X[:50], cost[:50])
    X, cost = X[50:], cost[50:]
    queries = learner.ask(X)
    learner.tell(X, np.where(queries.mask, cost, np.nan), asked=queries)
    terms = np.zeros((len(X), 4))
    for i, one in enumerate(list(ledger)[50:]):
        for label, answer in one.costs.items():
            terms[i, int(label)] = answer / one.propensity.get(label, 1.0)
    possible = (queries.propensity > 0).all(axis=1)
    estimate, truth = terms[possible].mean(axis=0), cost[possible].mean(axis=0)
    error = terms[possible].std(axis=0) / np.sqrt(possible.sum())
    assert possible.sum() > 1000
    assert queries.audit.sum() > 200
    assert np.all(np.abs(estimate - truth) < 4 * error)


def test_audits_depend_on_seed_and_round_only():
    X = np.ones((200, 1))
    learners = [
        CoalClassifier(
            classes=range(3), rule=Coal(warm_up=0, alike=None), mellowness=0.0, audits=Audits(0.5), random_state=seed
        )
        for seed in (1, 1, 2)
    ]
    one, same, other = (learner.tell(X[:5], np.full((5, 3), 0.5)).ask(X).audit for learner in learners)
    np.testing.assert_array_equal(one, same)
    assert np.any(one != other)
    assert 50 < one.sum() < 150

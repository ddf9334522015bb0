"""Audits: random questions with known chances."""

import numpy as np
import pytest

from coalface import CoalClassifier, MemoryLedger, simulate

from .problems import dense_problem


def test_every_label_is_audited_as_often_as_its_recorded_chance_says():
    X, cost = dense_problem(6, 5, 40)
    learner = CoalClassifier(classes=range(5), warm_up=2, mellowness=0.001, audit_rate=0.3)
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


def test_the_seldom_asked_are_audited_more():
    learner = CoalClassifier(classes=["often", "seldom"], warm_up=0, mellowness=0.0, audit_rate=1.0)
    learner.tell(np.ones((50, 1)), np.tile([0.5, np.nan], (50, 1)))
    learner.tell(np.ones((1, 1)), [[0.5, 0.5]])
    chance = learner.ask(np.ones((1, 1))).propensity[0]
    assert chance[1] / chance[0] == pytest.approx(52 / 2)
    assert chance.sum() == pytest.approx(1.0)


def test_weighting_by_the_chance_gives_an_unbiased_estimate_of_a_labels_mean_cost():
    # The rule alone never sees the expensive label again, so the plain mean of its answers says little.
    X, cost = dense_problem(8, 4, 4000)
    cost = cost.astype(np.float64)
    X[:, 0] = 1.0
    ledger = MemoryLedger()
    learner = CoalClassifier(classes=range(4), warm_up=0, mellowness=0.001, audit_rate=0.4, random_state=5)
    learner.record_to(ledger)
    # Told in one batch, nothing is learned in between: the chances stay put and so does the variance.
    learner.tell(X[:50], cost[:50])
    X, cost = X[50:], cost[50:]
    queries = learner.ask(X)
    learner.tell(X, np.where(queries.mask, cost, np.nan), asked=queries)
    terms = np.zeros((len(X), 4))
    for i, entry in enumerate(list(ledger)[50:]):
        for answer in entry.answers:
            terms[i, answer.label] = answer.cost / answer.propensity
    possible = (queries.propensity > 0).all(axis=1)
    estimate, truth = terms[possible].mean(axis=0), cost[possible].mean(axis=0)
    error = terms[possible].std(axis=0) / np.sqrt(possible.sum())
    assert possible.sum() > 1000
    assert queries.audit.sum() > 200
    assert np.all(np.abs(estimate - truth) < 4 * error)


def test_audits_depend_on_seed_and_round_only():
    X = np.ones((200, 1))
    learners = [
        CoalClassifier(classes=range(3), warm_up=0, mellowness=0.0, audit_rate=0.5, random_state=seed)
        for seed in (1, 1, 2)
    ]
    one, same, other = (learner.tell(X[:5], np.full((5, 3), 0.5)).ask(X).audit for learner in learners)
    np.testing.assert_array_equal(one, same)
    assert np.any(one != other)
    assert 50 < one.sum() < 150

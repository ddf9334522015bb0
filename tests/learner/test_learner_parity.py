"""The compiled learner does what the plain NumPy reference does, and so what Vowpal Wabbit does."""

import numpy as np
import pytest

from coalface import Abstain, Coal, CoalClassifier
from coalface.learner.parameters import AS_PUBLISHED
from coalface.learner.predicting import best_labels

from ..problems import dense_problem, parts_of
from ..reference.online import ReferenceCoal
from ..reference.vw import run_csoaa

# The ends of a range agree to a few float32 roundings (about 1e-6), so only a decision that depends on less than
# this may fall otherwise.
MARGIN = 1e-5


def assert_parity(X, costs, *, rtol=1e-5, candidates=None, **params):
    """Both learn what the reference asks for, so that a tie cannot breed more; the number of costs asked for."""
    n, n_labels = costs.shape
    learner = CoalClassifier.as_published(classes=range(n_labels), **params)
    reference = ReferenceCoal(n_labels, X.shape[1], **{"mellowness": 0.01, **parts_of(params)})
    for i in range(n):
        row = X[i : i + 1]
        allowed = np.ones(n_labels, bool) if candidates is None else candidates[i]
        queries = learner.ask(row, candidates=None if candidates is None else allowed[None])
        decision = reference.decide(X[i], allowed)
        terms = np.abs(np.append(X[i], 1.0)[: len(reference.weights)]) @ np.abs(reference.weights)
        # Costs lie in [0, 1]: next to that scale 1e-6 is rounding, however small the terms have become.
        assert np.all(np.abs(queries.predicted[0] - decision.predicted) <= rtol * terms + 1e-6)
        atol = max(rtol, 1e-5)
        np.testing.assert_allclose(queries.ranges.lowest[0][allowed], decision.lowest[allowed], rtol=0, atol=atol)
        np.testing.assert_allclose(queries.ranges.highest[0][allowed], decision.highest[allowed], rtol=0, atol=atol)

        from_domination = np.abs(decision.lowest - reference.guaranteed_cost(decision.highest))
        from_threshold = np.abs(decision.width - reference.width_threshold())
        clear = ~allowed | (np.minimum(from_domination, from_threshold) > MARGIN)
        if learner.rule.variant == "all-or-none":  # one label's narrow margin decides for all
            clear = np.full(n_labels, clear.all())
        if np.any(np.abs(decision.highest - reference.abstain_cost) < MARGIN):  # whether abstaining contends
            clear[:] = False
        np.testing.assert_array_equal(queries.mask[0][clear], decision.mask[clear])
        if abs(np.min(decision.predicted[allowed], initial=0.0) - reference.abstain_cost) > MARGIN and allowed.any():
            answer = best_labels(learner, row, allowed[None], by_model=True)[0]
            assert answer == (-1 if reference.answer(decision) is None else reference.answer(decision))
            if not learner.model_.unanswered().any():
                assert learner.predict(row, candidates=allowed[None])[0] == answer

        answers = np.where(decision.mask, costs[i], np.nan)
        learner.tell(row, answers[None], asked=decision.mask[None], candidates=allowed[None])
        reference.learn(X[i], costs[i], decision.mask, allowed)
    assert learner.round_ == reference.round_number
    return learner.costs_queried_


def test_as_published_leaves_nothing_that_decides_to_the_defaults():
    assert {"variant", *AS_PUBLISHED} == set(Coal().get_params()), "say what a new parameter was in the paper"
    of_the_problem = {"classes", "cost_matrix", "cost_bounds", "shuffle", "random_state", "features"}
    published = CoalClassifier.as_published()
    model = {"accumulator": "adax", "sensitivity": "shadow", "fit_intercept": True, "interactions": None}
    assert published.model.get_params() == {**model, "learning_rate": 0.5, "device": "cpu"}
    rest = published.get_params(deep=False).items()
    assert {name: value for name, value in rest if name not in {*of_the_problem, "rule", "model"}} == {
        **dict.fromkeys(["audits", "abstain", "budget", "price_of_truth"]),
        "mellowness": 0.01,
    }


def test_as_published_gives_way_to_what_is_passed():
    changed = {name: f"my {name}" for name in CoalClassifier().get_params(deep=False)}
    changed["rule"] = Coal("passive", warm_up=7)
    assert CoalClassifier.as_published(**changed).get_params(deep=False) == changed
    assert CoalClassifier.as_published(rule="passive").rule == Coal("passive", **AS_PUBLISHED)


@pytest.mark.parametrize("n_labels", [1, 2, 3, 7, 12, 40])
@pytest.mark.parametrize(("decades", "rtol"), [(0, 1e-5), (4, 1e-3)])
@pytest.mark.parametrize(("mellowness", "real_costs"), [(0.001, False), (0.01, True), (1.0, True)])
def test_every_query_prediction_and_range_is_the_references(n_labels, decades, rtol, mellowness, real_costs):
    X, costs = dense_problem(100 + n_labels, n_labels, 60, decades=decades, real_costs=real_costs)
    asked = assert_parity(X, costs, rtol=rtol, mellowness=mellowness)
    assert asked >= n_labels


@pytest.mark.parametrize("accumulator", ["adax", "adagrad"])
@pytest.mark.parametrize("sensitivity", ["shadow", "seen-only", "derivative"])
@pytest.mark.parametrize("slack", ["published", "noise-scaled"])
@pytest.mark.parametrize("seed", [0, 1])
def test_every_way_to_measure_a_range_is_the_references(accumulator, sensitivity, slack, seed):
    X, costs = dense_problem(seed, 7, 100, real_costs=bool(seed))
    asked = assert_parity(
        X,
        costs,
        model__accumulator=accumulator,
        model__sensitivity=sensitivity,
        rule__slack=slack,
        mellowness=0.1**seed / 10,
    )
    assert 7 < asked < costs.size


@pytest.mark.parametrize("rule", ["coal", "all-or-none", "no-domination", "passive"])
@pytest.mark.parametrize("seed", [2, 3])
def test_every_rule_is_the_references(rule, seed):
    X, costs = dense_problem(seed, 7, 100, real_costs=bool(seed % 2))
    assert_parity(X, costs, rule=rule, mellowness=0.001)


@pytest.mark.parametrize("rule", ["coal", "all-or-none", "no-domination"])
@pytest.mark.parametrize("abstain_cost", [0.0, 0.1, 0.3, 1.0])
def test_abstaining_is_the_references(rule, abstain_cost):
    X, costs = dense_problem(6, 7, 80)
    assert_parity(X, costs, rule=rule, abstain=Abstain(abstain_cost))


@pytest.mark.parametrize("accumulator", ["adax", "adagrad"])
@pytest.mark.parametrize("sensitivity", ["shadow", "seen-only"])
def test_without_an_intercept_even_empty_rows_are_decided_as_by_the_reference(accumulator, sensitivity):
    X, costs = dense_problem(4, 7, 80)
    X[::10] = 0
    assert_parity(X, costs, model__fit_intercept=False, model__accumulator=accumulator, model__sensitivity=sensitivity)


@pytest.mark.parametrize("learning_rate", [1e-7, 0.05, 10.0])
@pytest.mark.parametrize(("width_scale", "warm_up"), [(0.1, 0), (1.0, 5)])
def test_rate_threshold_and_warm_up_are_the_references(learning_rate, width_scale, warm_up):
    X, costs = dense_problem(5, 3, 100)
    assert_parity(X, costs, learning_rate=learning_rate, rule__width_scale=width_scale, rule__warm_up=warm_up)


@pytest.mark.parametrize("rule", ["coal", "all-or-none", "no-domination"])
def test_candidates_and_unknown_costs_are_treated_as_by_the_reference(rule):
    X, costs = dense_problem(6, 7, 120)
    random = np.random.default_rng(6)
    candidates = random.random(costs.shape) < 0.6
    candidates[:, 0] |= ~candidates.any(axis=1)
    costs[random.random(costs.shape) < 0.2] = np.nan
    assert_parity(X, costs, candidates=candidates, rule=rule, mellowness=0.001)


@pytest.mark.parametrize("accumulator", ["adax", "adagrad"])
@pytest.mark.parametrize("n_labels", [2, 7])
@pytest.mark.parametrize(("decades", "rtol"), [(0, 1e-5), (4, 1e-3)])
@pytest.mark.parametrize("real_costs", [False, True])
def test_a_passive_learner_predicts_what_csoaa_does(accumulator, n_labels, decades, rtol, real_costs):
    X, costs = dense_problem(7, n_labels, 150, decades=decades, real_costs=real_costs)
    costs[0, :2] = 0, 1  # csoaa clips to the costs it has met, so let it meet both ends first
    wheel = run_csoaa(X, costs, accumulator=accumulator)
    learner = CoalClassifier.as_published(classes=range(n_labels), rule="passive", model__accumulator=accumulator)
    for i in range(len(X)):
        predicted = learner.predict_cost(X[i : i + 1])
        scale = np.maximum(1.0, np.abs(wheel[i]))
        assert np.all(np.abs(predicted[0] - wheel[i]) <= rtol * scale)
        learner.tell(X[i : i + 1], costs[i : i + 1])

"""Abstaining: one more answer, of a known cost."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from coalface import Abstain, Coal, CoalClassifier, OnlineModel, simulate
from coalface.errors import InputError

from ..problems import dense_problem, state_of, trained

seeds = st.integers(0, 10**6)
prices = st.sampled_from([0.0, 0.05, 0.1, 0.2, 0.3, 0.5, 1.0])
rules = st.sampled_from(["coal", "all-or-none", "no-domination"])


@given(seeds, rules, st.sampled_from([0.001, 0.1]))
def test_abstaining_at_the_largest_cost_changes_no_question_and_no_answer_within_the_bounds(seed, rule, mellowness):
    learner, X = trained(seed, rule=rule, mellowness=mellowness)
    asked, answers, least = learner.ask(X), learner.predict(X), learner.predict_cost(X).min(axis=1)
    learner.set_params(abstain=Abstain(1.0))
    np.testing.assert_array_equal(learner.ask(X).reason_codes, asked.reason_codes)
    np.testing.assert_array_equal(learner.predict(X), np.where(least > 1.0, -1, answers))


@given(seeds, prices, prices, st.sampled_from([0.001, 0.01, 0.1]))
def test_where_more_than_one_answer_could_be_best_cheaper_abstaining_never_asks_for_more(seed, one, other, mellowness):
    learner, X = trained(seed, mellowness=mellowness)
    dear, cheap = (learner.set_params(abstain=Abstain(price)).ask(X) for price in (max(one, other), min(one, other)))
    more = cheap.mask & ~dear.mask
    # The one exception: a label that had no rival gets one in abstaining, and may be asked about to choose.
    assert np.all(dear.reasons[more] == "only contender")


@given(seeds, prices, st.sampled_from([0.001, 0.01, 0.1]))
def test_a_label_that_must_cost_more_than_abstaining_is_not_asked_about(seed, price, mellowness):
    learner, X = trained(seed, abstain=Abstain(price), mellowness=mellowness)
    queries = learner.ask(X)
    above = queries.ranges.lowest > np.float32(price)
    assert not np.any(queries.mask & above)
    words = np.isin(queries.reasons[above], ["abstaining is cheaper", "cannot be best"])
    assert np.all(words)
    hopeless = above.all(axis=1)
    assert not queries.mask[hopeless].any()
    for i in range(len(X)):
        last = queries.reason(i).splitlines()[-1]
        assert last.startswith(f"  abstaining costs {price:.3f}: ")
        assert last.endswith(": is best") == hopeless[i]


def test_a_label_without_rivals_is_asked_about_to_choose_between_it_and_abstaining():
    learner = CoalClassifier(["only"], rule=Coal(warm_up=0), mellowness=1.0)
    assert not learner.tell([[1.0]] * 3, [[0.5]] * 3).ask([[1.0]]).mask.any()
    queries = learner.set_params(abstain=Abstain(0.5)).ask([[1.0]])
    assert queries.mask.all()
    assert queries.reason(0).endswith("abstaining costs 0.500: could be best")
    assert learner.set_params(abstain=Abstain(1.0)).ask([[1.0]]).reason(0).endswith("cannot be best")
    # a range from 0 to 1: never worse
    full = CoalClassifier(["only"], rule=Coal(warm_up=0), abstain=Abstain(1.0)).ask([[1.0]])
    assert full.reasons.tolist() == [["only contender"]]


@given(seeds, prices, st.booleans())
def test_the_answer_is_to_abstain_where_every_prediction_is_above_its_cost(seed, price, restricted):
    learner, X = trained(seed, abstain=Abstain(price))
    candidates = np.random.default_rng(seed).random((len(X), 4)) < 0.5 if restricted else np.ones((len(X), 4), bool)
    predicted = np.where(candidates, np.float32(learner.predict_cost(X)), np.inf)
    expected = np.where((predicted > np.float32(price)).all(axis=1), -1, predicted.argmin(axis=1))
    np.testing.assert_array_equal(learner.predict(X, candidates=candidates), expected)


def test_in_a_tie_the_answer_is_a_label():
    assert CoalClassifier(["a", "b"], abstain=Abstain(0.0)).predict([[1.0]])[0] == "a"  # predictions start at 0
    assert CoalClassifier(["a", "b"], abstain=Abstain(0.0)).tell([[1.0]], [[1.0, 1.0]]).predict([[1.0]])[0] == "abstain"


@given(seeds, prices)
def test_abstaining_has_its_cost(seed, price):
    bounds = (-2.0, 3.0)
    learner, X = trained(seed, cost_bounds=bounds, abstain=Abstain(-2.0 + 5 * price))
    cost = np.random.default_rng(seed).uniform(*bounds, (len(X), 4))
    answers = learner.predict(X)
    paid = np.where(answers < 0, -2.0 + 5 * price, cost[np.arange(len(X)), answers])
    assert learner.score(X, cost=cost) == pytest.approx(-paid.mean(), abs=1e-6)
    abstainer = learner.set_params(abstain=Abstain(bounds[0]))
    unknown = np.full_like(cost, np.nan)
    if (abstainer.predict(X) == -1).all():  # labels that are never predicted need no known cost
        assert abstainer.score(X, cost=unknown) == -bounds[0]


def test_the_test_cost_of_a_simulated_run_charges_for_abstaining():
    X, cost = dense_problem(3, 4, 400)
    learner = CoalClassifier(classes=range(4), abstain=Abstain(0.2), rule=Coal(warm_up=3), model="online")
    curve = simulate(learner, X, cost, X_test=X[:80], cost_test=cost[:80])
    answers = learner.predict(X[:80])
    assert 5 < (answers == -1).sum() < 75
    paid = np.where(answers == -1, 0.2, cost[np.arange(80), answers])
    assert curve.test_cost[-1] == pytest.approx(paid.mean(), rel=1e-6)
    without = CoalClassifier(classes=range(4), rule=Coal(warm_up=3), model="online")
    simulate(without, X, cost)
    assert learner.costs_queried_ < without.costs_queried_


@pytest.mark.parametrize(
    ("classes", "abstain_label", "answer", "kind"),
    [
        (["a", "b"], None, "abstain", "U"),
        (["a", "b"], "ask a person", "ask a person", "U"),
        ([3, 5], None, -1, "i"),
        ([3, 5], 0, 0, "i"),
        (np.array([3, 5], np.uint8), None, -1, "i"),
        ([0.5, 2.5], None, -1.0, "f"),
        ([False, True], None, -1, "i"),
        (np.array([b"a", b"b"]), None, b"abstain", "S"),
        (np.array(["2020-01-01"], "M8[D]"), np.datetime64("2030-01-01"), np.datetime64("2030-01-01"), "M"),
    ],
    ids=str,
)
def test_the_abstain_label_has_the_type_of_the_other_labels(classes, abstain_label, answer, kind):
    learner = CoalClassifier(classes, abstain=Abstain(0.1, label=abstain_label), model=OnlineModel(fit_intercept=False))
    X = np.eye(2)
    learner.tell(X, np.vstack([np.zeros(len(classes)), np.ones(len(classes))]))
    answers = learner.predict(X)
    assert answers.dtype.kind == kind
    assert answers[0] == classes[0]
    assert answers[1] == answer


@pytest.mark.parametrize(
    ("classes", "abstain_label", "words"),
    [
        (["a", "abstain"], None, "abstain label must differ from every label, got 'abstain'"),
        ([-1, 1], None, "abstain label must differ from every label, got -1"),
        ([0, 1], 1.0, "abstain label must differ from every label"),
        ([0, 1], "human", "abstain label must be of the type of the labels"),
        (["a", "b"], -1, "abstain label must be of the type of the labels"),
        (["a", "b"], ["c"], "abstain label must be of the type of the labels"),
        (np.array(["2020-01-01"], "M8[D]"), None, "abstain label must be of the type of the labels"),
    ],
    ids=str,
)
def test_a_label_that_cannot_stand_for_abstaining_is_refused_at_the_start(classes, abstain_label, words):
    learner = CoalClassifier(classes, abstain=Abstain(0.5, label=abstain_label))
    for call in (learner.ask, learner.predict, lambda X: learner.tell(X, [[0.5] * len(classes)])):
        with pytest.raises(InputError, match=words) as caught:
            call([[1.0]])
        assert "\n" not in str(caught.value)
    assert state_of(learner) is None

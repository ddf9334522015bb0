"""Rows asked about together: nothing twice among equal ones, and otherwise each as if it were alone."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from coalface import Audits, Budget, Coal, CoalClassifier, MemoryLedger, simulate

from ..problems import dense_problem, state_of, trained

REPEATED = "asked about a near-duplicate in the batch"
seeds = st.integers(0, 10**6)
rules = st.sampled_from(["coal", "all-or-none", "no-domination"])
audit_rates = st.sampled_from([0.0, 0.7])
ways = st.fixed_dictionaries(
    {
        "model__accumulator": st.sampled_from(["adax", "adagrad"]),
        "model__sensitivity": st.sampled_from(["shadow", "seen-only", "derivative"]),
        "rule__slack": st.sampled_from(["published", "noise-scaled"]),
        "mellowness": st.sampled_from([0.001, 0.01, 0.1]),
        "model__fit_intercept": st.booleans(),
        "rule__in_turn": st.booleans(),
        "rule": rules,
    }
)


def assert_equal_queries(one, other):
    for name in ("mask", "next", "reason_codes", "propensity", "predicted"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name), err_msg=name)
    np.testing.assert_array_equal(one.ranges.lowest, other.ranges.lowest)
    np.testing.assert_array_equal(one.ranges.highest, other.ranges.highest)


def some_copies(seed, X, kinds):
    """Thirty rows of so many kinds, and which kind each of them is."""
    kind = np.random.default_rng(seed).integers(0, kinds, 30)
    return X[kind], kind


@pytest.mark.parametrize("rule", ["coal", "all-or-none", "no-domination"])
@pytest.mark.parametrize("in_turn", [False, True])
@pytest.mark.parametrize("warm_up", [0, 1, 10, 1000, "auto"])
def test_of_a_hundred_copies_each_cost_is_asked_for_once(rule, in_turn, warm_up):
    learner = CoalClassifier(classes=["a", "b", "c"], rule=Coal(rule, in_turn=in_turn, warm_up=warm_up))
    queries = learner.ask(np.tile([[1.0, 0.0, 2.0]], (100, 1)))
    assert queries.mask[0].all()
    assert queries.costs_asked == 3
    assert set(queries.reasons[1:].ravel()) == {REPEATED}


@given(seeds, ways, audit_rates)
def test_no_cost_is_asked_for_twice_among_equal_examples(seed, params, audit_rate):
    learner, X = trained(seed, audits=Audits(audit_rate), random_state=seed, rule__alike=1.0, **params)
    copies, kind = some_copies(seed, X, 4)
    candidates = np.random.default_rng(seed).random((30, 4)) < 0.7
    queries = learner.ask(copies, candidates=candidates)
    for number in range(4):
        assert queries.mask[kind == number].sum(axis=0).max(initial=0) <= 1
    assert not np.any(queries.mask & ~candidates)


@given(seeds, ways, audit_rates)
def test_what_is_not_asked_again_is_the_only_difference_to_deciding_alone(seed, params, audit_rate):
    learner, X = trained(seed, audits=Audits(audit_rate), rule__alike=1.0, **params)
    copies, kind = some_copies(seed, X, 6)
    together, alone = learner.ask(copies), learner.set_params(rule__alike=None).ask(copies)
    before = np.zeros((6, 4), bool)
    for i, number in enumerate(kind):
        np.testing.assert_array_equal(together.mask[i], alone.mask[i] & ~before[number])
        withdrawn = together.reasons[i] == REPEATED
        np.testing.assert_array_equal(withdrawn, alone.mask[i] & before[number])
        np.testing.assert_array_equal(together.propensity[i], np.where(before[number], 0, alone.propensity[i]))
        before[number] |= together.mask[i]
    np.testing.assert_array_equal(together.ranges.lowest, alone.ranges.lowest)
    np.testing.assert_array_equal(together.ranges.highest, alone.ranges.highest)


@given(seeds, ways, audit_rates)
def test_the_first_question_is_the_most_promising_of_those_left(seed, params, audit_rate):
    learner, X = trained(seed, audits=Audits(audit_rate), rule__alike=1.0, **params)
    copies, _ = some_copies(seed, X, 6)
    together, alone = learner.ask(copies), learner.set_params(rule__alike=None).ask(copies)
    for i in range(30):
        wanted = together.mask[i] & (together.reasons[i] == "could be best and is uncertain")
        in_turn = np.any(alone.mask[i] & ~alone.next[i])  # otherwise all at once, or only one question
        expected = together.mask[i].copy()
        if in_turn and wanted.any():
            expected &= ~wanted
            expected[np.argmin(np.where(wanted, together.predicted[i], np.inf))] = True
        np.testing.assert_array_equal(together.next[i], expected)


@given(seeds, ways, audit_rates)
def test_a_question_about_a_near_duplicate_is_never_asked_again_however_many_are_answered(seed, params, audit_rate):
    learner, X = trained(seed, audits=Audits(audit_rate), rule__alike=1.0, **params)
    copies, kind = some_copies(seed, X, 4)
    cost = np.random.default_rng(seed).random((30, 4))
    queries = first = learner.ask(copies)
    asked = np.zeros_like(queries.mask)
    while queries.next.any():
        assert not np.any(queries.mask & ~first.mask)  # an answer removes questions and adds none
        asked |= queries.next
        queries = learner.ask(copies, known=np.where(asked, cost, np.nan), asked=asked)
    assert not queries.mask.any()
    for number in range(4):
        assert asked[kind == number].sum(axis=0).max(initial=0) <= 1


def test_a_label_ruled_out_by_an_answer_is_ruled_out_for_near_duplicates():
    learner = CoalClassifier(classes=["a", "b", "c"], rule=Coal(warm_up=0), audits=None)
    copies, best = [[1.0, 2.0]] * 3, [[0.0, np.nan, np.nan], [np.nan] * 3, [np.nan] * 3]
    assert learner.ask(copies).next.tolist() == [[True, False, False], [False] * 3, [False] * 3]
    assert not learner.ask(copies, known=best).mask.any()
    assert learner.set_params(rule__alike=None).ask(copies, known=best).mask.tolist() == [
        [False] * 3,
        [True] * 3,
        [True] * 3,
    ]


def test_what_is_not_asked_again_does_not_use_the_budget():
    learner = CoalClassifier(classes=["a", "b", "c"], budget=Budget(costs=12, over=21))
    queries = learner.ask([[1.0, 2.0]] * 20 + [[3.0, 1.0]])
    assert queries.mask[:20].sum(axis=0).tolist() == [1, 1, 1]
    assert queries.mask[20].all()
    assert not learner.set_params(rule__alike=None).ask([[1.0, 2.0]] * 20 + [[3.0, 1.0]]).mask[20].all()


def test_copies_with_other_candidates_are_asked_about_what_is_new():
    learner = CoalClassifier(classes=["a", "b", "c"])
    candidates = np.array([[1, 1, 0], [0, 1, 1], [1, 1, 1]], bool)
    mask = learner.ask([[1.0]] * 3, candidates=candidates).mask
    assert mask.tolist() == [[True, True, False], [False, False, True], [False, False, False]]


def test_near_copies_count_as_copies_if_wanted():
    X, _ = dense_problem(1, 3, 10)
    X = np.repeat(X[:, None] + 1, 5, axis=1)
    X = (X * np.random.default_rng(1).uniform(0.99, 1.01, X.shape)).reshape(50, -1)
    learner = CoalClassifier(classes=["a", "b", "c"], rule=Coal(warm_up=50))
    assert learner.ask(X).costs_asked == 150
    assert learner.set_params(rule__alike=0.999).ask(X).mask.reshape(10, 5, 3).sum(axis=1).tolist() == [[1, 1, 1]] * 10


def test_passive_asks_for_every_cost_of_every_copy():
    assert CoalClassifier(classes=["a", "b"], rule="passive").ask([[1.0]] * 5).mask.all()


def test_the_chances_of_audits_stay_true_where_copies_are_not_asked_about_again():
    X, cost = dense_problem(6, 5, 40)
    learner = CoalClassifier.as_published(
        classes=range(5), rule__warm_up=2, mellowness=0.001, audits=Audits(0.3), rule__alike=1.0
    )
    simulate(learner, X, cost)
    X, _ = dense_problem(7, 5, 9000)
    X = X[np.random.default_rng(7).integers(0, 9000, 18000)]
    queries = learner.ask(X)
    assert (queries.reasons == REPEATED).sum() > 500
    chance = np.where(queries.propensity < 1, queries.propensity, 0)
    expected, deviation = chance.sum(axis=0), np.sqrt((chance * (1 - chance)).sum(axis=0))
    assert np.all(np.abs(queries.audit.sum(axis=0) - expected) < 4 * deviation)
    assert np.all(expected > 100)


@given(seeds, ways, st.sampled_from([0.5, 1.0]))
def test_a_single_example_is_decided_alone(seed, params, alike):
    learner, X = trained(seed, **params)
    for row in X[:5]:
        alone = learner.set_params(rule__alike=None).ask(row[None])
        assert_equal_queries(learner.set_params(rule__alike=alike).ask(row[None]), alone)


def test_a_dropped_question_about_a_near_duplicate_resets_the_estimated_saving():
    learner, X = trained(audits=Audits(0.2), rule__alike=1.0, n=400)
    assert learner.saving_ is not None
    queries = learner.ask(np.repeat(X[:10], 2, axis=0))
    withdrawn = queries.reasons[np.arange(20), queries.predicted.argmin(axis=1)] == REPEATED
    assert withdrawn.any()
    np.testing.assert_array_equal(queries.outlook[withdrawn, 2], 0.0)
    assert np.all(queries.outlook[0::2, 2] > 0.0)


def test_the_answers_to_a_batch_may_come_late_and_in_any_order():
    X, cost = dense_problem(5, 4, 60)
    in_time, late = (
        CoalClassifier(classes=range(4), rule=Coal(warm_up=5, in_turn=False), model="online") for _ in range(2)
    )
    ledger = MemoryLedger()
    late.record_to(ledger)
    random = np.random.default_rng(5)
    for start in range(0, 60, 20):
        batch, answers = X[start : start + 20], cost[start : start + 20]
        mask = in_time.ask(batch).mask
        in_time.tell(batch, np.where(mask, answers, np.nan))
        at_once = mask & (random.random(mask.shape) < 0.5)
        late.tell(batch, np.where(at_once, answers, np.nan))
        for row, label in random.permutation(np.argwhere(mask & ~at_once)):
            one = np.full((1, 4), np.nan)
            one[0, label] = answers[row, label]
            late.tell(batch[row][None], one, late=True)
    assert (late.round_, late.costs_queried_) == (in_time.round_, in_time.costs_queried_)
    assert late.ask(X[:1]).first_round == 61
    assert state_of(CoalClassifier.from_ledger(ledger)) == state_of(late)
    one, other = in_time.model_.arrays(), late.model_.arrays()
    np.testing.assert_array_equal(one["updates"], other["updates"])
    widths = [learner.cost_range(X).width for learner in (in_time, late)]
    assert np.median(np.abs(widths[0] - widths[1])) < 0.05

"""Laws of the default: questions in turn, what answers imply, units, and the automatic warm-up."""

import copy

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_digits

from coalface import Audits, Coal, CoalClassifier, MemoryLedger, simulate
from coalface.kernels.state import COUNT

from ..problems import ask_and_tell, dense_problem, matrix_costs, sparse_problem, state_of

SETTLED = "ruled out by the answers"
LEAST_TRUST, DOUBT = 0.5, 10.0
seeds = st.integers(0, 10**6)


def problem(seed, n_labels, n, *, from_matrix):
    X, cost = dense_problem(seed, n_labels, n)
    return X, matrix_costs(cost, seed) if from_matrix else cost


def online(n_labels, **params):
    """The default but for its model, where a law is about the online model or needs a long run."""
    return CoalClassifier(range(n_labels), model="online").set_params(**params)


def asked_by(learner, row, cost):
    """The questions of an interview about one row, which the learner learns."""
    before = learner.model_.state.asked.copy()
    learner.interview(row, lambda _, label: cost[label])
    return (learner.model_.state.asked - before)[: len(cost)].astype(bool)


# -- questions in turn


@given(seeds, st.sampled_from([2, 5, 9]), st.booleans(), st.sampled_from([0.0, 0.1, 0.9]))
@settings(max_examples=15)
def test_what_is_asked_in_turn_is_part_of_the_list_and_begins_with_next(seed, n_labels, from_matrix, audit_rate):
    X, cost = problem(seed, n_labels, 80, from_matrix=from_matrix)
    learner = CoalClassifier(range(n_labels), audits=Audits(audit_rate))
    for i in range(len(X)):
        row = X[i : i + 1]
        queries = learner.ask(row)
        at_once = learner.set_params(rule__in_turn=False).ask(row)
        asked = asked_by(learner.set_params(rule__in_turn=True), row, cost[i])
        np.testing.assert_array_equal(queries.mask, at_once.mask)
        np.testing.assert_array_equal(at_once.next, at_once.mask)
        assert not np.any(asked & ~at_once.mask[0])
        assert not np.any(queries.next[0] & ~asked)
        assert queries.next.any() == queries.mask.any()
        if not np.array_equal(queries.next, queries.mask):
            assert np.sum(queries.next) == 1 if queries.audit.any() else np.sum(queries.next & ~queries.audit) == 1


@pytest.mark.parametrize("from_matrix", [False, True])
def test_questions_in_turn_are_far_fewer_than_at_once(from_matrix):
    X, cost = problem(1, 9, 400, from_matrix=from_matrix)
    in_turn, at_once = CoalClassifier(range(9)), CoalClassifier(range(9), rule=Coal(in_turn=False))
    simulate(in_turn, X, cost)
    simulate(at_once, X, cost)
    assert in_turn.costs_queried_ < 0.8 * at_once.costs_queried_


@given(seeds, st.sampled_from([2, 5, 9]), st.booleans())
@settings(max_examples=15)
def test_a_label_is_settled_where_its_range_does_not_reach_below_the_least_known_cost(seed, n_labels, from_matrix):
    X, cost = problem(seed, n_labels, 120, from_matrix=from_matrix)
    learner = online(n_labels, audits=None)  # without audits no example is asked about in full
    simulate(learner, X[:60], cost[:60])
    first = learner.ask(X[60:])
    known = np.where(first.next, cost[60:], np.nan)
    then = learner.ask(X[60:], known=known)
    beaten = first.ranges.lowest >= np.fmin.reduce(known, axis=1, initial=np.inf, keepdims=True)
    np.testing.assert_array_equal(then.reasons == SETTLED, first.mask & ~first.next & beaten)
    np.testing.assert_array_equal(then.mask, first.mask & ~first.next & ~beaten)


def test_answers_settle_some_questions_and_leave_some():
    X, cost = dense_problem(2, 9, 200)
    learner = online(9, audits=None)
    simulate(learner, X[:60], cost[:60])
    first = learner.ask(X[60:])
    then = learner.ask(X[60:], known=np.where(first.next, cost[60:], np.nan))
    assert np.sum(then.reasons == SETTLED) > 50
    assert np.sum(then.mask) > 50


def test_now_and_then_an_example_is_asked_about_in_full_all_the_same():
    # With a chance of half the audits' rate, here one half.
    X, cost = dense_problem(2, 9, 4000)
    learner = CoalClassifier(range(9), audits=Audits(1.0))
    simulate(learner, X[:60], cost[:60])
    queries = learner.ask(X)
    several = np.sum(queries.mask & ~queries.audit, axis=1) > 1
    at_once = np.all(queries.next == queries.mask, axis=1)[several]
    assert abs(at_once.mean() - 0.5) < 4 * 0.5 / np.sqrt(len(at_once))
    assert len(at_once) > 500


@pytest.mark.parametrize("from_matrix", [False, True])
@pytest.mark.parametrize("kind", ["dense", "sparse"])
def test_an_interview_is_a_simulated_run_to_the_bit(kind, from_matrix):
    X, cost = dense_problem(4, 6, 200) if kind == "dense" else sparse_problem(4, 6, 200)
    cost = matrix_costs(cost) if from_matrix else cost
    random = np.random.default_rng(4)
    cost[random.random(cost.shape) < 0.1] = np.nan
    candidates = random.random(cost.shape) < 0.8
    played, interviewed = (CoalClassifier(range(6), shuffle=False) for _ in range(2))
    simulate(played, X, cost, candidates=candidates)
    interviewed.interview(X, lambda i, label: cost[i, label], candidates=candidates)
    assert state_of(interviewed) == state_of(played)
    assert state_of(ask_and_tell(CoalClassifier(range(6)), X, cost, candidates)) == state_of(played)


@given(seeds)
@settings(max_examples=10)
def test_asking_with_known_costs_changes_nothing_and_repeats_itself(seed):
    X, cost = problem(seed, 5, 80, from_matrix=True)
    learner = CoalClassifier(range(5))
    simulate(learner, X[:60], cost[:60])
    before = state_of(learner)
    known = np.where(learner.ask(X[60:]).next, cost[60:], np.nan)
    given_costs = known.copy()
    one, other = learner.ask(X[60:], known=known), learner.ask(X[60:], known=known)
    for name in ("mask", "next", "reason_codes", "propensity"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name))
    np.testing.assert_array_equal(known, given_costs)
    assert state_of(learner) == before


# -- what answers imply


def trust_of(learner):
    """Per level and class of counts."""
    errors = learner.model_.state.trust + DOUBT
    return 1 - errors[:, :, 0] / errors[:, :, 1]


def best_trust(learner, label, known):
    """The most trusted average that the known costs have for a label."""
    model, found = learner.model_.state, [0.0]
    for source in np.flatnonzero(~np.isnan(known)):
        level = int(np.floor(8 * known[source] + 0.5))
        count = model.implied[source, level, label, COUNT]
        if count:
            found.append(trust_of(learner)[level, np.searchsorted([2, 4, 16], count, side="right")])
    return max(found)


def fates_of_settled(X, cost):
    """For each label settled in a run of interviews, the trust in what was implied and whether its weights moved."""
    n_labels = cost.shape[1]
    learner = online(n_labels)
    trusts, moved = [], []
    for i in range(len(X)):
        row, before = X[i : i + 1], copy.deepcopy(learner)
        listed = learner.ask(row)
        asked = asked_by(learner, row, cost[i])
        if listed.reasons[0, 0] == "warm-up":
            continue
        known = np.where(asked, cost[i], np.nan)
        then = before.ask(row, known=known[None], asked=asked[None])
        for label in np.flatnonzero(then.reasons[0] == SETTLED):
            trusts.append(best_trust(before, label, known))
            moved.append(not same_regressor(before, learner, label))
    return np.array(trusts), np.array(moved), learner


def same_regressor(one, other, label):
    one, other = one.model_.arrays(), other.model_.arrays()
    slots = len(one["cells"])
    return np.array_equal(one["cells"][:, :, label], other["cells"][:slots, :, label]) and all(
        one[name][label] == other[name][label] for name in ("norm_sum", "updates", "squared_residuals", "answered")
    )


@pytest.mark.parametrize("from_matrix", [False, True])
def test_a_settled_label_learns_if_and_only_if_what_is_implied_is_trusted(from_matrix):
    X, cost = problem(3, 5, 400, from_matrix=from_matrix)
    trusts, moved, _ = fates_of_settled(X, cost)
    assert len(trusts) > 50
    np.testing.assert_array_equal(moved[trusts <= LEAST_TRUST], False)
    assert np.all(moved[trusts > LEAST_TRUST])
    assert (moved.mean() > 0.2) == from_matrix == moved.any()
    assert np.any(~moved)


def test_costs_that_never_repeat_earn_no_trust():
    # Every label's cost is at another level in every example, so that no average is ever tested.
    cost = np.array([[(i + 2 * label) % 9 / 8 for label in range(3)] for i in range(9)])
    learner = online(3).partial_fit(np.eye(9), cost=cost)
    assert np.all(trust_of(learner) == 0)
    learner.partial_fit(np.eye(9), cost=cost)
    assert np.any(trust_of(learner) != 0)  # now they have repeated


def test_with_a_cost_matrix_a_label_without_cost_soon_tells_all_others():
    X, cost = dense_problem(5, 6, 400)
    learner = online(6, rule__warm_up=400)  # asked about in full, so that every average is tested
    found = []
    for part in (slice(0, 40), slice(40, 400)):
        simulate(learner, X[part], matrix_costs(cost)[part])
        found.append(trust_of(learner)[0])
    early, late = found
    assert np.all(late >= early - 1e-9)
    assert late[3] > LEAST_TRUST
    assert learner.model_.state.trust[0, :, 0].max() < 1e-9  # a matrix is never wrong


# -- units


@pytest.fixture(scope="module")
def digits():
    X, y = load_digits(return_X_y=True)
    order = np.random.default_rng(0).permutation(len(X))
    return X[order], 1.0 - np.eye(10)[y[order]]


def life_with(digits, *, features=1.0, costs=1.0):
    """The questions of a run over the digits measured in other units, its predictions, and its test cost."""
    X, cost = digits[0] * features, digits[1] * costs
    ledger = MemoryLedger()
    learner = online(10, cost_bounds=(0, costs)).record_to(ledger)
    curve = simulate(learner, X[:1300], cost[:1300], X_test=X[1300:], cost_test=cost[1300:])
    questions = [list(one.costs) for one in ledger]
    return questions, learner.predict_cost(X[1300:]) / costs, curve.test_cost[-1] / costs


def number_of(questions):
    return sum(map(len, questions))


@pytest.mark.parametrize("power", [-10, 10])
def test_features_in_units_of_a_power_of_two_change_nothing_at_all(digits, power):
    questions, predicted, test_cost = life_with(digits, features=2.0**power)
    as_they_are = life_with(digits)
    assert questions == as_they_are[0]
    np.testing.assert_array_equal(predicted, as_they_are[1])
    assert test_cost < 0.2


@pytest.mark.parametrize("factor", [1e-3, 1e3])
def test_features_in_other_units_change_what_rounding_does(digits, factor):
    questions, _, test_cost = life_with(digits, features=factor)
    assert number_of(questions) == pytest.approx(number_of(life_with(digits)[0]), rel=0.02)
    assert test_cost < 0.2


def test_costs_in_another_currency_change_no_question(digits):
    questions, predicted, test_cost = life_with(digits, costs=100.0)
    as_they_are = life_with(digits)
    assert questions == as_they_are[0]
    np.testing.assert_allclose(predicted, as_they_are[1], rtol=0, atol=1e-12)
    assert test_cost < 0.2
    assert number_of(questions) < 0.3 * 13000


def test_a_committee_does_not_care_about_units_of_a_power_of_two():
    X, cost = dense_problem(7, 3, 150)
    one, other = CoalClassifier(range(3)), CoalClassifier(range(3), cost_bounds=(0, 4))
    simulate(one, X, cost)
    simulate(other, X * 2.0**9, 4 * cost)
    assert len(one.committee_) == 3
    assert other.costs_queried_ == one.costs_queried_
    np.testing.assert_array_equal(other.predict_cost(X * 2.0**9), 4 * one.predict_cost(X))


# -- the automatic warm-up


def rounds_in_full(best, n_labels):
    """How many rounds of a stream with these best labels are asked about in full because of the warm-up."""
    learner = CoalClassifier(range(n_labels))
    X = np.random.default_rng(0).normal(size=(len(best), 4))
    warm = []
    for row, truth in zip(X, best, strict=True):
        warm.append(learner.ask([row]).reasons[0, 0] == "warm-up")
        learner.interview([row], lambda _, label, truth=truth: 1.0 - (label == truth))
    assert warm == sorted(warm, reverse=True)  # over once, over for good
    return sum(warm)


MIXED = [0, 1, 2, 3] * 15


@pytest.mark.parametrize(
    ("best", "n_labels", "rounds"),
    [
        (MIXED, 4, 5),
        ([1, 2] + [3] * 58, 4, 5),
        ([0] * 30 + MIXED[:30], 4, 33),  # labels 0, 1 and 2 were best by then
        ([0] * 30 + [1] * 30, 4, 50),
        ([0] * 60, 4, 50),
        ([0] * 30 + [1] * 30, 2, 31),  # two of two
        ([0] * 60, 1, 5),
    ],
)
def test_the_warm_up_goes_on_while_the_best_labels_are_all_of_one_kind(best, n_labels, rounds):
    assert rounds_in_full(best, n_labels) == rounds


# -- the same learner again


@pytest.mark.parametrize("cut", [3, 30, 150])
@pytest.mark.parametrize("model", ["auto", "online"])
def test_a_learner_that_trusts_resumes_from_a_file_and_from_its_ledger(tmp_path, cut, model):
    X, cost = problem(6, 5, 250, from_matrix=True)
    ledger = MemoryLedger()
    whole = CoalClassifier(range(5), model=model, shuffle=False).record_to(ledger)
    simulate(whole, X, cost)
    first = CoalClassifier(range(5), model=model, shuffle=False)
    simulate(first, X[:cut], cost[:cut])
    first.save(tmp_path / "model")
    second = CoalClassifier.load(tmp_path / "model")
    second.interview(X[cut:], lambda i, label: cost[cut + i, label])
    assert state_of(second) == state_of(whole)
    assert state_of(CoalClassifier.from_ledger(ledger)) == state_of(whole)
    if model == "online":
        assert trust_of(whole).max() > LEAST_TRUST

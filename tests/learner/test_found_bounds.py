"""With ``cost_bounds="auto"``, bounds follow the answers, as if they had been known from the beginning."""

import copy
import pickle

import numpy as np
import pytest

from coalface import (
    Abstain,
    Budget,
    CoalClassifier,
    JsonLinesLedger,
    MemoryLedger,
    evaluation_report,
    simulate,
)
from coalface.errors import InputError
from coalface.evaluate import simulate_serving

LABELS = ["walk", "ride", "fly"]
MODELS = ["online", "ridge", "forest", "auto"]
NAN = float("nan")


def trips(n=50, seed=0, scale=100.0, shift=0.0):
    """Examples and costs whose range is a surprise: in dollars, with a heavy tail."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4)).astype(np.float32)
    return X, scale * (np.exp(X @ rng.normal(size=(4, 3)) + rng.normal(size=(n, 3))) + shift)


def found(**params):
    return CoalClassifier(LABELS, cost_bounds="auto", **params)


def told_one_by_one(learner, X, cost):
    """All bounds that the learner used on the way."""
    bounds = [learner.cost_bounds_]
    for row in range(len(X)):
        learner.tell(X[row : row + 1], cost[row : row + 1])
        bounds.append(learner.cost_bounds_)
    return list(dict.fromkeys(bounds))


def asked_and_told(learner, X, cost, **given):
    """The masks of the questions about each example, after whose answers the next is asked about."""
    masks = []
    for row in range(len(X)):
        queries = learner.ask(X[row : row + 1], **given)
        masks.append(queries.mask[0])
        learner.tell(X[row : row + 1], np.where(queries.mask, cost[row : row + 1], NAN), asked=queries)
    return np.array(masks)


def assert_alike(one, other, but=()):
    """Both learners have learned the same, bit for bit."""
    ours, theirs = one.model_.saved(), other.model_.saved()
    assert ours.keys() == theirs.keys()
    for name in ours.keys() - set(but):
        np.testing.assert_array_equal(ours[name], theirs[name], err_msg=name)


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("shift", [0.0, -5.0])
def test_answers_one_by_one_teach_as_if_the_last_bounds_had_been_known_from_the_beginning(model, shift):
    X, cost = trips(shift=shift)
    learner = found(model=model)
    bounds = told_one_by_one(learner, X, cost)
    assert len(bounds) > 3
    fixed = CoalClassifier(LABELS, model=model, cost_bounds=bounds[-1]).tell(X, cost)
    assert_alike(learner, fixed)
    np.testing.assert_array_equal(learner.predict_cost(X), fixed.predict_cost(X))
    np.testing.assert_array_equal(learner.ask(X).mask, fixed.ask(X).mask)


def test_later_labels_retired_ones_and_late_answers_are_learned_again_too():
    X, cost = trips()

    def taught(learner):
        learner.tell(X[:9], cost[:9], candidates=cost[:9] < 300).add_label("swim").tell(X[:1], [[NAN, 3.0, NAN, 8.0]])
        learner.retire_label("ride").tell(X[:1], [[1.0, NAN, NAN, NAN]], late=True)
        learner.observe(X[9:12], ["fly", "swim", "walk"], [70.0, 30.0, 20.0], [0.5, 0.1, 1.0])
        return learner.tell(X[:1], [[-1e4, NAN, 1e6, 2.0]])

    widened = taught(found(model="online"))
    low, high = widened.cost_bounds_
    assert low <= -1e4
    assert high == 1e6
    assert_alike(widened, taught(CoalClassifier(LABELS, model="online", cost_bounds=(low, high))))


@pytest.mark.parametrize("model", MODELS)
def test_the_unit_of_costs_makes_no_difference(model):
    X, cost = trips(n=40)
    one, other = found(model=model, audits="loss"), found(model=model, audits="loss")
    masks = asked_and_told(one, X, cost)
    np.testing.assert_array_equal(masks, asked_and_told(other, X, 1024 * cost))
    assert other.cost_bounds_ == tuple(1024 * np.array(one.cost_bounds_))
    np.testing.assert_array_equal(one.predict(X), other.predict(X))


@pytest.mark.parametrize("unit", [1.0, 1000.0])
def test_an_interview_asks_the_same_in_any_unit(unit):
    X, cost = trips(n=40)
    asked = []
    learner = found(model="online", budget=Budget(costs=60))
    learner.interview(X, lambda i, label: asked.append((i, label)) or unit * cost[i, LABELS.index(label)])
    plain = []
    found(model="online", budget=Budget(costs=60)).interview(
        X, lambda i, label: plain.append((i, label)) or cost[i, LABELS.index(label)]
    )
    assert asked == plain
    assert len(asked) == learner.costs_queried_ == 60


@pytest.mark.parametrize("model", ["online", "auto"])
@pytest.mark.parametrize("stored", [False, True])
def test_a_ledger_repeats_all_widenings_bit_for_bit(model, stored, tmp_path):
    X, cost = trips()
    ledger = JsonLinesLedger(tmp_path / "answers") if stored else MemoryLedger()
    learner = found(model=model, abstain=Abstain(200.0)).record_to(ledger)
    asked_and_told(learner, X[:20], cost[:20], offset=[0.0, 30.0, 5.0])
    pending = learner.ask(X[20:30])
    simulate(learner, X[30:], 3 * cost[30:])
    learner.add_label("swim").tell(X[20:30], np.c_[cost[20:30], cost[20:30, :1]] - 500, asked=pending, late=True)
    learner.observe(X[:1], "swim", 1e5, 0.5)
    again = CoalClassifier.from_ledger(JsonLinesLedger(tmp_path / "answers") if stored else ledger)
    assert again.cost_bounds_ == learner.cost_bounds_
    assert len({one.bounds for one in ledger if getattr(one, "bounds", None)}) > 3
    assert_alike(again, learner)
    ends = [copy.deepcopy(one).tell(X[:1], [[-1e6, 1e6, 1.0, 2.0]]) for one in (learner, again)]
    assert_alike(*ends)
    assert ends[0].cost_bounds_ != learner.cost_bounds_


@pytest.mark.parametrize("learn", ["fit", "active", "simulate"])
def test_costs_that_are_given_at_once_decide_the_bounds_at_once(learn):
    X, cost = trips(shift=-3.0)
    one, other = found(), CoalClassifier(LABELS, cost_bounds=(cost.min(), cost.max()))
    curves = []
    for learner in (one, other):
        if learn == "simulate":
            curves.append(simulate(learner, X, cost, X_test=X, cost_test=cost).test_cost.tolist())
        else:
            learner.fit(X, cost=cost, active=learn == "active")
    assert one.cost_bounds_ == (cost.min(), cost.max())
    assert_alike(one, other)
    assert curves == [] or curves[0] == curves[1]
    assert one.score(X, cost=cost) == other.score(X, cost=cost)
    one.tell(X[:1], [[10 * cost.max(), NAN, NAN]])
    wider = CoalClassifier(LABELS, cost_bounds=one.cost_bounds_)
    if learn == "fit":  # which asks for nothing that depends on the bounds
        assert_alike(one, wider.fit(X, cost=cost).tell(X[:1], [[10 * cost.max(), NAN, NAN]]))


def test_a_simulation_within_a_budget_ends_as_with_fixed_bounds():
    X, cost = trips()
    learners = [
        CoalClassifier(LABELS, model="online", cost_bounds=bounds, budget=Budget(costs=71))
        for bounds in ("auto", (cost.min(), cost.max()))
    ]
    for learner in learners:
        simulate(learner, X, cost)
    assert [learner.spent_ for learner in learners] == [71, 71]
    assert_alike(*learners)


def test_bounds_before_the_first_answer_are_0_and_1_and_zeros_decide_nothing():
    X, _ = trips(n=2)
    learner = found(model="online")
    assert learner.cost_bounds_ == (0.0, 1.0)
    assert learner.tell(X, np.zeros((2, 3))).cost_bounds_ == (0.0, 1.0)
    assert learner.tell(X[:1], [[NAN, 7.0, NAN]]).cost_bounds_ == (0.0, 7.0)
    assert found().tell(X[:1], [[-2.0, -2.0, -2.0]]).cost_bounds_ == (-2.0, 0.0)
    assert found().tell(X[:1], [[0.3, 0.2, 0.1]]).cost_bounds_ == (0.1, 0.3)


def test_bounds_double_so_that_they_seldom_widen_and_do_not_pass_0_needlessly():
    X = np.ones((1500, 1), np.float32)
    growing = np.arange(1, 1501.0)[:, None] + np.arange(3)
    rising = told_one_by_one(found(model="online"), X, growing)
    falling = told_one_by_one(found(model="online"), X, -growing)
    assert 5 < len(rising) < 14
    assert rising[-1][0] == 1.0
    assert rising[-1][1] >= 1502.0
    assert 5 < len(falling) < 14
    assert falling[-1][0] <= -1502.0
    assert max(high for _, high in falling[1:]) < 0.0


def test_a_few_costs_of_a_heavy_tail_are_learned_as_the_upper_bound_and_recorded_as_they_were():
    X, cost = trips(n=400)
    cost = np.minimum(cost, 500.0)
    cost[17, 1] = 1e9
    ledger = MemoryLedger()
    learner = found(model="online").record_to(ledger).partial_fit(X, cost=cost)
    assert learner.cost_bounds_ == (cost.min(), 500.0)
    fixed = CoalClassifier(LABELS, model="online", cost_bounds=(cost.min(), 500.0))
    assert_alike(learner, fixed.partial_fit(X, cost=np.minimum(cost, 500.0)))
    assert list(ledger)[17].costs["ride"] == 1e9
    assert learner.score(X[17:18], cost=np.full((1, 3), 1e9)) == pytest.approx(-1e9)


def test_answers_beyond_the_bounds_change_what_is_asked_next_on_the_users_scale():
    X, cost = trips()
    learner = found().tell(X, cost)
    ranges, low, high = learner.cost_range(X), *learner.cost_bounds_
    assert low <= ranges.lowest.min() < 10 < ranges.highest.max() <= high
    known = np.full((1, 3), NAN)
    known[0, 0] = low - 1e6  # nothing can be cheaper
    assert not learner.ask(X[:1], known=known).mask.any()
    assert evaluation_report(learner, X, cost=2 * cost).cost.mean == pytest.approx(-learner.score(X, cost=2 * cost))


def test_abstaining_costs_what_it_costs_in_any_unit():
    X, cost = trips(n=60)
    for unit in (1.0, 1024.0):
        learner = found(model="ridge", abstain=Abstain(unit * 150.0)).tell(X, unit * cost)
        fixed = CoalClassifier(
            LABELS, model="ridge", abstain=Abstain(unit * 150.0), cost_bounds=learner.cost_bounds_
        ).tell(X, unit * cost)
        assert_alike(learner, fixed)
        assert 0 < (learner.predict(X) == "abstain").sum() < 60
        np.testing.assert_array_equal(learner.predict(X), fixed.predict(X))
        assert learner.score(X, cost=unit * cost) == pytest.approx(fixed.score(X, cost=unit * cost))


def test_a_saved_learner_keeps_its_bounds_and_warns_once_that_they_no_longer_widen(tmp_path):
    X, cost = trips()
    learner = found(model="online").tell(X, cost)
    low, high = learner.cost_bounds_
    learner.save(tmp_path / "model")
    loaded = CoalClassifier.load(tmp_path / "model")
    assert loaded.cost_bounds_ == (low, high)
    assert_alike(loaded, learner)
    with pytest.warns(UserWarning, match=r"A cost outside .* was learned as the nearest bound.*from_ledger"):
        loaded.tell(X[:1], [[10 * high, NAN, NAN]])
    loaded.tell(X[:1], [[20 * high, NAN, NAN]])
    fixed = CoalClassifier(LABELS, model="online", cost_bounds=(low, high)).tell(X, cost)
    assert_alike(loaded, fixed.tell(X[:1], [[high, NAN, NAN]]).tell(X[:1], [[high, NAN, NAN]]))


def test_a_learner_saved_before_its_first_answer_finds_its_bounds_later(tmp_path):
    X, cost = trips()
    found().save(tmp_path / "model")
    loaded = CoalClassifier.load(tmp_path / "model")
    assert len(told_one_by_one(loaded, X, cost)) > 3


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda learner: pickle.loads(pickle.dumps(learner))])
def test_copies_widen_their_bounds_as_the_original(copied):
    X, cost = trips()
    learner = found(model="online").tell(X[:20], cost[:20])
    twin = copied(learner)
    for one in (learner, twin):
        one.tell(X[20:], 50 * cost[20:])
    assert_alike(learner, twin)
    assert twin.cost_bounds_[1] > 1000


def test_serving_finds_its_bounds():
    X, cost = trips()
    learner = found(model="online")
    curve = simulate_serving(learner, X, cost)
    assert learner.cost_bounds_ == (cost.min(), cost.max())
    assert curve.progressive_cost == pytest.approx(np.mean(curve.cost))


@pytest.mark.parametrize("wrong", [np.inf, -np.inf, 1e200])
def test_costs_without_a_finite_range_are_refused_and_nothing_changes(wrong):
    X, cost = trips()
    learner = found(model="online").tell(X, cost)
    before = copy.deepcopy(learner)
    with pytest.raises(InputError, match=r"cost of label 'ride' \(row 0\) must lie in \[-1e\+30, 1e\+30\]"):
        learner.tell(X[:2], [[1e6, wrong, 0.0], [1.0, 1.0, 1.0]])
    with pytest.raises(InputError, match="offset"):
        learner.tell(X[:1], [[1e6, 1.0, 0.0]], offset=[1.0])
    assert learner.cost_bounds_ == before.cost_bounds_
    assert_alike(learner, before)
    with pytest.raises(InputError, match=r"cost_bounds must be a pair \(low, high\) or 'auto', got 'automatic'"):
        CoalClassifier(LABELS, cost_bounds="automatic").begin()

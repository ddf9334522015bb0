"""When to stop: an unbiased estimate of what answers cost, an honest interval, and runs that end in time."""

import json

import numpy as np
import pytest
from sklearn.datasets import load_digits

from coalface import Abstain, Audits, Coal, CoalClassifier, Curve, MemoryLedger, OnlineModel, Saving, simulate
from coalface.errors import InputError
from coalface.kernels.state import MEAN_COST, MEAN_PREDICTED, MEAN_REACHABLE, N_SAVING, ROUNDS, SQUARED_SHARES, VARIANCE
from coalface.kernels.stopping import MEMORY, MIN_ROUNDS, saving_interval, saving_is_below

from ..problems import ask_and_tell, dense_problem, state_of
from ..reference.stopping import Round, reference_saving


def noisy(seed, n, n_labels=3, n_features=4):
    """Rows, the expected costs of their labels, and costs of 0 or 1 with these expectations."""
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, n_features)).astype(np.float32)
    expected = 1 / (1 + np.exp(1 - 2 * X @ random.normal(size=(n_features, n_labels))))
    return X, expected, (random.random(expected.shape) < expected).astype(np.float32)


def auditing(n_labels=3, **params):
    rule, audits = Coal(warm_up=2), Audits(0.2)
    params = {"model": "online", "shuffle": False, **params}
    learner = CoalClassifier(range(n_labels), rule=rule, mellowness=0.001, audits=audits)
    return learner.set_params(**params)  # any model would do: this one is fast


def decided(learner, queries, costs, candidates):
    """What the learner decided about one row, for the reference."""
    return Round(
        np.float32(queries.predicted[0]),
        np.float32(queries.ranges.lowest[0]),
        queries.propensity[0],
        queries.mask[0],
        costs[0],
        candidates[0],
        np.inf if learner.abstain is None else learner.abstain.cost,
    )


@pytest.mark.parametrize("abstain", [None, Abstain(0.25)], ids=str)
def test_the_estimate_is_the_references_also_when_it_has_begun_to_forget(abstain):
    n = int(MEMORY) + 300
    X, _, cost = noisy(1, n)
    random = np.random.default_rng(1)
    cost[random.random(cost.shape) < 0.1] = np.nan
    allowed = random.random(cost.shape) < 0.8
    allowed[:, 0] |= ~allowed.any(axis=1)
    learner = auditing(mellowness=0.003, abstain=abstain)
    rounds = []
    for i in range(n):
        queries = learner.ask(X[i : i + 1], candidates=allowed[i : i + 1])
        answers = np.where(queries.mask, cost[i : i + 1], np.nan)
        rounds.append(decided(learner, queries, answers, allowed[i : i + 1]))
        learner.tell(X[i : i + 1], answers, asked=queries, candidates=allowed[i : i + 1])
        if i + 1 in (MIN_ROUNDS, 700, n):
            found, expected = learner.saving_, reference_saving(rounds)
            for name in ("estimate", "rounds", "cost", "expected", "reachable"):
                assert getattr(found, name) == pytest.approx(
                    getattr(expected, name), rel=1e-9, abs=0.5 * (name == "rounds")
                )
            assert found.high - found.estimate == pytest.approx(expected.half, rel=1e-9)
            assert found.estimate - found.low == pytest.approx(expected.half, rel=1e-9)
    chances = np.array([each.chance for each in rounds])
    assert 0.3 < np.mean(chances < 1) < 0.95
    assert (abstain is None) == all(each.answer is not None for each in rounds)


def test_over_many_streams_the_estimate_is_right_on_average_and_the_interval_holds_the_truth():
    n, errors, halves, believed, answered = 400, [], [], [], []
    for seed in range(150):
        X, expected, cost = noisy(seed, n)
        learner = auditing(random_state=seed).record_to(ledger := MemoryLedger())
        simulate(learner, X, cost)
        labels = np.array([int(one.outlook.label) for one in ledger])
        truth = expected[np.arange(n), labels].mean()
        saving = learner.saving_
        errors.append(saving.cost - truth)
        halves.append(saving.high - saving.estimate)
        believed.append(saving.expected - truth)
        answers = [one.costs[one.outlook.label] for one in ledger if one.outlook.label in one.costs]
        answered.append(np.mean(answers) - truth)
    errors, halves = np.array(errors), np.array(halves)
    assert abs(errors.mean()) < 3 * errors.std() / np.sqrt(len(errors))
    assert np.mean(np.abs(errors) <= halves) >= 0.95
    assert halves.mean() < 5 * errors.std()  # and not because it holds everything
    # What the learner believes, and the plain mean of what was answered, are both off by more than that.
    assert abs(np.mean(believed)) > 6 * np.std(believed) / np.sqrt(len(errors))
    assert abs(np.mean(answered)) > 6 * np.std(answered) / np.sqrt(len(errors))


@pytest.mark.parametrize(
    ("n_labels", "params"),
    [(1, {"audits": Audits(1.0)}), (3, {"rule__variant": "passive"}), (3, {"rule__warm_up": 400})],
    ids=str,
)
def test_where_everything_is_asked_for_the_cost_is_the_plain_mean(n_labels, params):
    X, cost = dense_problem(3, n_labels, 400)
    learner = auditing(n_labels, **params)
    paid, reachable = [], []
    for i in range(400):
        row = X[i : i + 1]
        paid.append(cost[i, learner.predict(row)[0]])
        reachable.append(learner.cost_range(row).lowest.min())
        ask_and_tell(learner, row, cost[i : i + 1])
    assert learner.saving_.cost == pytest.approx(np.mean(paid, dtype=np.float64), rel=1e-9)
    assert learner.saving_.reachable == pytest.approx(np.mean(reachable), rel=1e-9)


def test_the_estimate_is_in_the_unit_of_the_costs():
    X, _, cost = noisy(2, 500)
    one, other = auditing(), auditing(cost_bounds=(-20, 180))
    simulate(one, X, cost)
    simulate(other, X, 200 * cost - 20)
    for name in ("estimate", "low", "high"):
        assert getattr(other.saving_, name) == pytest.approx(200 * getattr(one.saving_, name))
    for name in ("cost", "expected", "reachable"):
        assert getattr(other.saving_, name) == pytest.approx(200 * getattr(one.saving_, name) - 20)
    high = one.saving_.high
    assert one.should_stop(1.001 * high)
    assert not one.should_stop(0.999 * high)
    assert other.should_stop(200.2 * high)
    assert not other.should_stop(199.8 * high)


# -- the basis of the estimate


def test_without_audits_or_with_few_rounds_there_is_no_estimate():
    X, _, cost = noisy(3, 300)
    learner = auditing()
    assert learner.saving_ is None
    simulate(learner, X[:99], cost[:99])
    assert learner.saving_ is None
    assert not learner.should_stop(10.0)
    simulate(learner, X[99:100], cost[99:100])
    assert learner.saving_.rounds == 100
    simulate(learner.set_params(audits=None), X[100:], cost[100:])
    assert learner.saving_ is None


def retold(learner, X, cost):
    learner.tell(X, cost)


def told_by_mask(learner, X, cost):
    learner.tell(X, cost, asked=learner.ask(X).mask)


def told_limited(learner, X, cost):
    learner.tell(X, cost, asked=learner.ask(X, max_costs=1))


def fitted(learner, X, cost):
    learner.partial_fit(X, cost=cost)


def told_otherwise(learner, X, cost):
    others = ~learner.ask(X).mask
    learner.tell(X, np.where(others, cost, np.nan), asked=others)


@pytest.mark.parametrize("act", [retold, told_by_mask, told_limited, fitted, told_otherwise])
def test_a_round_whose_chances_are_unknown_resets_the_estimate(act):
    X, _, cost = noisy(4, 400)
    learner = auditing(mellowness=0.01)
    ask_and_tell(learner, X[:200], cost[:200])
    assert learner.saving_ is not None
    asking = next(i for i in range(200, 400) if learner.ask(X[i : i + 1]).costs_asked == 2)
    act(learner, X[asking : asking + 1], cost[asking : asking + 1])
    assert not learner.model_.state.saving.any()


def test_late_answers_and_rounds_without_any_answer_keep_the_estimate():
    X, _, cost = noisy(5, 300)
    learner = ask_and_tell(auditing(), X[:200], cost[:200])
    before = learner.saving_
    learner.tell(X[:50], cost[:50], late=True)
    assert learner.saving_ == before
    queries = learner.ask(X[200:])
    learner.tell(X[200:], np.full((100, 3), np.nan), asked=queries)  # all "can't tell": costs count as predicted
    assert learner.saving_.rounds == 300


def test_a_batch_counts_as_it_looked_when_it_was_asked_about():
    X, _, cost = noisy(6, 400)
    learner = ask_and_tell(auditing(), X[:100], cost[:100])
    rounds, queries = [], learner.ask(X[100:])
    answers = np.where(queries.mask, cost[100:], np.nan)
    predicted, lowest = np.float32(queries.predicted), np.float32(queries.ranges.lowest)
    everything = np.ones(3, bool)
    for i in range(300):
        parts = (predicted[i], lowest[i], queries.propensity[i], queries.mask[i], answers[i], everything)
        rounds.append(Round(*parts))
    fresh = auditing()
    fresh.tell(X[100:], answers, asked=queries)  # what was asked may be told to another learner
    assert fresh.saving_.cost == pytest.approx(reference_saving(rounds).cost, rel=1e-9)


# -- guards


def kept(**numbers):
    """The numbers that a learner keeps, after many rounds of little variance."""
    saving = np.zeros(N_SAVING)
    saving[[ROUNDS, SQUARED_SHARES, VARIANCE]] = 2000, 1 / 4000, 1e-4
    saving[[MEAN_COST, MEAN_PREDICTED, MEAN_REACHABLE]] = numbers["cost"], numbers["predicted"], numbers["reachable"]
    return saving


@pytest.mark.parametrize(
    ("cost", "predicted", "reachable", "estimate"),
    [
        (0.3, 0.2, 0.1, 0.2),  # answers cost more than was believed
        (0.2, 0.3, 0.1, 0.2),  # they cost less: then what is reachable is believed too high as well
        (0.1, 0.6, 0.05, 0.1),  # far less: but no more than all that answers cost can be saved
        (0.2, 0.5, 0.4, 0.2),  # they cost less than is said to be reachable: the ranges are refuted
    ],
)
def test_what_can_be_saved_is_never_too_little_because_predictions_are_off(cost, predicted, reachable, estimate):
    saving = kept(cost=cost, predicted=predicted, reachable=reachable)
    found, half, reached = saving_interval(saving)
    assert found == pytest.approx(estimate)
    assert reached == (0.0 if cost < reachable else reachable)
    assert saving_interval.py_func(saving) == (found, half, reached)
    assert saving_is_below(saving, found + half + 1e-9)
    assert not saving_is_below(saving, found + half - 1e-9)
    assert not saving_is_below(saving, float("-inf"))
    assert not saving_is_below(np.zeros(N_SAVING), 1.0)


def test_a_learner_with_narrow_ranges_in_the_wrong_place_does_not_stop():
    # With this learning rate the predictions for the true digit stay near 0.5 long after answers are mostly right.
    X, y = load_digits(return_X_y=True)
    learner = CoalClassifier(
        classes=range(10),
        audits=Audits(0.3),
        model=OnlineModel(learning_rate=0.1),
        mellowness=0.03,
        rule=Coal(slack="noise-scaled"),
    )
    curve = simulate(learner, X / 16, (1.0 - np.eye(10))[y], stop_saving=0.03)
    assert not curve.stopped
    assert learner.saving_.reachable == 0.0
    assert learner.saving_.expected > learner.saving_.cost + 0.1
    assert learner.saving_.estimate == learner.saving_.cost


def test_a_learner_that_has_collapsed_does_not_stop():
    X, y = load_digits(return_X_y=True)
    learner = CoalClassifier(
        classes=range(10),
        audits=Audits(0.02),
        rule=Coal(warm_up=1),
        mellowness=1e-6,
        model=OnlineModel(learning_rate=1e-3),
    )
    learner.tell([X[0] / 16] * 300, [[0.0] + [1.0] * 9] * 300)  # it has seen one example, and believes in it
    simulate(learner, X / 16, (1.0 - np.eye(10))[y])
    assert learner.costs_queried_ < 3100
    assert learner.saving_.high > 0.2


# -- runs that end


@pytest.mark.parametrize(
    "params", [{}, {"cost_bounds": (0, 10)}, {"abstain": Abstain(0.3)}, {"rule__variant": "passive"}], ids=str
)
def test_a_stopped_run_ends_where_the_loop_of_ask_and_tell_would(params):
    X, _, cost = noisy(8, 1500)
    learner, other = auditing(**params), auditing(**params)
    cost = cost * learner.cost_bounds[1] if "cost_bounds" in params else cost
    whole = auditing(**params)
    simulate(whole, X, cost)
    saving = 1.3 * whole.saving_.high
    curve = simulate(learner, X, cost, stop_saving=saving)
    for i in range(1500):
        if other.should_stop(saving):
            break
        ask_and_tell(other, X[i : i + 1], cost[i : i + 1])
    assert state_of(learner) == state_of(other)
    assert curve.stopped
    assert not curve.interrupted
    assert 100 < curve.rounds[-1] < 1500
    assert curve.rounds[-1] == learner.round_ - 1
    assert learner.should_stop(saving)
    assert str(curve).endswith(", stopped")
    assert Curve.from_json(curve.to_json()).stopped
    again = simulate(learner, X, cost, stop_saving=saving)
    assert (again.stopped, learner.round_) == (True, other.round_)  # it has nothing left to do


def test_a_run_that_cannot_save_so_little_goes_to_its_end():
    X, _, cost = noisy(9, 300)
    one, other = auditing(), auditing()
    curve = simulate(one, X, cost, stop_saving=1e-6)
    simulate(other, X, cost)
    assert not curve.stopped
    assert curve.rounds[-1] == 300
    assert state_of(one) == state_of(other)


def test_a_curve_written_before_there_was_stopping_can_be_read():
    X, _, cost = noisy(10, 50)
    values = json.loads(simulate(auditing(), X, cost).to_json())
    del values["stopped"]
    assert not Curve.from_values(values).stopped


@pytest.mark.parametrize("saving", [0, -0.1, float("nan"), float("inf"), "little", None])
def test_a_saving_must_be_a_cost(saving):
    learner = auditing()
    X, _, cost = noisy(11, 5)
    with pytest.raises(InputError, match=r"saving must be a finite number greater than 0.*got"):
        learner.should_stop(saving)
    if saving is not None:
        with pytest.raises(InputError, match=r"stop_saving must be a finite number greater than 0.*got"):
            simulate(learner, X, cost, stop_saving=saving)
    assert learner.round_ == 1


def test_without_audits_stopping_is_refused_and_the_remedy_named():
    X, _, cost = noisy(12, 5)
    learner = auditing(audits=None)
    for name, call in (
        ("saving", lambda: learner.should_stop(0.1)),
        ("stop_saving", lambda: simulate(learner, X, cost, stop_saving=0.1)),
    ):
        with pytest.raises(
            InputError, match=f"^{name} needs audits.*audits must have a rate above 0, got 0.0. Pass audits="
        ):
            call()
    assert state_of(learner) is None


def test_in_words():
    saving = Saving(0.0312, 0.011, 0.0514, 2000, 0.12, 0.1, 0.0888)
    assert str(saving) == (
        "0.0312 per example (95 % interval 0.011 to 0.0514, from 2000 rounds): answers cost 0.12, and 0.0888 at best"
    )


def test_no_saving_below_0_is_shown():
    saving = Saving(-0.1, -2.46, 10.2, 1800, 3.9, 2.0, 4.0)
    assert str(saving).startswith("0 per example (95 % interval 0 to 10.2, from 1800 rounds)")
    assert saving.low == -2.46


@pytest.mark.parametrize("model", ["online", "forest", "classes"])
def test_labels_that_were_hardly_ever_best_are_named_the_rarest_first(model):
    learner = CoalClassifier(["a", "b", "c", "d"], model=model)
    assert learner.labels_.rare == {}
    truth = np.array(([0] * 10 + [1] + [2] * 4) * 3)
    cost = (np.arange(4) != truth[:, None]).astype(float)
    learner.tell(np.arange(45.0)[:, None], cost)
    assert list(learner.labels_.rare.items()) == [("d", 0), ("b", 3)]

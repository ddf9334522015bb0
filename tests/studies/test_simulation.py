"""A simulated run equals asking and telling row by row, has checkpoints, and can be interrupted."""

import multiprocessing
import os
import signal
import threading
import time
import warnings

import numpy as np
import pytest
from sklearn.datasets import load_digits

from coalface import Abstain, Audits, CoalClassifier, CommitteeModel, MemoryLedger, OnlineModel, simulate
from coalface.data.rows import check_rows
from coalface.errors import CollapseWarning, InputError
from coalface.kernels.state import NO_ROUNDS
from coalface.learner.intake import Examples
from coalface.learner.play import play, start_run

from ..problems import DEFAULTS, ask_and_tell, dense_problem, sparse_problem, state_of, trained

ADAGRAD = CommitteeModel(online=OnlineModel(learning_rate=0.3, accumulator="adagrad"))
SETTINGS = [  # what differs from the published ones
    {},
    DEFAULTS,
    {"rule": "all-or-none"},
    {"rule": "no-domination", "mellowness": 0.001},
    {"rule": "passive"},
    {"model__accumulator": "adagrad"},
    {"model__accumulator": "adagrad", "model__sensitivity": "derivative", "rule__slack": "noise-scaled"},
    {"model__sensitivity": "seen-only", "rule__slack": "noise-scaled"},
    {"model__sensitivity": "derivative"},
    {"audits": Audits(0.5), "random_state": 7},
    {**DEFAULTS, "mellowness": 1.0, "audits": None},
    {**DEFAULTS, "model": ADAGRAD, "rule__warm_up": 2},
    {"audits": Audits(1.0), "rule": "all-or-none", "model__accumulator": "adagrad"},
    {"model__fit_intercept": False},
    {"abstain": Abstain(0.2)},
    {"abstain": Abstain(0.2), "audits": Audits(0.5), "model__accumulator": "adagrad"},
    {"budget": {"costs": 150, "over": 100}, "audits": Audits(0.3)},
    {"budget": {"examples": 25, "over": 120}, "audits": Audits(0.3), "rule": "no-domination"},
    {
        "budget": {"price": 120.7, "over": 130, "price_per_example": 1.3, "price_per_cost": 0.4},
        "rule__slack": "noise-scaled",
    },
    {"budget": {"costs": 200, "over": 120}, "rule": "passive"},
    {"rule__warm_up": 0, "rule__width_scale": 0.1, "learning_rate": 2.0},
]


def learner_with(n_labels, **params):
    return CoalClassifier.as_published(classes=range(n_labels), **{"rule__warm_up": 3, **params, "shuffle": False})


@pytest.mark.parametrize("params", SETTINGS, ids=str)
@pytest.mark.parametrize("restricted", [False, True])
def test_a_simulated_run_equals_the_loop_of_ask_and_tell_to_the_bit(params, restricted):
    X, cost = sparse_problem(1, 5)
    random = np.random.default_rng(1)
    cost[random.random(cost.shape) < 0.1] = np.nan
    candidates = random.random(cost.shape) < 0.7 if restricted else None
    one, other = learner_with(5, **params), learner_with(5, **params)
    simulate(one, X, cost, candidates=candidates)
    ask_and_tell(other, X, cost, candidates)
    assert state_of(one) == state_of(other)
    assert one.costs_queried_ > 15


@pytest.mark.parametrize("n_labels", [1, 2, 8, 40])
def test_the_loops_agree_for_any_number_of_labels(n_labels):
    X, cost = dense_problem(2, n_labels)
    one, other = learner_with(n_labels), learner_with(n_labels)
    simulate(one, X, cost)
    assert state_of(one) == state_of(ask_and_tell(other, X, cost))


def test_rows_that_grow_wider_on_the_way_make_the_same_learner():
    X, cost = sparse_problem(3, 4)
    whole, growing = learner_with(4), learner_with(4)
    simulate(whole, X, cost)
    width = 1
    for i in range(X.shape[0]):
        row = X[i : i + 1]
        width = max(width, row.indices.max(initial=0) + 1)
        ask_and_tell(growing, row[:, :width], cost[i : i + 1])
    assert growing.n_features_in_ == width
    growing.n_features_in_ = whole.n_features_in_
    assert state_of(whole) == state_of(growing)


def test_the_order_says_which_rows_come_when():
    X, cost = dense_problem(4, 3)
    order = np.random.default_rng(4).integers(0, len(X), 50)
    one, other = learner_with(3), learner_with(3)
    simulate(one, X, cost, order=order)
    simulate(other, X[order], cost[order])
    assert state_of(one) == state_of(other)


def test_a_run_cut_in_two_equals_the_run_in_one():
    X, cost = sparse_problem(5, 4)
    one, other = learner_with(4), learner_with(4)
    simulate(one, X, cost)
    simulate(other, X[:70], cost[:70])
    simulate(other, X[70:], cost[70:])
    assert state_of(one) == state_of(other)


# -- the curve


@pytest.mark.parametrize("params", [{}, {"rule": "passive"}, {"audits": Audits(0.5)}], ids=str)
@pytest.mark.parametrize("n_labels", [2, 7])
def test_a_run_is_measured_where_it_first_reaches_its_checkpoints(params, n_labels):
    X, cost = dense_problem(6, n_labels, 600)
    learner = learner_with(n_labels, **params)
    curve = simulate(learner, X, cost, X_test=X[:100], cost_test=cost[:100])
    reached = curve.checkpoints[curve.checkpoints <= curve.costs_queried[-1]]
    np.testing.assert_array_equal(reached, 10 * n_labels * 2 ** np.arange(len(reached)))
    assert len(reached) >= 2
    overshoot = curve.costs_queried[: len(reached)] - reached
    assert np.all((overshoot >= 0) & (overshoot < n_labels))
    assert curve.rounds[-1] == 600 == learner.round_ - 1
    assert curve.costs_queried[-1] == learner.costs_queried_
    assert curve.examples_queried[-1] == learner.examples_queried_
    assert np.all(np.diff(curve.rounds) > 0)


def test_each_checkpoint_is_the_test_cost_of_the_learner_at_that_round():
    X, cost = dense_problem(7, 4, 400)
    curve = simulate(learner_with(4), X, cost, X_test=X[:80], cost_test=cost[:80])
    for done, test_cost in zip(curve.rounds, curve.test_cost, strict=True):
        learner = learner_with(4)
        simulate(learner, X[:done], cost[:done])
        paid = cost[np.arange(80), learner.predict(X[:80])]
        assert test_cost == pytest.approx(paid.astype(np.float64).mean(), rel=1e-12)


def test_the_area_is_the_papers_trapezoid_on_doublings():
    X, cost = dense_problem(8, 3, 300)
    curve = simulate(learner_with(3, mellowness=0.001), X, cost, X_test=X[:50], cost_test=cost[:50])
    last = 1
    while 10 * 2 ** (last - 1) <= 300:
        last += 1
    at_budget, asked = [], []
    for q in range(1, last + 2):
        late_enough = np.flatnonzero(curve.costs_queried >= 30 * 2 ** (q - 1))
        at_budget.append(curve.test_cost[late_enough[0] if len(late_enough) else -1])
        asked.append(curve.costs_queried[late_enough[0] if len(late_enough) else -1])
    area = sum((at_budget[q] + at_budget[q + 1]) / 2 for q in range(last))
    assert curve.auc == pytest.approx(area)
    steps = [(2 - at_budget[q] - at_budget[q + 1]) * np.log2(asked[q + 1] / asked[q]) for q in range(last)]
    assert curve.auc_published == pytest.approx(sum(steps) / 2)  # the formula as printed, for the performance 1 - cost
    assert asked[-2] == asked[-1]  # the run ended before, so its last steps count for nothing
    assert len(set(at_budget)) > 2


def test_the_area_does_not_depend_on_the_checkpoints():
    X, cost = dense_problem(9, 3, 300)
    test = {"X_test": X[:50], "cost_test": cost[:50]}
    areas = [
        simulate(learner_with(3), X, cost, checkpoints=checkpoints, **test).auc
        for checkpoints in ("doubling", "quarter-doubling", [5, 6, 77])
    ]
    assert areas == [areas[0]] * 3


def test_checkpoints_may_be_numbers():
    X, cost = dense_problem(10, 5, 200)
    curve = simulate(learner_with(5), X, cost, checkpoints=[1, 7, 50, 10**9])
    np.testing.assert_array_equal(curve.checkpoints, [1, 7, 50, 10**9])
    assert 50 <= curve.costs_queried[2] < 55
    assert len(curve.costs_queried) == 4  # three reached, and the end of the run
    assert np.isnan(curve.test_cost).all()


def test_the_test_cost_is_on_the_users_scale():
    X, cost = dense_problem(11, 3, 100)
    test = {"X_test": X, "cost_test": cost}
    unit = simulate(learner_with(3), X, cost, **test)
    tens = simulate(learner_with(3, cost_bounds=(-5, 5)), X, 10 * cost - 5, X_test=X, cost_test=10 * cost - 5)
    np.testing.assert_allclose(tens.test_cost, 10 * unit.test_cost - 5, rtol=1e-6)


# -- being watched and being stopped


def test_progress_goes_up_to_the_end():
    X, cost = dense_problem(12, 3, 2000)
    seen = []
    simulate(learner_with(3), X, cost, progress=lambda done, total: seen.append((done, total)))
    done, totals = zip(*seen, strict=True)
    assert list(done) == sorted(set(done))
    assert done[-1] == 2000
    assert set(totals) == {2000}


def test_an_interrupted_run_leaves_a_curve_and_a_learner_that_goes_on():
    X, cost = dense_problem(13, 3, 2000)
    whole, stopped = learner_with(3), learner_with(3)
    simulate(whole, X, cost)

    def press_ctrl_c(done, total):
        if done > 100:
            raise KeyboardInterrupt

    curve = simulate(stopped, X, cost, X_test=X, cost_test=cost, progress=press_ctrl_c)
    done = int(curve.rounds[-1])
    assert curve.interrupted
    assert 100 < done < 2000
    assert stopped.round_ == done + 1
    assert np.isfinite(curve.auc)
    assert not simulate(stopped, X[done:], cost[done:]).interrupted
    assert state_of(stopped) == state_of(whole)


def play_until_interrupted(said):
    """Simulate in a process of its own; says when it plays, and at the end what came of it."""
    random = np.random.default_rng(0)
    X, cost = random.normal(size=(2000, 50)), random.random((2000, 40))
    learner = CoalClassifier(classes=range(40), rule="passive", model="online").record_to(ledger := MemoryLedger())
    simulate(learner, X, cost, order=np.arange(5))

    def say(done, total):
        said.send("playing")
        if done > total // 2:  # on a busy machine, the signal comes late
            time.sleep(600)

    curve = simulate(learner, X, cost, order=np.tile(np.arange(2000), 20), progress=say)
    same = state_of(CoalClassifier.from_ledger(ledger)) == state_of(learner)
    said.send((curve.interrupted, learner.round_ - 1 == curve.rounds[-1] < 40_000, same))
    said.close()


@pytest.mark.skipif(os.name != "posix", reason="sends SIGINT")
@pytest.mark.parametrize("delay", [0.02, 0.05])
def test_a_real_ctrl_c_ends_the_run_and_not_the_program_and_the_ledger_misses_nothing(delay):
    context = multiprocessing.get_context("fork")  # starts in no time, with all modules loaded
    heard, said = context.Pipe(duplex=False)
    program = context.Process(target=play_until_interrupted, args=(said,))
    program.start()
    said.close()
    assert heard.recv() == "playing"
    time.sleep(delay)
    os.kill(program.pid, signal.SIGINT)
    while (found := heard.recv()) == "playing":
        pass
    program.join()
    assert (program.exitcode, found) == (0, (True, True, True))


def test_other_threads_run_while_the_kernel_does():
    X, cost = dense_problem(14, 40, 2000)
    learner = CoalClassifier(classes=range(40), rule="passive", model="online")
    simulate(learner, X[:1], cost[:1])  # compiled from here on
    ticks, over = [], threading.Event()

    def tick():
        while not over.wait(0.001):
            ticks.append(None)

    ticker, during = threading.Thread(target=tick), 0
    ticker.start()
    for doubled in range(8):  # twice as long each time: the other thread may have to wait for a processor
        order = np.tile(np.arange(2000), 10 << doubled)
        run = start_run(
            learner, Examples(X, check_rows(X)), learner.classes_, cost, NO_ROUNDS._replace(costs=cost), order
        )
        before = len(ticks)
        play(learner, run, len(order))  # one piece of the compiled loop, without a look-up in between
        during = len(ticks) - before
        if during >= 5:
            break
    over.set()
    ticker.join()
    assert during >= 5


def test_two_threads_simulate_two_learners_as_one_thread_would():
    X, cost = dense_problem(15, 6, 1500)
    alone = [learner_with(6, mellowness=mellowness) for mellowness in (0.1, 0.001)]
    together = [learner_with(6, mellowness=mellowness) for mellowness in (0.1, 0.001)]
    for learner in alone:
        simulate(learner, X, cost)
    threads = [threading.Thread(target=simulate, args=(learner, X, cost)) for learner in together]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [state_of(learner) for learner in alone] == [state_of(learner) for learner in together]


# -- premature certainty


def digits_costs():
    X, y = load_digits(return_X_y=True)
    order = np.random.default_rng(0).permutation(len(X))
    return X[order] / 16, (1.0 - np.eye(10))[y[order]]


def test_a_learner_that_collapses_says_so_once_and_names_the_remedy():
    X, cost = digits_costs()
    learner = CoalClassifier.as_published(classes=range(10), mellowness=1e-6)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        simulate(learner, X, cost)
        simulate(learner, X, cost)
        ask_and_tell(learner, X[:5], cost[:5])
    assert [warning.category for warning in caught] == [CollapseWarning]
    message = str(caught[0].message)
    assert "warm_up" in message
    assert "mellowness" in message
    assert learner.costs_queried_ < 100


def test_the_loop_of_ask_and_tell_warns_as_well():
    X, cost = digits_costs()
    learner = CoalClassifier.as_published(classes=range(10), mellowness=1e-6)
    with pytest.warns(CollapseWarning) as caught:
        ask_and_tell(learner, X[:700], cost[:700])
    assert len(caught) == 1
    assert caught[0].filename == ask_and_tell.__code__.co_filename


def test_a_healthy_learner_does_not_warn():
    X, cost = digits_costs()
    learner = CoalClassifier(classes=range(10))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        curve = simulate(learner, X[:700], cost[:700], X_test=X[700:1000], cost_test=cost[700:1000])
    assert caught == []
    assert curve.test_cost[-1] < 0.15


def test_a_learner_that_is_silent_because_it_is_right_does_not_warn():
    X, cost = np.tile(np.eye(2), (1000, 1)), np.tile(np.eye(2), (1000, 1))
    learner = CoalClassifier.as_published(classes=["a", "b"], mellowness=1e-4, rule__warm_up=10)
    simulate(learner, X, cost)
    assert learner.examples_queried_ < 100
    assert list(learner.predict(np.eye(2))) == ["b", "a"]


def test_late_answers_do_not_make_a_learner_look_collapsed():
    learner = CoalClassifier.as_published(classes=["a", "b"], mellowness=1e-6).tell([[1.0]], [[0.0, 1.0]])
    learner.tell([[1.0]] * 600, np.full((600, 2), np.nan))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        learner.tell([[1.0]], [[1.0, 0.0]], late=True)  # second thoughts, and against it
        learner.tell([[1.0]], [[np.nan, np.nan]])
    assert caught == []


# -- refusals


@pytest.mark.parametrize(
    ("bad", "words"),
    [
        ({"order": [0.5]}, "order must be"),
        ({"order": [0, 60]}, "order must be"),
        ({"order": [-1]}, "order must be"),
        ({"order": [[0, 1]]}, "order must be"),
        ({"checkpoints": "tripling"}, "checkpoints must be one of 'doubling', 'quarter-doubling'"),
        ({"checkpoints": [3, 2]}, "checkpoints must be increasing"),
        ({"checkpoints": [0, 2]}, "checkpoints must be increasing"),
        ({"checkpoints": [1.5]}, "checkpoints must be increasing"),
        ({"checkpoints": 7}, "checkpoints must be increasing"),
        ({"candidates": np.ones((60, 4))}, "candidates must be a boolean array"),
        ({"candidates": np.ones((60, 3), bool)}, r"candidates must be a boolean array of shape \(60, 4\)"),
        ({"X_test": np.ones((2, 8))}, "X_test and cost_test belong together"),
        ({"X_test": np.ones((2, 7)), "cost_test": np.ones((2, 4))}, "X_test must have at least the 8 features"),
        ({"X_test": np.ones((2, 8)), "cost_test": np.full((2, 4), np.nan)}, "cost_test must have no NaN, got"),
        ({"X_test": np.ones((2, 8)), "cost_test": np.ones((2, 3))}, "cost must have one row per example"),
        ({"X_test": np.full((2, 8), np.nan), "cost_test": np.ones((2, 4))}, "X must be finite"),
        ({"classes": ["a", "b", "c", "d"]}, "not the same as on the first call"),
    ],
    ids=str,
)
def test_what_makes_no_sense_is_refused_before_anything_is_learned(bad, words):
    learner, _ = trained()
    before = state_of(learner)
    X, cost = dense_problem(16, 4, 60)
    with pytest.raises(InputError, match=words):
        simulate(learner, X, cost, **bad)
    assert state_of(learner) == before


def test_a_ledger_sees_a_simulated_run_entry_by_entry():
    X, cost = sparse_problem(17, 4)
    ledger = MemoryLedger()
    learner = learner_with(4, audits=Audits(0.3))
    learner.record_to(ledger)
    simulate(learner, X, cost, order=np.arange(60))
    assert len(ledger) == 60
    assert sum(len(one.asked) for one in ledger) == learner.costs_queried_
    assert state_of(CoalClassifier.from_ledger(ledger)) == state_of(learner)

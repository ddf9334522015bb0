"""The ledger is the truth: whatever happened, replaying it gives the same learner to the bit."""

import numpy as np
import pytest

from coalface import Audits, Budget, Coal, CoalClassifier, JsonLinesLedger, MemoryLedger, simulate
from coalface.errors import CoalfaceError, FileFormatError, InputError
from coalface.learner.recorder import plain_params
from coalface.rounds.round import Round

from ..problems import DEFAULTS, ask_and_tell, csr, dense_problem, sparse_problem, state_of


@pytest.fixture(params=["memory", "json lines"])
def new_ledger(request, tmp_path):
    if request.param == "memory":
        return MemoryLedger
    return lambda: JsonLinesLedger(tmp_path / "answers.jsonl")


def seen_again(ledger):
    return JsonLinesLedger(ledger.path) if isinstance(ledger, JsonLinesLedger) else ledger


def assert_replays(ledger, learner):
    again = CoalClassifier.from_ledger(seen_again(ledger))
    assert state_of(again) == state_of(learner)
    return again


def eventful_life(learner, X, cost, seed):
    """Answers as people give them: some late, some "can't tell", some volunteered, some in batches."""
    random = np.random.default_rng(seed)
    names, i = learner.classes_, 0
    while i < X.shape[0]:
        size = int(random.integers(1, 4))
        rows, costs = X[i : i + size], cost[i : i + size].astype(np.float64)
        size = rows.shape[0]
        candidates = random.random(costs.shape) < 0.7 if random.random() < 0.3 else None
        queries = learner.ask(rows, max_costs=5 if random.random() < 0.2 else None, candidates=candidates)
        answered = queries.mask & (random.random(costs.shape) < 0.8)
        volunteered = random.random(costs.shape) < 0.1
        given = np.where(answered | volunteered, costs, np.nan)
        asked = queries if random.random() < 0.7 else queries.mask
        learner.tell(rows, given, asked=asked, candidates=candidates)
        if random.random() < 0.3:
            late = np.where(random.random(costs.shape) < 0.3, costs, np.nan)
            learner.tell(rows, late, late=True)
        if random.random() < 0.2:
            two = np.full((1, len(names)), np.nan)
            two[0, 0] = costs[0, 0]
            learner.tell(csr([2.0, 0.5], [0, 1], width=X.shape[1]), two, asked=np.arange(len(names))[None] < 2)
        if random.random() < 0.2:
            learner.partial_fit(rows, names[random.integers(0, len(names), size)])
        i += size


@pytest.mark.parametrize(
    "params",
    [
        {},
        DEFAULTS,
        {"audits": Audits(0.5), "random_state": 3},
        {"cost_bounds": (-3.0, 0.7), "model__accumulator": "adagrad", "rule__slack": "noise-scaled"},
        {"cost_bounds": (1000.0, 1000.3), "model__fit_intercept": False},
    ],
    ids=str,
)
@pytest.mark.parametrize(
    "names", [["refund", "billing", "öther"], [3, 1, 2], [False, True], [1.0, -2.0, 1e15]], ids=str
)
def test_an_eventful_life_is_replayed_to_the_bit(new_ledger, params, names):
    X, cost = sparse_problem(1, len(names), 60)
    ledger = new_ledger()
    learner = CoalClassifier.as_published(classes=names, **{"rule__warm_up": 2, **params})
    low, high = learner.cost_bounds
    learner.record_to(ledger)
    eventful_life(learner, X, low + (high - low) * cost.astype(np.float64), seed=1)
    again = assert_replays(ledger, learner)
    assert again.classes_.tolist() == learner.classes_.tolist()
    assert plain_params(again) == plain_params(learner)
    assert learner.costs_queried_ > 20


def test_a_replayed_learner_continues_to_record_in_its_ledger(new_ledger):
    X, cost = sparse_problem(2, 4, 80)
    ledger = new_ledger()
    learner = CoalClassifier(classes=list("abcd"), rule=Coal(warm_up=2), audits=Audits(0.2))
    learner.record_to(ledger)
    ask_and_tell(learner, X[:40], cost[:40])
    again = assert_replays(ledger, learner)
    ask_and_tell(again, X[40:], cost[40:])
    whole = ask_and_tell(CoalClassifier(classes=list("abcd"), rule=Coal(warm_up=2), audits=Audits(0.2)), X, cost)
    assert state_of(again) == state_of(whole)
    assert_replays(ledger, whole)


@pytest.mark.parametrize("restricted", [False, True])
@pytest.mark.parametrize("bounds", [(0.0, 1.0), (-0.1, 0.3), (1e9, 1e9 + 1)])
def test_a_simulated_run_is_replayed_to_the_bit(new_ledger, restricted, bounds):
    X, cost = sparse_problem(3, 4, 80)
    cost = bounds[0] + (bounds[1] - bounds[0]) * np.float64(cost)
    random = np.random.default_rng(3)
    cost[random.random(cost.shape) < 0.1] = np.nan
    cost[0] = bounds[1]
    candidates = random.random(cost.shape) < 0.7 if restricted else None
    ledger = new_ledger()
    learner = CoalClassifier(classes=range(4), rule=Coal(warm_up=2), audits=Audits(0.3), cost_bounds=bounds)
    learner.record_to(ledger)
    simulate(learner, X, cost, candidates=candidates, order=random.permutation(80))
    assert_replays(ledger, learner)


@pytest.mark.parametrize("bounds", [(0.0, 0.1), (1000.1, 1000.2), (-0.1, 0.3)])
def test_costs_at_the_very_bounds_in_single_precision_are_recorded_so_that_they_can_be_read(bounds):
    ledger = MemoryLedger()
    learner = CoalClassifier(classes=["a", "b"], cost_bounds=bounds)
    learner.record_to(ledger)
    learner.tell([[1.0]], np.array([bounds], np.float32))
    simulate(learner, [[1.0]], np.array([bounds], np.float32))
    learner.partial_fit([[1.0], [2.0]], ["a", "b"])
    assert_replays(ledger, learner)


def test_the_round_is_written_before_it_is_learned():
    class FullDisk(MemoryLedger):
        def append(self, rounds):  # noqa: ARG002
            raise OSError("No space left on device")

    learner = CoalClassifier(classes=["a", "b"])
    learner.record_to(FullDisk())
    learner.ask([[1.0]])
    before = state_of(learner)
    with pytest.raises(OSError, match="No space"):
        learner.tell([[1.0]], [[0.0, 1.0]])
    assert state_of(learner) == before


def test_what_is_refused_is_not_recorded():
    ledger = MemoryLedger()
    learner = CoalClassifier(classes=["a", "b"])
    learner.record_to(ledger)
    learner.tell([[1.0, 2.0]], [[0.0, 1.0]])
    for bad in (
        lambda: learner.tell([[1.0, 2.0]], [[0.0, 7.0]]),
        lambda: learner.tell([[1.0]], [[0.0, 1.0]]),
        lambda: learner.tell([[1.0, np.nan]], [[0.0, 1.0]]),
        lambda: learner.partial_fit([[1.0, 2.0]], ["c"]),
        lambda: learner.tell([[1.0, 2.0]], [[0.0, 1.0]], asked=[[1, 0]]),
    ):
        with pytest.raises(InputError):
            bad()
    assert len(ledger) == 1


def test_forgetting_everything_is_refused_while_a_ledger_is_attached():
    ledger = MemoryLedger()
    learner = CoalClassifier(classes=["a", "b"])
    learner.record_to(ledger)
    learner.tell([[1.0]], [[0.0, 1.0]])
    with pytest.raises(InputError, match="ledger"):
        learner.fit([[1.0], [2.0]], ["a", "b"])
    assert_replays(ledger, learner)


def test_a_copy_does_not_write_to_the_originals_ledger():
    from sklearn.base import clone

    ledger = MemoryLedger()
    learner = CoalClassifier(classes=["a", "b"])
    learner.record_to(ledger)
    clone(learner).tell([[1.0]], [[0.0, 1.0]])
    assert len(ledger) == 0


def test_only_a_new_learner_can_begin_a_ledger():
    learner = CoalClassifier(classes=["a", "b"]).tell([[1.0]], [[0.0, 1.0]])
    with pytest.raises(InputError, match="from its first round, but this one is at round 2"):
        learner.record_to(MemoryLedger())
    late = CoalClassifier(classes=["a", "b"]).tell([[1.0]], [[0.0, 1.0]], late=True)
    with pytest.raises(InputError, match="ledger"):
        late.record_to(MemoryLedger())


def test_a_used_ledger_cannot_be_begun_again():
    ledger = MemoryLedger()
    CoalClassifier(classes=["a", "b"]).record_to(ledger)
    with pytest.raises(InputError, match="from_ledger"):
        CoalClassifier(classes=["a", "b"]).record_to(ledger)


def test_an_empty_ledger_has_no_learner():
    with pytest.raises(InputError, match="record_to"):
        CoalClassifier.from_ledger(MemoryLedger())


def recorded():
    ledger = MemoryLedger()
    learner = CoalClassifier(classes=["a", "b"], rule=Coal(warm_up=5))
    learner.record_to(ledger)
    ask_and_tell(learner, *dense_problem(4, 2, 5))
    return ledger


@pytest.mark.parametrize("missing", range(4))
def test_missing_rounds_are_noticed(missing):
    whole, ledger = recorded(), MemoryLedger()
    ledger.begin(whole.header)
    ledger.append([one for number, one in enumerate(whole) if number != missing])
    with pytest.raises(FileFormatError, match=f"jumps from round {missing} to {missing + 2}.*missing"):
        CoalClassifier.from_ledger(ledger)


def test_repeated_rounds_are_noticed():
    whole, ledger = recorded(), MemoryLedger()
    ledger.begin(whole.header)
    ledger.append([one for one in whole for _ in range(2)])
    with pytest.raises(FileFormatError):
        CoalClassifier.from_ledger(ledger)


@pytest.mark.parametrize(
    "one",
    [
        Round(6, width=8, indices=(0,), values=(1.0,), ask=("c",), costs={"c": 0.5}),
        Round(6, width=8, indices=(0,), values=(1.0,), ask=("a",), costs={"a": 7.5}),
        Round(6, width=8, indices=(0, 0), values=(1.0, 1.0), ask=("a",), costs={"a": 0.5}),
        Round(6, width=8, indices=(2**31,), values=(1.0,), ask=("a",), costs={"a": 0.5}),
        Round(6, width=8, indices=(2**70,), values=(1.0,), ask=("a",), costs={"a": 0.5}),
        Round(6, width=8, indices=(0,), values=(1e300,), ask=("a",), costs={"a": 0.5}),
        Round(6, width=8, indices=(0,), values=(1.0,), ask=("a",), costs={"a": 0.5}, candidates=("a", "bb")),
        Round(6, width=2, indices=(0,), values=(1.0,), ask=("a",), costs={"a": 0.5}),
    ],
    ids=["unknown label", "cost", "twice", "column", "huge column", "value", "candidate", "narrow"],
)
def test_rounds_that_no_learner_wrote_are_refused(one):
    ledger = recorded()
    ledger.append([one])
    with pytest.raises(CoalfaceError):
        CoalClassifier.from_ledger(ledger)


@pytest.mark.parametrize(
    "header",
    [
        {},
        {"classes": ["a"]},
        {"params": {}},
        {"params": {"no_such": 1}, "classes": ["a"]},
        {"params": 3, "classes": ["a"]},
        {"params": {"mellowness": -1}, "classes": ["a"]},
        {"params": {}, "classes": []},
        {"params": {}, "classes": 3},
    ],
    ids=str,
)
def test_a_header_that_no_learner_wrote_is_refused(header):
    ledger = MemoryLedger()
    ledger.begin(header)
    ledger.append([Round(1, width=1, indices=(0,), values=(1.0,), ask=("a",), costs={"a": 0.5})])
    with pytest.raises(CoalfaceError):
        CoalClassifier.from_ledger(ledger)


def test_labels_that_json_cannot_hold_are_refused_before_anything_is_asked():
    learner = CoalClassifier(classes=np.array(["2020-01-01", "2021-01-01"], "datetime64[D]"))
    with pytest.raises(InputError, match="labels"):
        learner.record_to(MemoryLedger())


@pytest.mark.parametrize("model", ["auto", "online"])
def test_a_budget_that_begins_or_ends_later_is_replayed(new_ledger, model):
    X, cost = dense_problem(3, 3, 240)
    ledger = new_ledger()
    learner = CoalClassifier(
        list("abc"), model=model, audits=Audits(0.5), rule=Coal(miss_rate=0.05, warm_up=5)
    ).record_to(ledger)
    simulate(learner, X[:80], cost[:80])
    simulate(learner.start_budget(Budget(costs=40, over=80)), X[80:160], cost[80:160])
    assert assert_replays(ledger, learner).budget == learner.budget
    for row, costs in zip(X[160:200], cost[160:200], strict=True):
        learner.tell([row], [costs], asked=learner.ask([row]))
    learner.set_params(budget=None)
    simulate(learner, X[200:], cost[200:])
    again = assert_replays(ledger, learner)
    assert again.budget is None
    np.testing.assert_array_equal(again.ask(X).mask, learner.ask(X).mask)


def test_rounds_of_ledgers_without_changes_of_the_budget_are_as_before():
    learner = CoalClassifier(["a", "b"], budget=Budget(costs=4, over=9)).record_to(ledger := MemoryLedger())
    learner.tell([[1.0]], [[0.2, 0.9]])
    assert "budget" not in next(iter(ledger)).to_json()


def test_a_replay_of_a_run_that_a_limit_ended_has_the_names_of_the_features(new_ledger):
    pandas = pytest.importorskip("pandas")
    X, cost = dense_problem(3, 3, 20)
    names = [f"f{i}" for i in range(X.shape[1])]
    ledger = new_ledger()
    learner = CoalClassifier(range(3), model="online", budget=Budget(costs=2)).record_to(ledger)
    simulate(learner, pandas.DataFrame(X, columns=names), cost)
    assert assert_replays(ledger, learner).feature_names_in_.tolist() == names

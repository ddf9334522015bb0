"""Feedback of the chosen label only: what ``act`` serves, what ``observe`` learns, and that both can be repeated."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from coalface import Budget, CoalClassifier
from coalface.errors import InputError
from coalface.evaluate.serving import simulate_serving
from coalface.rounds.ledger import MemoryLedger
from coalface.rounds.round import Round

from ..problems import exact_learner

LABELS = ["a", "b", "c"]
KINDS = {
    "online": lambda: CoalClassifier(LABELS, model="online", random_state=3),
    "auto": lambda: CoalClassifier(LABELS, random_state=3),
    "classes": lambda: CoalClassifier(LABELS, model="classes", random_state=3),
    "ridge": lambda: CoalClassifier(LABELS, model="ridge", random_state=3),
    "exact": lambda: exact_learner(LABELS, random_state=3),
}


def problem(n: int = 60, seed: int = 0) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Rows and costs; the best label is linear in the row."""
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, 4))
    best = (X[:, :3]).argmin(axis=1)
    return X, np.where(np.arange(3) == best[:, None], 0.1, 0.8)


def serve(learner: Any, X: Any, cost: Any, **others: Any) -> list[str]:
    """Serve row by row."""
    labels = []
    for row, costs in zip(X, cost, strict=True):
        action = learner.act([row], **others)
        labels.append(action.labels[0])
        learner.observe([row], action.labels, costs[LABELS.index(action.labels[0])], action.probability)
    return labels


def saved(learner: Any) -> dict[str, Any]:
    return dict(learner.model_.saved())


def assert_same(first: Any, second: Any) -> None:
    one, other = saved(first), saved(second)
    assert one.keys() == other.keys()
    for name in one:
        np.testing.assert_array_equal(one[name], other[name], err_msg=name)


@pytest.mark.parametrize("kind", KINDS)
def test_every_model_learns_from_what_was_served_and_replays_exactly(kind: str) -> None:
    (X, cost), ledger = problem(25), MemoryLedger()
    learner = KINDS[kind]().record_to(ledger)
    serve(learner, X, cost)
    assert (learner.round_, learner.totals_.seen) == (26, 25)
    assert (learner.costs_queried_, learner.examples_queried_, learner.labels_.rare) == (0, 0, {"a": 0, "b": 0, "c": 0})
    replayed = type(learner).from_ledger(ledger)
    assert_same(learner, replayed)
    assert replayed.act(X).labels.tolist() == learner.act(X).labels.tolist()


def test_act_changes_nothing_and_gives_the_same_labels_again() -> None:
    X, cost = problem()
    learner = KINDS["online"]()
    serve(learner, X[:40], cost[:40])
    before = {name: np.array(array) for name, array in saved(learner).items()}
    first, second = learner.act(X), learner.act(X)
    assert first.labels.tolist() == second.labels.tolist()
    for name, array in saved(learner).items():
        np.testing.assert_array_equal(array, before[name])


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 40), st.just(0.0) | st.floats(1e-6, 50.0), st.integers(0, 2**31))
def test_probabilities_are_inverse_gap_weights_over_the_contenders(n: int, exploration: float, seed: int) -> None:
    X, cost = problem(50, seed % 1000)
    learner = KINDS["online"]()
    serve(learner, X[:n], cost[:n])
    found = learner.act(X[40:], exploration=exploration)
    never = learner.model_.unanswered() if n else np.ones(3, bool)
    seen = (learner.model_.state.answered[:3] if n else np.zeros(3)).astype(np.float32)
    shares = seen / (seen + np.float32(1.0))  # one more cost of each label, of nothing
    for i in range(len(found)):
        lowest, highest = found.ranges.lowest[i], found.ranges.highest[i]
        guaranteed = min([1.0, *highest[~never]])
        contenders = (lowest <= guaranteed) | never
        expected = (found.predicted[i].clip(0, 1).astype(np.float32) * shares).astype(np.float64)
        gaps = expected - expected[contenders].min()
        best = int(np.flatnonzero(contenders & (gaps == 0))[0])
        gamma = contenders.sum() * (found.first_round + i) / exploration if exploration else np.inf
        weights = np.array([1 / (contenders.sum() + (gamma * gap if gap else 0.0)) for gap in gaps])
        weights = np.where(contenders, weights if exploration else 0.0, 0.0)
        weights[best] = 0.0
        weights[best] = 1.0 - weights.sum()
        np.testing.assert_allclose(found.probabilities[i], weights, atol=1e-9)


def test_labels_are_drawn_as_often_as_their_probabilities_say() -> None:
    X, cost = problem(30)
    learner = KINDS["online"]()
    serve(learner, X, cost)
    chances = learner.act([X[0]] * 1, exploration=50.0).probabilities[0]
    drawn = [learner.act([X[0]], exploration=50.0, first_round=31).labels[0]]
    for seed in range(2000):
        learner.random_state = seed
        drawn.append(learner.act([X[0]], exploration=50.0).labels[0])
    shares = np.array([drawn.count(label) for label in LABELS]) / len(drawn)
    assert np.abs(shares - chances).max() < 4 * 0.5 / np.sqrt(len(drawn))
    assert (chances > 0.02).sum() > 1  # there was something to draw


def test_serving_costs_less_and_less_where_the_best_label_can_be_learned() -> None:
    X, cost = problem(600)
    served = simulate_serving(KINDS["online"](), X, cost)
    assert served.cost[-200:].mean() < 0.2 < 0.3 < served.cost[:30].mean()


@pytest.mark.parametrize("kind", ["online", "auto"])
def test_the_simulated_run_equals_serving_row_by_row(kind: str) -> None:
    X, cost = problem(80)
    by_row, simulated = KINDS[kind](), KINDS[kind]()
    order = np.random.default_rng(1).permutation(80)
    labels = serve(by_row, X[order], cost[order], exploration=5.0)
    served = simulate_serving(simulated, X, cost, order=order, exploration=5.0)
    assert served.labels.tolist() == labels
    assert_same(by_row, simulated)


def test_the_simulated_run_equals_serving_row_by_row_after_bought_costs() -> None:
    X, cost = problem(120)
    by_row, simulated = KINDS["online"](), KINDS["online"]()
    for learner in (by_row, simulated):
        learner.tell(X[:40], cost[:40])  # so that one cost implies others
    labels = serve(by_row, X[40:], cost[40:])
    assert simulate_serving(simulated, X[40:], cost[40:]).labels.tolist() == labels
    assert_same(by_row, simulated)


def test_a_recorded_simulation_can_be_replayed() -> None:
    (X, cost), ledger = problem(30), MemoryLedger()
    learner = KINDS["online"]().record_to(ledger)
    simulate_serving(learner, X, cost)
    assert_same(learner, CoalClassifier.from_ledger(ledger))


def test_only_candidates_are_served() -> None:
    X, cost = problem(40)
    allowed = np.tile([False, True, True], (40, 1))
    served = simulate_serving(KINDS["online"](), X, np.where(allowed, cost, np.nan), candidates=allowed)
    assert set(served.labels.tolist()) == {"b", "c"}
    assert (KINDS["online"]().act(X, candidates=allowed).probabilities[:, 0] == 0).all()


def test_bought_and_seen_costs_are_counted_apart_and_replay_together() -> None:
    (X, cost), ledger = problem(60), MemoryLedger()
    learner = CoalClassifier(LABELS, model="online", budget=Budget(costs=30, over=60)).record_to(ledger)
    served = simulate_serving(learner, X, cost, ask=True)
    assert 0 < served.costs_bought == learner.costs_queried_ <= 32
    assert 0 < learner.totals_.seen < 60
    assert learner.round_ == 61
    assert_same(learner, CoalClassifier.from_ledger(ledger))


def test_a_model_saved_between_two_served_labels_continues_alike(tmp_path: Any) -> None:
    X, cost = problem(40)
    learner = KINDS["online"]()
    serve(learner, X[:20], cost[:20])
    learner.save(tmp_path / "m")
    loaded = CoalClassifier.load(tmp_path / "m")
    assert loaded.totals_.seen == 20
    assert serve(loaded, X[20:], cost[20:]) == serve(learner, X[20:], cost[20:])


def test_a_served_round_is_written_and_read() -> None:
    one = Round(3, costs={"a": 0.5}, unasked=("a",), served="a", probability=0.25)
    assert Round.from_json(one.to_json()) == one


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ({"served": "a", "costs": {"a": 0.5}}, "belong together"),
        ({"served": "a", "probability": 0, "costs": {"a": 0.5}}, "above 0 and at most 1"),
        ({"served": "a", "probability": 0.5, "costs": {"a": 0.5, "b": 1}}, "the served label 'a' alone"),
    ],
)
def test_a_served_round_that_cannot_be_right_is_refused(line: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Round.from_json({"round": 1, **line})


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        ({"probability": 0.0}, "probability must be above 0 and at most 1, got"),
        ({"label": ["a", "b"]}, "label must have one entry per row, 1"),
        ({"cost": np.nan}, "cost must be a finite number, got nan in row 0"),
        ({"cost": 7.0}, r"must lie in \[0, 1\], got 7.0"),
        ({"label": "d"}, "'d'"),
        ({"candidates": [[False, True, True]]}, "label must be a candidate, got 'a' in row 0"),
    ],
)
def test_bad_feedback_is_refused_and_changes_nothing(parts: dict[str, Any], message: str) -> None:
    learner = KINDS["online"]()
    given = {"label": "a", "cost": 0.5, "probability": 0.5, **parts}
    with pytest.raises(InputError, match=message):
        learner.observe([[1.0, 2.0]], **given)
    assert learner.round_ == 1


@pytest.mark.parametrize("ask", [False, True])
@pytest.mark.parametrize("restricted", [False, True])
def test_a_simulation_never_serves_a_retired_label(ask: bool, restricted: bool) -> None:
    X, cost = problem()
    cost[:, 0] = np.nan  # not needed, because the label is not served
    learner = CoalClassifier(LABELS, model="online").begin().retire_label("a")
    candidates = np.ones(cost.shape, np.bool_) if restricted else None
    served = simulate_serving(learner, X, cost, candidates=candidates, ask=ask)
    assert set(served.labels.tolist()) == {"b", "c"}


def test_a_simulation_refuses_rows_with_retired_candidates_only() -> None:
    X, cost = problem(4)
    learner = CoalClassifier(LABELS, model="online").begin().retire_label("a")
    candidates = np.ones(cost.shape, np.bool_)
    candidates[2, 1:] = False
    with pytest.raises(InputError, match="at least one label, row 2 has none"):
        simulate_serving(learner, X, cost, candidates=candidates)

"""The known part of a cost: a label's total is its offset plus the cost that is learned."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coalface import Abstain, Coal, CoalClassifier, JsonLinesLedger, MemoryLedger, simulate
from coalface.errors import InputError
from coalface.rounds.round import Round

from ..problems import state_of

K = 4
LABELS = ["a", "b", "c", "d"]
MODELS = ["online", "forest", "ridge", "auto"]


def problem(n=60, seed=0, n_features=5):
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, n_features)).astype(np.float32)
    means = 1 / (1 + np.exp(-X @ random.normal(size=(n_features, K))))
    cost = np.clip(means + 0.2 * random.normal(size=means.shape), 0, 1).astype(np.float32)
    return X, cost, random.integers(0, 8, (n, K)) / 16


def questions(learner, X, cost, offset=None, asking_price=None):
    """Ask and answer one question after another about every row, then tell; returns all masks."""
    asked = np.zeros(cost.shape, bool)
    for i in range(len(X)):
        part = None if offset is None else offset[i : i + 1]
        known, mine = np.full((1, K), np.nan), np.zeros((1, K), bool)
        first = queries = learner.ask(X[i : i + 1], offset=part, asking_price=asking_price)
        while queries.next.any():
            known[queries.next] = cost[i : i + 1][queries.next]
            mine |= queries.next
            queries = learner.ask(X[i : i + 1], known=known, asked=mine, offset=part, asking_price=asking_price)
        learner.tell(X[i : i + 1], known, asked=first.restricted_to(mine), offset=part)
        asked[i] = mine[0]
    return asked


def assert_same_state(one, other):
    mine, theirs = one.model_.saved(), other.model_.saved()
    assert mine.keys() == theirs.keys()
    for name in mine:
        np.testing.assert_array_equal(mine[name], theirs[name], name)


@pytest.mark.parametrize("model", MODELS)
def test_an_offset_of_zero_changes_no_bit(model):
    X, cost, _ = problem()
    plain, zero = (CoalClassifier(LABELS, model=model, rule=Coal(warm_up=3)) for _ in range(2))
    simulate(plain, X, cost)
    simulate(zero, X, cost, offset=np.zeros((len(X), K)))
    assert_same_state(plain, zero)
    np.testing.assert_array_equal(plain.predict(X), zero.predict(X, offset=np.zeros(K)))


@pytest.mark.parametrize("model", MODELS)
def test_a_constant_added_to_all_offsets_of_a_row_changes_nothing(model):
    X, cost, offset = problem()
    one, other = (CoalClassifier(LABELS, model=model, rule=Coal(warm_up=3)) for _ in range(2))
    simulate(one, X, cost, offset=offset)
    simulate(other, X, cost, offset=offset + np.arange(len(X))[:, None])
    assert_same_state(one, other)


@pytest.mark.parametrize("model", MODELS)
def test_the_compiled_run_the_interview_and_the_loop_of_ask_and_tell_are_the_same(model):
    X, cost, offset = problem()
    price = np.array([3.0, 1.0, 2.0, 1.0])
    looped, interviewed, simulated = (
        CoalClassifier(LABELS, model=model, rule=Coal(warm_up=3), shuffle=False) for _ in range(3)
    )
    asked = questions(looped, X, cost, offset, price)
    interviewed.interview(X, lambda i, label: cost[i, LABELS.index(label)], offset=offset, asking_price=price)
    simulate(simulated, X, cost, offset=offset, asking_price=price)
    assert 0 < asked[10:].sum() < asked[10:].size
    assert looped.costs_queried_ == asked.sum()
    assert_same_state(looped, interviewed)
    assert_same_state(looped, simulated)


def contenders(lowest, highest, offset):
    """The labels whose least total is not above the least highest total, as COAL's rule has it."""
    return lowest + offset <= (highest + offset).min(axis=1, keepdims=True)


@given(seed=st.integers(0, 10_000), scale=st.sampled_from([0.0, 0.25, 1.0, 4.0]))
@settings(max_examples=40, deadline=None)
def test_questions_are_about_wide_contenders_for_the_least_total(seed, scale):
    X, cost, offset = problem(30, seed)
    learner = CoalClassifier(LABELS, model="online", rule=Coal(warm_up=0, in_turn=False, alike=None), audits=None)
    learner.tell(X[:15], cost[:15])
    queries = learner.ask(X[15:], offset=scale * offset[15:])
    lowest, highest = (array.astype(np.float32) for array in (queries.ranges.lowest, queries.ranges.highest))
    known_part = (scale * (offset[15:] - offset[15:].min(axis=1, keepdims=True))).astype(np.float32)
    could = contenders(lowest, highest, known_part)
    threshold = np.float32(learner.rule.width_scale / np.sqrt(np.arange(16, 31, dtype=np.float64)))[:, None]
    wide = highest - lowest > threshold
    expected = could & wide & (could.sum(axis=1, keepdims=True) > 1)
    np.testing.assert_array_equal(queries.mask, expected)
    totals = queries.predicted.astype(np.float32) + known_part
    np.testing.assert_array_equal(
        learner.predict(X[15:], offset=scale * offset[15:]), np.array(LABELS)[totals.argmin(1)]
    )


def test_an_answer_rules_out_labels_whose_least_total_is_not_below_its_total():
    learner = CoalClassifier(LABELS, rule=Coal(warm_up=0), audits=None)
    known = np.array([[0.5, np.nan, np.nan, np.nan]])
    left = learner.ask([[1.0]], known=known, offset=[0.0, 0.4, 0.5, 0.75])
    assert left.labels(0).tolist() == ["b"]
    assert learner.ask([[1.0]], known=known).labels(0).tolist() == ["b", "c", "d"]


def test_the_least_predicted_total_is_asked_about_first():
    learner = CoalClassifier(LABELS, rule=Coal(warm_up=0), audits=None)
    assert learner.ask([[1.0]], offset=[0.3, 0.2, 0.1, 0.3]).next.tolist() == [[False, False, True, False]]


def test_of_questions_that_settle_as_much_the_cheapest_comes_first():
    learner = CoalClassifier(
        LABELS, rule=Coal(warm_up=0), audits=None
    )  # before any answer, no question settles another
    queries = learner.ask([[1.0]], asking_price=[5.0, 4.0, 1.0, 1.0])
    assert queries.next.tolist() == [[False, False, True, False]]
    assert queries.mask.all()
    assert learner.ask([[1.0]], asking_price=[2.0] * 4).next.tolist() == [[True, False, False, False]]


def test_a_dear_question_that_settles_more_still_comes_first():
    learner = CoalClassifier(["a", "b"], rule=Coal(warm_up=0), audits=None, model="online", mellowness=1.0)
    learner.tell([[1.0]] * 3, [[0.0, 0.9]] * 3)
    queries = learner.ask([[1.0]], asking_price=[9.0, 1.0])
    assert queries.mask.all()
    assert queries.predicted[0, 0] <= queries.ranges.lowest[0, 1]
    assert queries.next.tolist() == [[True, False]]


def test_a_ledger_keeps_known_parts_so_that_a_replay_is_exact():
    X, cost, offset = problem()
    for learner, run in [
        (CoalClassifier(LABELS, cost_bounds=(0.0, 3.0)), "simulate"),
        (CoalClassifier(LABELS, model="online", cost_bounds=(0.0, 3.0)), "loop"),
    ]:
        ledger = MemoryLedger()
        learner.record_to(ledger)
        if run == "simulate":
            simulate(learner, X, 3 * cost, offset=offset / 3)
        else:
            questions(learner, X, 3 * cost, offset / 3)
        again = type(learner).from_ledger(_through_json(ledger))
        assert_same_state(learner, again)


def _through_json(ledger):
    other = MemoryLedger()
    other.begin(ledger.header)
    other.append(Round.from_json(one.to_json()) for one in ledger)
    return other


def test_a_round_skips_labels_that_its_answers_and_offsets_rule_out():
    queries = CoalClassifier(LABELS, rule=Coal(warm_up=0), audits=None).ask([[1.0]], offset=[0.0, 0.4, 0.5, 0.75])
    assert queries.round(0).next_labels() == ("a",)
    answered = queries.round(0).with_answers({"a": 0.5})
    assert answered.next_labels() == ("b",)
    assert answered.with_answers({"b": 0.05}).next_labels() == ()


def test_the_total_decides_against_abstaining():
    learner = CoalClassifier(["a", "b"], abstain=Abstain(0.5, label="none")).tell([[1.0]] * 9, [[0.2, 0.9]] * 9)
    assert learner.predict([[1.0]]).tolist() == ["a"]
    assert learner.predict([[1.0]], offset=[0.4, 0.4]).tolist() == ["none"]


def test_ridge_takes_offsets_too():
    X, cost, offset = problem()
    learner = CoalClassifier(LABELS, model="ridge")
    learner.interview(X, lambda i, label: cost[i, LABELS.index(label)], offset=offset)
    totals = learner.predict_cost(X) + offset
    assert (learner.predict(X, offset=offset) == np.array(LABELS)[totals.argmin(axis=1)]).mean() > 0.99


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"offset": [1.0, 2.0]}, "offset must have one number per label"),
        ({"offset": [1.0, 2.0, np.inf, 0.0]}, "offset must be finite"),
        ({"offset": "dear"}, "offset must be an array of numbers"),
        ({"asking_price": [1.0, -2.0, 0.0, 0.0]}, "asking_price must be at least 0, got -2 for label 'b'"),
    ],
)
def test_a_bad_offset_or_price_is_refused(given, words):
    with pytest.raises(InputError, match=words):
        CoalClassifier(LABELS).ask([[1.0]], **given)


def test_a_run_with_an_offset_measures_no_test_cost():
    with pytest.raises(InputError, match="X_test is not measured with an offset"):
        simulate(CoalClassifier(LABELS), *problem()[:2], X_test=[[1.0] * 5], cost_test=[[0.0] * K], offset=[0.0] * K)


@pytest.mark.parametrize("model", MODELS)
def test_a_replay_repeats_late_answers_with_their_known_part(model, tmp_path):
    X, cost, _ = problem()
    ledger = JsonLinesLedger(tmp_path / "answers.jsonl")
    learner = CoalClassifier(LABELS, model=model).record_to(ledger)
    queries = learner.ask(X[:5], offset=[0.9, 0.4, 0.2, 0.0])
    learner.tell(X[5:], cost[5:]).tell(X[:5], cost[:5], asked=queries, late=True)
    again = CoalClassifier.from_ledger(JsonLinesLedger(ledger.path))
    assert state_of(again) == state_of(learner)


def test_a_label_that_was_added_after_the_questions_has_no_known_part():
    X, cost, offset = problem(5)
    learner = CoalClassifier(LABELS, model="online")
    queries = learner.ask(X, offset=offset)
    learner.add_label("e").tell(X, cost, asked=queries)
    other = CoalClassifier(LABELS, model="online").begin().add_label("e")
    wider = np.hstack([queries.offset, np.zeros((5, 1))])
    other.tell(X, np.hstack([cost, np.full((5, 1), np.nan)]), offset=wider)
    assert state_of(learner) | {"saving": None} == state_of(other) | {"saving": None}  # only the first was asked


@pytest.mark.parametrize("offset", [[1e308, 0, 0, 0], [1e308, -1e308, 0, 0], [0, 1e31, 0, 0]])
def test_a_known_part_that_32_bits_cannot_hold_is_refused(offset):
    learner, X = CoalClassifier(LABELS, model="online"), problem(2)[0]
    for refused in (learner.ask, learner.predict):
        with pytest.raises(InputError, match=r"offset must not differ by more than 1e\+30 .* label '[ab]'"):
            refused(X, offset=offset)
    assert np.isfinite(learner.ask(X, offset=[1e30, 0, 0, 0]).offset).all()

"""A learner with interactions is a learner of the table in which every product is a column."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from coalface import CoalClassifier, MemoryLedger, simulate
from coalface.errors import InputError
from coalface.models.choice import described_model, model_of
from coalface.models.online import OnlineModel
from tests.problems import ask_and_tell, csr, dense_problem, sparse_problem, state_of
from tests.reference.interactions import expanded
from tests.reference.vw import run_csoaa_with_interactions

RANGES = [2, [((0, 3), (3, 8))], [((2, 6), (2, 6)), ((0, 2), (6, 8))]]


def learner_with(interactions, n_labels=3, **params):
    return CoalClassifier(range(n_labels), model=OnlineModel(interactions=interactions)).set_params(**params)


def learned(learner):
    """Everything learned except the numbers of the features."""
    return {name: array for name, array in learner.model_.arrays().items() if name != "features"}


def assert_same_bits(one, other):
    ours, theirs = learned(one), learned(other)
    assert ours.keys() == theirs.keys()
    for name, array in ours.items():
        np.testing.assert_array_equal(array, theirs[name], err_msg=name)


@settings(deadline=None, max_examples=15)
@given(
    st.integers(0, 10**6),
    st.sampled_from(RANGES),
    st.sampled_from(["coal", "passive"]),
    st.sampled_from(["adax", "adagrad"]),
    st.sampled_from([0.0, 3.0]),
)
def test_every_bit_is_that_of_the_expanded_table(seed, ranges, rule, accumulator, decades):
    X, cost = dense_problem(seed, 3, 60, decades=decades)
    table = expanded(X, ranges)  # its constant is where the intercept would be
    ours = learner_with(ranges, rule=rule, model__accumulator=accumulator)
    plain = CoalClassifier(range(3), rule=rule, model=OnlineModel(accumulator=accumulator, fit_intercept=False))
    simulate(ours, X, cost)
    simulate(plain, table, cost)
    assert_same_bits(ours, plain)
    np.testing.assert_array_equal(ours.predict_cost(X), plain.predict_cost(table))
    queries, wanted = ours.ask(X), plain.ask(table)
    for name in ("mask", "predicted", "propensity", "reason_codes"):
        np.testing.assert_array_equal(getattr(queries, name), getattr(wanted, name), err_msg=name)


@pytest.mark.parametrize("ranges", RANGES)
def test_without_an_intercept_every_bit_is_that_of_the_expanded_table(ranges):
    X, cost = dense_problem(4, 3)
    ours, plain = (
        learner_with(ranges, model__fit_intercept=False),
        CoalClassifier(range(3), model=OnlineModel(fit_intercept=False)),
    )
    simulate(ours, X, cost)
    simulate(plain, expanded(X, ranges, constant=False), cost)
    assert_same_bits(ours, plain)


@settings(deadline=None, max_examples=15)
@given(st.integers(0, 10**6), st.lists(st.integers(-40, 40), min_size=8, max_size=8))
def test_the_unit_of_a_column_does_not_matter(seed, powers):
    X, cost = dense_problem(seed, 3, 40)
    one, other = learner_with(2), learner_with(2)
    simulate(one, X, cost)
    simulate(other, X * np.float32(2) ** np.array(powers, np.float32), cost)
    for name in ("cells", "norm_sum", "counters"):
        np.testing.assert_array_equal(learned(one)[name], learned(other)[name])


def test_pairs_within_and_between_two_parts_are_all_pairs():
    X, cost = dense_problem(5, 3)
    parts = [((0, 3), (0, 3)), ((3, 8), (0, 3)), ((3, 8), (3, 8))]
    whole, divided = learner_with(2, rule="passive"), learner_with(parts, rule="passive")
    simulate(whole, X, cost)
    simulate(divided, X, cost)
    np.testing.assert_allclose(whole.predict_cost(X), divided.predict_cost(X), atol=1e-5)
    assert set(whole.model_.arrays()["features"]) == set(divided.model_.arrays()["features"])


@pytest.mark.parametrize(
    ("namespaces", "options", "ranges"),
    [
        ({"a": range(8)}, "--interactions ::", 2),
        ({"": range(8)}, "-q ::", 2),
        ({"a": range(3), "b": range(3, 8)}, "-q ::", 2),
        ({"a": range(3), "b": range(3, 8)}, "-q ab", [((0, 3), (3, 8))]),
        ({"a": range(3), "b": range(3, 8)}, "-q bb -q ab", [((3, 8), (3, 8)), ((0, 3), (3, 8))]),
    ],
)
def test_predictions_are_those_of_vowpal_wabbit(namespaces, options, ranges):
    X, cost = dense_problem(6, 4, 150)
    cost[0] = [0.0, 1.0, 0.0, 1.0]  # VW clips to the costs seen so far
    wheel = run_csoaa_with_interactions(X, cost, namespaces, options)
    learner = CoalClassifier.as_published(
        classes=range(4), rule="passive", model=OnlineModel(learning_rate=0.5, interactions=ranges)
    )
    ours = np.empty_like(wheel)
    for i in range(len(X)):
        ours[i] = learner.begin().predict_cost(X[i : i + 1])[0]
        learner.tell(X[i : i + 1], cost[i : i + 1])
    np.testing.assert_allclose(ours, wheel, atol=1e-4)
    plain = CoalClassifier.as_published(classes=range(4), rule="passive").tell(X, cost)
    assert np.abs(plain.predict_cost(X) - learner.predict_cost(X)).max() > 0.05  # not the same without


CORNERS = np.array(list(itertools.product([-1.0, 1.0], repeat=5)))


def exclusive_or(X):
    """The costs of two labels that depend on two columns, neither of which says anything alone."""
    return (np.arange(2) != (X[:, :1] * X[:, 1:2] > 0)).astype(float)


@pytest.mark.parametrize("interactions", [2, [((0, 1), (1, 5))]])
def test_exclusive_or_is_learned_with_products_and_only_with_them(interactions):
    X = np.random.default_rng(0).choice([-1.0, 1.0], (300, 5))
    learner, linear = learner_with(interactions, 2), CoalClassifier(range(2), model="online")
    for one in (learner, linear):
        simulate(one, X, exclusive_or(X))
    assert learner.score(CORNERS, cost=exclusive_or(CORNERS)) == 0.0
    assert linear.score(CORNERS, cost=exclusive_or(CORNERS)) <= -0.25  # no plane is right about more corners
    assert learner.costs_queried_ < 300


@pytest.mark.parametrize("interactions", [2, [((0, 40), (40, 400)), ((0, 40), (0, 40))]])
def test_every_way_to_learn_a_stream_gives_the_same_bits(interactions, tmp_path):
    X, cost = sparse_problem(3, 3, 80)
    simulated, ledger = learner_with(interactions, shuffle=False), MemoryLedger()
    simulate(simulated, X, cost)
    by_rows, recorded = learner_with(interactions), learner_with(interactions).record_to(ledger)
    ask_and_tell(by_rows, X, cost)
    ask_and_tell(recorded, X, cost)
    state = state_of(simulated)
    assert state_of(by_rows) == state_of(recorded) == state_of(CoalClassifier.from_ledger(ledger)) == state
    simulated.save(tmp_path / "model")
    loaded = CoalClassifier.load(tmp_path / "model")
    assert state_of(loaded) == state
    assert loaded.model.plain() == simulated.model.plain()
    ask_and_tell(loaded, X, cost)
    assert state_of(loaded) == state_of(ask_and_tell(simulated, X, cost))


def test_columns_that_appear_later_take_part():
    learner = learner_with(2, 2)
    learner.tell([[1.0]], [[0.0, 1.0]])
    learner.tell(sparse.csr_array([[1.0, 2.0]]), [[0.0, 1.0]])
    assert sorted(learner.model_.arrays()["features"][1:]) == [-4, -3, -2, -1, 0, 1]


def test_columns_far_apart_take_no_memory_in_between():
    learner = learner_with([((0, 10), (2**31 - 20, 2**31 - 1))], 2)
    learner.tell(csr([1.0, 2.0], [3, 2**31 - 2], width=2**31 - 1), [[0.2, 0.9]])
    assert len(learner.model_.arrays()["features"]) == 1 + 2 + 1 + 1
    assert learner.model_.nbytes < 10_000


@pytest.mark.parametrize(
    ("interactions", "words"),
    [
        (3, "must be None, 2 or pairs"),
        (True, "must be None, 2 or pairs"),
        ("all", "must be None, 2 or pairs"),
        ([], "a list of pairs of column ranges"),
        ({"a": 1}, "a list of pairs of column ranges"),
        ([((0, 1),)], "two column ranges"),
        ([(0, 1)], "a start and an end"),
        ([((0, 1, 2), (3, 4))], "a start and an end"),
        ([((0, "b"), (3, 4))], "a column must be a whole number"),
        ([((-1, 2), (3, 4))], "a column must be a whole number"),
        ([((2, 2), (3, 4))], "end after their start"),
        ([((0, 2**31), (0, 2**31))], "end after their start"),
        ([((0, 5), (3, 8))], "equal or disjoint"),
        ([((0, 5), (5, 8)), ((6, 7), (1, 2))], "at most once"),
    ],
)
def test_interactions_that_cannot_be_are_refused(interactions, words):
    with pytest.raises(InputError, match=words):
        learner_with(interactions).begin()


def test_a_row_with_too_many_products_is_refused_before_it_is_written_down():
    ledger = MemoryLedger()
    learner = learner_with(2).record_to(ledger)
    X = sparse.csr_array(np.ones((1, 3_000), np.float32))
    for act in (learner.ask, learner.predict, lambda X: learner.tell(X, [[0.0, 1.0, 0.5]])):
        with pytest.raises(InputError, match=r"at most 4,194,304 interactions, got a row of 3,000 non-zeros"):
            act(X)
    assert len(list(ledger)) == 0
    assert learner.round_ == 1


def test_interactions_cannot_change_once_learning_began():
    learner = learner_with(2).tell([[1.0, 2.0]], [[0.0, 1.0, 0.5]])
    learner.model = OnlineModel()
    with pytest.raises(InputError, match="model must stay as it was"):
        learner.tell([[1.0, 2.0]], [[0.0, 1.0, 0.5]])


def test_a_description_names_them_as_lists():
    assert described_model(OnlineModel())["interactions"] is None
    described = described_model(OnlineModel(interactions=[((0, 3), (3, 8))]))
    assert described["interactions"] == [[[0, 3], [3, 8]]]
    assert described_model(OnlineModel(interactions=np.array([[[0, 3], [3, 8]]]))) == described
    assert described_model(model_of(described)) == described


@pytest.mark.parametrize("kind", ["RidgeModel", "ExactModel"])
def test_other_models_have_no_interactions(kind):
    with pytest.raises(InputError, match=f"model {kind} has no parameter 'interactions'. It has "):
        model_of({"kind": kind, "interactions": 2})

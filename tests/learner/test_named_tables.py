"""Data frames are matched by name to labels and features; other names are refused, never taken by position."""

import numpy as np
import pytest

from coalface import CoalClassifier, CostDataset, MemoryLedger, simulate
from coalface.errors import InputError
from coalface.structured import SequenceTagger

from ..problems import state_of

pandas = pytest.importorskip("pandas")

LABELS = ["walk", "fly", "swim"]
X = np.random.default_rng(3).normal(size=(40, 2))
COST = np.random.default_rng(4).random((40, 3))
FRAME = pandas.DataFrame(COST, columns=LABELS)[["swim", "walk", "fly"]]
MASK = pandas.DataFrame(np.random.default_rng(5).random((40, 3)) < 0.5, columns=LABELS)
MATRIX = np.array([[0.0, 0.1, 0.2], [0.3, 0.0, 0.4], [0.5, 0.6, 0.0]])
NAMED = pandas.DataFrame(MATRIX, index=LABELS, columns=LABELS).loc[["fly", "swim", "walk"], ["swim", "walk", "fly"]]
Y = np.array(LABELS)[np.random.default_rng(6).integers(0, 3, 40)]


def learner(**params):
    return CoalClassifier(LABELS, model="online", **params)


def test_a_cost_matrix_is_matched_by_the_names_of_its_rows_and_columns():
    assert state_of(learner(cost_matrix=NAMED).fit(X, Y)) == state_of(learner(cost_matrix=MATRIX).fit(X, Y))


def test_without_classes_the_names_of_a_cost_matrix_are_the_labels(tmp_path):
    fitted = CoalClassifier(cost_matrix=NAMED, model="online").fit(X, Y)
    assert fitted.classes_.tolist() == ["swim", "walk", "fly"]
    fitted.save(tmp_path / "model")
    again = CoalClassifier.load(tmp_path / "model")
    assert state_of(again.partial_fit(X, Y)) == state_of(fitted.partial_fit(X, Y))


def test_a_saved_cost_matrix_keeps_the_order_of_the_labels(tmp_path):
    learner(cost_matrix=NAMED).fit(X, Y).save(tmp_path / "model")
    np.testing.assert_array_equal(CoalClassifier.load(tmp_path / "model").cost_matrix, MATRIX)


def test_costs_are_matched_by_name_in_every_method():
    plain, named = learner(), learner()
    plain.fit(X, cost=COST).partial_fit(X, cost=COST).tell(X, COST, asked=MASK.to_numpy())
    named.fit(X, cost=FRAME).partial_fit(X, cost=FRAME).tell(X, FRAME, asked=MASK[FRAME.columns])
    assert state_of(named) == state_of(plain)
    assert named.score(X, cost=FRAME) == plain.score(X, cost=COST)
    ours = named.ask(X, known=FRAME.where(MASK), asked=MASK[FRAME.columns], candidates=MASK[FRAME.columns] | True)
    np.testing.assert_array_equal(
        ours.mask, plain.ask(X, known=np.where(MASK, COST, np.nan), asked=MASK.to_numpy()).mask
    )


def test_candidates_are_matched_by_name():
    one = learner().fit(X, cost=COST, candidates=MASK.to_numpy() | (np.arange(3) == 0))
    flying = pandas.DataFrame(np.tile([False, True, False], (40, 1)), columns=LABELS)[["swim", "fly", "walk"]]
    assert set(one.predict(X, candidates=flying)) == {"fly"}


def test_ledgers_and_simulations_take_named_costs():
    ledger = MemoryLedger()
    told = learner().record_to(ledger).tell(X, FRAME)
    assert state_of(CoalClassifier.from_ledger(ledger)) == state_of(told)
    one, other = learner(), learner()
    frame = pandas.DataFrame(X, columns=["a", "b"])
    first = simulate(one, frame, FRAME, X_test=frame[["b", "a"]], cost_test=FRAME)
    second = simulate(other, X, COST, X_test=X, cost_test=COST)
    np.testing.assert_array_equal(first.test_cost, second.test_cost)
    assert state_of(one) == state_of(other)


def test_the_names_of_costs_are_the_labels_if_there_are_no_others():
    assert CoalClassifier().fit(X, cost=FRAME).classes_.tolist() == ["swim", "walk", "fly"]
    assert CoalClassifier().fit(X, cost=pandas.DataFrame(COST)).classes_.tolist() == [0, 1, 2]
    assert CostDataset(X, FRAME).classes.tolist() == ["swim", "walk", "fly"]
    np.testing.assert_allclose(CostDataset(X, FRAME, LABELS).cost, COST.astype(np.float32))


def test_numbered_labels_match_columns_that_are_numbers_or_texts():
    frame = pandas.DataFrame(COST, columns=[2, 7, 5])
    for names in (frame, frame.rename(columns=str)):
        one = CoalClassifier([7, 5, 2], model="online").fit(X, cost=names)
        assert state_of(one) == state_of(CoalClassifier([7, 5, 2], model="online").fit(X, cost=COST[:, [1, 2, 0]]))


WRONG = {
    "cost": lambda one: one.partial_fit(X, cost=FRAME.rename(columns={"fly": "flee"})),
    "told": lambda one: one.tell(X, FRAME.rename(columns={"fly": "flee"})),
    "score": lambda one: one.score(X, cost=FRAME.rename(columns={"fly": "flee"})),
    "candidates": lambda one: one.predict(X, candidates=MASK.rename(columns={"fly": "flee"})),
    "known": lambda one: one.ask(X, known=FRAME.rename(columns={"fly": "flee"})),
    "asked": lambda one: one.ask(X, known=FRAME, asked=MASK.rename(columns={"fly": "flee"})),
    "simulate": lambda one: simulate(one, X, FRAME.rename(columns={"fly": "flee"})),
    "dataset": lambda _: CostDataset(X, FRAME.rename(columns={"fly": "flee"}), LABELS),
    "matrix": lambda _: learner(cost_matrix=NAMED.rename(columns={"fly": "flee"})).fit(X, Y),
    "matrix rows": lambda _: learner(cost_matrix=NAMED.rename(index={"fly": "flee"})).fit(X, Y),
    "tags": lambda _: SequenceTagger(LABELS, cost_matrix=NAMED.rename(columns={"fly": "flee"})).fit([["a"]], [["fly"]]),
}


@pytest.mark.parametrize("what", WRONG)
def test_names_that_do_not_match_are_named(what):
    with pytest.raises(InputError, match="got none named 'fly' and the unknown 'flee'"):
        WRONG[what](learner())


def test_a_matrix_with_names_on_one_side_and_repeated_names_are_refused():
    with pytest.raises(InputError, match="got names of columns only"):
        learner(cost_matrix=pandas.DataFrame(MATRIX, columns=LABELS)).fit(X, Y)
    with pytest.raises(InputError, match="distinct names, got 'fly' 2 times"):
        learner().fit(X, cost=FRAME.rename(columns={"swim": "fly"}))


def test_columns_of_examples_are_matched_by_name_in_every_method():
    frame = pandas.DataFrame(X, columns=["height", "weight"])
    turned = frame[["weight", "height"]]
    one, other = learner().fit(frame, cost=COST), learner().fit(frame, cost=COST)
    np.testing.assert_array_equal(one.predict(turned), one.predict(frame))
    np.testing.assert_array_equal(one.predict_cost(turned), one.predict_cost(frame))
    np.testing.assert_array_equal(one.ask(turned).mask, one.ask(frame).mask)
    np.testing.assert_array_equal(one.cost_range(turned).width, one.cost_range(frame).width)
    assert one.score(turned, cost=COST) == one.score(frame, cost=COST)
    one.partial_fit(turned, cost=COST).tell(turned, COST)
    one.interview(turned, lambda i, label: COST[i, LABELS.index(label)])
    other.partial_fit(frame, cost=COST).tell(frame, COST)
    other.interview(frame, lambda i, label: COST[i, LABELS.index(label)])
    assert state_of(one) == state_of(other)
    for call in (one.predict, one.predict_cost, one.ask, one.cost_range, lambda X: one.tell(X, COST)):
        with pytest.raises(InputError, match="missing 'weight'"):
            call(frame[["height"]].assign(mass=1.0))
        with pytest.raises(InputError, match="'height' 2 times"):
            call(pandas.concat([frame[["height"]], frame], axis=1))


@pytest.mark.parametrize("texts", [False, True], ids=["numbers", "texts"])
def test_tables_of_arrow_are_matched_by_name(texts):
    arrow = pytest.importorskip("pyarrow")
    names = ["height", "weight", *(["kind"] if texts else [])]
    frame = pandas.DataFrame(X, columns=["height", "weight"]).assign(kind=["cat", "dog"] * 20)[names]
    table = arrow.Table.from_pandas(frame)
    one, other = learner().fit(table, cost=arrow.Table.from_pandas(FRAME)), learner().fit(frame, cost=FRAME)
    assert state_of(one) == state_of(other)
    turned = table.select(names[::-1])
    np.testing.assert_array_equal(one.predict_cost(turned), other.predict_cost(frame))
    np.testing.assert_array_equal(one.predict_cost(turned.to_batches()[0]), other.predict_cost(frame))
    assert state_of(one.tell(turned, FRAME)) == state_of(other.tell(frame, FRAME))
    with pytest.raises(InputError, match=r"(missing|no column) 'weight'"):
        one.predict(table.drop_columns(["weight"]))
    for wrong in (table.append_column("height", table["weight"]), turned.append_column("height", table["weight"])):
        with pytest.raises(InputError, match="distinct names"):
            one.predict(wrong)


@pytest.mark.parametrize("names", [[0, 1], [2020, 2021], ["a", 7], [("a", "x"), ("a", "y")]], ids=repr)
def test_columns_whose_names_are_no_texts_are_matched_too(names):
    frame = pandas.DataFrame(X)
    frame.columns = pandas.MultiIndex.from_tuples(names) if isinstance(names[0], tuple) else names
    plain = learner().fit(X, cost=COST)
    one = learner().fit(frame, cost=COST)
    assert state_of(one) == state_of(plain)
    turned = frame[frame.columns[::-1]]
    np.testing.assert_array_equal(one.predict_cost(turned), plain.predict_cost(X))
    assert state_of(one.tell(turned, COST)) == state_of(plain.tell(X, COST))
    active = [learner().fit(rows, cost=COST, active=True) for rows in (frame, X)]
    np.testing.assert_array_equal(active[0].predict_cost(turned), active[1].predict_cost(X))


def test_names_that_are_equal_as_texts_are_refused():
    frame = pandas.DataFrame(X, columns=[7, "7"])
    for rows in (frame, frame.astype(str), [{7: 1.0, "7": "a"}], {7: [1.0], "7": ["a"]}):
        with pytest.raises(InputError, match="distinct names"):
            learner().ask(rows)


def test_numbers_without_end_are_refused():
    with pytest.raises(InputError, match="X must be a table of numbers"):
        learner().ask([[10**400, 1]])

"""Texts, tables and records are examples; the encoder is part of the learner."""

import copy
import pickle

import numpy as np
import pytest
import scipy.sparse
from sklearn.base import clone
from sklearn.model_selection import cross_val_score

from coalface import (
    CoalClassifier,
    Encoder,
    JsonLinesLedger,
    MemoryLedger,
    OnlineModel,
    simulate,
)
from coalface.errors import FileFormatError, InputError
from coalface.paper import ExactModel

from ..problems import state_of

TEXTS = ["where is my parcel", "i want my money back", "the parcel is lost", "a refund please"] * 8
KINDS = ["post", "money"] * 16
COST = [[float(kind == "money"), float(kind == "post")] for kind in KINDS]
RECORDS = [
    {"id": place, "text": text, "days": None if place % 5 == 0 else float(place % 7), "kind": "ab"[place % 2]}
    for place, text in enumerate(TEXTS)
]


def frame():
    return pytest.importorskip("pandas").DataFrame(RECORDS)


def learned(**params):
    return CoalClassifier(["post", "money"], **params).tell(RECORDS, COST)


def test_an_interview_about_texts_just_works():
    learner = CoalClassifier(["post", "money"]).interview(TEXTS, lambda i, label: float(KINDS[i] != label))
    assert learner.predict(["my parcel", "money back"]).tolist() == ["post", "money"]
    assert learner.costs_queried_ < 2 * len(TEXTS)
    assert learner.encoder_.describe().startswith("text  text, words and letters")


@pytest.mark.parametrize(
    "X",
    [np.eye(4), np.eye(4).tolist(), scipy.sparse.csr_array(np.eye(4)), np.eye(4, dtype=int), np.eye(4).astype(object)],
    ids=["array", "list", "sparse", "whole numbers", "objects"],
)
def test_numbers_are_not_encoded(X):
    learner = CoalClassifier().fit(X, [0, 1, 0, 1])
    assert not hasattr(learner, "encoder_")
    assert state_of(learner) == state_of(CoalClassifier().fit(scipy.sparse.csr_array(np.eye(4)), [0, 1, 0, 1]))


def test_frames_records_and_the_rows_of_the_encoder_are_the_same_examples():
    expected = learned()
    rows = expected.encoder_.transform(RECORDS)
    others = [
        CoalClassifier(["post", "money"]).tell(frame(), COST),
        CoalClassifier(["post", "money"], features=expected.encoder_).tell(rows, COST),
        CoalClassifier(["post", "money"], features=Encoder()).tell(RECORDS, COST),
    ]
    for other in others:
        assert state_of(other) == state_of(expected)
        assert other.predict(RECORDS).tolist() == expected.predict(RECORDS).tolist()
    np.testing.assert_array_equal(expected.predict_cost(rows), expected.predict_cost(frame()))
    with pytest.raises(InputError, match="columns that the encoder makes, got 3"):
        expected.predict(scipy.sparse.csr_array(np.eye(3)))
    with pytest.raises(InputError, match="got a sparse matrix of numbers"):
        CoalClassifier(features=Encoder()).fit(rows, KINDS)


def test_a_table_without_text_is_narrow_and_the_committee_joins():
    rows = frame().drop(columns="text")
    learner = CoalClassifier().fit(rows, KINDS)
    assert learner.encoder_.width == 5
    assert [member.name for member in learner.committee_] == ["online", "forest", "rbf"]
    assert CoalClassifier().fit(RECORDS, KINDS).committee_[0].name == "online"


def test_ask_makes_the_encoder_and_tell_uses_it():
    learner = CoalClassifier(["post", "money"])
    queries = learner.ask(RECORDS[:4])
    encoder = learner.encoder_
    learner.tell(RECORDS[4:8], COST[4:8])
    assert learner.encoder_ is encoder
    assert queries.mask.all()
    with pytest.raises(InputError, match="The record in row 0 has no 'kind'"):
        learner.ask([{"text": "x", "days": 1.0}])


def test_a_failed_call_leaves_a_new_learner_without_an_encoder():
    learner = CoalClassifier(["post", "money"])
    for call in (
        lambda: learner.tell(TEXTS[:1], [[2.0, 0.0]]),
        lambda: learner.partial_fit(TEXTS[:1], ["other"]),
        lambda: simulate(learner, TEXTS[:1], [[2.0, 0.0]]),
        lambda: learner.fit(TEXTS[:1], ["other"]),
    ):
        with pytest.raises(InputError):
            call()
        assert not hasattr(learner, "encoder_")


def test_fit_forgets_the_encoder():
    learner = CoalClassifier().fit(TEXTS, KINDS)
    learner.fit(np.eye(2), [0, 1])
    assert not hasattr(learner, "encoder_")
    assert learner.fit(TEXTS, KINDS).predict(["parcel"]).tolist() == ["post"]


@pytest.mark.parametrize(
    "X", [TEXTS[:1], [[np.nan, 1.0]], [["a", "b"]], RECORDS[:1]], ids=["text", "nan", "row", "record"]
)
def test_a_learner_that_began_with_numbers_says_how_to_begin_with_gaps(X):
    learner = CoalClassifier().fit(np.eye(2), [0, 1])
    with pytest.raises(InputError, match=r"Start with features=Encoder\(\)") as caught:
        learner.predict(X)
    assert "\n" not in str(caught.value)
    CoalClassifier(features=Encoder()).fit(np.eye(2), [0, 1]).predict([[np.nan, 1.0]])


def test_gaps_in_arrays_are_learned():
    X = np.array([[np.nan, 0.0], [1.0, 0.0], [np.nan, 1.0], [2.0, 1.0]] * 10)
    y = np.isnan(X[:, 0]).astype(int)
    learner = CoalClassifier().fit(X, y)
    assert (learner.predict(X) == y).all()


def test_a_simulated_run_over_raw_examples_equals_an_interview():
    one = CoalClassifier(["post", "money"])
    one.interview(RECORDS, lambda i, label: COST[i][["post", "money"].index(label)])
    other = CoalClassifier(["post", "money"])
    curve = simulate(other, frame(), COST, X_test=frame(), cost_test=COST)
    assert state_of(one) == state_of(other)
    assert curve.test_cost[-1] == -other.score(RECORDS, cost=COST)


@pytest.mark.parametrize("features", ["auto", Encoder(pairs=True, ignore=["kind"])], ids=["auto", "encoder"])
def test_a_saved_learner_takes_raw_examples_with_the_same_bits(tmp_path, features):
    learner = learned(features=features)
    learner.save(tmp_path / "model")
    again = CoalClassifier.load(tmp_path / "model")
    np.testing.assert_array_equal(again.predict_cost(RECORDS), learner.predict_cost(RECORDS))
    assert again.encoder_.plain() == learner.encoder_.plain()
    assert state_of(again.tell(RECORDS, COST)) == state_of(learner.tell(RECORDS, COST))
    assert repr(again.features) == repr(features)


def test_a_new_learner_that_only_asked_is_saved_with_its_encoder(tmp_path):
    learner = CoalClassifier(["post", "money"])
    learner.ask(RECORDS)
    learner.save(tmp_path / "model")
    assert CoalClassifier.load(tmp_path / "model").encoder_.plain() == learner.encoder_.plain()


@pytest.mark.parametrize("before", [False, True], ids=["in the first round", "in the header"])
def test_a_ledger_rebuilds_the_encoder(tmp_path, before):
    for ledger in (MemoryLedger(), JsonLinesLedger(tmp_path / "answers.jsonl")):
        learner = CoalClassifier(["post", "money"])
        if before:
            learner.ask(RECORDS)
        learner.record_to(ledger).tell(RECORDS[:9], COST[:9]).tell(RECORDS[9:], COST[9:])
        assert sum(one.encoder is not None for one in ledger) == (0 if before else 1)
        rebuilt = CoalClassifier.from_ledger(ledger)
        np.testing.assert_array_equal(rebuilt.predict_cost(RECORDS), learner.predict_cost(RECORDS))
        rebuilt.tell(RECORDS, COST)
        assert state_of(CoalClassifier.from_ledger(ledger)) == state_of(rebuilt)


def test_a_ledger_of_a_simulated_run_rebuilds_the_encoder():
    ledger = MemoryLedger()
    learner = CoalClassifier(["post", "money"]).record_to(ledger)
    simulate(learner, RECORDS, COST)
    rebuilt = CoalClassifier.from_ledger(ledger)
    np.testing.assert_array_equal(rebuilt.predict_cost(RECORDS), learner.predict_cost(RECORDS))


def lengths(texts):
    return np.array([[len(text), text.count("parcel")] for text in texts], np.float32)


def test_a_function_makes_vectors_of_texts_and_is_passed_again_after_loading(tmp_path):
    learner = CoalClassifier(features=lengths).fit(TEXTS, KINDS)
    assert learner.encoder_.width == 2
    learner.save(tmp_path / "model")
    with pytest.raises(FileFormatError, match="needs the function 'lengths' of its user, pass features="):
        CoalClassifier.load(tmp_path / "model")
    again = CoalClassifier.load(tmp_path / "model", features=lengths)
    np.testing.assert_array_equal(again.predict_cost(TEXTS), learner.predict_cost(TEXTS))
    ledger = MemoryLedger()
    CoalClassifier(["post", "money"], features=lengths).record_to(ledger).tell(TEXTS, COST)
    rebuilt = CoalClassifier.from_ledger(ledger, features=lengths)
    assert (
        rebuilt.predict(TEXTS).tolist()
        == CoalClassifier(["post", "money"], features=lengths).tell(TEXTS, COST).predict(TEXTS).tolist()
    )


def test_an_encoder_given_as_a_parameter_does_not_change():
    encoder = Encoder(text=["text"])
    learner = CoalClassifier(features=encoder).fit(RECORDS, KINDS)
    assert not encoder.is_fitted
    fitted = Encoder().fit(RECORDS[:5])
    assert CoalClassifier(features=fitted).fit(RECORDS, KINDS).encoder_ is fitted
    assert not hasattr(clone(learner), "encoder_")


def test_groups_of_columns_interact():
    encoder = Encoder().fit(frame().drop(columns="text"))
    groups = encoder.groups
    model = OnlineModel(interactions=[(groups["days"], groups["kind"])])
    learner = CoalClassifier(features=encoder, model=model).fit(frame().drop(columns="text"), KINDS)
    assert learner.predict(frame().drop(columns="text")).shape == (32,)


def test_copies_keep_the_encoder():
    learner = learned()
    for other in (pickle.loads(pickle.dumps(learner)), copy.deepcopy(learner)):
        np.testing.assert_array_equal(other.predict_cost(RECORDS), learner.predict_cost(RECORDS))


def test_raw_examples_are_cross_validated():
    assert cross_val_score(CoalClassifier(), np.array(TEXTS, object), KINDS, cv=4).mean() == 0.0
    assert cross_val_score(CoalClassifier(), frame(), KINDS, cv=4).mean() > -0.1


@pytest.mark.parametrize("model", ["ridge", ExactModel()], ids=str)
def test_other_models_take_narrow_tables(model, tmp_path):
    rows = frame().drop(columns="text")
    learner = CoalClassifier(["post", "money"], model=model).tell(rows, COST)
    learner.save(tmp_path / "model")
    again = CoalClassifier.load(tmp_path / "model")
    np.testing.assert_array_equal(again.predict_cost(rows), learner.predict_cost(rows))


EMPTY = {"list": [], "tuple": (), "array": np.array([], object)}
SEEN = {"texts": TEXTS, "records": RECORDS, "rows": [[text, 1.0] for text in TEXTS], "numbers": [[1.0, 2.0]] * 32}


@pytest.mark.parametrize("none", EMPTY)
@pytest.mark.parametrize("seen", SEEN)
def test_no_examples_have_no_predictions(seen, none):
    learner = CoalClassifier(["post", "money"]).tell(SEEN[seen], COST)
    assert learner.predict(EMPTY[none]).shape == (0,)
    assert learner.predict_cost(EMPTY[none]).shape == (0, 2)
    assert learner.ask(EMPTY[none]).mask.shape == (0, 2)
    before = state_of(learner)
    assert state_of(learner.tell(EMPTY[none], np.zeros((0, 2)))) == before
    for call in (learner.partial_fit, learner.score, learner.fit):
        with pytest.raises(InputError, match=r"at least one row"):
            call(EMPTY[none], [])


def test_an_empty_table_must_still_have_the_columns():
    learner = learned()
    assert learner.predict(frame()[:0]).shape == (0,)
    with pytest.raises(InputError, match="no column 'days'"):
        learner.predict(frame().drop(columns="days")[:0])

"""A learner in a file: the same learner afterwards, or one clear error."""

import copy
import os
import pickle
import re
import struct
import threading

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from coalface import Abstain, Audits, Budget, Coal, CoalClassifier, JsonLinesLedger, OnlineModel, evaluation_report
from coalface.errors import CoalfaceError, FileFormatError
from coalface.files.bundle import write_bundle
from coalface.models.choice import described_model
from coalface.structured import SequenceTagger

from ..problems import DEFAULTS, ask_and_tell, cut_in_two, dense_problem, sparse_problem, state_of, trained

MODEL = OnlineModel(learning_rate=2.0, accumulator="adagrad", sensitivity="derivative", fit_intercept=False)


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """The bytes of a saved learner, and a folder for damaged copies."""
    folder = tmp_path_factory.mktemp("models")
    learner, _ = trained(n=30)
    learner.save(folder / "model.coal")
    return (folder / "model.coal").read_bytes(), folder


@pytest.mark.parametrize(
    "params",
    [
        {},
        DEFAULTS,
        {"model": MODEL, "rule__slack": "noise-scaled", "rule": "all-or-none"},
        {"audits": Audits(0.5), "random_state": 7, "cost_bounds": (0, 1.0), "model__fit_intercept": False},
        {"rule__warm_up": 0, "rule__alike": 0.5},
        {"cost_matrix": np.eye(4), "learning_rate": np.float32(0.25)},
        {"abstain": Abstain(0.25, label="nobody")},
        {"budget": Budget(price=90.5, over=110, price_per_example=1.5, price_per_cost=0.5)},
    ],
    ids=str,
)
def test_a_run_cut_in_two_by_save_and_load_equals_the_run_in_one(tmp_path, params):
    X, cost = sparse_problem(1, 4)
    names = ["refund", "billing", "öther", ""]
    learner = CoalClassifier.as_published(classes=names, **params)
    whole, second = cut_in_two(learner, X, cost, tmp_path / "model", go_on=ask_and_tell)
    assert state_of(second) == state_of(whole)
    np.testing.assert_array_equal(second.predict(X), whole.predict(X))


@pytest.mark.parametrize(
    "names", [["b", "a"], [3, 1], [True, False], [2.5, -1.0], np.array([1, 2], np.uint8), ["x" * 300, "y"]], ids=str
)
def test_labels_of_any_type_are_restored(tmp_path, names):
    learner = CoalClassifier(classes=names).tell([[1.0]], [[0.0, 1.0]])
    learner.save(tmp_path / "model")
    again = CoalClassifier.load(tmp_path / "model")
    np.testing.assert_array_equal(again.classes_, learner.classes_)
    assert again.classes_.dtype == learner.classes_.dtype
    assert again.predict([[1.0]])[0] == names[0]


@pytest.mark.parametrize("names", [["2020-01-01", "2021-01-01"]])
def test_labels_that_are_dates_are_restored_or_refused_with_a_message(tmp_path, names):
    learner = CoalClassifier(classes=np.array(names, "datetime64[D]")).tell([[1.0]], [[0.0, 1.0]])
    with pytest.raises(ValueError, match="labels"):
        learner.save(tmp_path / "model")
    assert list(tmp_path.iterdir()) == []


def test_a_learner_that_has_seen_nothing_can_be_saved(tmp_path):
    CoalClassifier(classes=["a", "b"]).save(tmp_path / "model")
    again = CoalClassifier.load(tmp_path / "model")
    assert again.round_ == 1
    assert again.ask([[1.0]]).mask.all()


def test_the_parameters_are_restored(tmp_path):
    params = {
        "classes": ["a", "b"],
        "cost_matrix": [[0.0, 1.0], [0.5, 0.0]],
        "rule": Coal("no-domination", width_scale=0.25, warm_up=3, slack="noise-scaled", alike=0.75, miss_rate=0.25),
        "mellowness": 0.5,
        "cost_bounds": (0.0, 2.0),
        "audits": Audits(0.125, by="loss"),
        "shuffle": False,
        "random_state": 9,
        "budget": {"over": 1000, "costs": 100.0},
        "abstain": Abstain(0.5, label="ask a human"),
        "model": MODEL,
        "features": "auto",
        "price_of_truth": 1.5,
    }
    assert set(params) == set(CoalClassifier().get_params(deep=False))
    CoalClassifier(**params).save(tmp_path / "model")
    again = CoalClassifier.load(tmp_path / "model").get_params(deep=False)
    assert described_model(again.pop("model")) == described_model(params.pop("model"))
    assert again == params


def test_named_columns_are_restored(tmp_path):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"height": [1.0, 2.0], "weight": [0.0, 1.0]})
    CoalClassifier().fit(frame, ["a", "b"]).save(tmp_path / "model")
    again = CoalClassifier.load(tmp_path / "model")
    assert list(again.feature_names_in_) == ["height", "weight"]
    assert again.predict(frame[["weight", "height"]]).tolist() == again.predict(frame).tolist()
    with pytest.raises(ValueError, match="feature names"):
        again.predict(frame[["weight"]])


def test_pickle_and_deepcopy_keep_everything_and_share_nothing():
    learner, X = trained()
    before = state_of(learner)
    for other in (pickle.loads(pickle.dumps(learner)), copy.deepcopy(learner)):
        assert state_of(other) == before
        other.tell(X, np.zeros((len(X), 4)))
        assert state_of(other) != before
        assert state_of(learner) == before


@pytest.mark.parametrize("twentieth", range(20))
def test_a_truncated_file_is_refused(saved, twentieth):
    content, folder = saved
    path = folder / "truncated"
    path.write_bytes(content[: len(content) * twentieth // 20])
    with pytest.raises(FileFormatError, match="truncated"):  # the name of the file, if not the reason
        CoalClassifier.load(path)


@given(st.data())
def test_a_flipped_bit_anywhere_is_noticed(saved, data):
    content, folder = saved
    place = data.draw(st.integers(0, len(content) - 1))
    damaged = bytearray(content)
    damaged[place] ^= 1 << data.draw(st.integers(0, 7))
    path = folder / "flipped"
    path.write_bytes(damaged)
    with pytest.raises(FileFormatError, match="flipped"):
        CoalClassifier.load(path)


@given(st.binary(max_size=200))
def test_a_foreign_file_is_refused(tmp_path_factory, content):
    path = tmp_path_factory.getbasetemp() / "foreign"
    path.write_bytes(content)
    with pytest.raises(FileFormatError, match="foreign is not a coalface model"):
        CoalClassifier.load(path)


def test_a_file_from_the_future_is_refused(saved):
    content, folder = saved
    path = folder / "future"
    path.write_bytes(content[:8] + struct.pack("<I", 2) + content[12:])
    with pytest.raises(FileFormatError, match=r"has format 2.*reads up to 1.*Upgrade"):
        CoalClassifier.load(path)


def test_a_file_of_another_kind_is_refused(tmp_path):
    write_bundle(tmp_path / "other", "dataset", {}, {"x": np.zeros(3)})
    with pytest.raises(FileFormatError, match="holds a dataset, not a model"):
        CoalClassifier.load(tmp_path / "other")


@pytest.mark.parametrize(
    "change",
    [
        {"params": {"no_such": 1}},
        {"params": {"mellowness": -1}},
        {"params": None},
        {"arrays": {"cells": np.zeros((2, 3, 8), np.float64)}},
        {"arrays": {"cells": np.zeros((2, 3, 16), np.float32)}},
        {"arrays": {"cells": np.zeros((1, 3, 8), np.float32)}},
        {"arrays": {"units": np.zeros(99, np.float32)}},
        {"arrays": {"counters": np.full(5, 10**6)}},
        {"arrays": {"counters": np.full(5, -1)}},
        {"arrays": {"classes_": np.array([1, 1, 2, 2])}},
        {"arrays": {"classes_": np.arange(40)}},
        {"arrays": {"features": None}},
        {"arrays": {"classes_": None}},
        {"width": "missing"},
    ],
    ids=str,
)
def test_an_intact_bundle_that_is_not_a_learner_is_refused(tmp_path, change):
    learner, _ = trained()
    arrays = {"classes_": learner.classes_, **learner.model_.arrays(), **change.get("arrays", {})}
    arrays = {name: array for name, array in arrays.items() if array is not None}
    meta = {"params": change.get("params", {"mellowness": 0.5})}
    if change.get("width") != "missing":
        meta["width"] = 8
    write_bundle(tmp_path / "model", "model", meta, arrays)
    with pytest.raises(FileFormatError):
        CoalClassifier.load(tmp_path / "model")


def test_a_failed_save_leaves_the_old_file_and_nothing_else(tmp_path, monkeypatch):
    learner, X = trained()
    path = tmp_path / "model"
    learner.save(path)
    before = path.read_bytes()
    learner.tell(X, np.zeros((len(X), 4)))

    def no_space(handle):
        raise OSError("No space left on device")

    monkeypatch.setattr(os, "fsync", no_space)
    with pytest.raises(OSError, match="No space"):
        learner.save(path)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def test_saving_while_another_thread_learns_gives_a_state_the_learner_was_in(tmp_path):
    X, cost = sparse_problem(2, 8, 400, n_features=4000)
    states, learner = {}, CoalClassifier(classes=range(8))
    shadow = CoalClassifier(classes=range(8))
    for i in range(400):
        shadow.tell(X[i : i + 1], cost[i : i + 1])
        states[shadow.round_] = state_of(shadow)

    def learn():
        for i in range(400):
            learner.tell(X[i : i + 1], cost[i : i + 1])

    learner.tell(X[:0], cost[:0])
    thread = threading.Thread(target=learn)
    thread.start()
    seen = []
    while thread.is_alive():
        learner.save(tmp_path / "model")
        for again in (CoalClassifier.load(tmp_path / "model"), copy.deepcopy(learner)):
            again.n_features_in_ = 4000
            seen.append(again.round_ == 1 or state_of(again) == states[again.round_])
    thread.join()
    assert all(seen)
    assert state_of(learner) == states[401]


def test_a_new_file_has_the_permissions_of_an_ordinary_one(tmp_path):
    if os.name != "posix":
        pytest.skip("permissions are posix")
    learner, _ = trained()
    learner.save(tmp_path / "model")
    (tmp_path / "ordinary").write_bytes(b"")
    assert (tmp_path / "model").stat().st_mode == (tmp_path / "ordinary").stat().st_mode


def test_saved_twice_a_learner_gives_the_same_bytes(tmp_path):
    learner, _ = trained()
    learner.save(tmp_path / "one")
    CoalClassifier.load(tmp_path / "one").save(tmp_path / "two")
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()


def test_a_loaded_learner_predicts_the_same_on_rows_it_has_not_seen(tmp_path):
    learner, X = trained()
    learner.save(tmp_path / "model")
    again = CoalClassifier.load(tmp_path / "model")
    more, _ = dense_problem(99, 4)
    np.testing.assert_array_equal(again.predict_cost(more), learner.predict_cost(more))
    np.testing.assert_array_equal(again.ask(X).mask, learner.ask(X).mask)


def test_a_name_or_a_path_in_place_of_a_model_or_a_ledger_is_refused_in_one_line(tmp_path):
    CoalClassifier(["a", "b"]).begin().save(tmp_path / "model")
    with pytest.raises(CoalfaceError, match="model must be a CostModel"):
        CoalClassifier.load(tmp_path / "model", model="forest")
    with pytest.raises(CoalfaceError, match="ledger must be a ledger"):
        CoalClassifier.from_ledger("answers.jsonl")


def test_a_missing_file_is_named_with_a_remedy(tmp_path):
    for load in (CoalClassifier.load, SequenceTagger.load):
        with pytest.raises(
            FileNotFoundError, match=r"There is no (model|tagger) .*gone.coal. Check the path"
        ) as caught:
            load(tmp_path / "gone.coal")
        assert isinstance(caught.value, CoalfaceError)
        assert "\n" not in str(caught.value)
    with pytest.raises(FileFormatError, match="is a folder, not a coalface model"):
        CoalClassifier.load(tmp_path)


def test_a_folder_in_place_of_a_file_is_one_line(tmp_path):
    learner, line = (
        CoalClassifier(["a", "b"]),
        f"^{re.escape(str(tmp_path))} is a folder. Add the name of a file in it.$",
    )
    for write in (learner.save, JsonLinesLedger, evaluation_report(learner, [[1.0]], cost=[[0.0, 1.0]]).to_html):
        with pytest.raises(IsADirectoryError, match=line) as caught:
            write(tmp_path)
        assert isinstance(caught.value, CoalfaceError)
    assert list(tmp_path.iterdir()) == []

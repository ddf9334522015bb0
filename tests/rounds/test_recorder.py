"""A learner and its ledger never drift apart unnoticed."""

import signal
import threading

import numpy as np
import pandas as pd
import pytest

from coalface import Audits, Coal, CoalClassifier, JsonLinesLedger, MemoryLedger, OnlineModel, simulate
from coalface.data.encoding.encoder import Encoder
from coalface.errors import InputError
from coalface.rounds.label_change import LabelChange
from coalface.rounds.ledger import Recorder
from coalface.rounds.round import Round

CLASSES = ["a", "b", "c"]


def recording(ledger=None, **params):
    return CoalClassifier(CLASSES).set_params(**params).record_to(MemoryLedger() if ledger is None else ledger)


def some_rows(n, seed=0):
    rng = np.random.default_rng(seed)
    return rng.random((n, 4)), rng.random((n, 3))


def assert_same_model(one, other):
    ours, theirs = one.model_.arrays(), other.model_.arrays()
    for name, array in ours.items():
        np.testing.assert_array_equal(array, theirs[name], err_msg=name)


class FullDisk(MemoryLedger):
    full = False

    def append(self, rounds):
        if self.full:
            raise OSError("no space left")
        super().append(rounds)


@pytest.mark.parametrize("kind", ["memory", "file"])
def test_threads_that_tell_one_learner_leave_a_ledger_that_rebuilds_it(kind, tmp_path):
    ledger = MemoryLedger() if kind == "memory" else JsonLinesLedger(tmp_path / "answers.jsonl")
    learner = recording(ledger)
    X, cost = some_rows(60)

    def work(start):
        for i in range(start, 60, 4):
            learner.tell(X[i : i + 1], cost[i : i + 1])

    threads = [threading.Thread(target=work, args=(start,)) for start in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(ledger) == 60
    assert_same_model(CoalClassifier.from_ledger(ledger), learner)


def test_threads_that_ask_a_new_learner_begin_it_once():
    learner = CoalClassifier(CLASSES)
    barrier, seen = threading.Barrier(8), []

    def work():
        barrier.wait()
        learner.ask([[1.0]])
        seen.append(id(learner.model_))

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(seen)) == 1


def test_a_failed_write_in_tell_changes_nothing_and_the_next_one_goes_on():
    ledger = FullDisk()
    learner = recording(ledger)
    X, cost = some_rows(3)
    learner.tell(X[:1], cost[:1])
    ledger.full = True
    with pytest.raises(OSError, match="no space"):
        learner.tell(X[1:2], cost[1:2])
    ledger.full = False
    assert learner.round_ == 2
    learner.tell(X[2:], cost[2:])
    assert_same_model(CoalClassifier.from_ledger(ledger), learner)


def test_a_learner_ahead_of_its_ledger_refuses_to_learn_more():
    ledger = FullDisk()
    learner = recording(ledger)
    X, cost = some_rows(50)
    ledger.full = True
    with pytest.raises(OSError, match="no space"):
        simulate(learner, X, cost)
    ledger.full = False
    with pytest.raises(InputError, match="from_ledger"):
        learner.tell(X[:1], cost[:1])
    with pytest.raises(InputError, match="from_ledger"):
        simulate(learner, X, cost)


def test_ctrl_c_between_writing_and_learning_waits_for_both():
    class Interrupting(MemoryLedger):
        def append(self, rounds):
            super().append(rounds)
            signal.raise_signal(signal.SIGINT)

    learner = recording(ledger := Interrupting())
    X, cost = some_rows(1)
    with pytest.raises(KeyboardInterrupt):
        learner.tell(X, cost)
    assert learner.round_ == 2
    assert len(ledger) == 1


def test_what_decides_how_answers_are_learned_cannot_change_under_a_ledger():
    learner = recording(model=OnlineModel(learning_rate=0.5))
    X, cost = some_rows(2)
    learner.tell(X[:1], cost[:1])
    learner.set_params(model__learning_rate=0.1)
    with pytest.raises(InputError, match=r"model must stay as it was.*=0\.5\), got .*=0\.1\)"):
        learner.tell(X[1:], cost[1:])
    assert learner.round_ == 2
    learner.set_params(model__learning_rate=0.5, mellowness=1.0).tell(X[1:], cost[1:])
    assert learner.round_ == 3


@pytest.mark.parametrize("way", ["tell", "simulate"])
def test_a_rebuilt_learner_knows_the_names_of_its_columns(way, tmp_path):
    path = tmp_path / "answers.jsonl"
    learner = recording(JsonLinesLedger(path))
    X, cost = some_rows(5)
    frame = pd.DataFrame(X, columns=list("wxyz"))
    if way == "tell":
        learner.tell(frame, cost)
    else:
        simulate(learner, frame, cost)
    rebuilt = CoalClassifier.from_ledger(JsonLinesLedger(path))
    np.testing.assert_array_equal(rebuilt.predict(frame), learner.predict(frame))
    np.testing.assert_array_equal(rebuilt.predict(frame[list("zyxw")]), learner.predict(frame))
    with pytest.raises(ValueError, match="feature names"):
        rebuilt.predict(frame[list("zyx")])


@pytest.mark.parametrize("way", ["tell", "simulate"])
def test_an_audit_that_was_certain_is_still_an_audit(way):
    learner = CoalClassifier(["only"], rule=Coal(warm_up=0, miss_rate=None), audits=Audits(1.0)).record_to(
        ledger := MemoryLedger()
    )
    X, cost = some_rows(5)
    if way == "simulate":
        simulate(learner, X, cost[:, :1])
    else:
        for x, c in zip(X, cost, strict=True):
            queries = learner.ask([x])
            learner.tell([x], np.where(queries.mask, c[:1], np.nan), asked=queries)
    assert [one.propensity for one in ledger] == [{"only": 1.0}] * 5


def recorder_of(header):
    """A recorder of a learner without parameters or budget, to a new ledger with this header."""
    ledger = MemoryLedger()
    ledger.begin(header)
    return Recorder(ledger, CLASSES, (), {}, {})


def test_the_first_round_under_a_new_budget_has_it():
    recorder, small, large = recorder_of({}), {"amount": 5}, {"amount": 7}
    recorder.write([Round(1, width=1), Round(2, width=1)], {}, {})
    recorder.write([Round(3, width=1), Round(4, width=1)], {}, small)
    recorder.write([Round(5, width=1)], {}, small)
    recorder.write([], {}, large)
    recorder.write([LabelChange("retire", "a", round=6), Round(6, width=1)], {}, large)
    recorder.write([Round(7, width=1)], {}, {})
    assert [one.budget for one in recorder.ledger] == [None, None, small, None, None, large, None, {}]


def test_an_encoder_is_written_down_until_the_ledger_has_it():
    encoder = Encoder(pairs=True)
    recorder = recorder_of({})
    assert recorder.encoder_of(None) is None
    recorder.write([LabelChange("retire", "a", round=1), Round(1, width=1)], {}, {})
    assert recorder.encoder_of(encoder) == encoder.plain()
    recorder.write([Round(2, width=1), Round(3, width=1, encoder=encoder.plain())], {}, {})
    assert recorder.encoder_of(encoder) is None
    recorder.write([Round(4, width=1)], {}, {})
    assert recorder.encoder_of(encoder) is None


def test_an_encoder_in_the_header_is_not_written_again():
    encoder = Encoder(pairs=True)
    assert recorder_of({"encoder": encoder.plain()}).encoder_of(encoder) is None
    assert recorder_of({"encoder": None}).encoder_of(encoder) == encoder.plain()

"""The forest model in replays, files and interrupted calls: it is the same to the bit, or as it was before."""

import itertools
import pickle
import signal
import threading

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array

from coalface import Coal, CoalClassifier, MemoryLedger, simulate
from coalface.data.rows import check_rows
from coalface.errors import FileFormatError, InputError
from coalface.learner.teaching import learned_with
from coalface.models.forest import ForestModel
from coalface.models.forest import model as forest
from coalface.models.forest.answer_store import AnswerStore

from ..problems import come_back, dense_problem, matrix_costs, sparse_problem
from ..rounds.test_replay import eventful_life
from .forests import begun, learn, learned, problem, same


class TestReplay:
    @given(st.integers(0, 10_000), st.lists(st.integers(0, 50), max_size=4))
    @settings(max_examples=15)
    def test_the_model_does_not_depend_on_how_rows_are_split(self, seed, cuts):
        X, cost = problem(seed, 50)
        cost[seed % 50 :: 7] = np.nan  # rows without an answer
        model, other = learned(X, cost), begun(3)
        edges = [0, *sorted(cuts), 50]
        for first, stop in itertools.pairwise(edges):
            learn(other, X[first:stop].reshape(-1, 4), cost[first:stop])
        assert same(model, other)

    @given(st.integers(0, 10_000), st.integers(1, 3))
    @settings(max_examples=15)
    def test_columns_that_come_later_were_0_before(self, seed, n_columns):
        X, cost = problem(seed, 50)
        X[:30, n_columns:] = 0.0
        model, narrow = learned(X, cost), begun(3)
        learn(narrow, X[:30, :n_columns], cost[:30])
        learn(narrow, X[30:], cost[30:])
        assert same(model, narrow)

    def test_a_column_never_seen_changes_nothing(self):
        X, cost = problem(1)
        model, wide = learned(X, cost), learned(np.pad(X, ((0, 0), (0, 3))), cost)
        assert same(model, wide)
        later = np.pad(X, ((0, 0), (0, 3)), constant_values=7.0)
        np.testing.assert_array_equal(model.predict(check_rows(later)), wide.predict(check_rows(X)))

    @pytest.mark.parametrize("way", ["file", "pickle", "ledger"])
    def test_files_and_ledgers_give_the_same_model_though_a_wider_row_came_after_the_last_growth(self, way, tmp_path):
        learner = CoalClassifier(["a", "b", "c"], model=ForestModel(8), random_state=4)
        learner.record_to(ledger := MemoryLedger())
        X, cost = problem(3, 44, known=1.0)
        simulate(learner, X, cost)
        grown = learner.model_.answers.due_from.copy()
        learner.tell(csr_array(np.ones((1, 9))), [[np.nan, 0.5, np.nan]])
        assert learner.model_.answers.due_from.tolist() == grown.tolist()
        again = come_back(way, learner, ledger, tmp_path)
        assert same(again.model_, learner.model_)
        for each in (learner, again):
            each.tell(np.full((30, 9), np.arange(9.0)), np.random.default_rng(0).random((30, 3)))
        assert same(again.model_, learner.model_)

    @pytest.mark.parametrize("seed", range(4))
    def test_an_eventful_life_is_replayed_to_the_bit(self, seed):
        X, cost = (dense_problem if seed % 2 else sparse_problem)(seed, 4, 60)
        learner = CoalClassifier(list("abcd"), model=ForestModel(4), random_state=seed, rule=Coal(warm_up=3))
        learner.record_to(ledger := MemoryLedger())
        eventful_life(learner, X, cost if seed < 2 else matrix_costs(cost, seed), seed)
        assert same(CoalClassifier.from_ledger(ledger).model_, learner.model_)
        assert same(pickle.loads(pickle.dumps(learner)).model_, learner.model_)

    def test_random_state_decides_the_trees_and_cannot_change_while_a_ledger_records(self):
        X, cost = problem(2, known=1.0)
        one, two, other = (learned(X, cost, random_state=state) for state in (1, 1, 2))
        assert same(one, two)
        assert not np.array_equal(one.predict(check_rows(X)), other.predict(check_rows(X)))
        learner = CoalClassifier(["a", "b", "c"], model=ForestModel(5)).record_to(MemoryLedger()).tell(X, cost)
        assert "random_state" in learned_with(learner)
        with pytest.raises(InputError, match="random_state must stay as it was when the ledger began, 0, got 1"):
            learner.set_params(random_state=1).tell(X, cost)

    def test_threads_do_not_change_the_trees(self, monkeypatch):
        X, cost = problem(1, 120, 5)
        alone = learned(X, cost)
        started = []
        monkeypatch.setattr(forest, "_PARALLEL_SIZE", 0)
        monkeypatch.setattr(
            forest, "ThreadPoolExecutor", lambda n, kind=forest.ThreadPoolExecutor: started.append(n) or kind(4)
        )
        assert same(learned(X, cost), alone)
        assert started


class TestFiles:
    @pytest.fixture
    def saved(self):
        return learned(*problem(1, 30)).saved()

    @pytest.mark.parametrize("name", ["table", "costs", "importance", "seed"])
    @pytest.mark.parametrize(
        "damage", [None, lambda array: array[:-1], lambda array: array.astype(np.float64), lambda array: array[None]]
    )
    def test_arrays_that_are_missing_or_do_not_fit_are_refused(self, saved, name, damage):
        damaged = {key: array for key, array in saved.items() if key != name}
        if damage is not None:
            damaged[name] = damage(saved[name])
        if name == "table" and damage is not None and damaged[name].ndim == 2 and damaged[name].dtype == np.float32:
            damaged[name] = saved[name][:, :-1]  # a column less may be; a row less may not
        with pytest.raises(FileFormatError, match=rf"no usable array '({name}|costs)'"):
            begun(3).restore_saved(damaged)

    @pytest.mark.parametrize(
        ("name", "value", "words"),
        [
            ("table", np.nan, "table of the model has values that are not finite"),
            ("table", np.inf, "table of the model has values that are not finite"),
            ("costs", 1.5, r"costs of the model do not lie in \[0, 1\]"),
            ("costs", -0.25, r"costs of the model do not lie in \[0, 1\]"),
            ("costs", np.inf, r"costs of the model do not lie in \[0, 1\]"),
            ("costs", np.nan, "weights of the model do not fit its costs"),
            ("importance", 0.0, "weights of the model do not fit its costs"),
            ("importance", np.nan, "weights of the model do not fit its costs"),
            ("importance", -1.0, "weights of the model do not fit its costs"),
            ("importance", np.inf, "weights of the model do not fit its costs"),
        ],
    )
    def test_values_that_cannot_be_are_refused(self, saved, name, value, words):
        array = saved[name].copy()
        place = np.flatnonzero(~np.isnan(saved["costs"]))[5] if name != "table" else 7
        array.flat[place] = value
        with pytest.raises(FileFormatError, match=words):
            begun(3).restore_saved({**saved, name: array})

    def test_a_model_of_other_labels_is_refused(self, saved):
        with pytest.raises(FileFormatError):
            begun(4).restore_saved(saved)

    def test_an_untrained_model_is_restored(self):
        model = begun(3)
        again = begun(3)
        again.restore_saved(model.saved())
        assert same(again, model)

    def test_restoring_replaces_what_was_learned(self, saved):
        model, other = begun(3), learned(*problem(5, 50))
        for each in (model, other):
            each.restore_saved(saved)
        assert same(model, other)


class TestInterrupts:
    """Learning happens as a whole or not at all, so that answers can be told again."""

    @pytest.mark.parametrize("n_fine", [0, 1, 3])
    @pytest.mark.parametrize("where", ["_grown", "count_answers"])
    def test_a_failure_anywhere_leaves_the_model_as_it_was(self, monkeypatch, where, n_fine):
        X, cost = problem(1, 120)
        model, untouched, fine = learned(X[:50], cost[:50]), learned(X[:50], cost[:50]), learned(X, cost)
        plain, calls = getattr(ForestModel, where), []

        def interrupted(*its):
            calls.append(its)
            if len(calls) > n_fine:
                raise KeyboardInterrupt
            return plain(*its)

        wide = np.pad(X[50:], ((0, 0), (0, 2)), constant_values=3.0)
        with monkeypatch.context() as patch:
            patch.setattr(ForestModel, where, interrupted)
            with pytest.raises(KeyboardInterrupt):
                learn(model, wide, cost[50:])
        assert same(model, untouched)
        learn(model, X[50:], cost[50:])  # narrower: nothing of the wide rows must be left
        assert same(model, fine)

    def test_ctrl_c_while_learning_leaves_nothing_half_learned(self):
        X, cost = problem(1, 3000, 6, known=1.0)
        learner = CoalClassifier(range(6), model=ForestModel(100)).tell(X[:50], cost[:50])
        again = pickle.loads(pickle.dumps(learner))
        timer = threading.Timer(0.1, signal.raise_signal, [signal.SIGINT])
        timer.start()
        with pytest.raises(KeyboardInterrupt):
            learner.tell(X, cost)
        timer.join()
        assert same(learner.model_, again.model_)
        assert learner.round_ == again.round_


def test_a_store_takes_back_rows_as_if_they_had_never_been_added():
    X, cost = problem(1, 80, 4)
    weights = np.where(np.isnan(cost), 0, 1).astype(np.float32)
    stores = []
    for n in (80, 50):
        store, done = AnswerStore(4), 0
        store.make_room(4, n)
        while done < n:
            done = store.add(check_rows(X[:n]), cost[:n], weights[:n], done).stop
            store.take_due()
        stores.append(store)
    stores[0].replay(50)
    one, other = stores
    assert one.n_rows == other.n_rows == 50
    for a, b in [
        (one.counts, other.counts),
        (one.due_from, other.due_from),
        *zip(one.implications, other.implications, strict=True),
    ]:
        np.testing.assert_array_equal(a, b)
    np.testing.assert_array_equal(one.costs[:50], other.costs[:50])

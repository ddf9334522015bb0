"""The forest model: when forests are grown again, replays, files, widths, interrupts, and input at the edges."""

import itertools
import pickle
import signal
import threading
import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coalface import CoalClassifier, MemoryLedger, simulate
from coalface.data.rows import check_rows
from coalface.errors import FileFormatError, InputError
from coalface.kernels.state import MOST_IMPLIED
from coalface.learner.settings import settings_for
from coalface.models import forest
from coalface.models.answer_store import AnswerStore
from coalface.models.forest import ForestModel

from ..problems import dense_problem, matrix_costs, sparse_problem
from ..rounds.test_replay import eventful_life


def setting(n_labels, **params):
    return settings_for(n_labels, {**CoalClassifier().get_params(), **params})


def problem(seed, n=60, n_labels=3, known=0.6, n_columns=4):
    X, cost = dense_problem(seed, n_labels, n, n_columns)
    cost = matrix_costs(cost, seed) if seed % 2 else cost  # of which some are implied
    return X, np.where(np.random.default_rng(seed).random(cost.shape) < known, cost, np.float32(np.nan))


def begun(n_labels, n_trees=5, **params):
    return ForestModel(n_trees).begin(n_labels, setting(n_labels, **params))


def learned(X, cost, weights=None, **params):
    model = begun(cost.shape[1], **params)
    learn(model, X, cost, weights)
    return model


def learn(model, X, cost, weights=None):
    given_weights = {} if weights is None else {"weights": weights.astype(np.float32)}
    model.learn(check_rows(X), cost.astype(np.float32), model.settings, 1, **given_weights)


def same(one, other):
    """Whether two models have the same trees, answers and counts, bit for bit."""
    trees = all(
        a is b is None or (a is not None and b is not None and all(map(np.array_equal, a, b)))
        for a, b in zip(one.trees, other.trees, strict=True)
    )
    ours, theirs = one.saved(), other.saved()
    arrays = all(np.array_equal(ours[name], theirs[name], equal_nan=ours[name].dtype.kind == "f") for name in ours)
    counts = [(model.answers.counts.tolist(), model.answers.due_from.tolist()) for model in (one, other)]
    return trees and arrays and ours.keys() == theirs.keys() and counts[0] == counts[1]


class TestSchedule:
    def test_a_forest_is_grown_again_when_its_answers_have_grown_by_a_fifth(self, monkeypatch):
        sizes, plain = [], ForestModel._grown
        monkeypatch.setattr(ForestModel, "_grown", lambda *its: sizes.append(its[0].answers.due_from[0]) or plain(*its))
        X, cost = problem(0, 300, 1, known=1.0)
        learned(X, cost)
        assert sizes[:12] == [1, 2, 3, 4, 5, 6, 8, 10, 12, 15, 18, 22]
        for before, after in itertools.pairwise(sizes):
            assert after - 1 < 1.2 * before <= after or after == before + 1
        assert sum(sizes) < 6 * 300

    def test_labels_are_grown_by_their_own_counts_with_implied_costs(self):
        X, cost = problem(1, 200, 4)
        model = learned(X, cost)
        assert (model.answers.counts > (~np.isnan(cost)).sum(axis=0)).all()
        assert (model.answers.due_from > model.answers.counts / 1.2 - 1).all()
        assert model.state.answered[:4].tolist() == (~np.isnan(cost)).sum(axis=0).tolist()

    def test_only_answered_labels_have_trees_and_others_may_cost_anything(self):
        X, cost = problem(0, 20, 3)
        cost[:, 1:] = np.nan
        model = learned(X, cost)
        assert [trees is None for trees in model.trees] == [False, True, True]
        predicted, lowest, highest = model.ranges(check_rows(X), setting(3, mellowness=1e-6), 30)
        assert (predicted[:, 1:] == 0.5).all()
        assert (lowest[:, 1:] == 0).all()
        assert (highest[:, 1:] == 1).all()
        assert (highest[:, 0] - lowest[:, 0] < 0.1).all()


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
        X, cost = problem(3, 40, known=1.0)
        simulate(learner, X, cost)
        grown = learner.model_.answers.due_from.copy()
        learner.tell(np.ones((1, 9)), [[np.nan, 0.5, np.nan]])
        assert learner.model_.answers.due_from.tolist() == grown.tolist()
        learner.save(tmp_path / "model")
        again = {
            "file": lambda: CoalClassifier.load(tmp_path / "model"),
            "pickle": lambda: pickle.loads(pickle.dumps(learner)),
            "ledger": lambda: CoalClassifier.from_ledger(ledger),
        }[way]()
        assert same(again.model_, learner.model_)
        for each in (learner, again):
            each.tell(np.full((30, 9), np.arange(9.0)), np.random.default_rng(0).random((30, 3)))
        assert same(again.model_, learner.model_)

    @pytest.mark.parametrize("seed", range(4))
    def test_an_eventful_life_is_replayed_to_the_bit(self, seed):
        X, cost = (dense_problem if seed % 2 else sparse_problem)(seed, 4, 60)
        learner = CoalClassifier(list("abcd"), model=ForestModel(4), random_state=seed, warm_up=3)
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
        assert "random_state" in learner.learned_with
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


class TestWeights:
    def test_implied_costs_weigh_1_whatever_the_weights_of_costs_that_are_unknown(self):
        X, cost = problem(1, 200, 4)
        unknown = np.isnan(cost)
        models = [learned(X, cost, np.where(unknown, value, 2.0)) for value in (0.0, 1.0, 9.0, np.nan)]
        for other in models[1:]:
            assert same(models[0], other)
        assert (models[0].answers.counts > (~unknown).sum(axis=0)).all()
        weights = models[0].answers.sample(0).weights
        assert set(weights) == {1.0, 2.0}

    def test_costs_of_weight_0_or_nan_are_unknown(self):
        X, cost = problem(0, 60)
        left_out = np.random.default_rng(0).random(cost.shape) < 0.3
        expected = learned(X, np.where(left_out, np.nan, cost))
        for value in (0.0, np.nan):
            assert same(learned(X, cost, np.where(left_out, value, 1.0)), expected)


class TestInterrupts:
    """Learning happens as a whole or not at all, so that answers can be told again."""

    @pytest.mark.parametrize("n_fine", [0, 1, 3, 9])
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


class TestEdges:
    def test_one_row_one_label_one_column(self):
        model = learned(np.array([[2.0]]), np.array([[0.25]], np.float32))
        assert model.predict(check_rows([[-7.0]])).tolist() == [[0.25]]
        learner = CoalClassifier(["only"], model="forest").tell([[2.0]], [[0.25]])
        assert learner.predict([[1.0]]).tolist() == ["only"]

    def test_rows_of_zeros_have_the_mean_of_their_costs(self):
        model = learned(np.zeros((40, 2)), np.repeat([[0.0], [1.0]], 20, axis=0), n_trees=400)
        assert model.predict(check_rows([[0.0, 0.0]]))[0, 0] == pytest.approx(0.5, abs=0.02)

    def test_costs_that_are_all_equal_are_predicted_exactly(self):
        X, cost = problem(0, 50)
        cost[:] = 0.3
        predicted, lowest, highest = (model := learned(X, cost)).ranges(check_rows(X), setting(3), 60)
        np.testing.assert_allclose(predicted, 0.3, rtol=1e-6)
        assert (highest - lowest > 0).all()  # few answers are never certain
        assert all((trees.columns == -1).all() for trees in model.trees)

    def test_a_single_column_is_enough(self):
        x = np.linspace(-1, 1, 300)[:, None]
        predicted = learned(x, np.hstack([x < 0.2, x >= 0.2]), n_trees=20).predict(check_rows([[-0.9], [0.1], [0.9]]))
        np.testing.assert_allclose(predicted, [[1, 0], [1, 0], [0, 1]], atol=0.05)

    @pytest.mark.parametrize("scale", [1e-37, 1e-3, 1.0, 1e37])
    def test_the_scale_of_the_table_does_not_matter(self, scale):
        X, cost = problem(2, 60)
        predicted = learned(X * scale, cost).predict(check_rows(X * scale))
        np.testing.assert_allclose(predicted, learned(X, cost).predict(check_rows(X)), atol=0.1)
        assert np.isfinite(predicted).all()

    def test_with_very_many_labels_nothing_is_implied(self):
        n_labels = MOST_IMPLIED + 88
        X, _ = problem(0, 40)
        cost = 1 - np.eye(n_labels, dtype=np.float32)[np.arange(40) % 5]
        cost[:, 5:] = np.where(np.random.default_rng(0).random((40, n_labels - 5)) < 0.3, 1, np.nan)
        model = learned(X, cost, n_trees=2)
        assert model.answers.implications.pairs.size == 0
        np.testing.assert_array_equal(model.answers.counts, (~np.isnan(cost)).sum(axis=0))
        again = begun(n_labels, n_trees=2)
        again.restore_saved(model.saved())
        assert same(again, model)

    @pytest.mark.parametrize(
        ("n_trees", "words"),
        [
            (1, "n_trees must be a whole number of at least 2, got 1"),
            (2.5, "n_trees must be a whole number of at least 2, got 2.5"),
            ("many", "n_trees must be a whole number of at least 2, got 'many'"),
            (100_000, "n_trees must be at most 10,000, got 100,000"),
        ],
    )
    def test_a_number_of_trees_that_cannot_be_is_refused(self, n_trees, words):
        with pytest.raises(InputError, match=words):
            CoalClassifier(["a", "b"], model=ForestModel(n_trees)).tell([[1.0]], [[0.0, 1.0]])

    def test_a_whole_number_of_trees_may_be_written_as_a_fraction(self):
        assert len(learned(*problem(0), n_trees=3.0).trees[0].roots) == 3

    def test_rows_too_wide_for_a_dense_table_are_refused(self):
        learner = CoalClassifier(["a", "b"], model="forest").begin()
        with pytest.raises(InputError, match=r"at most 1,000,000 columns.*got 2,000,001"):
            learner.tell_row([2_000_000], [1.0], ["a"], [0.5])

    def test_wide_rows_are_read_some_at_a_time(self):
        model, wide = begun(2), np.zeros((1, 100_000))
        wide[0, -1] = 1.0
        learn(model, wide, np.array([[0.0, 1.0]]))
        rows = check_rows(np.zeros((500, 1)))
        tracemalloc.start()
        predicted = model.predict(rows)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert predicted.tolist() == [[0.0, 1.0]] * 500
        assert peak < 50e6  # all at once would take 200 MB

    def test_columns_that_come_one_by_one_do_not_copy_the_table_each_time(self):
        model, tables = begun(1, n_trees=2), set()
        for width in range(1, 200):
            learn(model, np.ones((1, width)), np.array([[0.5]]))
            tables.add(model.answers.table.shape)
        assert len(tables) < 60
        assert model.saved()["table"].shape == (199, 199)

    def test_a_forest_takes_12_bytes_per_node(self):
        trees = learned(*problem(0, 400, 1, known=1.0), n_trees=20).trees[0]
        assert sum(array.nbytes for array in trees[1:]) == 12 * len(trees.columns)
        assert len(trees.columns) < 2 * 400 * 20
        assert all(array.base is None for array in trees)  # the room for more nodes is given back


class TestRanges:
    @given(st.integers(0, 10_000), st.sampled_from([1e-6, 0.12, 10.0]))
    @settings(max_examples=20)
    def test_ranges_contain_the_predictions_and_more_mellowness_never_narrows_them(self, seed, mellowness):
        X, cost = problem(seed)
        model = learned(X, cost)
        predicted, lowest, highest = model.ranges(check_rows(X), setting(3, mellowness=mellowness), 60)
        assert ((lowest >= 0) & (lowest <= predicted) & (predicted <= highest) & (highest <= 1)).all()
        _, lower, higher = model.ranges(check_rows(X), setting(3, mellowness=2 * mellowness), 60)
        assert ((lower <= lowest) & (higher >= highest)).all()

    def test_ranges_narrow_with_answers(self):
        X, cost = problem(1, 1200, known=1.0)
        model, rows, widths = begun(3, n_trees=30), check_rows(X[1000:]), []
        for first, stop in ((0, 10), (10, 100), (100, 1000)):
            learn(model, X[first:stop], cost[first:stop])
            _, lowest, highest = model.ranges(rows, model.settings, 1000)
            widths.append((highest - lowest).mean())
        assert widths[2] < 0.8 * widths[1] < 0.8 * widths[0]

    def test_trees_disagree_most_where_costs_change(self):
        x = np.linspace(-1, 1, 200)[:, None]
        model = learned(x, np.hstack([x < 0, x >= 0]), n_trees=50)
        _, lowest, highest = model.ranges(check_rows([[-0.7], [0.0], [0.7]]), model.settings, 200)
        width = (highest - lowest)[:, 0]
        assert width[1] > 1.5 * max(width[0], width[2])


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

"""The forest model: when forests are grown again, weights, ranges, and input at the edges."""

import itertools
import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coalface import CoalClassifier
from coalface.data.rows import check_rows
from coalface.errors import InputError
from coalface.kernels.state import MOST_IMPLIED
from coalface.models.forest import ForestModel
from coalface.models.forest import model as forest
from coalface.models.forest import row_effects as row_effects

from ..problems import csr
from .forests import begun, learn, learned, problem, same, setting


class TestSchedule:
    def test_the_forest_is_grown_again_when_its_answers_have_grown_by_a_fifth(self, monkeypatch):
        sizes, plain = [], ForestModel._grow
        monkeypatch.setattr(ForestModel, "_grow", lambda its: sizes.append(its.answers.due_from[0]) or plain(its))
        X, cost = problem(0, 300, 1, known=1.0)
        learned(X, cost)
        assert sizes[:12] == [1, 2, 3, 4, 5, 6, 8, 10, 12, 15, 18, 22]
        for before, after in itertools.pairwise(sizes):
            assert after - 1 < 1.2 * before <= after or after == before + 1
        assert sum(sizes) < 6 * 300

    def test_implied_costs_count_as_answers(self):
        X, cost = problem(1, 200, 4)
        model = learned(X, cost)
        assert (model.answers.counts > (~np.isnan(cost)).sum(axis=0)).all()
        assert model.answers.due_from.sum() > model.answers.counts.sum() / 1.2 - 4
        assert model.state.answered[:4].tolist() == (~np.isnan(cost)).sum(axis=0).tolist()

    def test_a_label_that_comes_late_is_learned_before_all_answers_have_grown_by_a_fifth(self):
        X, cost = problem(0, 1000, 2, known=1.0)
        cost[:900, 1] = np.nan
        model, sizes = begun(2), []
        for first in range(0, 1000, 5):
            learn(model, X[first : first + 5], cost[first : first + 5])
            sizes.append(int(model.answers.due_from[1]))
        grown = sorted(set(sizes))
        assert grown[:2] == [0, 1]  # the first answer at once
        assert len(grown) >= 4  # then whenever they have doubled and all have grown by a fiftieth

    def test_only_answered_labels_have_trees_and_others_may_cost_anything(self):
        X, cost = problem(0, 20, 3)
        cost[:, 1:] = np.nan
        model = learned(X, cost)
        assert model.trees.values.shape[1] == 1
        predicted, lowest, highest = model.ranges(check_rows(X), setting(3, mellowness=1e-6), 30)
        assert (predicted[:, 1:] == 0.5).all()
        assert (lowest[:, 1:] == 0).all()
        assert (highest[:, 1:] == 1).all()
        assert (highest[:, 0] - lowest[:, 0] < 0.1).all()


class TestWeights:
    def test_implied_costs_weigh_1_whatever_the_weights_of_costs_that_are_unknown(self):
        X, cost = problem(1, 200, 4)
        unknown = np.isnan(cost)
        models = [learned(X, cost, np.where(unknown, value, 2.0)) for value in (0.0, 1.0, 9.0, np.nan)]
        for other in models[1:]:
            assert same(models[0], other)
        assert (models[0].answers.counts > (~unknown).sum(axis=0)).all()
        weights = models[0].answers.known().weights
        assert set(weights) == {1.0, 2.0}

    def test_costs_of_weight_0_or_nan_are_unknown(self):
        X, cost = problem(0, 60)
        left_out = np.random.default_rng(0).random(cost.shape) < 0.3
        expected = learned(X, np.where(left_out, np.nan, cost))
        for value in (0.0, np.nan):
            assert same(learned(X, cost, np.where(left_out, value, 1.0)), expected)


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
        assert (model.trees.columns == -1).all()

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
        assert len(learned(*problem(0), n_trees=3.0).trees.roots) == 3

    def test_rows_too_wide_for_a_dense_table_are_refused(self):
        learner = CoalClassifier(["a", "b"], model="forest").begin()
        with pytest.raises(InputError, match=r"at most 1,000,000 columns.*got 2,000,001"):
            learner.tell(csr([1.0], [2_000_000], width=2_000_001), [[0.5, np.nan]])

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

    def test_a_forest_takes_12_bytes_per_node_and_4_per_leaf_and_label(self):
        trees = learned(*problem(0, 400, 3, known=1.0), n_trees=20).trees
        assert sum(array.nbytes for array in trees[1:4]) == 12 * len(trees.columns)
        assert trees.values.nbytes == 12 * (trees.columns == -1).sum()
        assert len(trees.columns) < 2 * 400 * 20
        assert all(array.base is None for array in trees)  # the room for more nodes is given back


class TestRowEffects:
    def rows_of_unequal_effects(self, n=600):
        """Label 1 costs 0.1 less than label 0 in every row, but is asked about in hard rows only."""
        random = np.random.default_rng(0)
        X, hard = random.normal(size=(n, 3)), random.random(n) < 0.5
        cost = np.stack([0.2 + 0.5 * hard, 0.1 + 0.5 * hard, 0.9 * np.ones(n)], axis=1)
        cost[:, 2] = np.where(random.random(n) < 0.5, np.nan, cost[:, 2] - 0.3 * ~hard)
        asked = (cost + 0.08 * random.normal(size=cost.shape)).clip(0, 1)  # no cost is implied
        asked[~hard & (random.random(n) < 0.9), 1] = np.nan
        return X, asked.astype(np.float32), cost

    def test_a_label_asked_about_in_hard_rows_only_does_not_seem_worse_than_it_is(self, monkeypatch):
        X, asked, _ = self.rows_of_unequal_effects()
        assert np.nanmean(asked[:, 1]) > np.nanmean(asked[:, 0]) + 0.05  # it seems worse
        seen = learned(X, asked, n_trees=20).predict(check_rows(X)).mean(axis=0)
        assert seen[1] < seen[0]
        monkeypatch.setattr(forest, "shared_error", lambda *_: 0.0)  # no row is hard
        plain = learned(X, asked, n_trees=20).predict(check_rows(X)).mean(axis=0)
        assert plain[1] > plain[0]

    def test_where_one_label_is_right_no_row_is_hard(self, monkeypatch):
        X, cost = problem(0, 200, 4, known=1.0)
        cost = (1 - np.eye(4)[cost.argmin(axis=1)]).astype(np.float32)
        taken_out = []
        monkeypatch.setattr(forest, "without_row_effects", lambda *those: taken_out.append(those) or plain(*those))
        plain = row_effects.without_row_effects
        learned(X, cost)
        assert len(taken_out) == 0


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

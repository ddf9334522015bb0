"""The class model: against scikit-learn, rare classes, when it is fitted again, replays, files, and columns."""

import itertools
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.linear_model import LogisticRegression

from coalface import CoalClassifier, MemoryLedger, simulate
from coalface.data.rows import check_rows
from coalface.errors import FileFormatError
from coalface.learner.parameters import settings_for
from coalface.models.class_fit import ClassFit, LogisticProblem, columns_of
from coalface.models.classes import ClassModel

from ..problems import dense_problem, matrix_costs, sparse_problem
from ..rounds.test_replay import eventful_life


def setting(n_labels, **params):
    return settings_for(n_labels, vars(CoalClassifier().set_params(**params)))


def begun(n_labels):
    return ClassModel().begin(n_labels, setting(n_labels))


def learn(model, X, cost):
    model.learn(check_rows(X), np.asarray(cost, np.float32), model.settings, 1)
    return model


def learned(X, cost):
    return learn(begun(np.shape(cost)[1]), X, cost)


def classes_of(seed, n=200, n_labels=3, n_columns=5):
    """Rows around one centre per class, with 0/1 costs."""
    random = np.random.default_rng(seed)
    truth = random.integers(0, n_labels, n)
    X = random.normal(size=(n_labels, n_columns))[truth] + 0.7 * random.normal(size=(n, n_columns))
    return X, truth, (np.arange(n_labels) != truth[:, None]).astype(np.float32)


def same(one, other):
    ours, theirs = one.saved(), other.saved()
    arrays = all(np.array_equal(ours[name], theirs[name], equal_nan=ours[name].dtype.kind == "f") for name in ours)
    fits = [None if model.fit is None else model.fit.intercepts.tobytes() for model in (one, other)]
    return arrays and ours.keys() == theirs.keys() and fits[0] == fits[1]


class TestRegression:
    @pytest.mark.parametrize("seed", range(3))
    @pytest.mark.parametrize("kind", ["dense", "sparse"])
    def test_it_solves_the_problem_of_scikit_learn(self, seed, kind):
        if kind == "dense":
            X, truth, _ = classes_of(seed)
        else:
            X, cost = sparse_problem(seed, 3, n=200)
            X, truth = X.toarray(), cost.argmin(axis=1)
        columns = columns_of(check_rows(X))
        encoded = columns.encode(check_rows(X))
        problem = LogisticProblem(encoded, truth, np.ones(len(X)), columns.centre, 3)
        solution = problem.solved()
        scaled = X[:, columns.numbers] / columns.units - columns.centre
        prior = np.zeros((3, scaled.shape[1]))  # half an example of each class, at the centre
        theirs = LogisticRegression(C=10.0, max_iter=2000, tol=1e-8).fit(
            np.concatenate([scaled, prior]), [*truth, 0, 1, 2], sample_weight=[*np.ones(len(X)), 0.5, 0.5, 0.5]
        )
        ours = problem.scores(solution, encoded) + solution[0]
        expected = theirs.decision_function(scaled)
        np.testing.assert_allclose(
            ours - ours.mean(axis=1, keepdims=True), expected - expected.mean(axis=1, keepdims=True), atol=0.05
        )

    def test_it_is_as_good_as_scikit_learn_on_rows_it_has_not_seen(self):
        X, truth, cost = classes_of(5, 600)
        model = learned(X[:300], cost[:300])
        ours = (model.answer(check_rows(X[300:]), setting(3)) == truth[300:]).mean()
        theirs = LogisticRegression().fit(X[:300], truth[:300]).score(X[300:], truth[300:])
        assert ours > theirs - 0.02

    def test_probabilities_are_calibrated_where_words_are_many_and_examples_few(self):
        random = np.random.default_rng(0)
        truth = (random.random(1200) < 0.2).astype(int)
        words = np.where(random.random((1200, 12)) < 0.7, random.integers(0, 600, (1200, 12)), 0)
        words = np.where((truth[:, None] == 1) & (random.random((1200, 12)) < 0.25), 600 + words % 40, words)
        X = np.zeros((1200, 640), np.float32)
        np.put_along_axis(X, words, 1.0, axis=1)
        model = learned(X[:400], np.stack([truth, 1 - truth], axis=1)[:400])
        own = model.fit.probabilities(check_rows(X[400:]))
        plain = LogisticRegression(C=10.0).fit(X[:400], truth[:400]).predict_proba(X[400:])
        losses = [-np.log(table[np.arange(800), truth[400:]]).mean() for table in (own, plain)]
        assert losses[0] < losses[1]
        assert own[:, 1].mean() == pytest.approx(truth[400:].mean(), abs=0.05)

    def test_a_cost_is_the_mean_over_the_classes(self):
        X, truth, _ = classes_of(1)
        matrix = np.array([[0.0, 0.3, 1.0], [0.5, 0.0, 0.25], [0.75, 1.0, 0.0]], np.float32)
        model = learned(X, matrix[truth])
        np.testing.assert_allclose(model.fit.means, matrix, atol=1e-6)
        chances = model.fit.probabilities(check_rows(X))
        np.testing.assert_allclose(chances.sum(axis=1), 1.0)
        np.testing.assert_allclose(model.predict(check_rows(X)), chances @ matrix, atol=1e-5)


class TestColumns:
    @given(st.integers(0, 10_000), st.integers(-40, 40))
    @settings(max_examples=10)
    def test_the_unit_of_the_table_does_not_matter(self, seed, power):
        X, cost = sparse_problem(seed, 3, 60)
        X = X.toarray()
        scaled = X * np.float32(2.0**power)
        one, other = learned(X[:40], cost[:40]), learned(scaled[:40], cost[:40])
        np.testing.assert_allclose(other.predict(check_rows(scaled)), one.predict(check_rows(X)), rtol=1e-4, atol=1e-4)

    def test_columns_of_any_scale_are_learned_as_well_as_standardised_ones(self):
        X, truth, cost = classes_of(2, 600)
        raw = X * 10.0 ** np.array([4, -3, 0, 2, -1]) + np.array([1e5, 0, 3, -500, 1])
        right = [
            (learned(table[:300], cost[:300]).answer(check_rows(table[300:]), setting(3)) == truth[300:]).mean()
            for table in (X, raw)
        ]
        assert right[1] > right[0] - 0.03

    def test_a_column_of_zeros_and_a_stored_zero_change_nothing(self):
        X, cost = sparse_problem(4, 3, 50)
        stored = X.copy()
        stored.eliminate_zeros()
        wide = sparse.csr_array((stored.data, stored.indices, stored.indptr), shape=(50, 900))
        assert stored.nnz < X.nnz
        assert same(learned(X, cost), learned(wide, cost))

    def test_an_unknown_column_widens_ranges_and_a_constant_one_does_not_divide_by_zero(self):
        X, _, cost = classes_of(3)
        X[:, 2] = 7.0
        model = learned(X, cost)
        known, wide = check_rows(X[:5]), check_rows(np.pad(X[:5], ((0, 0), (0, 3)), constant_values=30.0))
        narrow, wider = (np.ptp(model.ranges(rows, setting(3), 300)[1:], axis=0) for rows in (known, wide))
        assert np.isfinite(narrow).all()
        assert (wider > narrow).all()


class TestRareClasses:
    def rare(self, n_rare, n=400):
        X, _, _ = classes_of(4, n, n_labels=2)
        truth = np.zeros(n, int)
        truth[:n_rare] = 1
        X[:n_rare, 0] += 6.0
        return X, np.where(truth[:, None] == 1, [1.0, 0.0], [0.0, 0.02])

    def test_before_the_first_example_any_cost_is_possible(self):
        rows = check_rows(np.ones((2, 3)))
        predicted, lowest, highest = begun(3).ranges(rows, setting(3), 50)
        assert (predicted == 0.5).all()
        assert (lowest == 0).all()
        assert (highest == 1).all()

    def test_a_class_seen_less_often_has_wider_ranges(self):
        widths = []
        for n_rare in (0, 3, 60):
            X, cost = self.rare(n_rare)
            model = learned(X, cost)
            found = model.ranges(check_rows(X[100:]), setting(2), 500)
            chance = np.maximum(found.predicted[:, 0], 1e-9)
            widths.append(np.median(found.highest[:, 0] / chance))
        assert widths[0] > widths[1] > widths[2] > 1

    def test_a_rare_class_is_never_certain_but_a_common_one_is(self):
        for n_rare, asks in ((12, True), (60, False)):
            X, cost = self.rare(n_rare)
            model = learned(X, cost)
            predicted, lowest, highest = model.ranges(check_rows(X[:5]), setting(2), 500)
            assert (predicted[:, 0] > 0.5).all()  # all five are of the rare class
            assert ((lowest[:, 0] <= highest[:, 1]) == asks).all()

    def test_without_slack_ranges_have_no_width(self):
        X, cost = self.rare(12)
        predicted, lowest, highest = learned(X, cost).ranges(check_rows(X), setting(2, mellowness=0.0), 500)
        np.testing.assert_array_equal(lowest, highest)
        np.testing.assert_array_equal(lowest, predicted)

    @given(st.integers(0, 10_000))
    @settings(max_examples=10)
    def test_more_slack_never_narrows_a_range(self, seed):
        X, cost = dense_problem(seed, 3, 60)
        model = learned(X, cost)
        rows = check_rows(X)
        ranged = [model.ranges(rows, setting(3, mellowness=mellowness), 100) for mellowness in (0.0, 0.01, 0.1, 1.0)]
        for tight, loose in itertools.pairwise(ranged):
            assert (loose.lowest <= tight.lowest).all()
            assert (loose.highest >= tight.highest).all()


class TestLearning:
    def test_it_is_fitted_again_when_examples_have_grown_by_a_tenth(self, monkeypatch):
        sizes, plain = [], ClassFit.of.__func__
        monkeypatch.setattr(ClassFit, "of", classmethod(lambda *its: sizes.append(len(its[1])) or plain(*its)))
        X, _, cost = classes_of(0, 300, n_labels=2)
        learned(X, cost)
        assert sizes[:12] == [*range(1, 12), 13]
        assert sum(sizes) < 11 * 300

    def test_it_is_fitted_sooner_when_a_rare_class_is_found(self):
        X, _, _ = classes_of(0, 400, n_labels=2)
        cost = np.tile(np.float32([0, 1]), (400, 1))
        sooner, later = (learned(X[:252], cost[:252]) for _ in range(2))
        fitted = int(later.n_fitted[0])
        n_more = int(1.04 * fitted) + 1 - 252
        found = cost[252 : 252 + n_more].copy()
        learn(later, X[252 : 252 + n_more], found)
        found[0] = [1, 0]
        learn(sooner, X[252 : 252 + n_more], found)
        assert int(later.n_fitted[0]) == fitted < int(sooner.n_fitted[0])

    def test_rows_with_an_unknown_cost_teach_nothing_unless_it_is_implied(self):
        X, cost = dense_problem(0, 3, 60)
        cost[:, 1] = np.nan
        assert len(learned(X, cost).examples) == 0
        X, cost = dense_problem(1, 3, 200)
        cost = matrix_costs(cost)
        model = learned(X[:100], cost[:100])
        best_only = np.where(cost[100:] == 0, cost[100:], np.float32(np.nan))
        learn(model, X[100:], best_only)
        assert len(model.examples) == 200
        assert model.examples.counts.tolist() == np.bincount(cost.argmin(axis=1), minlength=3).tolist()
        assert model.state.answered[:3].sum() == 300 + 100

    @given(st.integers(0, 10_000), st.lists(st.integers(0, 50), max_size=4))
    @settings(max_examples=10)
    def test_the_model_does_not_depend_on_how_rows_are_split(self, seed, cuts):
        X, cost = sparse_problem(seed, 3, 50)
        cost[seed % 50 :: 7] = np.nan
        model, other = learned(X, cost), begun(3)
        for first, stop in itertools.pairwise([0, *sorted(cuts), 50]):
            learn(other, X[first:stop], cost[first:stop])
        assert same(model, other)

    @pytest.mark.parametrize("seed", range(2))
    def test_a_ledger_replays_an_eventful_life(self, seed):
        X, cost = dense_problem(seed, 3, 60)
        learner = CoalClassifier(list("abc"), model="classes", random_state=seed).begin()
        learner.record_to(ledger := MemoryLedger())
        eventful_life(learner, X, matrix_costs(cost), seed)
        assert len(learner.model_.examples) > 10
        assert same(CoalClassifier.from_ledger(ledger).model_, learner.model_)

    @pytest.mark.parametrize("way", ["file", "pickle"])
    def test_files_give_the_same_model_and_it_goes_on_learning_alike(self, way, tmp_path):
        X, cost = sparse_problem(1, 3, 90)
        learner = CoalClassifier(list("abc"), model=ClassModel())
        simulate(learner, X[:50], matrix_costs(cost)[:50])
        learner.save(tmp_path / "model")
        copied = CoalClassifier.load(tmp_path / "model") if way == "file" else pickle.loads(pickle.dumps(learner))
        assert same(copied.model_, learner.model_)
        np.testing.assert_array_equal(copied.predict_cost(X), learner.predict_cost(X))
        for each in (learner, copied):
            simulate(each, X[50:], matrix_costs(cost)[50:])
        assert same(copied.model_, learner.model_)

    @pytest.mark.parametrize(
        ("name", "damage"),
        [
            ("n_fitted", lambda array: array + 100),
            ("n_fitted", lambda array: 0 * array),
            ("example_indptr", lambda array: array[::-1].copy()),
            ("example_columns", lambda array: -array - 1),
            ("example_values", lambda array: array * np.float32(np.inf)),
            ("example_costs", lambda array: array - 2),
            ("example_importance", lambda array: 0 * array),
            ("example_costs", lambda array: array[:, :1]),
            ("implied_pairs", lambda array: array[:1]),
        ],
    )
    def test_damaged_files_are_refused(self, name, damage):
        X, _, cost = classes_of(0, 30)
        saved = learned(np.abs(X) + 1, cost).saved()
        with pytest.raises(FileFormatError, match=r"damaged|no usable array"):
            begun(3).restore_saved({**saved, name: damage(saved[name])})

    def test_rows_of_zeros_and_a_single_class_are_learned(self):
        model = learned(np.zeros((10, 3)), np.tile(np.float32([0.2, 0.9]), (10, 1)))
        predicted, lowest, highest = model.ranges(check_rows(np.ones((1, 3))), setting(2), 20)
        assert predicted[0, 0] < predicted[0, 1]
        assert np.isfinite([lowest, highest]).all()

"""``fit(active=True)`` plays the active game once, so that searches over what is asked mean something."""

import numpy as np
import pytest
import sklearn
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from coalface import Budget, CoalClassifier, simulate
from coalface.errors import InputError, UnknownLabelError

from ..problems import dense_problem, exact_learner, state_of

X, COST = dense_problem(1, 3, 300)
NAMES = np.array(["a", "b", "c"])
Y = NAMES[COST.argmin(axis=1)]


@pytest.mark.parametrize(
    ("learner", "n"),
    [(CoalClassifier(NAMES), 300), (CoalClassifier(NAMES, model="ridge"), 300), (exact_learner(NAMES), 40)],
    ids=str,
)
def test_it_equals_one_simulation_in_the_order_of_the_rows(learner, n):
    played, simulated = clone(learner).fit(X[:n], cost=COST[:n], active=True), clone(learner)
    simulate(simulated, X[:n], COST[:n])
    assert state_of(played) == state_of(simulated)
    assert played.costs_queried_ < 3 * n
    again = played.fit(X[:n], cost=COST[:n], active=True)
    assert state_of(again) == state_of(simulated)  # fit starts afresh


def test_class_labels_candidates_and_unknown_costs_answer_too():
    by_labels = CoalClassifier(NAMES).fit(X, Y, active=True)
    by_costs = CoalClassifier(NAMES).fit(X, cost=(Y[:, None] != NAMES).astype(float), active=True)
    assert state_of(by_labels) == state_of(by_costs)
    may = np.tile([True, True, False], (300, 1))
    learner = CoalClassifier(NAMES).fit(X, cost=np.where(X[:, :1] > 0, COST, np.nan), candidates=may, active=True)
    assert learner.model_.state.answered[2] == 0
    with pytest.raises(InputError, match="active must be True or False, got 'yes'"):
        CoalClassifier().fit(X, Y, active="yes")


def test_a_search_over_what_is_asked_compares_different_learners():
    grid = {"rule": ["coal", "passive"], "budget": [None, Budget(costs=60, over=200)]}
    with sklearn.config_context(enable_metadata_routing=True):
        learner = CoalClassifier(model="online").set_fit_request(cost=True, active=True).set_score_request(cost=True)
        searched = GridSearchCV(learner, grid, cv=KFold(3)).fit(X, cost=COST, active=True)
        passive = GridSearchCV(learner, grid, cv=KFold(3)).fit(X, cost=COST)
    assert len(set(searched.cv_results_["mean_test_score"])) == 4
    assert len(set(passive.cv_results_["mean_test_score"])) == 1  # they learn all costs, whatever they would ask
    folds = KFold(3).split(X)
    by_hand = []
    for train, test in folds:
        one = CoalClassifier(model="online")
        simulate(one, X[train], COST[train])
        by_hand.append(one.score(X[test], cost=COST[test]))
    np.testing.assert_allclose(searched.cv_results_["mean_test_score"][0], np.mean(by_hand))


def test_labels_beside_costs_name_their_columns():
    learner = CoalClassifier(model="online").fit(X, Y, cost=COST)
    assert learner.classes_.tolist() == ["a", "b", "c"]
    assert state_of(learner) == state_of(CoalClassifier(NAMES, model="online").fit(X, cost=COST))
    assert CoalClassifier(model="online").fit(X, [2, 0] * 150, cost=COST).classes_.tolist() == [0, 1, 2]
    assert CoalClassifier(["c", "b", "a"]).fit(X, Y, cost=COST).classes_.tolist() == ["c", "b", "a"]


def test_labels_that_cannot_name_the_columns_of_costs_are_refused():
    with pytest.raises(InputError, match=r"cost has 3 columns but y has 2 labels, 'a', 'b'. Pass classes=\[...\]"):
        CoalClassifier().fit(X, ["a", "b"] * 150, cost=COST)
    with pytest.raises(UnknownLabelError, match="Unknown label 'd'"):
        CoalClassifier(NAMES).fit(X, ["a", "d"] * 150, cost=COST)
    with pytest.raises(InputError, match="y must have one label per row of X, 300, got 2"):
        CoalClassifier(NAMES).fit(X, ["a", "b"], cost=COST)
    with pytest.raises(UnknownLabelError, match="Unknown label 'd'"):
        CoalClassifier(NAMES).partial_fit(X, ["a", "d"] * 150, cost=COST)


@pytest.mark.skipif(
    tuple(map(int, sklearn.__version__.split(".")[:2])) < (1, 9),
    reason="cross_validate of scikit-learn 1.6 and 1.7 does not hand costs to the score of a pipeline",
)
def test_costs_travel_through_pipelines_and_cross_validation():
    with sklearn.config_context(enable_metadata_routing=True):
        learner = CoalClassifier(model="online").set_fit_request(cost=True).set_score_request(cost=True)
        pipeline = make_pipeline(StandardScaler(), learner).fit(X, cost=COST)
        scaled = StandardScaler().fit_transform(X)
        by_hand = CoalClassifier(model="online").fit(scaled, cost=COST)
        assert pipeline.score(X, cost=COST) == by_hand.score(scaled, cost=COST)
        results = sklearn.model_selection.cross_validate(pipeline, X, params={"cost": COST}, cv=KFold(3))
    scores = []
    for train, test in KFold(3).split(X):
        scaler = StandardScaler().fit(X[train])
        one = CoalClassifier(model="online").fit(scaler.transform(X[train]), cost=COST[train])
        scores.append(one.score(scaler.transform(X[test]), cost=COST[test]))
    np.testing.assert_allclose(results["test_score"], scores)


def test_with_routing_costs_reach_a_search_without_any_request():
    grid = {"mellowness": [0.001, 0.5]}
    with sklearn.config_context(enable_metadata_routing=True):
        asked = CoalClassifier(model="online").set_fit_request(cost=True, active=True).set_score_request(cost=True)
        by_request = GridSearchCV(asked, grid, cv=KFold(3)).fit(X, cost=COST, active=True)
        search = GridSearchCV(CoalClassifier(model="online"), grid, cv=KFold(3)).fit(X, cost=COST, active=True)
        piped = make_pipeline(StandardScaler(), CoalClassifier(model="online")).fit(X, cost=COST)
    np.testing.assert_array_equal(search.cv_results_["mean_test_score"], by_request.cv_results_["mean_test_score"])
    assert piped[-1].costs_queried_ == COST.size


def test_without_routing_a_search_says_why_costs_do_not_reach_the_score():
    search = GridSearchCV(CoalClassifier(model="online"), {"mellowness": [0.1]}, cv=KFold(3), error_score="raise")
    with pytest.raises(InputError, match=r"score needs y or cost, got neither. .*enable_metadata_routing=True"):
        search.fit(X, cost=COST)
    with pytest.warns(UserWarning, match=r"score counts errors as 0 and 1 here.*enable_metadata_routing=True"):
        search.fit(X, Y, cost=COST)


def test_labels_score_a_learner_of_costs_without_a_warning_where_they_have_costs():
    learner, matrix = CoalClassifier(model="online").fit(X, Y, cost=COST), 1.0 - np.eye(3)
    assert learner.score(X, Y, cost=COST) == learner.score(X, cost=COST)
    assert CoalClassifier(cost_matrix=matrix).fit(X, Y, cost=COST).score(X, Y) <= 0
    assert CoalClassifier(model="online").fit(X, cost=COST).fit(X, Y).score(X, Y) <= 0


def test_examples_weigh_in_the_score_as_if_they_were_repeated():
    learner, times = CoalClassifier(model="online").fit(X, cost=COST), np.arange(300) % 3
    repeated = np.repeat(np.arange(300), times)
    expected = learner.score(X[repeated], cost=COST[repeated])
    assert learner.score(X, cost=COST, sample_weight=times) == pytest.approx(expected)
    for wrong in (np.ones(2), -times, times * np.nan, times * 0):
        with pytest.raises(InputError, match="sample_weight must be 300 finite numbers"):
            learner.score(X, cost=COST, sample_weight=wrong)


def test_frames_of_sparse_columns_are_examples():
    pandas = pytest.importorskip("pandas")
    from scipy import sparse

    matrix = sparse.random_array((300, 6), density=0.3, rng=np.random.default_rng(0), format="csr")
    zeros = pandas.SparseDtype(float, 0.0)  # from_spmatrix of pandas 3.0 makes gaps of what is not stored
    frame = pandas.DataFrame(matrix.toarray(), columns=list("uvwxyz")).astype(zeros)
    one, other = CoalClassifier().fit(frame, Y), CoalClassifier().fit(matrix, Y)
    assert state_of(one) == state_of(other)
    assert one.predict(frame[list("zyxwvu")]).tolist() == other.predict(matrix).tolist()

"""The learner is a scikit-learn classifier."""

import pickle
from inspect import signature

import numpy as np
import pytest
import sklearn
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.datasets import load_digits, make_blobs
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.model_selection import GridSearchCV, KFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

from coalface import CoalClassifier, CommitteeModel, OnlineModel, simulate
from coalface.learner.state import NotFittedError

from ..problems import dense_problem, exact_learner, state_of

_IN_ORDER = "learned in another order, the same rows give another model; in the same order, see test_sample_weight."
EXCEPTIONS = {
    "check_sample_weight_equivalence_on_dense_data": _IN_ORDER,
    "check_sample_weight_equivalence_on_sparse_data": _IN_ORDER,
}


# Earlier versions of scikit-learn accept an unexpected success.
STRICT = {"xfail_strict": True} if "xfail_strict" in signature(parametrize_with_checks).parameters else {}


@pytest.mark.filterwarnings("ignore::coalface.errors.EmptyVersionSpaceWarning")  # some checks learn pure noise
@parametrize_with_checks(
    [CoalClassifier(), CoalClassifier(model="ridge"), exact_learner().set_params(shuffle=True)],
    expected_failed_checks=lambda _: EXCEPTIONS,
    **STRICT,
)
def test_scikit_learns_own_checks(estimator, check):
    check(estimator)


@pytest.mark.parametrize(
    "call",
    [
        lambda learner, X: learner.predict(X),
        lambda learner, X: learner.predict_cost(X),
        lambda learner, X: learner.predict_proba(X),
        lambda learner, X: learner.decision_function(X),
        lambda learner, X: learner.cost_range(X),
        lambda learner, X: learner.score(X, ["no"] * X.shape[0]),
        lambda learner, X: learner.ask(X),
        lambda learner, X: learner.act(X),
        lambda learner, X: learner.tell(X, [[0.0, 1.0]] * X.shape[0]),
        lambda learner, X: learner.observe(X, "no", 0.5, 0.5),
        lambda learner, X: learner.partial_fit(X, ["no"] * X.shape[0]),
        lambda learner, X: learner.interview(X, lambda _i, _label: 0.5),
        lambda learner, X: simulate(learner, X, [[0.0, 1.0]] * X.shape[0]),
    ],
)
def test_tables_have_as_many_columns_as_were_learned_and_sparse_rows_may_have_more(call):
    learner = CoalClassifier().fit([[0.0, 1.0], [1.0, 0.0]] * 10, ["no", "yes"] * 10)
    before = state_of(learner)
    for width in (1, 3):
        with pytest.raises(ValueError, match=f"X has {width} features, but CoalClassifier is expecting 2 features"):
            call(learner, np.ones((2, width)))
    assert state_of(learner) == before
    with pytest.raises(ValueError, match=r"X has 1 features, but CoalClassifier is expecting 2 features.*never fewer"):
        call(learner, csr_array(np.ones((2, 1))))
    call(learner, csr_array(np.ones((2, 3))))


def test_new_features_of_sparse_rows_are_learned():
    learner = CoalClassifier(["no", "yes"]).partial_fit(csr_array([[1.0, 0.0]] * 15), ["no"] * 15)
    learner.partial_fit(csr_array([[0.0, 0.0, 1.0]] * 15), ["yes"] * 15)
    assert learner.n_features_in_ == 3
    assert learner.predict([[0.0, 0.0, 1.0], [1.0, 0.0, 0.0]]).tolist() == ["yes", "no"]


@pytest.mark.parametrize(
    "names",
    [["no", "yes"], [3, -1], [False, True], [0.0, 2.0], np.array(["a", "b"], object), np.array([1, 2], np.uint8)],
    ids=str,
)
def test_labels_of_any_type_are_predicted_as_they_are(names):
    y = np.asarray(names)[[0, 1] * 20]
    X = np.array([[0.0], [1.0]] * 20)
    learner = CoalClassifier().fit(X, y)
    predicted = learner.predict(X)
    assert np.mean(predicted == y) == 1.0
    np.testing.assert_array_equal(learner.classes_, np.unique(y))
    assert learner.classes_.dtype.kind == predicted.dtype.kind
    streaming = CoalClassifier().partial_fit(X, y, classes=names)
    assert np.all(streaming.predict(X) == y)


def test_text_in_a_pipeline():
    texts = ["the dog barks", "a dog", "dogs bark at dog", "cat sat", "the cat purrs", "a cat, a cat"] * 10
    kinds = ["dog", "dog", "dog", "cat", "cat", "cat"] * 10
    model = make_pipeline(TfidfVectorizer(), CoalClassifier()).fit(texts, kinds)
    assert list(model.predict(["my dog", "her cat"])) == ["dog", "cat"]
    assert model.score(texts, kinds) == 0.0  # minus the mean cost: nothing is wrong


def test_a_grid_is_searched_by_cost_with_the_costs_routed():
    X, cost = dense_problem(1, 3, 200)
    with sklearn.config_context(enable_metadata_routing=True):
        learner = CoalClassifier(model="online").set_fit_request(cost=True).set_score_request(cost=True)
        rates = [1e-6, 0.5]
        search = GridSearchCV(learner, {"model__learning_rate": rates}, cv=KFold(4)).fit(X, cost=cost)
        by_hand = []
        for rate in rates:
            scores = []
            for train, test in KFold(4).split(X):
                fitted = CoalClassifier(model=OnlineModel(learning_rate=rate)).fit(X[train], cost=cost[train])
                paid = cost[test][np.arange(len(test)), fitted.predict(X[test])]
                scores.append(-paid.astype(np.float64).mean())
            by_hand.append(np.mean(scores))
    np.testing.assert_allclose(search.cv_results_["mean_test_score"], by_hand)
    assert search.best_params_ == {"model__learning_rate": rates[int(np.argmax(by_hand))]}


def test_a_grid_is_searched_in_two_processes_and_the_winner_travels():
    X, y = load_digits(return_X_y=True)
    X, y = X[:200] / 16, y[:200]
    grid = {"model": [CommitteeModel(online=OnlineModel(learning_rate=rate)) for rate in (0.1, 0.5)]}
    search = GridSearchCV(CoalClassifier(), grid, cv=2, n_jobs=2).fit(X, y)
    alone = GridSearchCV(CoalClassifier(), grid, cv=2).fit(X, y)
    np.testing.assert_array_equal(search.cv_results_["mean_test_score"], alone.cv_results_["mean_test_score"])
    travelled = pickle.loads(pickle.dumps(search.best_estimator_))
    assert state_of(travelled) == state_of(alone.best_estimator_)


def test_the_score_of_cross_validation_is_minus_the_error_rate_for_class_labels():
    X, y = make_blobs(n_samples=200, random_state=1)
    scores = cross_val_score(CoalClassifier(), X, y, cv=3)
    accuracies = cross_val_score(CoalClassifier(), X, y, cv=3, scoring="accuracy")
    np.testing.assert_allclose(scores, accuracies - 1)


def test_a_clone_has_the_parameters_and_nothing_else():
    learner = CoalClassifier(classes=["a", "b"], mellowness=0.5, cost_matrix=np.eye(2))
    learner.tell([[1.0]], [[0.0, 1.0]])
    other = clone(learner)
    assert other.round_ == 1
    assert not hasattr(other, "classes_")
    assert other.get_params()["mellowness"] == 0.5
    assert other.get_params()["classes"] == ["a", "b"]


def test_parameters_set_later_apply_afterwards():
    learner = CoalClassifier(classes=["a", "b"], rule="passive").tell([[1.0]], [[0.0, 1.0]])
    assert learner.ask([[1.0]]).mask.all()
    learner.set_params(rule__variant="coal", mellowness=0.0, rule__warm_up=0, rule__width_scale=10.0)
    assert not learner.ask([[1.0]]).mask.any()
    with pytest.raises(ValueError, match="Invalid parameter"):
        learner.set_params(no_such=1)


def test_named_columns_are_kept_and_may_come_in_any_order():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"height": [0.0, 1.0] * 10, "weight": [1.0, 0.0] * 10})
    learner = CoalClassifier().fit(frame, ["a", "b"] * 10)
    assert list(learner.feature_names_in_) == ["height", "weight"]
    assert learner.predict(frame[:2]).tolist() == ["a", "b"]
    wider = frame.assign(age=0.0)
    assert learner.predict(wider[:2]).tolist() == ["a", "b"]
    learner.partial_fit(wider, ["a", "b"] * 10)
    assert list(learner.feature_names_in_) == ["height", "weight", "age"]
    assert learner.predict(wider[["weight", "age", "height"]][:2]).tolist() == ["a", "b"]
    with pytest.raises(ValueError, match=r"feature names seen before, missing 'weight'; the columns 'mass' are new"):
        learner.predict(wider.rename(columns={"weight": "mass"}))
    with pytest.warns(UserWarning, match="does not have valid feature names"):
        learner.predict(wider[:2].to_numpy())


def test_frames_of_any_number_type_are_rows():
    pandas = pytest.importorskip("pandas")
    columns = {"a": [0, 1] * 10, "b": [True, False] * 10, "c": pandas.array([1, 2] * 10, dtype="Int64")}
    frame = pandas.DataFrame(columns)
    plain = frame.astype(float).to_numpy()
    one, other = CoalClassifier().fit(frame, [0, 1] * 10), CoalClassifier().fit(plain, [0, 1] * 10)
    assert state_of(one) == state_of(other)


def test_without_labels_there_is_nothing_to_predict_and_with_classes_there_is():
    for call in ("predict", "predict_cost", "ask", "cost_range"):
        with pytest.raises(NotFittedError, match=r"not fitted yet.*classes"):
            getattr(CoalClassifier(), call)([[1.0]])
        getattr(CoalClassifier(classes=["a"]), call)([[1.0]])
    assert issubclass(NotFittedError, sklearn.exceptions.NotFittedError)


@pytest.mark.parametrize("told", [False, True])
def test_a_notebook_shows_the_parameters_and_whether_it_has_learned_and_labels_cannot_add_tags(told):
    learner = CoalClassifier(["<b>bold</b>", "b"], mellowness=0.125)
    if told:
        learner.tell([[1.0]], [[0.0, 1.0]])
    shown = learner._repr_html_()
    assert "CoalClassifier" in shown
    assert "0.125" in shown
    assert "<b>bold" not in shown
    assert ("<span>Fitted</span>" in shown) == told

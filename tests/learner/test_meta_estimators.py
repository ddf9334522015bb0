"""scikit-learn's meta-estimators take the learner as it is, and predict about as well as with logistic regression."""

import numpy as np
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_iris, load_wine, make_classification
from sklearn.ensemble import AdaBoostClassifier, BaggingClassifier, StackingClassifier, VotingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import get_scorer
from sklearn.model_selection import GridSearchCV, KFold, TunedThresholdClassifierCV, cross_val_score, train_test_split
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from coalface import CoalClassifier

META = {
    "calibrated": lambda one: CalibratedClassifierCV(one, cv=2),
    "threshold": lambda one: TunedThresholdClassifierCV(one, cv=2),
    "one-vs-rest": OneVsRestClassifier,
    "AdaBoost": lambda one: AdaBoostClassifier(one, n_estimators=3, random_state=0),
    "bagging": lambda one: BaggingClassifier(one, n_estimators=3, random_state=0),
    "stacking": lambda one: StackingClassifier([("one", one), ("other", LogisticRegression())], cv=2),
    "voting": lambda one: VotingClassifier([("one", one), ("other", LogisticRegression())], voting="soft"),
    "ROC": lambda one: GridSearchCV(one, {}, scoring="roc_auc_ovr", cv=2),
    "log loss": lambda one: GridSearchCV(one, {}, scoring="neg_log_loss", cv=2),
}
TWO = make_classification(200, 6, n_informative=4, n_redundant=0, class_sep=1.5, random_state=0)
THREE = load_wine(return_X_y=True)


def score(name, learner, data, scoring="accuracy"):
    X, y = data
    train, test, y_train, y_test = train_test_split(X, y, test_size=0.5, stratify=y, random_state=0)
    model = make_pipeline(StandardScaler(), META[name](learner)).fit(train, y_train)
    return get_scorer(scoring)(model, test, y_test)


@pytest.mark.parametrize("data", [TWO, THREE], ids=["two labels", "three labels"])
@pytest.mark.parametrize("name", META)
def test_it_works_inside_and_its_accuracy_is_near_that_of_logistic_regression(name, data):
    if name == "threshold" and data is THREE:
        pytest.skip("a threshold is for two labels")
    assert score(name, CoalClassifier(), data) > score(name, LogisticRegression(), data) - 0.06
    if name != "threshold":
        scoring = "roc_auc" if data is TWO else "roc_auc_ovr"
        ours = score(name, CoalClassifier(), data, scoring)
        assert ours > score(name, LogisticRegression(), data, scoring) - 0.03


def test_boosting_reads_its_weights():
    X, y = make_classification(200, 6, flip_y=0.2, random_state=0)
    boosted = AdaBoostClassifier(CoalClassifier(), n_estimators=3, random_state=0).fit(X, y)
    first, second = boosted.estimators_[:2]
    assert first.round_ == 1 + len(X)
    assert not np.array_equal(first.predict(X), second.predict(X))


@pytest.mark.filterwarnings("ignore::coalface.errors.DoubtfulColumnWarning")  # another flower has other measures
@pytest.mark.parametrize("classes", [None, ["setosa", "versicolor", "virginica"]])
def test_a_fold_without_a_label_counts_it_as_wrong(classes):
    X, y = load_iris(return_X_y=True)
    names = np.array(["setosa", "versicolor", "virginica"])[y]
    scores = cross_val_score(CoalClassifier(classes, model="online"), X, names, cv=KFold(3))
    assert scores.tolist() == [-1.0, -1.0, -1.0]  # each fold is one label, which was never learned


def test_labels_the_learner_does_not_know_cost_the_upper_bound():
    learner = CoalClassifier(cost_bounds=(0, 5)).fit([[0.0], [1.0]] * 20, ["no", "yes"] * 20)
    assert learner.score([[0.0], [1.0], [1.0], [0.0]], ["no", "maybe", "yes", "perhaps"]) == pytest.approx(-2.5)
    with pytest.raises(ValueError, match="Unknown label 3"):  # a number among texts is a mistake
        learner.score([[0.0]], [3])

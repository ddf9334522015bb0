"""The learner to the letter of the paper's text, and its slack for a single label."""

import numpy as np
import pytest
from sklearn.base import clone

from coalface import Coal, CoalClassifier
from coalface.errors import InputError
from coalface.paper import ExactModel
from coalface.paper.schedule import Schedule

from ..problems import dense_problem, exact_learner


@pytest.mark.parametrize("n_told", [7, 20, 40])
def test_the_printed_slack_is_kappa_nu_over_the_rounds_before(n_told):
    X, cost = dense_problem(5, 4, 60)
    printed = CoalClassifier.as_printed(1e-5, classes=range(4)).tell(X[:n_told], cost[:n_told])
    nu = Schedule(n_labels=4, dimension=X.shape[1] + 1, failure_probability=0.05).log_factor(n_told)
    slack = 1e-5 * float(nu) / n_told
    published = clone(printed).set_params(rule__slack="published", mellowness=slack / np.log(4 * n_told))
    published.tell(X[:n_told], cost[:n_told])
    one, other = (learner.cost_range(X[40:41]) for learner in (printed, published))
    np.testing.assert_allclose(one.lowest, other.lowest, rtol=0, atol=1e-6)
    np.testing.assert_allclose(one.highest, other.highest, rtol=0, atol=1e-6)
    assert ((one.highest - one.lowest) < 1).any()


def test_features_that_no_answer_had_do_not_count_in_the_dimension():
    X, cost = dense_problem(5, 4, 60)
    wide = np.c_[X, np.zeros((60, 7))]
    learners = [CoalClassifier.as_printed(1e-5, classes=range(4)).tell(rows[:30], cost[:30]) for rows in (X, wide)]
    narrow, widened = learners[0].cost_range(X[30:]), learners[1].cost_range(wide[30:])
    np.testing.assert_array_equal(narrow.lowest, widened.lowest)


def test_as_printed_differs_from_as_published_only_where_the_text_differs_from_vowpal_wabbit():
    printed, published = CoalClassifier.as_printed().get_params(), CoalClassifier.as_published().get_params()
    different = {name: printed[name] for name in printed if printed[name] != published[name]}
    del different["rule"], different["model"]  # whose parts these are
    assert different == {
        "rule__slack": "printed",
        "rule__width_scale": 1.0,
        "model__accumulator": "adagrad",
        "model__sensitivity": "derivative",
    }
    assert CoalClassifier.as_printed(rule="passive").rule.variant == "passive"


@pytest.mark.parametrize("model", ["auto", "ridge", "forest", ExactModel()])
def test_other_models_refuse_the_printed_slack(model):
    with pytest.raises(InputError, match="slack='printed' needs model='online'"):
        CoalClassifier(classes=["a", "b"], rule=Coal(slack="printed"), model=model).ask([[1.0]])


@pytest.mark.parametrize(
    "learner",
    [
        CoalClassifier.as_published(classes=["only"], mellowness=0.1),
        CoalClassifier(classes=["only"], model="ridge", rule=Coal(miss_rate=None)),
        CoalClassifier(classes=["only"], model="forest", rule=Coal(miss_rate=None)),
        exact_learner(["only"]),
    ],
    ids=["online", "ridge", "forest", "exact"],
)
def test_one_label_has_the_slack_of_two_so_its_cost_is_not_known_after_one_answer(learner):
    ranges = learner.tell([[1.0, 0.5]], [[0.4]]).cost_range([[0.5, 1.0]])
    assert ranges.highest[0, 0] - ranges.lowest[0, 0] > 0.05

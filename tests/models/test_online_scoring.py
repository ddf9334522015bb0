"""Predictions and ranges of the online model on a device, emulated here, against the CPU."""

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.datasets import load_digits

from coalface import Abstain, CoalClassifier
from coalface.errors import InputError
from coalface.learner.pool import possible_savings
from coalface.models.online import OnlineModel
from coalface.models.online_scoring import OnlineScorer
from tests.kernels.emulated_device import COMPILER, EmulatedDevice

needs_compiler = pytest.mark.skipif(COMPILER is None, reason="no C++ compiler")


def trained(n_rows=300, **params):
    X, y = load_digits(return_X_y=True)
    learner = CoalClassifier(classes=range(10), model="online").set_params(**params)
    return learner.partial_fit(X[:n_rows], y[:n_rows]), X, y


def on_device(learner):
    """The same learner, which scores on an emulated device."""
    from copy import deepcopy

    moved = deepcopy(learner)
    moved.model_.scorer = OnlineScorer(EmulatedDevice())
    return moved


def assert_same_ranges(device, learner, X):
    found, expected = device.cost_range(X), learner.cost_range(X)
    np.testing.assert_array_equal(found.lowest, expected.lowest)
    np.testing.assert_array_equal(found.highest, expected.highest)


@needs_compiler
@pytest.mark.parametrize(
    "params", [{}, {"rule__slack": "published", "model__sensitivity": "seen-only"}, {"model__accumulator": "adagrad"}]
)
def test_predictions_ranges_and_savings_are_those_of_the_cpu(params):
    learner, X, _ = trained(**params)
    device = on_device(learner)
    np.testing.assert_array_equal(device.predict_cost(X[300:500]), learner.predict_cost(X[300:500]))
    np.testing.assert_array_equal(device.predict(X[300:500]), learner.predict(X[300:500]))
    assert_same_ranges(device, learner, X[300:500])
    np.testing.assert_array_equal(possible_savings(device, X[300:500]), possible_savings(learner, X[300:500]))
    np.testing.assert_array_equal(device.ask(X[300:500]).mask, learner.ask(X[300:500]).mask)


@needs_compiler
@pytest.mark.parametrize(
    "params", [{"abstain": Abstain(0.3)}, {"rule": "all-or-none"}, {"rule__miss_rate": 0.05}, {"rule__warm_up": 900}]
)
def test_savings_need_no_ranges_in_main_memory(params, monkeypatch):
    learner, X, _ = trained(**params)
    device = on_device(learner)
    expected = possible_savings(learner, X[300:500])
    monkeypatch.setattr(OnlineScorer, "ranges", None)
    np.testing.assert_array_equal(possible_savings(device, X[300:500]), expected)
    assert expected.any()


@needs_compiler
def test_the_copy_on_the_device_follows_what_is_learned():
    learner, X, y = trained(n_rows=50)
    device = on_device(learner)
    before = device.predict_cost(X[500:520])
    for one in (learner, device):
        one.partial_fit(X[50:100], y[50:100])
    assert not np.array_equal(device.predict_cost(X[500:520]), before)
    np.testing.assert_array_equal(device.predict_cost(X[500:520]), learner.predict_cost(X[500:520]))


@needs_compiler
def test_wider_rows_and_unseen_features_are_read_as_on_the_cpu():
    learner, X, _ = trained(n_rows=5)
    wide = csr_array(np.hstack([X[10:40], np.ones((30, 3))]))
    np.testing.assert_array_equal(on_device(learner).predict_cost(wide), learner.predict_cost(wide))


@needs_compiler
def test_pools_are_scored_block_by_block(monkeypatch):
    learner, X, _ = trained()
    monkeypatch.setattr("coalface.models.online_scoring._ROWS_AT_ONCE", 7)
    assert_same_ranges(on_device(learner), learner, X[300:330])


@needs_compiler
def test_a_label_added_later_is_scored_by_the_cpu():
    learner, X, _ = trained()
    device = on_device(learner)
    for one in (learner, device):
        one.add_label(10)
    assert_same_ranges(device, learner, X[300:310])


def test_a_model_that_does_not_fit_gives_one_line():
    class Small(EmulatedDevice):
        memory = 1000

    learner, X, _ = trained(n_rows=20)
    learner.model_.scorer = OnlineScorer(Small())
    with pytest.raises(InputError, match=r"Pass device='cpu'"):
        learner.predict(X[:2])


def test_without_a_gpu_and_with_interactions_one_line_says_what_to_do():
    with pytest.raises(InputError, match=r"pip install 'coalface\[cuda\]'"):
        CoalClassifier(classes=[0, 1], model=OnlineModel(device="cuda")).begin()
    with pytest.raises(InputError, match="knows no interactions"):
        CoalClassifier(classes=[0, 1], model=OnlineModel(interactions=2, device="cuda")).begin()
    with pytest.raises(InputError, match="device must be"):
        CoalClassifier(classes=[0, 1], model=OnlineModel(device="tpu")).begin()

"""A learner that never learned a rare label says so."""

import warnings

import numpy as np
import pytest

from coalface import Audits, Coal, CoalClassifier
from coalface.errors import DoubtfulDataWarning, UnlearnedWarning


def imbalanced(n, share, seed=0):
    """Two noisy columns; the second is high where the rare label is right."""
    rng = np.random.default_rng(seed)
    rare = rng.random(n) < share
    return np.column_stack([np.ones(n), rng.normal(size=n) + 6.0 * rare]), np.where(rare, "fraud", "fine")


def test_a_rare_label_that_is_never_predicted_is_named():
    X, y = imbalanced(2_000, 0.05)
    with pytest.warns(
        UnlearnedWarning, match=r"never predicted 'fraud' .* 'fraud' \(\d+ examples\). Pass audits='loss'"
    ):
        learner = CoalClassifier(model="online", rule=Coal(warm_up=50), mellowness=1e-9, audits=None).fit(
            X[:, :1], y, active=True
        )
    assert set(learner.predict(X[:, :1])) == {"fine"}


def test_audits_that_are_set_already_are_not_advised():
    X, y = imbalanced(2_000, 0.05)
    told = r"\(\d+ examples\)\. Raise mellowness or the rate of audits\.$"
    with pytest.warns(UnlearnedWarning, match=told):
        CoalClassifier(model="online", rule=Coal(warm_up=50), mellowness=1e-9, audits=Audits(0.0, by="loss")).fit(
            X[:, :1], y, active=True
        )


def test_there_is_no_warning_where_every_cost_was_asked_for():
    X, y = imbalanced(2_000, 0.05)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        learner = CoalClassifier(model="online", rule="passive").fit(X[:, :1], y, active=True)
    assert set(learner.predict(X[:, :1])) == {"fine"}


def test_there_is_no_warning_where_it_is_learned():
    X, y = imbalanced(2_000, 0.05)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        learner = CoalClassifier(model="online", audits="loss").fit(X, y, active=True)
    assert "fraud" in learner.predict(X)


def test_a_stream_in_long_runs_of_one_label_is_noticed_once():
    X, y = np.random.default_rng(0).normal(size=(90, 3)), np.repeat(["cat", "dog", "owl"], 30)
    learner = CoalClassifier(["cat", "dog", "owl"], model="online")
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always", DoubtfulDataWarning)
        for start in range(0, 90, 10):
            learner.partial_fit(X[start : start + 10], y[start : start + 10])
    assert "30 rows in a row had the best label 'cat'" in str(found[0].message)
    assert len(found) == 1
    told = CoalClassifier(["cat", "dog", "owl"], model="online")
    with pytest.warns(DoubtfulDataWarning, match="in a row"):
        told.tell(X, (y[:, None] != told.begin().classes_).astype(float))
    order = np.random.default_rng(1).permutation(90)
    CoalClassifier(model="online").partial_fit(X[order], y[order], classes=["cat", "dog", "owl"])  # silent

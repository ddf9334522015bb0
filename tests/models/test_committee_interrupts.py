"""Ctrl-C while a committee learns."""

import signal

import numpy as np
import pytest

from coalface import CoalClassifier, ForestModel


def test_an_interrupt_waits_until_every_member_has_learned_the_row(monkeypatch):
    random = np.random.default_rng(0)
    X, cost = random.normal(size=(60, 3)), random.random((60, 2))
    learner = CoalClassifier(classes=range(2)).tell(X[:40], cost[:40])
    learn = ForestModel.learn_predicted

    def interrupted(self, *args, **named):
        signal.raise_signal(signal.SIGINT)
        learn(self, *args, **named)

    monkeypatch.setattr(ForestModel, "learn_predicted", interrupted)
    for i in range(40, 60):
        with pytest.raises(KeyboardInterrupt):
            learner.tell(X[i : i + 1], cost[i : i + 1])
    assert [model.state.answered[:2].tolist() for model in learner.model_.models] == [[60, 60]] * 3
    assert learner.round_ == 61

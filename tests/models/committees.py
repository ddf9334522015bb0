"""Committees for tests: with four labels, untrained or after a short run."""

import numpy as np

from coalface import CoalClassifier, simulate
from coalface.models.committee import CommitteeModel

from ..problems import dense_problem, state_of

K = 4
NAMES = ["online", "forest", "rbf"]
NAN = np.nan


def auto(**params):
    """A learner that visits rows in the order given."""
    return CoalClassifier(range(K), shuffle=False).set_params(**params)


def names_of(learner):
    return [member.name for member in learner.committee_]


def online_state(learner):
    """The state of the online member, or of the online model itself."""
    found = state_of(learner)
    online = set(CoalClassifier(range(K), model="online").begin().model_.arrays()) | {"width", "classes"}
    return {name: found[name] for name in online}


def begun():
    """A committee that has learned nothing."""
    return CommitteeModel().begin(K, auto().begin().model_.settings)


def full(n=60, seed=1, **params):
    """A committee of three after a short run."""
    X, cost = dense_problem(seed, K, n)
    learner = auto(**params)
    simulate(learner, X, cost)
    assert names_of(learner) == NAMES
    return learner

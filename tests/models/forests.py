"""Forests for tests: small problems, models begun or trained, and whether two of them are the same."""

import numpy as np

from coalface import CoalClassifier
from coalface.data.rows import check_rows
from coalface.learner.parameters import settings_for
from coalface.models.forest import ForestModel

from ..problems import dense_problem, matrix_costs


def setting(n_labels, **params):
    return settings_for(n_labels, vars(CoalClassifier().set_params(**params)))


def problem(seed, n=60, n_labels=3, known=0.6, n_columns=4):
    X, cost = dense_problem(seed, n_labels, n, n_columns)
    cost = matrix_costs(cost, seed) if seed % 2 else cost  # of which some are implied
    return X, np.where(np.random.default_rng(seed).random(cost.shape) < known, cost, np.float32(np.nan))


def begun(n_labels, n_trees=5, **params):
    return ForestModel(n_trees).begin(n_labels, setting(n_labels, **params))


def learned(X, cost, weights=None, **params):
    model = begun(cost.shape[1], **params)
    learn(model, X, cost, weights)
    return model


def learn(model, X, cost, weights=None):
    given_weights = {} if weights is None else {"weights": weights.astype(np.float32)}
    model.learn(check_rows(X), cost.astype(np.float32), model.settings, 1, **given_weights)


def same(one, other):
    """Whether two models have the same trees, answers and counts, bit for bit."""
    trees = one.trees is other.trees is None or all(map(np.array_equal, one.trees, other.trees))
    ours, theirs = one.saved(), other.saved()
    arrays = all(np.array_equal(ours[name], theirs[name], equal_nan=ours[name].dtype.kind == "f") for name in ours)
    counts = [(model.answers.counts.tolist(), model.answers.due_from.tolist()) for model in (one, other)]
    return trees and arrays and ours.keys() == theirs.keys() and counts[0] == counts[1]

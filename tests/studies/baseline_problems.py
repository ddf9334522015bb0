"""A small problem with true labels and lopsided costs, for the tests of the baselines."""

import numpy as np

import baselines
from coalface.data import CostDataset

BASELINES = {baseline.name: baseline for baseline in baselines.LEARNERS}

MATRIX = np.array([[0.0, 1.0, 0.25], [0.125, 0.0, 0.5], [1.0, 0.25, 0.0]])  # row = truth, column = prediction
CLASSES = ["bird", "cat", "dog"]


def pets(n=70, seed=0, scale=1.0):
    """Three overlapping clouds of points in four dimensions."""
    random = np.random.default_rng(seed)
    truth = random.integers(3, size=n)
    X = random.normal(size=(n, 4)) + 1.5 * np.eye(3, 4)[truth]
    return CostDataset(X, classes=CLASSES, truth=truth, cost_matrix=scale * MATRIX)


def order_of(data, seed=3):
    """A permutation of the rows."""
    return np.random.default_rng(seed).permutation(len(data))


def prices_for(data, seed=9):
    """A price for each cost, no two alike."""
    return np.random.default_rng(seed).uniform(0.5, 2.0, size=(len(data), len(data.classes))).astype(np.float32)


def priced(data, price=None):
    """The same data, where asking takes something."""
    fields = {field: getattr(data, field) for field in ("X", "classes", "truth", "cost_matrix", "candidates")}
    return CostDataset(**fields, cost=data.table, price=prices_for(data) if price is None else price)


def with_table(data, **changes):
    """The same data with a full table of costs."""
    fields = {"X": data.X, "cost": data.cost.copy(), "classes": data.classes, "candidates": data.candidates}
    return CostDataset(**{**fields, **changes})

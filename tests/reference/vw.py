"""Vowpal Wabbit in this process, asked what it predicts and which costs it queries.

After ``learn`` the wheel exposes each label's prediction, as it was before the update, but neither ranges nor
queries; those are read from the log that ``--csa_debug`` writes. Three of its habits matter here. ``--quiet``
silences that log too. A feature whose name is a number has that number as its hash, so that a large enough
table has no collisions. An example none of whose listed costs is known is only predicted on: the round
does not move.
"""

import math
import re
from dataclasses import dataclass

import numpy as np
from vowpalwabbit import Workspace

CONSTANT_HASH = 11650396
RANGE_LINE = re.compile(r"find_cost_range\w: i=(\d+) pp=\S+ sens=(\S+) eta=\S+ \[(\S+), (\S+)\]")
QUERY_LINE = re.compile(r"label=(\d+) .* ql=(true|false) ")


@dataclass(frozen=True)
class CsActiveRun:
    """What the wheel did, one row per example and one column per label; NaN where a label was not listed."""

    predicted: np.ndarray
    sensitivity: np.ndarray
    lowest: np.ndarray
    highest: np.ndarray
    queried: np.ndarray


def example_line(row, costs, listed=None):
    """One cost-sensitive example as text; a listed label whose cost is NaN appears without a cost.

    >>> example_line([0.5, 0.0, -2.0], [1.0, float("nan"), 0.25], listed=[True, True, False])
    '1:1 2 | 0:0.5 2:-2'
    """
    listed = np.ones(len(costs), bool) if listed is None else listed
    labels = [
        f"{label + 1}" if math.isnan(costs[label]) else f"{label + 1}:{costs[label]:.9g}"
        for label in np.flatnonzero(listed)
    ]
    features = [f"{feature}:{row[feature]:.9g}" for feature in np.flatnonzero(row)]
    return " ".join([*labels, "|", *features])


def collision_free_bits(n_labels, n_features):
    """The least ``-b`` at which no two weights of features 0, 1, ... and the constant share a slot.

    >>> collision_free_bits(n_labels=40, n_features=6000)
    21
    """
    if n_features > CONSTANT_HASH:
        raise ValueError(f"There must be at most {CONSTANT_HASH} features below the constant, got {n_features}.")
    label_bits = math.ceil(math.log2(n_labels))
    feature_bits = max(1, math.ceil(math.log2(n_features)))
    while CONSTANT_HASH % 2**feature_bits < n_features:
        feature_bits += 1
    return feature_bits + label_bits


def run_cs_active(
    X,
    costs,
    *,
    mellowness,
    learning_rate=0.5,
    accumulator="adax",
    fit_intercept=True,
    listed=None,
    options="",
):
    """One pass of ``--cs_active --simulation`` over the examples.

    >>> run = run_cs_active(np.eye(2), np.eye(2), mellowness=0.1)
    >>> run.queried[0], run.predicted[0]
    (array([ True,  True]), array([0., 0.]))
    """
    n, n_labels = np.shape(costs)
    listed = np.ones((n, n_labels), bool) if listed is None else np.asarray(listed, bool)
    arguments = f"--cs_active {n_labels} --simulation --csa_debug --mellowness {mellowness!r} {options} "
    arguments += _learner_arguments(n_labels, X.shape[1], learning_rate, accumulator, fit_intercept)
    workspace = Workspace(arguments, enable_logging=True)
    predicted = _learn_all(workspace, X, costs, listed)
    workspace.finish()

    log = "\n".join(workspace.get_log())
    sensitivity, lowest, highest = (np.full((n, n_labels), np.nan) for _ in range(3))
    queried = np.zeros((n, n_labels), bool)
    places = np.argwhere(listed)
    for (i, label), found in zip(places, RANGE_LINE.finditer(log), strict=True):
        assert int(found[1]) == label + 1
        sensitivity[i, label], lowest[i, label], highest[i, label] = map(float, found.groups()[1:])
    for (i, label), found in zip(places, QUERY_LINE.finditer(log), strict=True):
        assert int(found[1]) == label + 1
        queried[i, label] = found[2] == "true"
    assert f"total queries = {queried.sum()}" in log
    return CsActiveRun(predicted, sensitivity, lowest, highest, queried)


def run_csoaa(X, costs, *, learning_rate=0.5, accumulator="adax", fit_intercept=True):
    """The raw predictions of every label before each example of one pass of ``--csoaa``.

    Here the second one is 1 - exp(-sqrt(2)): two features of size one, one update.

    >>> run_csoaa(np.ones((2, 1)), np.array([[0.0, 1.0], [0.0, 1.0]])).round(3)
    array([[0.   , 0.   ],
           [0.   , 0.757]])
    """
    n_labels = np.shape(costs)[1]
    arguments = f"--csoaa {n_labels} --indexing 1 --quiet "
    arguments += _learner_arguments(n_labels, X.shape[1], learning_rate, accumulator, fit_intercept)
    workspace = Workspace(arguments)
    predicted = _learn_all(workspace, X, costs, np.ones(np.shape(costs), bool))
    workspace.finish()
    return predicted


def run_csoaa_with_interactions(X, costs, namespaces, interactions, *, learning_rate=0.5):
    """What ``run_csoaa`` gives with interactions of VW; ``namespaces`` are the columns of each letter.

    The constant is named by VW and takes no part. With 2^26 weights none of the few features collide.

    >>> run_csoaa_with_interactions(np.ones((2, 1)), np.array([[0.0, 1.0]] * 2), {"a": [0]}, "-q aa").round(3)
    array([[0.   , 0.   ],
           [0.   , 0.823]])
    """
    workspace = Workspace(
        f"--csoaa {costs.shape[1]} --indexing 1 --quiet --adax -l {learning_rate!r} -b 26 {interactions}"
    )
    predicted = np.full(np.shape(costs), np.nan)
    for i, (row, row_costs) in enumerate(zip(X, costs, strict=True)):
        labels = " ".join(f"{label + 1}:{cost:.9g}" for label, cost in enumerate(row_costs))
        spaces = (
            f"|{letter} " + " ".join(f"{column + 1}:{row[column]:.9g}" for column in columns if row[column])
            for letter, columns in namespaces.items()
        )
        example = workspace.example(" ".join([labels, *spaces]))
        workspace.learn(example)
        predicted[i] = [example.get_costsensitive_partial_prediction(label) for label in range(costs.shape[1])]
        workspace.finish_example(example)
    workspace.finish()
    return predicted


def _learner_arguments(n_labels, n_features, learning_rate, accumulator, fit_intercept):
    bits = collision_free_bits(n_labels, n_features)
    adax = "--adax" if accumulator == "adax" else ""
    constant = "" if fit_intercept else "--noconstant"
    return f"-l {learning_rate!r} -b {bits} {adax} {constant}"


def _learn_all(workspace, X, costs, listed):
    predicted = np.full(np.shape(costs), np.nan)
    for i, (row, row_costs, row_listed) in enumerate(zip(X, costs, listed, strict=True)):
        example = workspace.example(example_line(row, row_costs, row_listed))
        workspace.learn(example)
        for position, label in enumerate(np.flatnonzero(row_listed)):
            predicted[i, label] = example.get_costsensitive_partial_prediction(position)
        workspace.finish_example(example)
    return predicted

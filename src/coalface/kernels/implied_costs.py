"""Fills in costs that were not asked for where the answers about the same example imply them.

If costs come from a matrix or a tree, a label of cost 0 implies the costs of all others. Such implications are learned:
for each pair of labels and each level of the first one's cost, the average cost of the second. A pair never seen
together takes the average of its level over all pairs.

Before an answer joins an average it tests it. The averages of a level are used once their tests show hardly any error.
Where one of K labels is right, a wrong label seems to imply that all others are wrong, with an error of 1 / K. So the
error must be far below 1 / K, and costs of the level itself alone show nothing. It must also be far below the error of
the label's own mean: costs that hardly vary are easy to guess, but not implied.
"""

from typing import NamedTuple

import numpy as np

from coalface.kernels.compile import called, inlined, kernel
from coalface.kernels.implied import level_of
from coalface.kernels.state import AVERAGE, COUNT, F32, F64, I64, LEVELS

SQUARED_ERROR, TESTS, CONTRASTS, OWN_ERROR = range(4)
_MOST_ERROR = 0.02  # mean squared error of the averages of a level, with half an error added in advance
_MOST_SHARE = 0.1  # of 1 / K, for the same error
_MOST_RATIO, _PRIOR_ERROR = 0.1, 0.02  # of the summed error, plus a little, to that of the means of the labels


class Implications(NamedTuple):
    """What is known about the costs of one label, given the cost of another."""

    pairs: F32  # (LEVELS, K, K, 2) count and average of the second label's cost; no labels: nothing is learned
    levels: F64  # (LEVELS, 2) the same over all pairs
    pair_tests: F64  # (LEVELS, 4) of the averages of pairs: squared error, tests, tests by a cost of another level, and
    # the squared error of the label's mean
    level_tests: F64  # (LEVELS, 4) the same for the averages of levels
    labels: F64  # (K, 2) count and mean of each label's answers


def no_implications(n_labels: int) -> Implications:
    """Implications before the first answer."""
    pairs = np.zeros((LEVELS, n_labels, n_labels, 2), np.float32)
    pair_tests, level_tests = (np.zeros((LEVELS, 4)) for _ in range(2))
    return Implications(pairs, np.zeros((LEVELS, 2)), pair_tests, level_tests, np.zeros((n_labels, 2)))


@inlined
def _trusted(tests: F64, n_labels: int) -> bool:
    """Whether averages with these tests are good enough to be used."""
    error = (tests[SQUARED_ERROR] + 0.5) / (tests[TESTS] + 1.0)
    is_small = error < min(_MOST_ERROR, _MOST_SHARE / n_labels)
    beats_means = tests[SQUARED_ERROR] + _PRIOR_ERROR <= _MOST_RATIO * tests[OWN_ERROR]
    return bool(is_small and beats_means and tests[CONTRASTS] > 0.0)


@inlined
def _test(tests: F64, average: float, cost: float, is_contrast: bool, own_gap: float) -> None:
    error = average - cost
    tests[SQUARED_ERROR] += error * error
    tests[TESTS] += 1.0
    tests[CONTRASTS] += 1.0 if is_contrast else 0.0
    tests[OWN_ERROR] += own_gap * own_gap


@called
def _learn_pairs(known: Implications, costs: F32) -> None:
    """Test the averages on the answers about an example, then add the answers to them."""
    for source in range(costs.shape[0]):
        if np.isnan(costs[source]):
            continue
        level = level_of(costs[source])
        of_level = known.levels[level]
        for label in range(costs.shape[0]):
            cost = np.float64(costs[label])
            if label == source or np.isnan(cost):
                continue
            pair, is_contrast = known.pairs[level, source, label], level_of(costs[label]) != level
            own = known.labels[label]
            own_gap = own[AVERAGE] - cost if own[COUNT] > 0.0 else 0.0
            if pair[COUNT] > 0.0:
                _test(known.pair_tests[level], np.float64(pair[AVERAGE]), cost, is_contrast, own_gap)
            if of_level[COUNT] > 0.0:
                _test(known.level_tests[level], of_level[AVERAGE], cost, is_contrast, own_gap)
            pair[COUNT] += np.float32(1.0)
            pair[AVERAGE] += (costs[label] - pair[AVERAGE]) / pair[COUNT]
            of_level[COUNT] += 1.0
            of_level[AVERAGE] += (cost - of_level[AVERAGE]) / of_level[COUNT]
    for label in range(costs.shape[0]):
        if not np.isnan(costs[label]):
            own = known.labels[label]
            own[COUNT] += 1.0
            own[AVERAGE] += (np.float64(costs[label]) - own[AVERAGE]) / own[COUNT]


@called
def write_implied_costs(known: Implications, costs: F32, filled: F32) -> None:
    """Copy the answers to ``filled``, with what they imply; the first answered label that implies a cost wins."""
    for label in range(costs.shape[0]):
        filled[label] = costs[label]
    if known.pairs.shape[1] == 0:
        return
    for source in range(costs.shape[0]):
        if np.isnan(costs[source]):
            continue
        level = level_of(costs[source])
        by_pair = _trusted(known.pair_tests[level], costs.shape[0])
        by_level = _trusted(known.level_tests[level], costs.shape[0])
        if not (by_pair or by_level):
            continue
        for label in range(costs.shape[0]):
            pair = known.pairs[level, source, label]
            if not np.isnan(filled[label]):
                continue
            if by_pair and pair[COUNT] > 0.0:
                filled[label] = pair[AVERAGE]
            elif by_level:
                filled[label] = np.float32(known.levels[level, AVERAGE])


class Due(NamedTuple):
    """When forests are due: at ``total`` known costs, or at ``some`` if a label has reached its ``doubled`` costs.

    The first cost of a label makes them due as well, unless ``firsts`` is false.
    """

    total: int
    some: int
    doubled: I64  # (K,)
    firsts: bool


@kernel
def store_until_due(known: Implications, costs: F32, filled: F32, counts: I64, due: Due) -> int:
    """Store rows of answers, with what they imply, until a model is due; returns the number of rows stored.

    ``counts`` are the known costs of each label.
    """
    n_labels, total = costs.shape[1], 0
    for k in range(n_labels):
        total += counts[k]
    for row in range(costs.shape[0]):
        if known.pairs.shape[1] > 0:
            _learn_pairs(known, costs[row])
        write_implied_costs(known, costs[row], filled[row])
        is_due = False
        for k in range(n_labels):
            if not np.isnan(filled[row, k]):
                counts[k] += 1
                total += 1
                is_due = is_due or (due.firsts and counts[k] == 1)
        for k in range(n_labels):
            is_due = is_due or (total >= due.some and counts[k] >= due.doubled[k])
        if is_due or total >= due.total:
            return row + 1
    return costs.shape[0]  # type: ignore[no-any-return]

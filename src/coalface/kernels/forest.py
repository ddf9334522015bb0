"""Grows a forest of regression trees that predict the costs of all labels at once; ``tree_reading`` reads it.

A tree is grown over a bootstrap of rows, each with its known costs. A split tries some columns, drawn at random, and a
few thresholds for each of them: values of rows, also drawn at random. So only the order of a column's values matters,
not their scale. The best split explains most of the squared costs, summed over the labels. A missing value (NaN) goes
to the side that fits better. Columns that are constant over the rows change nothing.

All labels share the splits. So what makes a row costly whatever the label is the same for all of them in every tree,
and cancels out when labels are compared. A leaf has few answers about each label, or none: its estimate starts from
that of the node above, moved as the answers about other labels are moved. How many answers the node above weighs is its
strength; a tree may have estimates for several strengths, one after the other.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from coalface.kernels.compile import allocating, called, inlined
from coalface.kernels.draws import GOLDEN_64, fraction, mix
from coalface.kernels.state import F32, F64, I32, I64, Bool

U64 = NDArray[np.uint64]
LEAF = -1  # in place of a column
UNKNOWN_COST = 0.5  # of a label without answers
_REDRAWS = 4  # of a threshold that would leave one side empty
_THRESHOLDS = 3
_MISSING = _THRESHOLDS + 1  # the bin of missing values; the others are between the thresholds
_EMPTY = 1e-9  # share of a label's weight: a side with less has no answers, only what rounding left
_HALF = np.float32(0.5)
SUM, WEIGHT, LOWEST, HIGHEST = range(4)


class KnownCosts(NamedTuple):
    """The known costs of rows, one row after the other."""

    starts: I64  # (rows + 1,)
    labels: I64
    costs: F64
    weights: F64


class GrownTree(NamedTuple):
    """The nodes of one tree; the right child of a node follows its left child."""

    columns: I32  # (nodes,) ``LEAF`` in a leaf
    numbers: F32  # (nodes,) the threshold, up to which values go left
    left: I32  # (nodes,) the left child; its complement ~left if missing values go left
    values: F32  # (nodes, strengths x K) the estimated costs


class _TreeScratch(NamedTuple):
    """Working memory of growing a tree."""

    columns: I64  # (columns,) in a random order
    rows: I64  # (rows drawn,) the rows of a node are side by side
    values: F32  # (rows drawn,) of the column being tried
    stack: I64  # (nodes, 3) first row, end of the rows and place of a node to be split
    node: F64  # (4, K) sum, weight, lowest and highest of a label's costs in the node
    labels: I64  # (K,) the labels whose costs vary in the node
    varies: Bool  # (K,)
    bins: F64  # (bins, K, 2) sums and weights of the costs in each bin


def new_tree_scratch(columns: I64, n_rows: int, n_labels: int) -> _TreeScratch:
    """Working memory for trees over at most so many rows."""
    return _TreeScratch(
        columns.copy(),
        np.empty(n_rows, np.int64),
        np.empty(n_rows, np.float32),
        np.empty((n_rows + 1, 3), np.int64),
        np.empty((4, n_labels)),
        np.empty(n_labels, np.int64),
        np.empty(n_labels, np.bool_),
        np.empty((_MISSING + 1, n_labels, 2)),
    )


@inlined
def _below(random: U64, n: int) -> int:
    """A random whole number from 0 to n - 1."""
    random[0] += GOLDEN_64
    return int(fraction(mix(random[0])) * n)


@inlined
def _threshold(values: F32, start: int, stop: int, lowest: np.float32, highest: np.float32, random: U64) -> np.float32:
    """The value of a random row of the node, below its highest value."""
    for _ in range(_REDRAWS):
        value: np.float32 = values[start + _below(random, stop - start)]
        if value < highest:
            return value
    return lowest


@called
def measure(answers: KnownCosts, times: I64, start: int, stop: int, scratch: _TreeScratch) -> int:
    """Sum up the costs of each label in a node; returns the number of labels whose costs vary."""
    starts, labels, costs, weights = answers
    node, rows, varies, varying, n_varying = scratch.node, scratch.rows, scratch.varies, scratch.labels, 0
    node[SUM], node[WEIGHT], node[LOWEST], node[HIGHEST] = 0.0, 0.0, np.inf, -np.inf
    for i in range(start, stop):
        row = rows[i]
        for j in range(starts[row], starts[row + 1]):
            k, weight, cost = labels[j], weights[j] * times[row], costs[j]
            node[SUM, k] += weight * cost
            node[WEIGHT, k] += weight
            node[LOWEST, k] = min(node[LOWEST, k], cost)
            node[HIGHEST, k] = max(node[HIGHEST, k], cost)
    for k in range(node.shape[1]):
        varies[k] = node[LOWEST, k] < node[HIGHEST, k]
        if varies[k]:
            varying[n_varying] = k
            n_varying += 1
    return n_varying


@called
def _set_estimates(values: F32, node: F64, shared: float, strengths: F64, is_root: bool) -> None:
    """Estimate the costs of a node; ``values`` (strengths x K,) are those of the node above, and are replaced.

    ``shared`` is the share of the mean change of the answered labels that counts for every label. A strength is the
    weight of the node above; each has K estimates of its own.
    """
    n_labels = node.shape[1]
    for i in range(strengths.shape[0]):
        first, prior, change, weight = i * n_labels, 0.0 if is_root else strengths[i], 0.0, 0.0
        for k in range(n_labels):
            if node[WEIGHT, k] > 0.0:
                change += node[SUM, k] - node[WEIGHT, k] * values[first + k]
                weight += node[WEIGHT, k]
        moved = shared * change / weight if weight > 0.0 and not is_root else 0.0
        for k in range(n_labels):
            expected = min(max(values[first + k] + moved, 0.0), 1.0)
            if node[WEIGHT, k] > 0.0:
                expected = (node[SUM, k] + prior * expected) / (node[WEIGHT, k] + prior)
            values[first + k] = np.float32(expected)


@called
def _fill_bins(
    thresholds: F32, answers: KnownCosts, times: I64, start: int, stop: int, scratch: _TreeScratch, n_varying: int
) -> None:
    """Sum up the costs between the thresholds, which ascend, and those of missing values."""
    starts, labels, costs, weights = answers
    bins, values, rows, varies, varying = scratch.bins, scratch.values, scratch.rows, scratch.varies, scratch.labels
    for b in range(_MISSING + 1):
        for j in range(n_varying):
            bins[b, varying[j], 0] = 0.0
            bins[b, varying[j], 1] = 0.0
    for i in range(start, stop):
        value, row, place = values[i], rows[i], 0
        if np.isnan(value):
            place = _MISSING
        else:
            while place < _THRESHOLDS and value > thresholds[place]:
                place += 1
        for j in range(starts[row], starts[row + 1]):
            k = labels[j]
            if varies[k]:
                weight = weights[j] * times[row]
                bins[place, k, 0] += weight * costs[j]
                bins[place, k, 1] += weight


@called
def _fit(scratch: _TreeScratch, n_varying: int, last_bin: int, missing_left: bool) -> float:
    """How much of the squared costs the means of two sides explain; the left one has the bins up to ``last_bin``."""
    bins, node, varying, fit = scratch.bins, scratch.node, scratch.labels, 0.0
    for j in range(n_varying):
        k = varying[j]
        left_sum, left_weight = 0.0, 0.0
        for b in range(last_bin + 1):
            left_sum += bins[b, k, 0]
            left_weight += bins[b, k, 1]
        if missing_left:
            left_sum += bins[_MISSING, k, 0]
            left_weight += bins[_MISSING, k, 1]
        total, weight = node[SUM, k], node[WEIGHT, k]
        if min(left_weight, weight - left_weight) > _EMPTY * weight:
            fit += left_sum * left_sum / left_weight + (total - left_sum) ** 2 / (weight - left_weight)
        else:
            fit += total * total / weight
    return fit


@allocating
def best_split(
    table: F32,
    answers: KnownCosts,
    times: I64,
    start: int,
    stop: int,
    n_varying: int,
    n_tried: int,
    scratch: _TreeScratch,
    random: U64,
) -> tuple[int, np.float32, bool]:
    """The best split tried: its column (``LEAF`` if there is none), threshold, and whether missing values go left.

    The scratch has what ``measure`` found in the node.
    """
    rows, columns, values = scratch.rows, scratch.columns, scratch.values
    best_fit, best_column, best_threshold, best_missing_left = -np.inf, LEAF, np.float32(0.0), False
    thresholds, left_to_try = np.empty(_THRESHOLDS, np.float32), n_tried
    for j in range(columns.shape[0]):
        if left_to_try == 0:
            break
        pick = j + _below(random, columns.shape[0] - j)
        columns[j], columns[pick] = columns[pick], columns[j]
        column = table[columns[j]]
        lowest, highest, n_missing = np.float32(np.inf), np.float32(-np.inf), 0
        for i in range(start, stop):
            value = column[rows[i]]
            values[i] = value
            if np.isnan(value):
                n_missing += 1
            else:
                lowest, highest = min(lowest, value), max(highest, value)
        varies = lowest < highest
        if not varies and (n_missing == 0 or lowest > highest):
            continue  # constant in this node: it does not count as tried
        left_to_try -= 1
        thresholds[:] = highest
        if varies:
            for t in range(_THRESHOLDS):
                thresholds[t] = _threshold(values, start, stop, lowest, highest, random)
            thresholds.sort()
        _fill_bins(thresholds, answers, times, start, stop, scratch, n_varying)
        for missing_left in range(2 if varies and n_missing > 0 else 1):  # else nothing would go right
            for t in range(_THRESHOLDS if varies else 1):
                fit = _fit(scratch, n_varying, t, missing_left == 1)
                if fit > best_fit:
                    best_fit, best_column = fit, columns[j]
                    best_threshold, best_missing_left = thresholds[t], missing_left == 1
    return best_column, best_threshold, best_missing_left


@called
def _partition(
    values: F32, rows: I64, start: int, stop: int, threshold: np.float32, missing_left: bool
) -> tuple[int, np.float32]:
    """Move the rows that go left to the front; returns where the others start, and their lowest value."""
    middle, lowest_right = start, np.float32(np.inf)
    for i in range(start, stop):
        value = values[rows[i]]
        if value <= threshold or (missing_left and np.isnan(value)):
            rows[i], rows[middle] = rows[middle], rows[i]
            middle += 1
        elif value < lowest_right:
            lowest_right = value
    return middle, lowest_right


@allocating
def grow_tree(
    table: F32,
    answers: KnownCosts,
    times: I64,
    n_tried: int,
    shared: float,
    strengths: F64,
    scratch: _TreeScratch,
    random: U64,
    tree: GrownTree,
) -> int:
    """Grow one tree over the rows that count at least once, ``times`` each; returns the number of its nodes.

    ``table`` (columns, rows) has the features, of which those in the scratch are used; ``tree`` needs room for twice as
    many nodes as there are such rows. The splits do not depend on the ``strengths``.
    """
    stack, rows, n, n_nodes, depth = scratch.stack, scratch.rows, 0, 1, 1
    for row in range(times.shape[0]):
        if times[row] > 0:
            rows[n] = row
            n += 1
    tree.values[0] = UNKNOWN_COST
    stack[0, 0], stack[0, 1], stack[0, 2] = 0, n, 0
    while depth > 0:
        depth -= 1
        start, stop, node = stack[depth, 0], stack[depth, 1], stack[depth, 2]
        n_varying = measure(answers, times, start, stop, scratch)
        _set_estimates(tree.values[node], scratch.node, shared, strengths, node == 0)
        tree.columns[node], tree.numbers[node], tree.left[node] = LEAF, np.float32(0.0), 0
        if n_varying == 0:
            continue
        column, threshold, missing_left = best_split(
            table, answers, times, start, stop, n_varying, n_tried, scratch, random
        )
        if column == LEAF:
            continue
        middle, above = _partition(table[column], rows, start, stop, threshold, missing_left)
        between = threshold + (above - threshold) * _HALF
        tree.columns[node] = column
        tree.numbers[node] = between if threshold < between < above else threshold
        tree.left[node] = ~n_nodes if missing_left else n_nodes
        tree.values[n_nodes], tree.values[n_nodes + 1] = tree.values[node], tree.values[node]
        stack[depth, 0], stack[depth, 1], stack[depth, 2] = start, middle, n_nodes
        stack[depth + 1, 0], stack[depth + 1, 1], stack[depth + 1, 2] = middle, stop, n_nodes + 1
        n_nodes += 2
        depth += 2
    return n_nodes


@allocating
def draw_rows(n_rows: int, n_drawn: int, seed: int, tree: int, times: I64) -> U64:
    """Draw rows with replacement: how many ``times`` (n,) each was drawn; returns the state of the random numbers."""
    random = np.zeros(1, np.uint64)
    random[0] = mix(mix(np.uint64(seed) * GOLDEN_64 + np.uint64(tree)) + np.uint64(n_rows))
    times[:] = 0
    for _ in range(n_drawn):
        times[_below(random, n_rows)] += 1
    return random


@allocating
def varying_columns(table: F32, n_rows: int) -> I64:
    """The columns that have at least two different values in the first rows; missing is a value too."""
    found, columns = 0, np.empty(table.shape[0], np.int64)
    for column in range(table.shape[0]):
        values = table[column]
        first = values[0]
        for i in range(1, n_rows):
            value = values[i]
            if value != first and not (np.isnan(value) and np.isnan(first)):
                columns[found] = column
                found += 1
                break
    return columns[:found]

"""Grows and reads a forest of regression trees for one label: randomised splits over a bootstrap of its answers.

A split tries some columns, drawn at random, and a few thresholds for each of them: values of answered rows, also drawn
at random. So only the order of a column's values matters, not their scale. A missing value (NaN) goes to the side that
fits better. Columns that are constant over the answers change nothing: a tree is the same with and without them.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from coalface.kernels.compile import called, inlined, kernel
from coalface.kernels.draws import GOLDEN_64, fraction, mix
from coalface.kernels.state import F32, F64, I32, I64

U64 = NDArray[np.uint64]
LEAF = -1  # in place of a column
_REDRAWS = 4  # of a threshold that would leave one side empty
_HALF = np.float32(0.5)


class Trees(NamedTuple):
    """The trees of one label; the right child of a node follows its left child."""

    roots: I32  # (trees,)
    columns: I32  # (nodes,) ``LEAF`` in a leaf
    numbers: F32  # (nodes,) the threshold, up to which values go left; in a leaf, its mean cost
    left: I32  # (nodes,) the left child; its complement ~left if missing values go left


class Sample(NamedTuple):
    """The answers that a tree is grown from; growing reorders them."""

    rows: I64  # places in the columns of the table
    costs: F32
    weights: F32


class Scratch(NamedTuple):
    """Working memory of growing a tree."""

    columns: I64  # (columns,) in a random order
    values: F32  # (answers,) of the column being tried, side by side
    products: F64  # (answers,) weight x cost
    stack: I64  # (nodes, 3) first answer, end of the answers and place of a node to be split


@inlined
def _below(random: U64, n: int) -> int:
    """A random whole number from 0 to n - 1."""
    random[0] += GOLDEN_64
    return int(fraction(mix(random[0])) * n)


@inlined
def _threshold(values: F32, start: int, stop: int, highest: np.float32, random: U64) -> np.float32:
    """The value of a random answer of the node, below its highest value."""
    for _ in range(_REDRAWS):
        value: np.float32 = values[start + _below(random, stop - start)]
        if value < highest:
            return value
    lowest = highest
    for i in range(start, stop):
        if values[i] < lowest:
            lowest = values[i]
    return lowest


@inlined
def _fit(left_sum: float, left_weight: float, total_sum: float, total_weight: float) -> float:
    """How much of the squared costs two means explain; minus infinity if one side is empty."""
    right_sum, right_weight = total_sum - left_sum, total_weight - left_weight
    if left_weight <= 0.0 or right_weight <= 0.0:
        return -np.inf
    return left_sum * left_sum / left_weight + right_sum * right_sum / right_weight


@inlined
def _left_of(
    thresholds: tuple[np.float32, ...], scratch: Scratch, weights: F32, start: int, stop: int
) -> tuple[tuple[float, float], ...]:
    """For each of three thresholds, the summed costs and weights of the answers up to it, all in one pass."""
    values, products = scratch.values, scratch.products
    first, second, third = thresholds
    first_sum = second_sum = third_sum = 0.0
    first_weight = second_weight = third_weight = 0.0
    for i in range(start, stop):
        value, product, weight = values[i], products[i], np.float64(weights[i])
        first_sum += product if value <= first else 0.0
        first_weight += weight if value <= first else 0.0
        second_sum += product if value <= second else 0.0
        second_weight += weight if value <= second else 0.0
        third_sum += product if value <= third else 0.0
        third_weight += weight if value <= third else 0.0
    return (first_sum, first_weight), (second_sum, second_weight), (third_sum, third_weight)


@called
def best_split(
    table: F32,
    sample: Sample,
    start: int,
    stop: int,
    total: tuple[float, float],
    n_tried: int,
    scratch: Scratch,
    random: U64,
) -> tuple[int, np.float32, bool]:
    """The best split tried: its column (``LEAF`` if there is none), threshold, and whether missing values go left.

    ``total`` is the node's summed costs and weights; the scratch has its products.
    """
    rows, weights = sample.rows, sample.weights
    columns, values, products = scratch.columns, scratch.values, scratch.products
    best_fit, best_column, best_threshold, best_missing_left = -np.inf, LEAF, np.float32(0.0), False
    total_sum, total_weight = total
    left_to_try = n_tried
    for j in range(columns.shape[0]):
        if left_to_try == 0:
            break
        pick = j + _below(random, columns.shape[0] - j)
        columns[j], columns[pick] = columns[pick], columns[j]
        column = table[columns[j]]
        lowest, highest = np.float32(np.inf), np.float32(-np.inf)
        missing_sum, missing_weight = 0.0, 0.0
        for i in range(start, stop):
            value = column[rows[i]]
            values[i] = value
            if np.isnan(value):
                missing_sum += products[i]
                missing_weight += np.float64(weights[i])
            else:
                lowest, highest = min(lowest, value), max(highest, value)
        varies = lowest < highest
        if not varies and (missing_weight == 0.0 or lowest > highest):
            continue  # constant in this node: it does not count as tried
        left_to_try -= 1
        thresholds = (highest, highest, highest)
        if varies:
            thresholds = (
                _threshold(values, start, stop, highest, random),
                _threshold(values, start, stop, highest, random),
                _threshold(values, start, stop, highest, random),
            )
        left = _left_of(thresholds, scratch, weights, start, stop)
        for t in range(len(thresholds)):
            left_sum, left_weight = left[t]
            fit = _fit(left_sum, left_weight, total_sum, total_weight)
            if fit > best_fit:
                best_fit, best_column, best_threshold, best_missing_left = fit, columns[j], thresholds[t], False
            if varies and missing_weight > 0.0:  # else nothing would go right
                fit = _fit(left_sum + missing_sum, left_weight + missing_weight, total_sum, total_weight)
                if fit > best_fit:
                    best_fit, best_column, best_threshold, best_missing_left = fit, columns[j], thresholds[t], True
    return best_column, best_threshold, best_missing_left


@called
def _partition(
    values: F32, sample: Sample, start: int, stop: int, threshold: np.float32, missing_left: bool
) -> tuple[int, np.float32]:
    """Move the answers that go left to the front; returns where the others start, and their lowest value."""
    rows, costs, weights = sample
    middle, lowest_right = start, np.float32(np.inf)
    for i in range(start, stop):
        value = values[rows[i]]
        if value <= threshold or (missing_left and np.isnan(value)):
            rows[i], rows[middle] = rows[middle], rows[i]
            costs[i], costs[middle] = costs[middle], costs[i]
            weights[i], weights[middle] = weights[middle], weights[i]
            middle += 1
        elif value < lowest_right:
            lowest_right = value
    return middle, lowest_right


@called
def grow_tree(
    table: F32, sample: Sample, n: int, n_tried: int, scratch: Scratch, random: U64, trees: Trees, root: int
) -> int:
    """Grow one tree over the first n answers, with its nodes from ``root``; returns where the next tree starts."""
    _, costs, weights = sample
    products, stack = scratch.products, scratch.stack
    n_nodes, depth = root + 1, 1
    stack[0, 0], stack[0, 1], stack[0, 2] = 0, n, root
    while depth > 0:
        depth -= 1
        start, stop, node = stack[depth, 0], stack[depth, 1], stack[depth, 2]
        total, weight, lowest, highest = 0.0, 0.0, costs[start], costs[start]
        for i in range(start, stop):
            products[i] = np.float64(weights[i]) * np.float64(costs[i])
            total += products[i]
            weight += np.float64(weights[i])
            lowest, highest = min(lowest, costs[i]), max(highest, costs[i])
        trees.columns[node], trees.numbers[node], trees.left[node] = LEAF, np.float32(total / weight), 0
        if lowest == highest:
            continue
        column, threshold, missing_left = best_split(
            table, sample, start, stop, (total, weight), n_tried, scratch, random
        )
        if column == LEAF:
            continue
        middle, above = _partition(table[column], sample, start, stop, threshold, missing_left)
        between = threshold + (above - threshold) * _HALF
        trees.columns[node] = column
        trees.numbers[node] = between if threshold < between < above else threshold
        trees.left[node] = ~n_nodes if missing_left else n_nodes
        stack[depth, 0], stack[depth, 1], stack[depth, 2] = start, middle, n_nodes
        stack[depth + 1, 0], stack[depth + 1, 1], stack[depth + 1, 2] = middle, stop, n_nodes + 1
        n_nodes += 2
        depth += 2
    return n_nodes


@kernel
def varying_columns(table: F32, rows: I64) -> I64:
    """The columns that have at least two different values in these rows; missing is a value too."""
    found, columns = 0, np.empty(table.shape[0], np.int64)
    for column in range(table.shape[0]):
        values = table[column]
        first = values[rows[0]]
        for i in range(1, rows.shape[0]):
            value = values[rows[i]]
            if value != first and not (np.isnan(value) and np.isnan(first)):
                columns[found] = column
                found += 1
                break
    return columns[:found]


@kernel
def grow(
    table: F32, answers: Sample, varying: I64, n_drawn: int, n_tried: int, seed: int, label: int, trees: Trees
) -> int:
    """Grow all trees, each over ``n_drawn`` answers drawn with replacement; returns the number of nodes.

    ``table`` (columns, rows) has the features, of which the ``varying`` ones are used; ``trees`` needs room for
    2 x ``n_drawn`` nodes per tree.
    """
    n = answers.rows.shape[0]
    times = np.empty(n, np.int64)
    room = min(n, n_drawn)
    sample = Sample(np.empty(room, np.int64), np.empty(room, np.float32), np.empty(room, np.float32))
    scratch = Scratch(
        varying.copy(),
        np.empty(room, np.float32),
        np.empty(room, np.float64),
        np.empty((room + 1, 3), np.int64),
    )
    random = np.zeros(1, np.uint64)
    random[0] = mix(mix(np.uint64(seed) * GOLDEN_64 + np.uint64(label)) + np.uint64(n))
    n_nodes = 0
    for t in range(trees.roots.shape[0]):
        times[:] = 0
        for _ in range(n_drawn):
            times[_below(random, n)] += 1
        drawn = 0
        for i in range(n):
            if times[i] > 0:
                sample.rows[drawn], sample.costs[drawn] = answers.rows[i], answers.costs[i]
                sample.weights[drawn] = np.float32(times[i]) * answers.weights[i]
                drawn += 1
        trees.roots[t] = n_nodes
        n_nodes = grow_tree(table, sample, drawn, n_tried, scratch, random, trees, n_nodes)
    return n_nodes


@kernel
def read(trees: Trees, rows: F32, mean: F32, variance: F32) -> None:
    """Write the mean of the trees' predictions for each row of ``rows`` (n, columns), and their variance."""
    roots, columns, numbers, left = trees
    n_trees = roots.shape[0]
    for r in range(rows.shape[0]):
        total, squares = 0.0, 0.0
        for t in range(n_trees):
            node = roots[t]
            while columns[node] != LEAF:
                value, child = rows[r, columns[node]], left[node]
                missing_left = child < 0
                child = ~child if missing_left else child
                goes_left = missing_left if np.isnan(value) else value <= numbers[node]
                node = child if goes_left else child + 1
            cost = np.float64(numbers[node])
            total += cost
            squares += cost * cost
        average = total / n_trees
        mean[r] = np.float32(average)
        variance[r] = np.float32(max(squares / n_trees - average * average, 0.0))

"""Randomised trees once more, in plain Python, from the description in ``kernels.forest``.

A node is a leaf (a number) or a tuple of column, threshold, whether missing values go left, and two children. Random
numbers are those of splitmix64, with whole numbers of any size. The right child is grown before the left one.
"""

import math

import numpy as np

MASK = 2**64 - 1
GOLDEN = 0x9E3779B97F4A7C15
THRESHOLDS, REDRAWS = 3, 4


def mixed(bits):
    bits = ((bits ^ (bits >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    bits = ((bits ^ (bits >> 27)) * 0x94D049BB133111EB) & MASK
    return bits ^ (bits >> 31)


class Draws:
    def __init__(self, state):
        self.state = state

    def below(self, n):
        self.state = (self.state + GOLDEN) & MASK
        return int((mixed(self.state) >> 11) / 2**53 * n)


def weighted_sums(items):
    """The sum of weight x cost, and of the weights, over items (row, cost, weight)."""
    total = weight = 0.0
    for _, cost, times in items:
        total += times * cost
        weight += times
    return total, weight


def explained(items, left):
    """How much of the squared costs the means of two sides explain."""
    (total, weight), (left_total, left_weight) = weighted_sums(items), weighted_sums(left)
    right_total, right_weight = total - left_total, weight - left_weight
    return left_total * left_total / left_weight + right_total * right_total / right_weight


def threshold_of(values, draws):
    highest = np.nanmax(values)
    for _ in range(REDRAWS):
        value = values[draws.below(len(values))]
        if value < highest:
            return value
    return np.nanmin(values)


def best_split(table, items, columns, n_tried, draws):
    best, found, tried = -math.inf, None, 0
    for j in range(len(columns)):
        if tried == n_tried:
            break
        pick = j + draws.below(len(columns) - j)
        columns[j], columns[pick] = columns[pick], columns[j]
        values = np.array([table[columns[j], row] for row, _, _ in items])
        missing = np.isnan(values)
        if missing.all() or (not missing.any() and values.min() == values.max()):
            continue
        tried += 1
        varies = np.nanmin(values) < np.nanmax(values)
        for _ in range(THRESHOLDS if varies else 1):
            threshold = threshold_of(values, draws) if varies else np.nanmax(values)
            low = [item for item, value in zip(items, values, strict=True) if value <= threshold]
            lost = [item for item, value in zip(items, values, strict=True) if np.isnan(value)]
            for missing_left in (False, True) if lost and varies else (False,):
                fit = explained(items, low + lost if missing_left else low)
                if fit > best:
                    best, found = fit, (columns[j], threshold, missing_left)
    return found


def grown_tree(table, items, columns, n_tried, draws):
    costs = [cost for _, cost, _ in items]
    total, weight = weighted_sums(items)
    split = None if min(costs) == max(costs) else best_split(table, items, columns, n_tried, draws)
    if split is None:
        return np.float32(total / weight)
    column, threshold, missing_left = split
    middle, above = 0, math.inf
    for i, item in enumerate(items):  # the order of the items matters to later draws
        value = table[column, item[0]]
        if value <= threshold or (missing_left and np.isnan(value)):
            items[i], items[middle] = items[middle], items[i]
            middle += 1
        elif value < above:
            above = value
    if math.isfinite(above):
        between = np.float32(threshold + (above - threshold) * np.float32(0.5))
        threshold = between if threshold < between < above else threshold
    right = grown_tree(table, items[middle:], columns, n_tried, draws)
    left = grown_tree(table, items[:middle], columns, n_tried, draws)
    return column, threshold, missing_left, left, right


def grown_forest(table, costs, weights, n_trees, n_drawn, n_tried, seed, label):
    n = len(costs)
    draws = Draws(mixed((mixed((seed * GOLDEN + label) & MASK) + n) & MASK))
    columns = [j for j in range(len(table)) if len(np.unique(table[j], equal_nan=True)) > 1]
    forest = []
    for _ in range(n_trees):
        times = [0] * n
        for _ in range(n_drawn):
            times[draws.below(n)] += 1
        items = [
            (i, float(costs[i]), float(np.float32(times[i]) * np.float32(weights[i]))) for i in range(n) if times[i]
        ]
        forest.append(grown_tree(table, items, columns, n_tried, draws))
    return forest


def read_tree(tree, row):
    while isinstance(tree, tuple):
        column, threshold, missing_left, left, right = tree
        goes_left = missing_left if np.isnan(row[column]) else row[column] <= threshold
        tree = left if goes_left else right
    return float(tree)

"""Randomised trees once more, in plain Python, from the description in ``kernels.forest``.

A node is a leaf, the list of its estimates, or a tuple of column, threshold, whether missing values go left, and two
children. Random numbers are those of splitmix64, with whole numbers of any size. The right child is grown before the
left one. ``answers`` has a list of (label, cost, weight) for every row.
"""

import math
from itertools import pairwise

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


class Problem:
    """The answers about rows, each of which counts some times."""

    def __init__(self, table, answers, times, n_labels):
        self.table, self.answers, self.times, self.n_labels = table, answers, times, n_labels

    def costs(self, rows, label):
        """The costs of a label with their weights, one row after the other."""
        return [(cost, weight * self.times[row]) for row in rows for k, cost, weight in self.answers[row] if k == label]

    def sums(self, rows, label):
        total = weight = 0.0
        for cost, times in self.costs(rows, label):
            total += times * cost
            weight += times
        return total, weight

    def varying(self, rows):
        """The labels whose costs vary."""
        return [k for k in range(self.n_labels) if len({cost for cost, _ in self.costs(rows, k)}) > 1]


def estimates(problem, rows, above, shared, strength, is_root):
    """The estimated costs of a node, given those of the node above."""
    sums = [problem.sums(rows, k) for k in range(problem.n_labels)]
    change = sum(total - weight * above[k] for k, (total, weight) in enumerate(sums) if weight > 0)
    weights = sum(weight for _, weight in sums)
    moved = 0.0 if is_root or weights == 0 else shared * change / weights
    found = []
    for k, (total, weight) in enumerate(sums):
        expected = min(max(above[k] + moved, 0.0), 1.0)
        if weight > 0:
            prior = 0.0 if is_root else strength
            expected = (total + prior * expected) / (weight + prior)
        found.append(float(np.float32(expected)))
    return found


def explained(problem, rows, bins, labels):
    """How much of the squared costs two sides explain; the left one has these bins of rows."""
    fit = 0.0
    for label in labels:
        total, weight = problem.sums(rows, label)
        left_total = left_weight = 0.0
        for some in bins:
            bin_total, bin_weight = problem.sums(some, label)
            left_total += bin_total
            left_weight += bin_weight
        if min(left_weight, weight - left_weight) > 1e-9 * weight:
            fit += left_total * left_total / left_weight + (total - left_total) ** 2 / (weight - left_weight)
        else:
            fit += total * total / weight
    return fit


def threshold_of(values, draws):
    highest = np.nanmax(values)
    for _ in range(REDRAWS):
        value = values[draws.below(len(values))]
        if value < highest:
            return value
    return np.nanmin(values)


def best_split(problem, rows, labels, columns, n_tried, draws):
    best, found, tried = -math.inf, None, 0
    for j in range(len(columns)):
        if tried == n_tried:
            break
        pick = j + draws.below(len(columns) - j)
        columns[j], columns[pick] = columns[pick], columns[j]
        values = np.array([problem.table[columns[j], row] for row in rows])
        missing = np.isnan(values)
        if missing.all() or (not missing.any() and values.min() == values.max()):
            continue
        tried += 1
        varies = np.nanmin(values) < np.nanmax(values)
        thresholds = sorted(threshold_of(values, draws) for _ in range(THRESHOLDS)) if varies else [np.nanmax(values)]
        lost = [row for row, value in zip(rows, values, strict=True) if np.isnan(value)]
        for missing_left in (False, True) if lost and varies else (False,):
            for t, threshold in enumerate(thresholds):
                edges = [-math.inf, *thresholds[: t + 1]]
                bins = [
                    [row for row, value in zip(rows, values, strict=True) if low < value <= high]
                    for low, high in pairwise(edges)
                ]
                fit = explained(problem, rows, [*bins, lost] if missing_left else bins, labels)
                if fit > best:
                    best, found = fit, (columns[j], threshold, missing_left)
    return found


def grown_tree(problem, rows, above, columns, n_tried, shared, strength, draws, is_root=True):
    values, labels = estimates(problem, rows, above, shared, strength, is_root), problem.varying(rows)
    split = best_split(problem, rows, labels, columns, n_tried, draws) if labels else None
    if split is None:
        return values
    column, threshold, missing_left = split
    middle, above_it = 0, math.inf
    for i, row in enumerate(rows):  # the order of the rows matters to later draws
        value = problem.table[column, row]
        if value <= threshold or (missing_left and np.isnan(value)):
            rows[i], rows[middle] = rows[middle], rows[i]
            middle += 1
        elif value < above_it:
            above_it = value
    if math.isfinite(above_it):
        between = np.float32(threshold + (above_it - threshold) * np.float32(0.5))
        threshold = between if threshold < between < above_it else threshold
    right = grown_tree(problem, rows[middle:], values, columns, n_tried, shared, strength, draws, False)
    left = grown_tree(problem, rows[:middle], values, columns, n_tried, shared, strength, draws, False)
    return column, threshold, missing_left, left, right


def grown_forest(table, answers, n_labels, n_trees, n_drawn, n_tried, shared, seed, strength):
    n, forest = len(answers), []
    for number in range(n_trees):
        columns = [j for j in range(len(table)) if len(np.unique(table[j], equal_nan=True)) > 1]
        draws, times = Draws(mixed((mixed((seed * GOLDEN + number) & MASK) + n) & MASK)), [0] * n
        for _ in range(n_drawn):
            times[draws.below(n)] += 1
        rows = [row for row in range(n) if times[row]]
        problem = Problem(table, answers, times, n_labels)
        forest.append(grown_tree(problem, rows, [0.5] * n_labels, columns, n_tried, shared, strength, draws))
    return forest


def read_tree(tree, row):
    while isinstance(tree, tuple):
        column, threshold, missing_left, left, right = tree
        goes_left = missing_left if np.isnan(row[column]) else row[column] <= threshold
        tree = left if goes_left else right
    return tree

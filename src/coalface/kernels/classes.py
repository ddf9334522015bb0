"""Multinomial logistic regression on sparse rows: its loss, its curvature, and cost ranges from ranges of logits.

Columns are numbered by slot, and a row's centre is subtracted without making it dense: w (x - m) = w x - w m.
"""

import numpy as np

from coalface.kernels.compile import allocating, kernel
from coalface.kernels.state import F32, F64, I64

_LARGEST_EXPONENT = 40.0
_NEARLY_ONE = 1.0 - 1e-12  # a class of probability 1 leaves nothing for the others


@kernel
def add_products(indptr: I64, slots: I64, values: F64, table: F64, products: F64) -> None:
    """Add the product of each sparse row and ``table`` (slots, K) to ``products`` (n, K); slots below 0 are skipped."""
    n_classes = table.shape[1]
    for row in range(products.shape[0]):
        product = products[row]
        for place in range(indptr[row], indptr[row + 1]):
            if slots[place] >= 0:
                line, value = table[slots[place]], values[place]
                for k in range(n_classes):
                    product[k] += value * line[k]


@kernel
def add_columns(indptr: I64, slots: I64, values: F64, table: F64, sums: F64) -> None:
    """Add the product of the transposed rows and ``table`` (n, K) to ``sums`` (slots, K)."""
    n_classes = table.shape[1]
    for row in range(table.shape[0]):
        line = table[row]
        for place in range(indptr[row], indptr[row + 1]):
            total, value = sums[slots[place]], values[place]
            for k in range(n_classes):
                total[k] += value * line[k]


@allocating
def to_residuals(logits: F64, classes: I64, weights: F64) -> float:
    """Turn logits (n, K) into weighted residuals, probability minus truth; returns the weighted log loss."""
    loss = 0.0
    for row in range(logits.shape[0]):
        line, weight, truth = logits[row], weights[row], classes[row]
        largest, own, total = line.max(), line[truth], 0.0
        for k in range(line.shape[0]):
            line[k] = np.exp(line[k] - largest)
            total += line[k]
        loss += weight * (largest + np.log(total) - own)
        for k in range(line.shape[0]):
            line[k] = weight * (line[k] / total - (1.0 if k == truth else 0.0))
    return loss


@allocating
def to_probabilities(logits: F64) -> None:
    """Turn logits (n, K) into probabilities; a row's do not depend on the rows beside it."""
    for row in range(logits.shape[0]):
        line = logits[row]
        largest, total = line.max(), 0.0
        for k in range(line.shape[0]):
            line[k] = np.exp(line[k] - largest)
            total += line[k]
        for k in range(line.shape[0]):
            line[k] /= total


@kernel
def expected_costs(probabilities: F64, means: F64, expected: F64) -> None:
    """Write the expected cost of every label, (n, K); ``means`` (K, K) are the costs of all labels, by class."""
    n_classes, n_labels = means.shape
    for row in range(probabilities.shape[0]):
        line = expected[row]
        for k in range(n_labels):
            line[k] = 0.0
        for c in range(n_classes):
            for k in range(n_labels):
                line[k] += probabilities[row, c] * means[c, k]


@kernel
def cost_ranges(probabilities: F64, up: F64, down: F64, means: F64, expected: F64, lowest: F32, highest: F32) -> None:
    """Write the lowest and highest expected costs if the logit of any one class moves by up to ``up`` or ``down``.

    ``expected`` (n, K) are the costs if none moves.
    """
    n_classes, n_labels = means.shape
    for row in range(probabilities.shape[0]):
        low, high = lowest[row], highest[row]
        for k in range(n_labels):
            low[k] = high[k] = expected[row, k]
        for c in range(n_classes):
            chance = min(probabilities[row, c], _NEARLY_ONE)
            for move in (min(up[row, c], _LARGEST_EXPONENT), -down[row, c]):
                added = chance * (np.exp(move) - 1.0)
                for k in range(n_labels):
                    cost = np.float32((expected[row, k] + added * means[c, k]) / (1.0 + added))
                    low[k] = min(low[k], cost)
                    high[k] = max(high[k], cost)

"""Online linear regression: predicts and updates the cost regressors of all labels in one pass over a row.

Notation, with x in the unit of its feature, and per (feature, label) v = ``WEIGHT``, G = ``SQUARES``,
1/N = ``INVERSE_SCALE``. The weight of VW's update rule is w = v/N. In this form, VW's rescaling ``w *= N/|x|`` for a
larger |x| does not change v:

- prediction   p     = sum of v x/N
- norm               = sum of min(|x|/N, 1)^2
- reach        ppu   = sum of min(|x|/N, 1) |x| / sqrt(G + g x^2)
- update       G += g x^2;  N = max(N, |x|);  v += step x / sqrt(G)

g is the gradient factor: 1 for adax, 4 (p - c)^2 for adagrad.
"""

import math

import numpy as np

from coalface.kernels.codes import ADAX, AUTO_RATE
from coalface.kernels.compile import inlined
from coalface.kernels.features import INTERCEPT, find_slot, in_unit
from coalface.kernels.interactions import append_products
from coalface.kernels.prefetch import prefetch_ahead
from coalface.kernels.state import INVERSE_SCALE, SQUARES, WEIGHT, Csr, Model, Scratch, Settings

_ONE = np.float32(1.0)
_ZERO = np.float32(0.0)
_FOUR = np.float32(4.0)
TINY = np.float32(1e-37)
FASTER_ONE_BY_ONE = 5  # measured: updating all labels takes as long as updating this share of them one by one
REACH_OF_FIRST_STEP = 2.5  # the first answer removes 1 - exp(-2 * 2.5) = 99 % of the error


@inlined
def rate_for(model: Model, settings: Settings, n: int) -> float:
    """The learning rate for a row with ``n`` non-zeros.

    A new regressor's reach is the square root of the row's non-zeros. The automatic rate is divided by the root of
    their mean, so that the first steps move the prediction equally far for any number of features.
    """
    if settings.learning_rate != AUTO_RATE:
        return settings.learning_rate
    row_sizes = model.row_sizes
    mean = (row_sizes[0] + np.float64(n)) / (row_sizes[1] + 1.0)
    return REACH_OF_FIRST_STEP / math.sqrt(max(mean, 1.0))


@inlined
def gather(model: Model, settings: Settings, scratch: Scratch, rows: Csr, row: int) -> int:
    """Copy the non-zeros of a row to scratch, each in its feature's unit; returns their number.

    The intercept follows them, then the interactions. The unit of an unseen feature is its own value.
    """
    columns, values = rows.columns, rows.values
    start, stop = rows.indptr[row], rows.indptr[row + 1]
    table, features, units, only_ones = model.table, model.features, model.units, settings.only_ones
    row_slots, row_values, row_columns, row_sizes = (
        scratch.slots,
        scratch.values,
        scratch.columns,
        scratch.sizes,
    )
    n = 0
    for j in range(start, stop + settings.intercept):
        is_feature = j < stop
        value = values[j] if is_feature else _ONE
        if value == _ZERO:
            continue
        column = columns[j] if is_feature else INTERCEPT
        slot = find_slot(table, features, column)
        size = abs(value)
        relative = in_unit(units, slot, size) if not only_ones else _ONE
        row_columns[n] = column
        row_sizes[n] = size
        row_slots[n] = slot
        row_values[n] = relative if value > _ZERO else -relative
        n += 1
    return n if model.interactions.shape[0] == 0 else append_products(model, settings, scratch, n)


@inlined
def predict(model: Model, scratch: Scratch, n: int) -> None:
    """Compute the raw predictions of all labels."""
    cells, slots, values, predicted = model.cells, scratch.slots, scratch.values, scratch.predicted
    lanes = predicted.shape[0]
    for k in range(lanes):
        predicted[k] = _ZERO
    for j in range(n):
        value = values[j]
        cell = cells[slots[j]]
        weight, inverse_scale = cell[WEIGHT], cell[INVERSE_SCALE]
        for k in range(lanes):
            predicted[k] += weight[k] * (value * inverse_scale[k])


@inlined
def predict_and_measure(model: Model, scratch: Scratch, n: int) -> None:
    """Compute the raw predictions of all labels and, for a gradient factor of 1, their norm and reach."""
    cells, slots, values = model.cells, scratch.slots, scratch.values
    predicted, norm, reach = scratch.predicted, scratch.norm, scratch.reach
    lanes = predicted.shape[0]
    for k in range(lanes):
        predicted[k] = _ZERO
        norm[k] = _ZERO
        reach[k] = _ZERO
    cells_per_slot = cells.shape[1] * cells.shape[2]
    for j in range(n):
        prefetch_ahead(cells, slots, j, n, cells_per_slot, cells_per_slot)
        value = values[j]
        size = abs(value)
        square = size * size
        cell = cells[slots[j]]
        weight, squares, inverse_scale = cell[WEIGHT], cell[SQUARES], cell[INVERSE_SCALE]
        for k in range(lanes):
            share = min(size * inverse_scale[k], _ONE)
            predicted[k] += weight[k] * (value * inverse_scale[k])
            norm[k] += share * share
            reach[k] += share * (size / np.sqrt(squares[k] + square))


@inlined
def predict_and_measure_ones(model: Model, scratch: Scratch, n: int) -> None:
    """As ``predict_and_measure``, to the bit, if 1 is the only value of all rows and no row has a feature twice.

    The scale of a learned feature is then 1. An unlearned one has weight 0 and counts as if its scale were 1. So scales
    need not be read, which saves a third of the memory traffic. The inverse roots are kept for the update.
    """
    cells, slots, inverse_roots = model.cells, scratch.slots, scratch.inverse_roots
    predicted, norm, reach = scratch.predicted, scratch.norm, scratch.reach
    lanes = predicted.shape[0]
    for k in range(lanes):
        predicted[k] = _ZERO
        norm[k] = np.float32(n)
        reach[k] = _ZERO
    cells_per_slot, cells_read = cells.shape[1] * lanes, INVERSE_SCALE * lanes
    for j in range(n):
        prefetch_ahead(cells, slots, j, n, cells_per_slot, cells_read)
        cell = cells[slots[j]]
        weight, squares, inverse_root = cell[WEIGHT], cell[SQUARES], inverse_roots[j]
        for k in range(lanes):
            inverse_root[k] = _ONE / np.sqrt(squares[k] + _ONE)
            predicted[k] += weight[k]
            reach[k] += inverse_root[k]


@inlined
def measure(model: Model, scratch: Scratch, n: int) -> None:
    """Compute norm and reach of all labels for the gradient factors in scratch."""
    cells, slots, values = model.cells, scratch.slots, scratch.values
    norm, reach, gradient = scratch.norm, scratch.reach, scratch.gradient
    lanes = norm.shape[0]
    for k in range(lanes):
        norm[k] = _ZERO
        reach[k] = _ZERO
    for j in range(n):
        size = abs(values[j])
        square = size * size
        cell = cells[slots[j]]
        squares, inverse_scale = cell[SQUARES], cell[INVERSE_SCALE]
        for k in range(lanes):
            share = min(size * inverse_scale[k], _ONE)
            norm[k] += share * share
            reach[k] += share * (size / np.sqrt(squares[k] + gradient[k] * square))


@inlined
def seen_only_sensitivity(model: Model, settings: Settings, scratch: Scratch, n: int) -> None:
    """How far an update of infinitesimal weight would move the predictions; infinite if a feature is unseen."""
    cells, slots, values = model.cells, scratch.slots, scratch.values
    updates, norm_sum, sensitivity = model.updates, model.norm_sum, scratch.sensitivity
    lanes = sensitivity.shape[0]
    for k in range(lanes):
        sensitivity[k] = _ZERO
    for j in range(n):
        size = abs(values[j])
        cell = cells[slots[j]]
        squares, inverse_scale = cell[SQUARES], cell[INVERSE_SCALE]
        for k in range(lanes):
            sensitivity[k] += (size * inverse_scale[k]) * (size / np.sqrt(squares[k]))
    rate = np.float32(rate_for(model, settings, n))
    for k in range(lanes):
        average_norm = np.float32(np.sqrt(updates[k] / norm_sum[k]))
        sensitivity[k] = rate * (sensitivity[k] * average_norm)


@inlined
def shadow_sensitivity(model: Model, settings: Settings, scratch: Scratch, n: int) -> None:
    """How far an update of weight 1 would move the predictions, from norm and reach."""
    updates, norm_sum = model.updates, model.norm_sum
    norm, reach, sensitivity = scratch.norm, scratch.reach, scratch.sensitivity
    rate = np.float32(rate_for(model, settings, n))
    for k in range(sensitivity.shape[0]):
        average_norm = np.float32(np.sqrt((updates[k] + 1.0) / (norm_sum[k] + np.float64(norm[k]))))
        sensitivity[k] = rate * (reach[k] * average_norm)


@inlined
def clipped(value: np.float32) -> np.float32:
    """The value clipped to [0, 1], the range of costs."""
    return min(max(value, _ZERO), _ONE)


@inlined
def learn(model: Model, settings: Settings, scratch: Scratch, n: int, n_learned: int, weighted: bool) -> None:
    """Update the labels listed in scratch; call ``predict_and_measure`` (adax) or ``predict`` (adagrad) first.

    A weight acts as Vowpal Wabbit's importance weight: it multiplies the gradient, and the step never overshoots.
    """
    labels, predicted, costs, norm, reach = (
        scratch.labels,
        scratch.predicted,
        scratch.costs,
        scratch.norm,
        scratch.reach,
    )
    gradient, step, norm_sum, updates = scratch.gradient, scratch.step, model.norm_sum, model.updates
    weights = scratch.weights
    for k in range(gradient.shape[0]):
        gradient[k] = _ZERO
        step[k] = _ZERO
    adax = settings.accumulator == ADAX
    for i in range(n_learned):
        label = labels[i]
        difference = clipped(predicted[label]) - costs[label]
        gradient[label] = _ONE if adax else _FOUR * difference * difference
        if weighted:
            gradient[label] *= weights[label]
    if not adax or weighted:
        measure(model, scratch, n)
    rate = rate_for(model, settings, n)
    for i in range(n_learned):
        label = labels[i]
        difference = costs[label] - clipped(predicted[label])
        weight = np.float64(weights[label]) if weighted else 1.0
        norm_sum[label] += weight * np.float64(norm[label])
        updates[label] += weight
        average_norm = np.float32(np.sqrt(updates[label] / norm_sum[label]))
        step[label] = step_for(difference, reach[label] * average_norm, rate * weight) * average_norm
    with_roots = settings.only_ones and adax and not weighted  # the inverse roots are those of a gradient factor of 1
    if n_learned * FASTER_ONE_BY_ONE < gradient.shape[0]:
        if with_roots:
            _apply_ones_to_list(model, scratch, n, n_learned)
        else:
            _apply_to_list(model, scratch, n, n_learned)
    elif with_roots:
        apply_ones_to_all(model, scratch, n)
    else:
        _apply_to_all(model, scratch, n)


@inlined
def step_for(difference: np.float32, reach: np.float32, learning_rate: float) -> np.float32:
    """The step that brings the prediction p to cost + (p - cost) exp(-2 rate reach)."""
    exponent = learning_rate * np.float64(reach)
    share = -math.expm1(-2.0 * exponent) / np.float64(reach) if exponent >= 1e-6 else 2.0 * learning_rate
    return np.float32(share * np.float64(difference))


@inlined
def _apply_to_list(model: Model, scratch: Scratch, n: int, n_learned: int) -> None:
    """Update only the labels listed in scratch."""
    cells, slots, values = model.cells, scratch.slots, scratch.values
    labels, gradient, step = scratch.labels, scratch.gradient, scratch.step
    for j in range(n):
        value = values[j]
        square, inverse = value * value, _ONE / abs(value)
        cell = cells[slots[j]]
        weight, squares, inverse_scale = cell[WEIGHT], cell[SQUARES], cell[INVERSE_SCALE]
        for i in range(n_learned):
            k = labels[i]
            total = squares[k] + gradient[k] * square
            weight[k] += step[k] * (value / np.sqrt(max(total, TINY)))
            squares[k] = total
            if inverse < inverse_scale[k]:  # rarely, so most cache lines are not written
                inverse_scale[k] = inverse


@inlined
def _apply_to_all(model: Model, scratch: Scratch, n: int) -> None:
    """Update all labels at once; step and gradient are 0 for labels without an update."""
    cells, slots, values = model.cells, scratch.slots, scratch.values
    gradient, step = scratch.gradient, scratch.step
    lanes = gradient.shape[0]
    for j in range(n):
        value = values[j]
        square, inverse = value * value, _ONE / abs(value)
        cell = cells[slots[j]]
        weight, squares, inverse_scale = cell[WEIGHT], cell[SQUARES], cell[INVERSE_SCALE]
        for k in range(lanes):
            total = squares[k] + gradient[k] * square
            weight[k] += step[k] * (value / np.sqrt(max(total, TINY)))
            squares[k] = total
            inverse_scale[k] = min(inverse_scale[k], inverse) if gradient[k] > _ZERO else inverse_scale[k]


@inlined
def _apply_ones_to_list(model: Model, scratch: Scratch, n: int, n_learned: int) -> None:
    """As ``_apply_to_list`` after ``predict_and_measure_ones``: only a label's first update changes its scale."""
    cells, slots, inverse_roots = model.cells, scratch.slots, scratch.inverse_roots
    labels, step = scratch.labels, scratch.step
    for j in range(n):
        cell, inverse_root = cells[slots[j]], inverse_roots[j]
        weight, squares, inverse_scale = cell[WEIGHT], cell[SQUARES], cell[INVERSE_SCALE]
        for i in range(n_learned):
            k = labels[i]
            weight[k] += step[k] * inverse_root[k]
            if squares[k] == _ZERO:
                inverse_scale[k] = _ONE
            squares[k] += _ONE


@inlined
def apply_ones_to_all(model: Model, scratch: Scratch, n: int) -> None:
    """As ``_apply_to_all`` after ``predict_and_measure_ones``; gradients may be any positive numbers."""
    cells, slots, inverse_roots = model.cells, scratch.slots, scratch.inverse_roots
    gradient, step = scratch.gradient, scratch.step
    lanes = gradient.shape[0]
    for j in range(n):
        cell, inverse_root = cells[slots[j]], inverse_roots[j]
        weight, squares, inverse_scale = cell[WEIGHT], cell[SQUARES], cell[INVERSE_SCALE]
        n_first = np.int32(0)
        for k in range(lanes):
            n_first += np.int32(squares[k] == _ZERO and gradient[k] > _ZERO)
            weight[k] += step[k] * inverse_root[k]
            squares[k] += gradient[k]
        if n_first > 0:
            for k in range(lanes):
                inverse_scale[k] = _ONE if gradient[k] > _ZERO else inverse_scale[k]

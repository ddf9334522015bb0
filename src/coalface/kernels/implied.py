"""Learns the costs of settled labels, which were never asked for, from the answered costs of the same example.

If costs come from a matrix or a tree, one label of cost 0 implies the costs of all others. The kernel learns such
implications: ``implied[source, level, label]`` counts the examples where both labels were answered and the source's
cost was at this level, and averages the label's cost over them.

Before an answer is added to an average, it tests that average against the regressor's own prediction. ``trust`` is the
share of the squared error that such averages remove, per level and class of counts. Averages without enough trust are
not used.
"""

import math

import numpy as np

from coalface.kernels.codes import ADAX
from coalface.kernels.compile import called, inlined
from coalface.kernels.features import claim_slots
from coalface.kernels.regression import FASTER_ONE_BY_ONE, apply_ones_to_all, clipped, rate_for, step_for
from coalface.kernels.state import (
    AVERAGE,
    COUNT,
    COUNT_CLASSES,
    INVERSE_SCALE,
    LEVELS,
    SETTLED,
    SQUARES,
    WEIGHT,
    Model,
    Scratch,
    Settings,
)

_ONE, _ZERO = np.float32(1.0), np.float32(0.0)
PRIOR_ERROR = 10.0  # prior squared error on both sides, so that a few lucky tests give no trust
LEAST_TRUST = 0.5  # averages that remove less error do harm: they pull the regressors towards half-truths
MOST_ANSWERS = 32  # if an example has at most this many answers, all pairs are counted
MOST_COUNTS = np.float32(64.0)  # otherwise only pairs of sources with fewer counts than this


@inlined
def level_of(cost: np.float32) -> int:
    """The level of a cost, from 0 to ``LEVELS - 1``."""
    return int(cost * np.float32(LEVELS - 1) + np.float32(0.5))


@inlined
def _count_class(count: np.float32) -> int:
    """The class of a count: 1, 2 to 3, 4 to 15, or more."""
    if count < np.float32(2.0):
        return 0
    if count < np.float32(4.0):
        return 1
    return 2 if count < np.float32(16.0) else 3


@inlined
def _find_trust(model: Model, scratch: Scratch, n_answered: int) -> None:
    """Write the share of the regressors' squared error that averages at the levels of the answers removed so far."""
    tests, trusted, costs, order = model.trust, scratch.trusted, scratch.costs, scratch.order
    for j in range(n_answered):
        level = level_of(costs[order[j]])
        for counts in range(COUNT_CLASSES):
            test = tests[level, counts]
            trusted[level, counts] = 1.0 - (test[0] + PRIOR_ERROR) / (test[1] + PRIOR_ERROR)


@called
def learn_settled(model: Model, settings: Settings, scratch: Scratch, n: int) -> None:
    """Learn the implied costs of the settled labels; called before the answers themselves are learned."""
    if model.implied.shape[0] == 0 or settings.accumulator != ADAX:
        return
    costs, reasons, labels, order = scratch.costs, scratch.reasons, scratch.labels, scratch.order
    n_answered = 0
    n_settled = 0
    for k in range(settings.n_labels):
        if not np.isnan(costs[k]):
            order[n_answered] = k
            n_answered += 1
        elif reasons[k] == SETTLED:
            labels[n_settled] = k
            n_settled += 1
    if n_settled > 0:
        n_implied = _implied_steps(model, settings, scratch, n, n_answered, n_settled)
        if n_implied > 0:
            claim_slots(model, scratch, n)
            if settings.only_ones and n_implied * FASTER_ONE_BY_ONE >= scratch.step.shape[0]:
                _set_steps_of_all(scratch, n_implied)
                apply_ones_to_all(model, scratch, n)
            elif settings.only_ones:
                _apply_steps_of_ones(model, scratch, n, n_implied)
            else:
                _apply_steps(model, scratch, n, n_implied)
    _update_averages(model, scratch, n_answered)


@inlined
def _implied_steps(model: Model, settings: Settings, scratch: Scratch, n: int, n_answered: int, n_settled: int) -> int:
    """Compute the steps of settled labels with a trusted average; lists these labels and returns their number."""
    implied, norm_sum, updates = model.implied, model.norm_sum, model.updates
    costs, predicted, norm, reach = scratch.costs, scratch.predicted, scratch.norm, scratch.reach
    labels, order, step, share = scratch.labels, scratch.order, scratch.step, scratch.share
    trusted = scratch.trusted
    rate = rate_for(model, settings, n)
    _find_trust(model, scratch, n_answered)
    n_implied = 0
    for i in range(n_settled):
        label = labels[i]
        trust, count, average = LEAST_TRUST, _ZERO, _ZERO
        for j in range(n_answered):
            level = level_of(costs[order[j]])
            pair = implied[order[j], level, label]
            if pair[COUNT] > _ZERO:
                found = trusted[level, _count_class(pair[COUNT])]
                if found > trust or (found == trust and pair[COUNT] > count):
                    trust, count, average = found, pair[COUNT], pair[AVERAGE]
        difference = np.float32(trust) * (average - clipped(predicted[label]))
        if count == _ZERO or difference == _ZERO:
            continue
        average_norm = np.float32(math.sqrt((updates[label] + 1.0) / (norm_sum[label] + np.float64(norm[label]))))
        step[label] = step_for(difference, reach[label] * average_norm, rate) * average_norm
        known = trust * trust * trust * trust  # only a nearly certain cost counts as known
        share[label] = np.float32(known)
        norm_sum[label] += known * np.float64(norm[label])
        updates[label] += known
        labels[n_implied] = label
        n_implied += 1
    return n_implied


@inlined
def _apply_steps(model: Model, scratch: Scratch, n: int, n_implied: int) -> None:
    """Move the weights as an answer would, but increase the confidence only by ``share``."""
    cells, slots, values = model.cells, scratch.slots, scratch.values
    labels, step, share = scratch.labels, scratch.step, scratch.share
    for j in range(n):
        value = values[j]
        square, inverse = value * value, _ONE / abs(value)
        cell = cells[slots[j]]
        weight, squares, inverse_scale = cell[WEIGHT], cell[SQUARES], cell[INVERSE_SCALE]
        for i in range(n_implied):
            k = labels[i]
            weight[k] += step[k] * (value / np.sqrt(squares[k] + square))
            squares[k] += share[k] * square
            if inverse < inverse_scale[k]:
                inverse_scale[k] = inverse


@inlined
def _set_steps_of_all(scratch: Scratch, n_implied: int) -> None:
    """Make the steps of labels that are not listed 0, and the shares of the listed ones their gradients."""
    labels, step, share, gradient = scratch.labels, scratch.step, scratch.share, scratch.gradient
    for k in range(gradient.shape[0]):
        gradient[k] = _ZERO
    for i in range(n_implied):
        gradient[labels[i]] = share[labels[i]]
    for k in range(gradient.shape[0]):
        step[k] = step[k] if gradient[k] > _ZERO else _ZERO


@inlined
def _apply_steps_of_ones(model: Model, scratch: Scratch, n: int, n_implied: int) -> None:
    """As ``_apply_steps`` after ``predict_and_measure_ones``: only a label's first update changes its scale."""
    cells, slots, inverse_roots = model.cells, scratch.slots, scratch.inverse_roots
    labels, step, share = scratch.labels, scratch.step, scratch.share
    for j in range(n):
        cell, inverse_root = cells[slots[j]], inverse_roots[j]
        weight, squares, inverse_scale = cell[WEIGHT], cell[SQUARES], cell[INVERSE_SCALE]
        for i in range(n_implied):
            k = labels[i]
            weight[k] += step[k] * inverse_root[k]
            if squares[k] == _ZERO:
                inverse_scale[k] = _ONE
            squares[k] += share[k]


@inlined
def _update_averages(model: Model, scratch: Scratch, n_answered: int) -> None:
    """Test the averages on the answers in scratch, then add the answers to them."""
    implied, tests = model.implied, model.trust
    costs, predicted, order = scratch.costs, scratch.predicted, scratch.order
    for i in range(n_answered):
        source = order[i]
        level = level_of(costs[source])
        pairs = implied[source, level]
        if n_answered > MOST_ANSWERS and pairs[order[0 if i > 0 else 1], COUNT] >= MOST_COUNTS:
            continue
        for j in range(n_answered):
            label = order[j]
            if label == source:
                continue
            cost, pair = costs[label], pairs[label]
            if pair[COUNT] > _ZERO:
                error = np.float64(pair[AVERAGE] - cost)
                own_error = np.float64(clipped(predicted[label]) - cost)
                test = tests[level, _count_class(pair[COUNT])]
                test[0] += error * error
                test[1] += own_error * own_error
            pair[COUNT] += _ONE
            pair[AVERAGE] += (cost - pair[AVERAGE]) / pair[COUNT]

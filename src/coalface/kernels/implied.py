"""What the answered costs of an example say about those that were settled, and so never asked for.

Where costs come from a matrix or a tree, a label found to cost nothing tells all the others. Nobody declares that
here: ``implied[source, level, label]`` holds, over the examples on which both were answered, how often the source's
cost was at that level and what the label cost then on average. How far to believe it is measured, too: each answer
that such an average foretold is a test of it against the regressor's own prediction, and ``trust``, the share of the
squared error that it takes away, is kept per level and class of counts. What has never proven itself is never used.
"""

import math

import numpy as np

from coalface.kernels.compile import called, inlined
from coalface.kernels.features import claim_slots
from coalface.kernels.regression import clipped, rate_for, step_for
from coalface.kernels.state import (
    ADAX,
    AVERAGE,
    COUNT,
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
_DOUBT = 10.0  # squared error on both sides before the first test, against luck: no trust without much proof
_LEAST_TRUST = 0.5  # averages that take away less do harm: they pull regressors towards what is half true
_FEW = 32  # answers of an example whose every pair is noted
_ENOUGH = np.float32(64.0)  # of an example with more, only sources seen less often than this


@inlined
def level_of(cost: np.float32) -> int:
    """The cost on the scale of levels."""
    return int(cost * np.float32(LEVELS - 1) + np.float32(0.5))


@inlined
def count_class(count: np.float32) -> int:
    """Once, twice or so, a few times, often."""
    if count < np.float32(2.0):
        return 0
    if count < np.float32(4.0):
        return 1
    return 2 if count < np.float32(16.0) else 3


@inlined
def trust_in(model: Model, level: int, count: np.float32) -> float:
    """The share of the regressors' squared error that such averages have taken away so far."""
    tests = model.trust[level, count_class(count)]
    return 1.0 - (tests[0] + _DOUBT) / (tests[1] + _DOUBT)  # type: ignore[no-any-return]


@called
def learn_settled(model: Model, settings: Settings, scratch: Scratch, n: int) -> None:
    """Learn the settled labels from what the answers imply, before the answers themselves are learned."""
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
        n_implied = _imply(model, settings, scratch, n, n_answered, n_settled)
        if n_implied > 0:
            claim_slots(model, scratch, n)
            _apply(model, scratch, n, n_implied)
    _note_pairs(model, scratch, n_answered)


@inlined
def _imply(model: Model, settings: Settings, scratch: Scratch, n: int, n_answered: int, n_settled: int) -> int:
    """The steps of the settled labels with a trusted average, which stay listed; their number."""
    implied, norm_sum, updates = model.implied, model.norm_sum, model.updates
    costs, predicted, norm, reach = scratch.costs, scratch.predicted, scratch.norm, scratch.reach
    labels, order, step, share = scratch.labels, scratch.order, scratch.step, scratch.share
    rate = rate_for(model, settings, n)
    n_implied = 0
    for i in range(n_settled):
        label = labels[i]
        trust, count, average = _LEAST_TRUST, _ZERO, _ZERO
        for j in range(n_answered):
            level = level_of(costs[order[j]])
            pair = implied[order[j], level, label]
            if pair[COUNT] > _ZERO:
                found = trust_in(model, level, pair[COUNT])
                if found > trust or (found == trust and pair[COUNT] > count):
                    trust, count, average = found, pair[COUNT], pair[AVERAGE]
        difference = np.float32(trust) * (average - clipped(predicted[label]))
        if count == _ZERO or difference == _ZERO:
            continue
        average_norm = np.float32(math.sqrt((updates[label] + 1.0) / (norm_sum[label] + np.float64(norm[label]))))
        step[label] = step_for(difference, reach[label] * average_norm, rate) * average_norm
        known = trust * trust * trust * trust  # an implied cost must be nearly certain to count as known
        share[label] = np.float32(known)
        norm_sum[label] += known * np.float64(norm[label])
        updates[label] += known
        labels[n_implied] = label
        n_implied += 1
    return n_implied


@inlined
def _apply(model: Model, scratch: Scratch, n: int, n_implied: int) -> None:
    """Move the weights as an answer would, but let the confidence grow by the share only."""
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
def _note_pairs(model: Model, scratch: Scratch, n_answered: int) -> None:
    """Test the averages on the answers listed in scratch, then add the answers to them."""
    implied, tests = model.implied, model.trust
    costs, predicted, order = scratch.costs, scratch.predicted, scratch.order
    for i in range(n_answered):
        source = order[i]
        level = level_of(costs[source])
        pairs = implied[source, level]
        if n_answered > _FEW and pairs[order[0 if i > 0 else 1], COUNT] >= _ENOUGH:
            continue
        for j in range(n_answered):
            label = order[j]
            if label == source:
                continue
            cost, pair = costs[label], pairs[label]
            if pair[COUNT] > _ZERO:
                error = np.float64(pair[AVERAGE] - cost)
                own_error = np.float64(clipped(predicted[label]) - cost)
                test = tests[level, count_class(pair[COUNT])]
                test[0] += error * error
                test[1] += own_error * own_error
            pair[COUNT] += _ONE
            pair[AVERAGE] += (cost - pair[AVERAGE]) / pair[COUNT]

"""What the online model does with a gathered row before it learns: predict, bound the costs, decide what to ask."""

import numpy as np

from coalface.kernels.budgets import decide_within_budget, set_pace
from coalface.kernels.calibration import slack_factor
from coalface.kernels.codes import ADAX, PASSIVE, SHADOW
from coalface.kernels.compile import called, inlined
from coalface.kernels.ranges import bound_costs
from coalface.kernels.regression import (
    clipped,
    measure,
    predict,
    predict_and_measure,
    predict_and_measure_ones,
    seen_only_sensitivity,
    shadow_sensitivity,
)
from coalface.kernels.rules import decide, in_warm_up
from coalface.kernels.state import SLACK_FACTOR, Model, Scratch, Settings


@inlined
def predict_row(model: Model, settings: Settings, scratch: Scratch, n: int) -> None:
    """Predict the costs of the gathered row and, for adax, the norm and reach that learning needs."""
    if settings.accumulator != ADAX:
        predict(model, scratch, n)
    elif settings.only_ones:
        predict_and_measure_ones(model, scratch, n)
    else:
        predict_and_measure(model, scratch, n)


@called
def _compute_ranges(model: Model, settings: Settings, scratch: Scratch, n: int, round_number: int) -> None:
    """Compute the range of every cost; call ``predict_row`` first."""
    predicted, gradient = scratch.predicted, scratch.gradient
    if settings.sensitivity != SHADOW:
        seen_only_sensitivity(model, settings, scratch, n)
    else:
        if settings.accumulator != ADAX:
            for k in range(gradient.shape[0]):
                p = clipped(predicted[k])
                gradient[k] = np.float32(4.0) * p * p
            measure(model, scratch, n)
        shadow_sensitivity(model, settings, scratch, n)
    bound_costs(model, settings, scratch, round_number)


@inlined
def range_row(model: Model, settings: Settings, scratch: Scratch, n: int, round_number: int) -> None:
    """Compute the ranges of a predicted row, ignoring any budget."""
    scratch.pacing[SLACK_FACTOR] = slack_factor(settings, model.calibration)
    _compute_ranges(model, settings, scratch, n, round_number)


@called
def decide_row(model: Model, settings: Settings, scratch: Scratch, n: int, round_number: int, with_ranges: bool) -> int:
    """Mark the costs to ask for and return their number; call ``predict_row`` first.

    If the decision does not need the ranges, they are computed only ``with_ranges``.
    """
    paced = settings.budget < np.inf
    set_pace(settings, scratch, round_number)
    scratch.pacing[SLACK_FACTOR] *= slack_factor(settings, model.calibration)
    if with_ranges or paced or (settings.rule != PASSIVE and not in_warm_up(model, settings, round_number)):
        _compute_ranges(model, settings, scratch, n, round_number)
    if paced:
        return decide_within_budget(model, settings, scratch, round_number)
    return decide(model, settings, scratch, round_number)

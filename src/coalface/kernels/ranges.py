"""Computes cost ranges: how far the true cost may lie from its prediction.

Imagine one more example at this row whose cost is an end of the scale, ``gap`` away from the prediction. With weight w
it would move the prediction by u = sensitivity * w and reduce its own loss by w (gap^2 - (gap - u)^2). The range ends
where this reduction equals the slack: at the root of ``u^2 (2 gap - u) = slack * sensitivity`` on (0, gap], or at the
end of the scale if there is no root.
"""

import numpy as np

from coalface.kernels.codes import DERIVATIVE, NOISE_SCALED, PRINTED
from coalface.kernels.compile import inlined, kernel
from coalface.kernels.regression import clipped
from coalface.kernels.rules import is_new
from coalface.kernels.state import F32, SLACK_FACTOR, SLOTS_USED, Model, Scratch, Settings

_ZERO, _ONE, _TWO, _THREE, _FOUR = (np.float32(number) for number in (0, 1, 2, 3, 4))
TINY_CUBE = np.float32(1e-30)
# least-squares fit of t(e) / e on [0, 1] for t^2 (2 - t) = e^2, within 1 %; two Newton steps bring it below 2e-9
PULL_START = tuple(np.float32(c) for c in (0.70028059, 0.23371778, -0.3035221, 0.36408058))


@inlined
def pull(gap: np.float32, budget: np.float32) -> np.float32:
    """The root u of u^2 (2 gap - u) = budget, at most gap; gap itself if budget is NaN."""
    cube = gap * gap * gap
    share = budget / max(cube, TINY_CUBE)
    e = np.sqrt(share)
    t = e * (PULL_START[0] + e * (PULL_START[1] + e * (PULL_START[2] + e * PULL_START[3])))
    t = max(t - (t * t * (_TWO - t) - share) / max(t * (_FOUR - _THREE * t), TINY_CUBE), _ZERO)
    t = max(t - (t * t * (_TWO - t) - share) / max(t * (_FOUR - _THREE * t), TINY_CUBE), _ZERO)
    return min(gap * t, gap) if share < _ONE else gap


@kernel
def pull_each(gap: F32, budget: F32, out: F32) -> None:
    """``pull`` for arrays."""
    for k in range(gap.shape[0]):
        out[k] = pull(gap[k], budget[k])


PRINTED_CONSTANT = 324.0
PRINTED_FAILURE = 0.05  # the paper leaves it open; 0.01 would add less than one feature to the dimension


@inlined
def summed_slack(settings: Settings, round_number: int) -> float:
    """How much more summed loss than the best regressor a plausible one may have; one label counts as two."""
    n_labels = np.float64(max(settings.n_labels, 2))
    return settings.mellowness * np.log(n_labels * max(round_number - 1, 1))  # type: ignore[no-any-return]


@inlined
def printed_slack(settings: Settings, n_features: int, round_number: int) -> float:
    """The slack as the paper prints it, mellowness * nu / (round - 1), for the number of features learned so far."""
    past, features = np.float64(max(round_number - 1, 1)), np.float64(n_features)
    union = np.log(8.0 * np.e * settings.n_labels * (features + 1.0) / PRINTED_FAILURE) + 2.0 * np.log(past)
    return settings.mellowness * PRINTED_CONSTANT * (features * np.log(past) + union) / past  # type: ignore[no-any-return]


@inlined
def bound_costs(model: Model, settings: Settings, scratch: Scratch, round_number: int) -> None:
    """Compute the lowest and highest cost of every label from the predictions and sensitivities in scratch."""
    predicted, sensitivity, lowest, highest = (
        scratch.predicted,
        scratch.sensitivity,
        scratch.lowest,
        scratch.highest,
    )
    squared_residuals, answered = model.squared_residuals, model.answered
    budget = scratch.step  # reused: step is not needed until the row is learned
    if settings.slack == PRINTED:
        slack = printed_slack(settings, model.counters[SLOTS_USED] - 1, round_number)
    else:
        slack = summed_slack(settings, round_number)
    slack *= scratch.pacing[SLACK_FACTOR]
    noise_scaled = settings.slack == NOISE_SCALED
    lanes = lowest.shape[0]
    for k in range(lanes):
        noise = (1.0 + squared_residuals[k]) / (1.0 + np.float64(answered[k])) if noise_scaled else 1.0
        budget[k] = np.float32(slack * noise)
    directed = settings.sensitivity == DERIVATIVE
    for k in range(lanes):
        p = clipped(predicted[k])
        down, up = p, _ONE - p
        towards = sensitivity[k] * budget[k]
        below = towards * (_TWO * down) if directed else towards
        above = towards * (_TWO * up) if directed else towards
        finite = sensitivity[k] < np.float32(np.inf)  # false for NaN too
        lowest[k] = max(p - pull(down, below), _ZERO) if finite else _ZERO
        highest[k] = min(p + pull(up, above), _ONE) if finite else _ONE
    since = model.since
    for k in range(settings.n_labels):
        if round_number == 1 or (since[k] > 0 and is_new(model, settings, k, round_number)):
            lowest[k] = _ZERO
            highest[k] = _ONE

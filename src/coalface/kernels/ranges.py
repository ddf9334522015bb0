"""Computes cost ranges: how far the true cost may lie from its prediction.

Imagine one more example at this row whose cost is an end of the scale, ``gap`` away from the prediction. With weight w
it would move the prediction by u = sensitivity * w and reduce its own loss by w (gap^2 - (gap - u)^2). The range ends
where this reduction equals the slack: at the root of ``u^2 (2 gap - u) = slack * sensitivity`` on (0, gap], or at the
end of the scale if there is no root.
"""

import numpy as np

from coalface.kernels.compile import inlined, kernel
from coalface.kernels.regression import clipped
from coalface.kernels.rules import is_new
from coalface.kernels.state import DERIVATIVE, F32, NOISE_SCALED, SLACK_FACTOR, Model, Scratch, Settings

_ZERO, _ONE, _TWO, _THREE, _FOUR = (np.float32(number) for number in (0, 1, 2, 3, 4))
_TINY = np.float32(1e-30)
# least-squares fit of t(e) / e on [0, 1] for t^2 (2 - t) = e^2, within 1 %; two Newton steps bring it below 2e-9
_START = tuple(np.float32(c) for c in (0.70028059, 0.23371778, -0.3035221, 0.36408058))


@inlined
def pull(gap: np.float32, budget: np.float32) -> np.float32:
    """The root u of u^2 (2 gap - u) = budget, at most gap; gap itself if budget is NaN."""
    cube = gap * gap * gap
    share = budget / max(cube, _TINY)
    e = np.sqrt(share)
    t = e * (_START[0] + e * (_START[1] + e * (_START[2] + e * _START[3])))
    t = max(t - (t * t * (_TWO - t) - share) / max(t * (_FOUR - _THREE * t), _TINY), _ZERO)
    t = max(t - (t * t * (_TWO - t) - share) / max(t * (_FOUR - _THREE * t), _TINY), _ZERO)
    return min(gap * t, gap) if share < _ONE else gap


@kernel
def pull_each(gap: F32, budget: F32, out: F32) -> None:
    """``pull`` for arrays."""
    for k in range(gap.shape[0]):
        out[k] = pull(gap[k], budget[k])


@inlined
def summed_slack(settings: Settings, round_number: int) -> float:
    """How much more summed loss than the best regressor a plausible one may have."""
    return settings.mellowness * np.log(np.float64(settings.n_labels) * max(round_number - 1, 1))  # type: ignore[no-any-return]


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
    slack = summed_slack(settings, round_number) * scratch.pacing[SLACK_FACTOR]
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
    for k in range(settings.n_labels):
        if round_number == 1 or is_new(model, settings, k, round_number):
            lowest[k] = _ZERO
            highest[k] = _ONE

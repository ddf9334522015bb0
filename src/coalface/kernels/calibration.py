"""Lets the slack follow what full audits measure: how often the best label was missed.

A full audit asks for all costs of an example that were not asked for. The best label was missed if it was neither
predicted nor asked about otherwise. After each audit the logarithm of the slack's factor moves by

    STEP x (missed - stated rate), but not below 0,

as in adaptive conformal inference. So in the long run labels are missed at most at the stated rate, whatever the model,
unless even the largest factor is too small. A factor below 1 would save few questions and is not used.
"""

import numpy as np

from coalface.kernels.compile import inlined
from coalface.kernels.rules import is_fully_audited
from coalface.kernels.state import (
    ANSWER,
    AUDITS,
    CHANCE,
    F64,
    LOG_FACTOR,
    MISSES,
    ROUND,
    Bool,
    Counted,
    Scratch,
    Settings,
)

STEP = 0.5  # a miss at the rate 0.1 multiplies the slack by 1.57, any other audit by 0.95
LARGEST = 4.0  # of the logarithm: the slack grows at most 55 times
TIE = np.float32(1e-6)


@inlined
def slack_factor(settings: Settings, calibration: F64) -> float:
    """The factor of the slack; 1 if the slack does not follow the audits."""
    return np.exp(calibration[LOG_FACTOR]) if settings.miss_rate <= 1.0 else 1.0


@inlined
def set_audited(settings: Settings, scratch: Scratch, audited: Bool, row: int) -> None:
    """Set the propensities in scratch of told costs: below 1 where a cost was asked for only because of an audit."""
    for k in range(settings.n_labels):
        scratch.propensity[k] = 0.0 if audited[row, k] else 1.0


@inlined
def update_calibration(counts: Counted, settings: Settings, scratch: Scratch) -> None:
    """Move the slack's factor if the round in scratch, which is not closed yet, has a full audit."""
    if settings.miss_rate > 1.0 or not is_fully_audited(settings, counts.counters[ROUND]):
        return
    if scratch.outlook[CHANCE] == 0.0:  # not told as it was asked
        return
    answer = int(scratch.outlook[ANSWER])
    audited, others = np.float32(np.inf), np.float32(settings.abstain_cost)
    for k in range(settings.n_labels):
        cost = scratch.costs[k] + scratch.offset[k]
        if not scratch.mask[k] or np.isnan(cost):
            continue
        if scratch.propensity[k] < 1.0 and k != answer:
            audited = min(audited, cost)
        else:
            others = min(others, cost)
    if others == np.inf:
        return
    calibration, missed = counts.calibration, 1.0 if audited < others - TIE else 0.0
    calibration[AUDITS] += 1.0
    calibration[MISSES] += missed
    moved = calibration[LOG_FACTOR] + STEP * (missed - settings.miss_rate)
    calibration[LOG_FACTOR] = min(max(moved, 0.0), LARGEST)

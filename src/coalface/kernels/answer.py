"""Chooses the learner's answer: the label with the least predicted cost, or abstaining if that is cheaper."""

import numpy as np

from coalface.kernels.compile import inlined
from coalface.kernels.state import F32, Bool, Settings


@inlined
def best_answer(settings: Settings, candidates: Bool, predicted: F32) -> int:
    """The candidate with the least raw prediction, the first of equals.

    Returns ``n_labels`` if abstaining costs less than every prediction, and -1 if there is neither.
    """
    best = -1
    for k in range(settings.n_labels):
        if candidates[k] and (best < 0 or predicted[k] < predicted[best]):
            best = k
    if settings.abstain_cost < np.inf and (best < 0 or predicted[best] > np.float32(settings.abstain_cost)):
        best = settings.n_labels
    return best

"""What the learner answers: the label of least predicted cost, or nothing where abstaining is cheaper."""

import numpy as np

from coalface.kernels.compile import inlined
from coalface.kernels.state import F32, Bool, Settings


@inlined
def best_answer(settings: Settings, candidates: Bool, predicted: F32) -> int:
    """The candidate with the least raw prediction, the first one among equals.

    It is ``n_labels`` where every prediction is above the cost of abstaining, and -1 where there is no answer.
    """
    best = -1
    for k in range(settings.n_labels):
        if candidates[k] and (best < 0 or predicted[k] < predicted[best]):
            best = k
    if settings.abstain_cost < np.inf and (best < 0 or predicted[best] > np.float32(settings.abstain_cost)):
        best = settings.n_labels
    return best

"""What further questions could still save on each example: the answer's predicted cost less the least possible one."""

import numpy as np
from numpy.typing import NDArray

from coalface.kernels.state import NOT_A_CANDIDATE, RoundArrays, Settings

_MIDDLE = 0.5  # of costs scaled to [0, 1]: what a label without an answer counts as


def unit_savings(
    found: RoundArrays, best: NDArray[np.int64], unanswered: NDArray[np.bool_], settings: Settings
) -> NDArray[np.float64]:
    """The possible savings (n,) of decided rows, in [0, 1]; 0 where nothing is asked.

    ``best`` (n,) has the column of each answer, K for abstaining.
    """
    predicted = np.where(unanswered, _MIDDLE, found.predicted.astype(np.float64).clip(0.0, 1.0))
    abstaining = np.full((len(best), 1), settings.abstain_cost)
    answers = np.take_along_axis(np.hstack([predicted, abstaining]), best[:, None], axis=1)[:, 0]
    lowest = np.where(found.reasons == NOT_A_CANDIDATE, np.inf, found.lowest.astype(np.float64))
    reachable = np.minimum(lowest.min(axis=1), settings.abstain_cost)
    asks = found.mask.any(axis=1)  # a row without candidates asks nothing, and both of its costs are infinite
    saved = np.subtract(answers, reachable, out=np.zeros(len(best)), where=asks)
    return np.asarray(np.maximum(saved, 0.0))

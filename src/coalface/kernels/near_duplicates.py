"""Rows asked about together: a cost that is asked for on one of them is not asked for on its twins."""

from coalface.kernels.compile import inlined
from coalface.kernels.state import ASKED_BEFORE, Bool, Scratch, Settings

NO_TWIN = -1


@inlined
def withdraw_repeated(settings: Settings, scratch: Scratch, taken: Bool) -> int:
    """Take off the list what was asked about a twin before, and note the rest of it as taken; how many are left.

    It comes before any answer is looked at: what an answer settles for this row, it settles for the twins, too. An
    audit may be withdrawn; the chances of the other labels stay true, since they never depended on what becomes of it.
    """
    mask, reasons, propensity = scratch.mask, scratch.reasons, scratch.propensity
    n_asked = 0
    for k in range(settings.n_labels):
        if taken[k]:
            reasons[k] = ASKED_BEFORE if mask[k] else reasons[k]
            mask[k] = False
            propensity[k] = 0.0
        taken[k] = taken[k] or mask[k]
        n_asked += mask[k]
    return n_asked

"""Near-duplicates in a batch: a cost asked for on one row is not asked for on another one like it."""

from coalface.kernels.compile import inlined
from coalface.kernels.state import ASKED_BEFORE, Bool, Scratch, Settings

ALONE = -1  # the group of a row without near-duplicates


@inlined
def withdraw_repeated(settings: Settings, scratch: Scratch, taken: Bool) -> int:
    """Withdraw questions that an earlier row of the group asks, mark the rest as taken; how many are left.

    This happens before answers are looked at: what an answer settles for this row, it settles for the whole group. An
    audit may be withdrawn; the chances of the other labels stay true, because they do not depend on it.
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

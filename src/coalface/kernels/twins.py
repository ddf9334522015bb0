"""Rows asked about together: a cost that is asked for on one of them is not asked for on its twins."""

from coalface.kernels.compile import inlined
from coalface.kernels.state import ANSWERED, ASKED_BEFORE, SETTLED, Bool, Scratch, Settings

NO_TWIN = -1


@inlined
def withdraw_repeated(settings: Settings, scratch: Scratch, taken: Bool) -> None:
    """Take off the list what was asked about a twin before, and note what is on it as taken.

    What the answers have settled stays taken: what they say about this row, they say about its twins. So the twins
    get the same list however many of the answers have come. An audit may be withdrawn; the chances of the other labels
    stay true, since they never depended on what becomes of this one.
    """
    mask, reasons, propensity = scratch.mask, scratch.reasons, scratch.propensity
    for k in range(settings.n_labels):
        if taken[k]:
            reasons[k] = ASKED_BEFORE if mask[k] else reasons[k]
            mask[k] = False
            propensity[k] = 0.0
        taken[k] = taken[k] or mask[k] or reasons[k] == ANSWERED or reasons[k] == SETTLED

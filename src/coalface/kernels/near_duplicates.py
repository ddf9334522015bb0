"""Asks about each label only once per group of near-duplicate rows in a batch."""

from coalface.kernels.compile import inlined
from coalface.kernels.state import ASKED_BEFORE, Bool, Scratch, Settings

ALONE = -1  # the group of a row without near-duplicates


@inlined
def drop_repeated(settings: Settings, scratch: Scratch, already_asked: Bool) -> int:
    """Drop questions that an earlier row of the group asks and add the others to ``already_asked``; returns how many.

    This precedes the look at known answers, because an answer that rules out a label does so for the whole group. An
    audit may be dropped too. The propensities of the other labels do not depend on it and stay correct.
    """
    mask, reasons, propensity = scratch.mask, scratch.reasons, scratch.propensity
    n_asked = 0
    for k in range(settings.n_labels):
        if already_asked[k]:
            reasons[k] = ASKED_BEFORE if mask[k] else reasons[k]
            mask[k] = False
            propensity[k] = 0.0
        already_asked[k] = already_asked[k] or mask[k]
        n_asked += mask[k]
    return n_asked

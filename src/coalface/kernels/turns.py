"""One question after the other: an answer can settle what else was worth asking about the same example.

The rule lists labels that could be best and are uncertain. Put to the annotator in the order of their predicted
costs, they need not all be asked: once a label is known to cost c, only a label whose cost may still lie below c can
be better. Now and then an example is asked about in full all the same, so that what is left out stays measured.
"""

import numpy as np

from coalface.kernels.compile import called, inlined, kernel
from coalface.kernels.rules import in_warm_up, uniform
from coalface.kernels.state import (
    ANSWERED,
    AUDIT,
    COAL,
    F32,
    SETTLED,
    UNCERTAIN,
    Bool,
    Counted,
    RoundArrays,
    Scratch,
    Settings,
)

_DRAW = 2  # of the round's random numbers
_WHOLE_SHARE = 0.5  # of the audits' rate: examples on which nothing is settled
_NOTHING_KNOWN = np.float32(np.inf)


@inlined
def asks_in_turn(counts: Counted, settings: Settings, round_number: int) -> bool:
    """Whether an answer settles anything in this round."""
    if not settings.in_turn or settings.rule != COAL or in_warm_up(counts, settings, round_number):
        return False
    return uniform(settings.seed, round_number, _DRAW) >= _WHOLE_SHARE * settings.audit_rate


@called
def answer_in_turn(settings: Settings, scratch: Scratch, costs: F32) -> int:
    """Put the questions of the list to a table of costs, one after the other; how many were put.

    An audit is put together with the first question. Costs that were not asked for are NaN in scratch afterwards.
    """
    mask, reasons, known = scratch.mask, scratch.reasons, scratch.costs
    n_asked = 0
    for k in range(settings.n_labels):
        audited = mask[k] and reasons[k] == AUDIT
        known[k] = costs[k] if audited else np.float32(np.nan)
        n_asked += audited
    question = _most_promising(settings, scratch)
    while question >= 0:
        known[question] = costs[question]
        reasons[question] = ANSWERED
        n_asked += 1
        settle(settings, scratch)
        question = _most_promising(settings, scratch)
    return n_asked


@kernel
def answer_rows(
    counts: Counted,
    settings: Settings,
    scratch: Scratch,
    first_round: int,
    rounds: RoundArrays,
    costs: F32,
    asked: Bool,
) -> None:
    """Answer the questions about decided rows from a table of costs; ``asked`` receives those that were put.

    Nothing is learned meanwhile, so the rows may be answered one after the other.
    """
    for row in range(asked.shape[0]):
        for k in range(settings.n_labels):
            asked[row, k] = rounds.mask[row, k]
        if asks_in_turn(counts, settings, first_round + row):
            for k in range(settings.n_labels):
                scratch.mask[k] = rounds.mask[row, k]
                scratch.reasons[k] = rounds.reasons[row, k]
                scratch.lowest[k] = rounds.lowest[row, k]
                scratch.predicted[k] = rounds.predicted[row, k]
            answer_in_turn(settings, scratch, costs[row])
            for k in range(settings.n_labels):
                asked[row, k] = scratch.mask[k]


@inlined
def strike_answered(settings: Settings, scratch: Scratch, asked: Bool) -> None:
    """Take what was asked for already off the list."""
    for k in range(settings.n_labels):
        if asked[k]:
            scratch.mask[k] = False
            scratch.reasons[k] = ANSWERED


@called
def settle(settings: Settings, scratch: Scratch) -> None:
    """Take the questions that the known costs have settled off the list."""
    known, mask, reasons, lowest = scratch.costs, scratch.mask, scratch.reasons, scratch.lowest
    least = _NOTHING_KNOWN
    for k in range(settings.n_labels):
        if known[k] < least:
            least = known[k]
    for k in range(settings.n_labels):
        if mask[k] and reasons[k] == UNCERTAIN and lowest[k] >= least:
            mask[k] = False
            reasons[k] = SETTLED


@called
def mark_next(settings: Settings, scratch: Scratch, in_turn: bool) -> None:
    """The questions to put now: all of the list, or its most promising label and an audit."""
    mask, reasons, first = scratch.mask, scratch.reasons, scratch.next
    for k in range(settings.n_labels):
        first[k] = mask[k] and (not in_turn or reasons[k] != UNCERTAIN)
    question = _most_promising(settings, scratch) if in_turn else -1
    if question >= 0:
        first[question] = True


@inlined
def _most_promising(settings: Settings, scratch: Scratch) -> int:
    """The label of the list with the least raw prediction, the first one among equals; -1 if none is left."""
    mask, reasons, predicted = scratch.mask, scratch.reasons, scratch.predicted
    best = -1
    for k in range(settings.n_labels):
        if mask[k] and reasons[k] == UNCERTAIN and (best < 0 or predicted[k] < predicted[best]):
            best = k
    return best

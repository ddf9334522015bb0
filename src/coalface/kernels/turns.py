"""Asks the questions about an example in turn: one answer can settle the others.

The rule lists labels that could be best and are uncertain. They are asked in the order of their predicted costs: once a
label is known to cost c, only labels whose cost may lie below c can be better. A few examples, drawn at random, are
asked about in full, so that the effect of the skipped questions stays measured.
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

_DRAW = 2  # which of the round's random numbers decides
_WHOLE_SHARE = 0.5  # times the audit rate: the share of examples asked about in full
_NOTHING_KNOWN = np.float32(np.inf)


@inlined
def asks_in_turn(counts: Counted, settings: Settings, round_number: int) -> bool:
    """Whether questions are asked in turn in this round."""
    if not settings.in_turn or settings.rule != COAL or in_warm_up(counts, settings, round_number):
        return False
    return uniform(settings.seed, round_number, _DRAW) >= _WHOLE_SHARE * settings.audit_rate


@called
def answer_in_turn(settings: Settings, scratch: Scratch, costs: F32) -> int:
    """Answer the listed questions from a table of costs, in turn; returns how many were asked.

    An audit is asked together with the first question. Afterwards, costs that were not asked for are NaN in scratch.
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
    """Answer the questions about decided rows from a table of costs; ``asked`` receives those asked.

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
    """Remove labels that were asked for already from the list."""
    for k in range(settings.n_labels):
        if asked[k]:
            scratch.mask[k] = False
            scratch.reasons[k] = ANSWERED


@called
def settle(settings: Settings, scratch: Scratch) -> None:
    """Remove questions that the known costs have settled from the list."""
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
    """Mark the questions to ask now: the whole list, or its most promising label and an audit."""
    mask, reasons, first = scratch.mask, scratch.reasons, scratch.next
    for k in range(settings.n_labels):
        first[k] = mask[k] and (not in_turn or reasons[k] != UNCERTAIN)
    question = _most_promising(settings, scratch) if in_turn else -1
    if question >= 0:
        first[question] = True


@inlined
def _most_promising(settings: Settings, scratch: Scratch) -> int:
    """The listed label with the lowest raw prediction, the first of equals; -1 if none is left."""
    mask, reasons, predicted = scratch.mask, scratch.reasons, scratch.predicted
    best = -1
    for k in range(settings.n_labels):
        if mask[k] and reasons[k] == UNCERTAIN and (best < 0 or predicted[k] < predicted[best]):
            best = k
    return best

"""Asks about one label of an example after another, because one answer can rule out other labels.

The rule marks labels that could be best and are uncertain. They are asked about in order of predicted cost: once a
label is known to cost c, only labels whose cost may lie below c can be better. A random sample of examples is asked
about in full, so that the effect of skipped questions can be measured.
"""

import numpy as np

from coalface.kernels.codes import COAL
from coalface.kernels.compile import called, inlined, kernel
from coalface.kernels.draws import uniform
from coalface.kernels.implied_costs import Implications, write_implied_costs
from coalface.kernels.rounds import copy_row, forget_known_parts
from coalface.kernels.rules import in_warm_up, prefer_truth
from coalface.kernels.state import (
    ANSWERED,
    ASKED_BEFORE,
    AUDIT,
    F32,
    I64,
    SETTLED,
    UNCERTAIN,
    WITH_THE_TRUTH,
    Bool,
    Counted,
    RoundArrays,
    Scratch,
    Settings,
)

TURN_DRAW = 2  # index of the round's random number that decides
FULL_SHARE = 0.5  # times the audit rate: the share of examples asked about in full
_NOTHING_KNOWN = np.float32(np.inf)


@inlined
def asks_in_turn(counts: Counted, settings: Settings, round_number: int) -> bool:
    """Whether questions are asked in turn in this round."""
    if not settings.in_turn or settings.rule != COAL or in_warm_up(counts, settings, round_number):
        return False
    return uniform(settings.seed, round_number, TURN_DRAW) >= FULL_SHARE * settings.audit_rate


@inlined
def _waits(settings: Settings, reason: int) -> bool:
    """Whether a question asked for this reason waits for its turn; those of an audit of all labels do."""
    all_marked = settings.miss_rate <= 1.0 or _by_loss(settings)
    return bool(reason == UNCERTAIN or (reason == AUDIT and all_marked))


@inlined
def _by_loss(settings: Settings) -> bool:
    """Whether audits look where the loss is; under a budget they do not."""
    return bool(settings.audits_by_loss and settings.miss_rate > 1.0 and settings.budget == np.inf)


@called
def answer_in_turn(settings: Settings, scratch: Scratch, costs: F32) -> int:
    """Answer the marked questions from known costs, one after another; returns how many were asked.

    Questions that are not about uncertain labels, such as audits, are asked together with the first one. Costs that
    were not asked for are NaN in scratch afterwards.
    """
    n_asked = _answer_first(settings, scratch, costs)
    question = _most_promising(settings, scratch)
    while question >= 0:
        n_asked += _answer(scratch, question, costs)
        _drop_settled(settings, scratch)
        question = _most_promising(settings, scratch)
    mask, reasons, propensity = scratch.mask, scratch.reasons, scratch.propensity
    for k in range(settings.n_labels):
        if mask[k] and propensity[k] < 1.0:
            reasons[k] = AUDIT
    return n_asked


@inlined
def _answer_first(settings: Settings, scratch: Scratch, costs: F32) -> int:
    """Answer the questions that do not wait for their turn; all other costs become unknown. Returns how many."""
    mask, reasons, known = scratch.mask, scratch.reasons, scratch.costs
    n_asked = 0
    for k in range(settings.n_labels):
        at_once = mask[k] and not _waits(settings, reasons[k])  # an audit, or the rest of an example that is paid for
        known[k] = costs[k] if at_once else np.float32(np.nan)
        n_asked += at_once
    return n_asked


@inlined
def _answer(scratch: Scratch, question: int, costs: F32) -> int:
    """Answer one question; returns 1."""
    scratch.costs[question] = costs[question]
    scratch.reasons[question] = ANSWERED
    return 1


@kernel
def answer_rows(
    counts: Counted,
    settings: Settings,
    scratch: Scratch,
    first_round: int,
    rounds: RoundArrays,
    costs: F32,
    asked: Bool,
    implications: Implications,
) -> None:
    """Answer the questions about decided rows from known costs; writes the questions that were asked to ``asked``.

    The model does not learn in between, so the order of the rows does not matter.
    """
    forget_known_parts(scratch)
    for row in range(asked.shape[0]):
        copy_row(settings, rounds.offsets, row, scratch.offset)
        copy_row(settings, rounds.prices, row, scratch.prices)
        for k in range(settings.n_labels):
            asked[row, k] = rounds.mask[row, k]
        if asks_in_turn(counts, settings, first_round + row) and not rounds.truth[row]:
            for k in range(settings.n_labels):
                scratch.mask[k] = rounds.mask[row, k]
                scratch.reasons[k] = rounds.reasons[row, k]
                scratch.lowest[k] = rounds.lowest[row, k]
                scratch.predicted[k] = rounds.predicted[row, k]
            _answer_first(settings, scratch, costs[row])
            question = _most_promising(settings, scratch)
            while question >= 0:
                _answer(scratch, question, costs[row])
                _drop_settled(settings, scratch)
                drop_implied(settings, scratch, implications)
                question = _most_promising(settings, scratch)
            for k in range(settings.n_labels):
                asked[row, k] = scratch.mask[k]


@inlined
def drop_answered(settings: Settings, scratch: Scratch, known: F32, asked: Bool, in_turn: bool) -> None:
    """Unmark labels that were asked about already and, if asked in turn, labels that the known costs rule out.

    After a first answer the true label is no longer asked for: what is left are the labels that the rule marked.
    """
    candidates, costs, mask, reasons = scratch.candidates, scratch.costs, scratch.mask, scratch.reasons
    n_before = 0
    for k in range(settings.n_labels):
        costs[k] = known[k] if candidates[k] else np.float32(np.nan)
        if asked[k]:
            n_before += 1
            mask[k] = False
            reasons[k] = ANSWERED
    if scratch.truth[0] and n_before > 0:
        scratch.truth[0] = False
        for k in range(settings.n_labels):
            mask[k] = mask[k] and reasons[k] != WITH_THE_TRUTH and reasons[k] != AUDIT
    if in_turn:
        _drop_settled(settings, scratch)


@called
def _drop_settled(settings: Settings, scratch: Scratch) -> None:
    """Unmark uncertain labels that cannot cost less than the cheapest known label; so with audits by loss."""
    known, mask, reasons, lowest = scratch.costs, scratch.mask, scratch.reasons, scratch.lowest
    offset, least, by_loss = scratch.offset, _NOTHING_KNOWN, _by_loss(settings)
    for k in range(settings.n_labels):
        if known[k] + offset[k] < least:
            least = known[k] + offset[k]
    for k in range(settings.n_labels):
        in_turn = reasons[k] == UNCERTAIN or (by_loss and reasons[k] == AUDIT)
        if mask[k] and in_turn and lowest[k] + offset[k] >= least:
            mask[k] = False
            reasons[k] = SETTLED


@called
def drop_implied(settings: Settings, scratch: Scratch, implications: Implications) -> None:
    """Unmark labels whose cost is implied, and uncertain ones whose cost cannot be less than an implied cost."""
    if implications.pairs.shape[1] == 0:
        return
    filled, mask, reasons, lowest = scratch.gradient, scratch.mask, scratch.reasons, scratch.lowest  # gradient: reused
    write_implied_costs(implications, scratch.costs[: settings.n_labels], filled[: settings.n_labels])
    offset, least, least_answer = scratch.offset, _NOTHING_KNOWN, _NOTHING_KNOWN
    candidates, costs = scratch.candidates, scratch.costs
    for k in range(settings.n_labels):
        if candidates[k] and filled[k] + offset[k] < least:
            least = filled[k] + offset[k]
        if costs[k] + offset[k] < least_answer:
            least_answer = costs[k] + offset[k]
    for k in range(settings.n_labels):
        if not mask[k] or not _waits(settings, reasons[k]):
            continue
        if reasons[k] == AUDIT:  # an audit asks for a cost that would show that the best label was missed
            settled = filled[k] + offset[k] >= least_answer
        else:
            settled = lowest[k] + offset[k] >= least or not np.isnan(filled[k])
        if settled:
            mask[k] = False
            reasons[k] = SETTLED


@called
def mark_next(settings: Settings, scratch: Scratch, in_turn: bool) -> None:
    """Set ``next``, the questions to ask now: all marked ones or, in turn, the most promising one and any audit.

    The true label is one question, so all costs that it gives are marked.
    """
    mask, reasons, first = scratch.mask, scratch.reasons, scratch.next
    in_turn = in_turn and not scratch.truth[0]
    for k in range(settings.n_labels):
        first[k] = mask[k] and (not in_turn or not _waits(settings, reasons[k]))
    question = _most_promising(settings, scratch) if in_turn else -1
    if question >= 0:
        first[question] = True


@inlined
def _most_promising(settings: Settings, scratch: Scratch) -> int:
    """The marked, waiting label with the lowest raw prediction, the first of equals; -1 if none is left.

    The prediction includes the known part of the cost. If questions have different prices, a cheaper one that would
    settle as many others goes first.
    """
    mask, reasons, predicted, offset = scratch.mask, scratch.reasons, scratch.predicted, scratch.offset
    best = -1
    for k in range(settings.n_labels):
        if not (mask[k] and _waits(settings, reasons[k])):
            continue
        if best < 0 or predicted[k] + offset[k] < predicted[best] + offset[best]:
            best = k
    return best if best < 0 else _cheapest_as_good(settings, scratch, best)


@inlined
def _cheapest_as_good(settings: Settings, scratch: Scratch, best: int) -> int:
    """The cheapest question that settles as many others as the most promising one, ``best``; of equals, ``best``."""
    mask, reasons, prices = scratch.mask, scratch.reasons, scratch.prices
    predicted, offset, most, chosen = scratch.predicted, scratch.offset, -1, best
    for k in range(settings.n_labels):
        if not (mask[k] and _waits(settings, reasons[k]) and prices[k] <= prices[chosen] and prices[k] < prices[best]):
            continue
        if most < 0:
            most = _n_settled(settings, scratch, best)
        as_good = _n_settled(settings, scratch, k) >= most
        if as_good and (prices[k] < prices[chosen] or predicted[k] + offset[k] < predicted[chosen] + offset[chosen]):
            chosen = k
    return chosen


@called
def _n_settled(settings: Settings, scratch: Scratch, question: int) -> int:
    """How many other waiting questions an answer as predicted would make needless."""
    mask, reasons, lowest, offset = scratch.mask, scratch.reasons, scratch.lowest, scratch.offset
    answer = scratch.predicted[question] + offset[question]
    n_settled = 0
    for k in range(settings.n_labels):
        n_settled += k != question and mask[k] and _waits(settings, reasons[k]) and lowest[k] + offset[k] >= answer
    return n_settled


ALONE = -1  # the group of a row without near-duplicates


@inlined
def _drop_repeated(settings: Settings, scratch: Scratch, already_asked: Bool) -> int:
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


@inlined
def finish_decision(
    settings: Settings, scratch: Scratch, groups: I64, already_asked: Bool, row: int, n_asked: int
) -> int:
    """Drop what a near-duplicate asks, then prefer the true label where it settles more; returns how many are left.

    ``groups`` may be empty; otherwise ``already_asked`` has a row for each group.
    """
    grouped = groups.shape[0] > 0 and groups[row] != ALONE
    if grouped:
        n_asked = _drop_repeated(settings, scratch, already_asked[groups[row]])
    n_asked = prefer_truth(settings, scratch, n_asked)
    if grouped and scratch.truth[0]:
        for k in range(settings.n_labels):
            already_asked[groups[row], k] = already_asked[groups[row], k] or scratch.mask[k]
    return n_asked

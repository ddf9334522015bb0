"""The query rules: which costs to ask for, why, and with which probability."""

import numpy as np

from coalface.kernels.codes import ALL_OR_NONE, AUTO_WARM_UP, NO_DOMINATION, PASSIVE
from coalface.kernels.compile import called, inlined
from coalface.kernels.draws import uniform
from coalface.kernels.state import (
    ABSTAINING_IS_CHEAPER,
    AUDIT,
    CANNOT_BE_BEST,
    COSTS_QUERIED,
    F32,
    KNOWN_WELL,
    MEAN_PREDICTED,
    MOST_AUDITED,
    NEW_LABEL,
    NOT_A_CANDIDATE,
    ONLY_CONTENDER,
    ROUND,
    ROUNDS,
    UNCERTAIN,
    WARM_UP,
    WITH_THE_REST,
    WITH_THE_TRUTH,
    Bool,
    Counted,
    Scratch,
    Settings,
)

SHORTEST_WARM_UP, LONGEST_WARM_UP = 5, 50  # examples
_NEW_LABEL_WARM_UP = 10  # examples that a label added later is asked about, whatever its range
ENOUGH_BEST_LABELS = 3  # distinct labels that were best of an example, which end the automatic warm-up
_BY_LOSS = 6.0  # audits by loss: the chance of even ones, and so many times the audit rate at an average risk
_RARE = 0.03  # audits by loss: more of them if other labels than the most frequent were best of fewer examples
_MOST_OFTEN = 7.0  # times and per label: the limit of these; passive asks for as many costs as there are labels
_DOUBT = 0.15  # of a cost: for a prediction that is lower by this, there are e times fewer of these
_MOST_ASKED = 0.18  # of the costs that passive would have asked for: none of these while more were asked for
_MOST_WEIGHT = 3.0  # of an answer that only an audit asked for; more makes single answers too loud
PREDICTED_SHARE = 0.5  # of the audits: for the predicted label, unless the rule asks for it anyway


@inlined
def in_warm_up(counts: Counted, settings: Settings, round_number: int) -> bool:
    """Whether all labels of the example are asked about, whatever their ranges.

    The automatic warm-up takes a few examples, and more while only one or two labels were ever best. Without it, labels
    that were never best yet would seem never to be.
    """
    if settings.warm_up != AUTO_WARM_UP:
        return round_number <= settings.warm_up
    if round_number <= SHORTEST_WARM_UP or round_number > LONGEST_WARM_UP:
        return round_number <= SHORTEST_WARM_UP
    n_kinds, was_best = 0, counts.was_best
    for k in range(settings.n_labels):
        n_kinds += was_best[k] > 0
    return n_kinds < min(settings.n_labels, ENOUGH_BEST_LABELS)


@inlined
def is_new(counts: Counted, settings: Settings, label: int, round_number: int) -> bool:
    """Whether a label was added later and is in its own warm-up: it has no answer, or was added a few rounds ago."""
    since = counts.since[label]
    length = _NEW_LABEL_WARM_UP if settings.warm_up == AUTO_WARM_UP else settings.warm_up
    return bool(since > 0 and (counts.answered[label] == 0 or since <= round_number < since + length))


@inlined
def ask_about_new(counts: Counted, settings: Settings, scratch: Scratch, round_number: int) -> int:
    """Mark the candidates in their own warm-up; returns how many of them were not marked before."""
    n_marked, since = 0, counts.since
    for k in range(settings.n_labels):
        if since[k] > 0 and scratch.candidates[k] and is_new(counts, settings, k, round_number):
            n_marked += not scratch.mask[k]
            scratch.mask[k] = True
            scratch.reasons[k] = NEW_LABEL
            scratch.propensity[k] = 1.0
    return n_marked


@called
def decide(counts: Counted, settings: Settings, scratch: Scratch, round_number: int) -> int:
    """Mark the costs to ask for, with reasons and propensities, given the ranges in scratch; returns their number."""
    if settings.rule == PASSIVE:
        return ask_for_all(settings, scratch, WITH_THE_REST)
    if in_warm_up(counts, settings, round_number):
        return ask_for_all(settings, scratch, WARM_UP)
    n_asked = apply_rule(settings, scratch, round_number)
    n_asked += ask_about_new(counts, settings, scratch, round_number)
    if settings.audit_rate > 0.0:
        if settings.miss_rate <= 1.0:
            n_asked += audit_fully(settings, scratch, round_number)
        elif settings.audits_by_loss:
            n_asked += audit_by_loss(counts, settings, scratch, round_number)
        else:
            n_asked += audit(counts, settings, scratch, round_number, settings.audit_rate)
    return n_asked


@inlined
def ask_for_all(settings: Settings, scratch: Scratch, reason: int) -> int:
    """Mark every candidate; returns their number."""
    candidates, mask, reasons, propensity = (
        scratch.candidates,
        scratch.mask,
        scratch.reasons,
        scratch.propensity,
    )
    n_asked = 0
    for k in range(settings.n_labels):
        chosen = candidates[k]
        mask[k] = chosen
        reasons[k] = reason if chosen else NOT_A_CANDIDATE
        propensity[k] = 1.0 if chosen else 0.0
        n_asked += chosen
    return n_asked


@inlined
def apply_rule(settings: Settings, scratch: Scratch, round_number: int) -> int:
    """Mark the costs that the rule asks for; returns their number."""
    lowest, highest, offset = scratch.lowest, scratch.highest, scratch.offset
    candidates, mask, reasons, propensity = (
        scratch.candidates,
        scratch.mask,
        scratch.reasons,
        scratch.propensity,
    )
    threshold = np.float32(settings.width_scale / np.sqrt(np.float64(round_number)))
    best_label = np.float32(np.inf)  # the least highest total cost of a label
    for k in range(settings.n_labels):
        if candidates[k]:
            best_label = min(best_label, highest[k] + offset[k])
    abstain_cost = np.float32(settings.abstain_cost)
    guaranteed_cost = min(best_label, abstain_cost)
    n_contenders = int(abstain_cost < best_label)  # abstaining is a contender too; in a tie the label wins
    n_uncertain = 0  # contenders that are also wide
    for k in range(settings.n_labels):
        if candidates[k] and lowest[k] + offset[k] <= guaranteed_cost:
            n_contenders += 1
            n_uncertain += highest[k] - lowest[k] > threshold
    coal_asks = n_contenders > 1 and n_uncertain > 0
    n_asked = 0
    for k in range(settings.n_labels):
        contender = lowest[k] + offset[k] <= guaranteed_cost
        wide = highest[k] - lowest[k] > threshold
        if not candidates[k]:
            asked, reason = False, NOT_A_CANDIDATE
        elif wide and (settings.rule == NO_DOMINATION or (contender and coal_asks)):
            asked, reason = True, UNCERTAIN
        elif settings.rule == ALL_OR_NONE and coal_asks:
            asked, reason = True, WITH_THE_REST
        elif not contender and settings.rule != NO_DOMINATION:
            asked, reason = False, ABSTAINING_IS_CHEAPER if lowest[k] + offset[k] <= best_label else CANNOT_BE_BEST
        elif n_contenders == 1 and settings.rule != NO_DOMINATION:
            asked, reason = False, ONLY_CONTENDER
        else:
            asked, reason = False, KNOWN_WELL
        mask[k] = asked
        reasons[k] = reason
        propensity[k] = 1.0 if asked else 0.0
        n_asked += asked
    return n_asked


@inlined
def audit(counts: Counted, settings: Settings, scratch: Scratch, round_number: int, rate: float) -> int:
    """With probability ``rate``, mark one more label, drawn from those not asked for; returns how many were marked.

    Half of the audits ask for the predicted label, which gives an estimate of what predictions cost. The others favour
    labels that were rarely asked about.
    """
    candidates, mask, propensity, asked = scratch.candidates, scratch.mask, scratch.propensity, counts.asked
    total = 0.0
    for k in range(settings.n_labels):
        if candidates[k] and not mask[k]:
            total += 1.0 / (1.0 + np.float64(asked[k]))
    if total == 0.0:
        return 0
    best = best_answer(settings, candidates, scratch.predicted, scratch.offset)
    share = PREDICTED_SHARE if best < settings.n_labels and not mask[best] else 0.0
    for k in range(settings.n_labels):
        if candidates[k] and not mask[k]:
            propensity[k] = rate * (1.0 - share) / (1.0 + np.float64(asked[k])) / total
    if share > 0.0:
        propensity[best] += rate * share
    if uniform(settings.seed, round_number, 0) >= rate:
        return 0
    pick = uniform(settings.seed, round_number, 1)
    drawn = best
    if pick >= share:
        left = (pick - share) / (1.0 - share) * total
        for k in range(settings.n_labels):
            if candidates[k] and not mask[k]:
                drawn = k
                left -= 1.0 / (1.0 + np.float64(asked[k]))
                if left < 0.0:
                    break
    mask[drawn] = True
    scratch.reasons[drawn] = AUDIT
    return 1


@inlined
def _times_for_rare(counts: Counted, settings: Settings) -> float:
    """How many times as often to audit: more than once if labels other than the most frequent were seldom best.

    The fewer examples of a label there are, the larger the share of them that a learner must find to learn as much as a
    passive one; so audits grow with the third power of the rarity. If no other label was ever best, nothing shows that
    one is rare. While the learner has asked for more than a share of what passive would, there are no more audits.
    """
    total, most, n_rounds, was_best = 0, 0, counts.counters[ROUND] - 1, counts.was_best
    for k in range(settings.n_labels):
        total += was_best[k]
        most = max(most, was_best[k])
    others = total - most
    if others == 0 or counts.counters[COSTS_QUERIED] > _MOST_ASKED * n_rounds * settings.n_labels:
        return 1.0
    rarity = _RARE * n_rounds / others
    return min(max(rarity * rarity * rarity, 1.0), _MOST_OFTEN * settings.n_labels)  # type: ignore[no-any-return]


@called
def audit_by_loss(counts: Counted, settings: Settings, scratch: Scratch, round_number: int) -> int:
    """Audit the examples whose predicted label is likely wrong, compared with the average; returns how many it marks.

    Where one label is nearly always right, even audits hardly ever meet an example of another. The predicted cost says
    where one may be: the chance of an audit grows with it, from that of an even audit of the predicted label. Where
    other labels are rare, there are more audits, most of them where the prediction is not far below 0, the least cost:
    the sure ones are far below. An audit marks all labels, and they are asked about in turn: the predicted label
    first, the others only if its cost leaves them possible.
    """
    best = best_answer(settings, scratch.candidates, scratch.predicted, scratch.offset)
    if best < 0 or best == settings.n_labels:
        return audit(counts, settings, scratch, round_number, settings.audit_rate)
    if scratch.mask[best]:
        return 0
    chance, mean = settings.audit_rate, counts.saving[MEAN_PREDICTED]
    if counts.saving[ROUNDS] > 0.0 and mean > 0.0:
        raw = np.float64(scratch.predicted[best] + scratch.offset[best])
        risk = min(max(raw, 0.0), 1.0)
        more = (_times_for_rare(counts, settings) - 1.0) * np.exp(min(raw, 0.0) / _DOUBT)
        chance = min(chance * (PREDICTED_SHARE + _BY_LOSS * risk / mean + more), 1.0)
    audited = uniform(settings.seed, round_number, 0) < chance
    return _mark_others(settings, scratch, chance, audited)


@inlined
def audit_weight(propensity: float) -> np.float32:
    """How many answers one counts as, if it was asked for with this probability: it stands for those not asked for."""
    return np.float32(min(1.0 / propensity, _MOST_WEIGHT)) if propensity > 0.0 else np.float32(1.0)


@called
def prefer_truth(settings: Settings, scratch: Scratch, n_asked: int) -> int:
    """Ask for the true label in place of single costs where as many of them are wanted as it costs.

    Call this after ``decide``; returns the number of costs that are asked for or come with the true label. If only an
    audit makes them enough, every label that the rule does not ask for has the chance of that audit.
    """
    scratch.truth[0] = False
    if settings.price_of_truth == np.inf:
        return n_asked
    candidates, mask, reasons, propensity = scratch.candidates, scratch.mask, scratch.reasons, scratch.propensity
    all_marked = settings.miss_rate <= 1.0 or settings.audits_by_loss  # not under a budget
    in_full = all_marked and settings.budget == np.inf  # an audit asks for all costs, else for one
    n_ruled, n_audits, n_candidates, n_left, chance = 0, 0, 0, 0, 0.0
    for k in range(settings.n_labels):
        n_candidates += candidates[k]
        if mask[k] and reasons[k] != AUDIT:
            n_ruled += 1
        elif candidates[k] and propensity[k] > 0.0:
            n_audits += mask[k]
            n_left += 1
            chance = max(chance, propensity[k]) if in_full else chance + propensity[k]
    audits_decide = n_ruled < settings.price_of_truth
    if n_ruled + (n_left if in_full else min(n_left, 1)) < settings.price_of_truth:
        return n_asked
    scratch.truth[0] = not audits_decide or n_audits > 0
    for k in range(settings.n_labels):
        if candidates[k] and not (mask[k] and reasons[k] != AUDIT):
            propensity[k] = min(chance, 1.0) if audits_decide else 1.0
            if scratch.truth[0]:
                reasons[k] = AUDIT if audits_decide else WITH_THE_TRUTH
                mask[k] = True
    return n_candidates if scratch.truth[0] else n_asked


@inlined
def _full_audit_rate(settings: Settings) -> float:
    """The probability of a full audit: fewer of them where each costs many questions."""
    return min(settings.audit_rate, MOST_AUDITED / settings.n_labels)


@inlined
def is_fully_audited(settings: Settings, round_number: int) -> bool:
    """Whether the round has a full audit."""
    return bool(uniform(settings.seed, round_number, 0) < _full_audit_rate(settings))


@inlined
def audit_fully(settings: Settings, scratch: Scratch, round_number: int) -> int:
    """In rounds with a full audit, mark all candidates not asked for; returns how many were marked."""
    return _mark_others(settings, scratch, _full_audit_rate(settings), is_fully_audited(settings, round_number))


@inlined
def _mark_others(settings: Settings, scratch: Scratch, chance: float, audited: bool) -> int:
    """Give all candidates not asked for this chance of an audit and, if it is made, mark them; returns how many."""
    candidates, mask, reasons, propensity = scratch.candidates, scratch.mask, scratch.reasons, scratch.propensity
    n_marked = 0
    for k in range(settings.n_labels):
        if candidates[k] and not mask[k]:
            propensity[k] = chance
            if audited:
                mask[k] = True
                reasons[k] = AUDIT
                n_marked += 1
    return n_marked


@inlined
def best_answer(settings: Settings, candidates: Bool, predicted: F32, offset: F32) -> int:
    """The candidate with the least raw prediction plus the known part of its cost, the first of equals.

    Returns ``n_labels`` if abstaining costs less than every prediction, and -1 if there is neither.
    """
    best = -1
    for k in range(settings.n_labels):
        if candidates[k] and (best < 0 or predicted[k] + offset[k] < predicted[best] + offset[best]):
            best = k
    abstain_cost = np.float32(settings.abstain_cost)
    if settings.abstain_cost < np.inf and (best < 0 or predicted[best] + offset[best] > abstain_cost):
        best = settings.n_labels
    return best

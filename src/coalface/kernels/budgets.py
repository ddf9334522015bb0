"""Spreads a budget over a stream of examples by limiting the slack, costs and audits of each round.

The plan allows a fifth of the budget to be spent immediately and the rest evenly over the coming examples. If spending
lags the plan, the slack of the rule is increased; if it leads, the slack is reduced. Spending is computed from the
model's counts, so a saved, replayed or copied learner paces in the same way.

If an example has a price of its own, its first cost is expensive and its other costs are cheap. Such an example is
asked about fully or not at all; its costs are never cut to stay on the plan. Once the example is paid for, its other
labels are decided with more slack, in proportion to how much cheaper they are.
"""

import numpy as np

from coalface.kernels.codes import PASSIVE
from coalface.kernels.compile import called, inlined
from coalface.kernels.ranges import bound_costs
from coalface.kernels.rules import apply_rule, ask_about_new, ask_for_all, audit, in_warm_up
from coalface.kernels.state import (
    COSTS_BEFORE,
    COSTS_QUERIED,
    EXAMPLES_BEFORE,
    EXAMPLES_QUERIED,
    OVER_BUDGET,
    SLACK_FACTOR,
    TRUTHS_QUERIED,
    WARM_UP,
    WITH_THE_REST,
    Model,
    Scratch,
    Settings,
)

# Tuned on digits, images and text with budgets of 1/5 to 1/40 of all costs.
OPENING_SHARE = 0.2  # of the budget: available immediately, and the limit of the warm-up and of a single example
LEAD_SHARE = 0.05  # of the budget: how far spending may lead the plan
AUDIT_SHARE = 0.1  # of what a round may spend: the limit of its audits
LARGEST_RATIO = 2.0  # of the amount left to the amount planned to be left; its 20th power multiplies the slack
ASK_ALL_FACTOR = 1e12  # makes every range full, if the amount left suffices for all costs to come


@inlined
def count_spending(model: Model, settings: Settings, scratch: Scratch) -> None:
    """Write the examples and costs asked for under this budget so far to scratch."""
    counters, pacing = model.counters, scratch.pacing
    pacing[EXAMPLES_BEFORE] = max(counters[EXAMPLES_QUERIED] - settings.examples_before_budget, 0)
    pacing[COSTS_BEFORE] = max(counters[COSTS_QUERIED] - settings.costs_before_budget, 0)
    if settings.price_of_truth < np.inf:
        pacing[COSTS_BEFORE] += settings.price_of_truth * max(
            counters[TRUTHS_QUERIED] - settings.truths_before_budget, 0
        )


@inlined
def count_asked_row(settings: Settings, scratch: Scratch, n_asked: int) -> None:
    """Add the questions about a row, so that later rows of the same batch count them as spent."""
    scratch.pacing[EXAMPLES_BEFORE] += n_asked > 0
    scratch.pacing[COSTS_BEFORE] += settings.price_of_truth if scratch.truth[0] else np.float64(n_asked)


@inlined
def set_pace(settings: Settings, scratch: Scratch, round_number: int) -> None:
    """Set the factor of the slack: above 1 if spending lags the plan, below 1 if it leads."""
    factor = 1.0
    left = settings.budget - _spent(settings, scratch, 0.0, 0.0)
    if settings.budget < np.inf and left > 0.0:
        rest = max(1.0 - _planned_share(settings, round_number - 1), (1.0 - OPENING_SHARE) / settings.over)
        ratio = min(max(left / (settings.budget * rest), 1.0 / LARGEST_RATIO), LARGEST_RATIO)
        fourth = ratio * ratio * ratio * ratio
        factor = fourth * fourth * fourth * fourth * fourth
        if left >= _rounds_left(settings, round_number) * (
            settings.price_per_example + settings.price_per_cost * settings.n_labels
        ):
            factor = ASK_ALL_FACTOR
    scratch.pacing[SLACK_FACTOR] = factor


@called
def decide_within_budget(model: Model, settings: Settings, scratch: Scratch, round_number: int) -> int:
    """Like ``decide``, but within the budget and its plan; call ``set_pace`` first."""
    n_allowed = _affordable(settings, scratch, _limit(settings, scratch, round_number))
    if settings.rule == PASSIVE:
        return _trim(settings, scratch, ask_for_all(settings, scratch, WITH_THE_REST), n_allowed)
    if in_warm_up(model, settings, round_number) and _fits_opening_share(settings, scratch):
        return _trim(settings, scratch, ask_for_all(settings, scratch, WARM_UP), n_allowed)
    n_asked = apply_rule(settings, scratch, round_number)
    if n_asked > 0 and settings.price_per_example > 0.0:
        n_asked = _decide_with_example_paid(model, settings, scratch, round_number)
    n_asked += ask_about_new(model, settings, scratch, round_number)
    n_asked = _trim(settings, scratch, n_asked, n_allowed)
    if settings.audit_rate > 0.0 and n_asked < n_allowed:
        n_asked += audit(model, settings, scratch, round_number, _audit_rate(settings, scratch, round_number))
    return n_asked


@inlined
def _spent(settings: Settings, scratch: Scratch, more_examples: float, more_costs: float) -> float:
    examples, costs = scratch.pacing[EXAMPLES_BEFORE] + more_examples, scratch.pacing[COSTS_BEFORE] + more_costs
    return settings.price_per_example * examples + settings.price_per_cost * costs  # type: ignore[no-any-return]


@inlined
def _planned_share(settings: Settings, rounds_done: int) -> float:
    """The share of the budget that the plan makes available after so many rounds."""
    done = max(rounds_done - settings.rounds_before_budget, 0) / settings.over
    return OPENING_SHARE + (1.0 - OPENING_SHARE) * min(done, 1.0)


@inlined
def _rounds_left(settings: Settings, round_number: int) -> int:
    """The number of planned rounds left, including this one; at least 1."""
    return max(settings.over + settings.rounds_before_budget + 1 - round_number, 1)


@inlined
def _limit(settings: Settings, scratch: Scratch, round_number: int) -> float:
    """The most that may be spent in total by the end of this round."""
    first_cost = settings.price_per_example + settings.price_per_cost
    planned = settings.budget * _planned_share(settings, round_number)
    ahead = settings.budget * LEAD_SHARE
    limit = planned + max(ahead, first_cost)
    if settings.price_per_example > 0.0:
        spent = _spent(settings, scratch, 0.0, 0.0)
        limit = spent + max(settings.budget * OPENING_SHARE, first_cost) if spent <= planned + ahead else 0.0
    return min(limit, settings.budget)


@inlined
def _affordable(settings: Settings, scratch: Scratch, limit: float) -> int:
    """How many costs of one more example fit within the limit, rounded exactly as spending is."""
    n = 0
    while n < settings.n_labels and _spent(settings, scratch, 1.0, n + 1.0) <= limit:
        n += 1
    return n


@inlined
def _fits_opening_share(settings: Settings, scratch: Scratch) -> bool:
    """Whether asking about the whole example keeps spending within the opening share."""
    candidates = scratch.candidates
    n_candidates = 0
    for k in range(settings.n_labels):
        n_candidates += candidates[k]
    return bool(_spent(settings, scratch, 1.0, np.float64(n_candidates)) <= settings.budget * OPENING_SHARE)


@inlined
def _decide_with_example_paid(model: Model, settings: Settings, scratch: Scratch, round_number: int) -> int:
    """Decide again on an example that is paid for in any case: only its single costs still have a price."""
    if settings.price_per_cost == 0.0:
        return ask_for_all(settings, scratch, WITH_THE_REST)
    scratch.pacing[SLACK_FACTOR] *= 1.0 + settings.price_per_example / settings.price_per_cost
    bound_costs(model, settings, scratch, round_number)
    return apply_rule(settings, scratch, round_number)


@inlined
def _trim(settings: Settings, scratch: Scratch, n_asked: int, n_allowed: int) -> int:
    """Drop the questions with the narrowest ranges, the later of equals first, until ``n_allowed`` are left."""
    mask, reasons, propensity = scratch.mask, scratch.reasons, scratch.propensity
    lowest, highest = scratch.lowest, scratch.highest
    while n_asked > n_allowed:
        dropped = -1
        for k in range(settings.n_labels):
            if mask[k] and (dropped < 0 or highest[k] - lowest[k] <= highest[dropped] - lowest[dropped]):
                dropped = k
        mask[dropped] = False
        reasons[dropped] = OVER_BUDGET
        propensity[dropped] = 0.0
        n_asked -= 1
    return n_asked


@inlined
def _audit_rate(settings: Settings, scratch: Scratch, round_number: int) -> float:
    """The probability of an audit, reduced so that audits take a limited share of a round's spending."""
    per_round = (settings.budget - _spent(settings, scratch, 0.0, 0.0)) / _rounds_left(settings, round_number)
    most = AUDIT_SHARE * per_round / (settings.price_per_example + settings.price_per_cost)
    return min(settings.audit_rate, most)

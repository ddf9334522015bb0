"""Spending a budget over a stream of examples: how much slack, how many costs and how many audits a round may have.

The plan: a fifth of the budget may be spent at once, the rest evenly over the examples to come. Spending that runs
behind the plan multiplies the slack of the rule, spending that runs ahead divides it. Nothing is remembered for all
this: what was spent follows from the model's counts, so that a saved, replayed or copied learner paces alike.

Where looking at an example has a price of its own, its first cost is dear and its further ones are cheap. So an
example is taken whole or held back, never cut short to stay on the plan, and once it is looked at, its other labels
are decided with as much more slack as they are cheaper.
"""

import numpy as np

from coalface.kernels.compile import called, inlined
from coalface.kernels.ranges import bound_costs
from coalface.kernels.rules import apply_rule, ask_for_all, audit, in_warm_up
from coalface.kernels.state import (
    COSTS_BEFORE,
    COSTS_QUERIED,
    EXAMPLES_BEFORE,
    EXAMPLES_QUERIED,
    OVER_BUDGET,
    PASSIVE,
    SLACK_FACTOR,
    WARM_UP,
    WITH_THE_REST,
    Model,
    Scratch,
    Settings,
)

# Measured on digits, images and text with budgets of 1/5 to 1/40 of all costs.
_AT_ONCE = 0.2  # share of the budget that the plan opens with; warm-up and a single example take no more
_AHEAD = 0.05  # share of the budget by which spending may run ahead of the plan
_AUDITS = 0.1  # share of what a round may spend that audits may take
_LARGEST_RATIO = 2.0  # of what is left to what the plan wants left; its 20th power multiplies the slack
_ALL = 1e12  # times the slack and every range is full: what is left will not be spent otherwise


@inlined
def count_spending(model: Model, settings: Settings, scratch: Scratch) -> None:
    """Note in scratch what was asked for under this budget before the row."""
    counters, pacing = model.counters, scratch.pacing
    pacing[EXAMPLES_BEFORE] = max(counters[EXAMPLES_QUERIED] - settings.examples_before_budget, 0)
    pacing[COSTS_BEFORE] = max(counters[COSTS_QUERIED] - settings.costs_before_budget, 0)


@inlined
def count_row(scratch: Scratch, n_asked: int) -> None:
    """Add what is asked for on a row, for the rows decided after it in the same batch."""
    scratch.pacing[EXAMPLES_BEFORE] += n_asked > 0
    scratch.pacing[COSTS_BEFORE] += n_asked


@inlined
def set_pace(settings: Settings, scratch: Scratch, round_number: int) -> None:
    """Choose by what the slack is multiplied: more than 1 if spending is behind the plan, less if it is ahead."""
    factor = 1.0
    left = settings.budget - _spent(settings, scratch, 0.0, 0.0)
    if settings.budget < np.inf and left > 0.0:
        rest = max(1.0 - _planned_share(settings, round_number - 1), (1.0 - _AT_ONCE) / settings.over)
        ratio = min(max(left / (settings.budget * rest), 1.0 / _LARGEST_RATIO), _LARGEST_RATIO)
        fourth = ratio * ratio * ratio * ratio
        factor = fourth * fourth * fourth * fourth * fourth
        if left >= _rounds_left(settings, round_number) * (
            settings.price_per_example + settings.price_per_cost * settings.n_labels
        ):
            factor = _ALL
    scratch.pacing[SLACK_FACTOR] = factor


@called
def decide_within_budget(model: Model, settings: Settings, scratch: Scratch, round_number: int) -> int:
    """As ``decide``, after ``set_pace``, but never beyond what the budget and its plan allow."""
    n_allowed = _affordable(settings, scratch, _limit(settings, scratch, round_number))
    if settings.rule == PASSIVE:
        return _trim(settings, scratch, ask_for_all(settings, scratch, WITH_THE_REST), n_allowed)
    if in_warm_up(model, settings, round_number) and _is_cheap(settings, scratch):
        return _trim(settings, scratch, ask_for_all(settings, scratch, WARM_UP), n_allowed)
    n_asked = apply_rule(settings, scratch, round_number)
    if n_asked > 0 and settings.price_per_example > 0.0:
        n_asked = _look_again(model, settings, scratch, round_number)
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
    """The share of the budget that the plan has opened after so many rounds."""
    done = max(rounds_done - settings.rounds_before_budget, 0) / settings.over
    return _AT_ONCE + (1.0 - _AT_ONCE) * min(done, 1.0)


@inlined
def _rounds_left(settings: Settings, round_number: int) -> int:
    """The planned rounds that are left, this one included; at least this one."""
    return max(settings.over + settings.rounds_before_budget + 1 - round_number, 1)


@inlined
def _limit(settings: Settings, scratch: Scratch, round_number: int) -> float:
    """What may be spent in all by the end of this round."""
    first_cost = settings.price_per_example + settings.price_per_cost
    planned = settings.budget * _planned_share(settings, round_number)
    ahead = settings.budget * _AHEAD
    limit = planned + max(ahead, first_cost)
    if settings.price_per_example > 0.0:
        spent = _spent(settings, scratch, 0.0, 0.0)
        limit = spent + max(settings.budget * _AT_ONCE, first_cost) if spent <= planned + ahead else 0.0
    return min(limit, settings.budget)


@inlined
def _affordable(settings: Settings, scratch: Scratch, limit: float) -> int:
    """How many costs of one more example fit under the limit, compared as spending is counted, to the bit."""
    n = 0
    while n < settings.n_labels and _spent(settings, scratch, 1.0, n + 1.0) <= limit:
        n += 1
    return n


@inlined
def _is_cheap(settings: Settings, scratch: Scratch) -> bool:
    """Whether asking about the whole example leaves spending within what is open at once."""
    candidates = scratch.candidates
    n_candidates = 0
    for k in range(settings.n_labels):
        n_candidates += candidates[k]
    return bool(_spent(settings, scratch, 1.0, np.float64(n_candidates)) <= settings.budget * _AT_ONCE)


@inlined
def _look_again(model: Model, settings: Settings, scratch: Scratch, round_number: int) -> int:
    """Decide on an example that is looked at in any case: only its costs are still to be paid for."""
    if settings.price_per_cost == 0.0:
        return ask_for_all(settings, scratch, WITH_THE_REST)
    scratch.pacing[SLACK_FACTOR] *= 1.0 + settings.price_per_example / settings.price_per_cost
    bound_costs(model, settings, scratch, round_number)
    return apply_rule(settings, scratch, round_number)


@inlined
def _trim(settings: Settings, scratch: Scratch, n_asked: int, n_allowed: int) -> int:
    """Drop the narrowest ranges, the later ones among equals, until what is asked for is allowed."""
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
    """The chance of an audit, lowered where audits would take too much of what is left for a round."""
    per_round = (settings.budget - _spent(settings, scratch, 0.0, 0.0)) / _rounds_left(settings, round_number)
    most = _AUDITS * per_round / (settings.price_per_example + settings.price_per_cost)
    return min(settings.audit_rate, most)

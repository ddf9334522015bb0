"""What a learner asks: the questions about examples, with their ranges and reasons; nothing is learned here."""

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from coalface.data.numbers import flag, whole_number
from coalface.data.rows import Rows
from coalface.kernels.state import ROUND, Settings, new_rounds
from coalface.learner.account import affordable, remaining_budget
from coalface.learner.intake import (
    NO_PARTS,
    KnownParts,
    Mask,
    allowed,
    checked_answers,
    examples_to_decide,
    known_parts,
)
from coalface.learner.parameters import abstain_of
from coalface.learner.state import LearnerState, ready, scale_of, settings_of
from coalface.rounds.queries import CostRanges, Queries


class Given(NamedTuple):
    """What a caller knows about some examples, as it was passed: answers, known parts of costs, prices of questions."""

    known: Any = None
    asked: Any = None
    offset: Any = None
    asking_price: Any = None


def questions(
    learner: LearnerState, X: Any, max_costs: int | None, candidates: Any, first_round: int | None, given: Given
) -> Queries:
    """What ``ask`` returns."""
    limit = None if max_costs is None else whole_number("max_costs", max_costs)
    start = None if first_round is None else whole_number("first_round", first_round, least=1)
    settings = settings_of(ready(learner))
    examples = examples_to_decide(learner, X, candidates)
    rows, mask, parts = examples.rows, examples.candidates, NO_PARTS
    if not learner.model_.active.all():
        mask = allowed(learner, mask, examples.n_rows)
    costs, before = (
        (None, None) if given.known is None else checked_answers(learner, examples, given.known, given.asked)
    )
    if given.offset is not None or given.asking_price is not None:
        parts = known_parts(learner, examples, learner.classes_, given.offset, given.asking_price)
    queries = replace(decide(learner, rows, mask, costs, before, start, settings, parts), checksum=rows.checksum())
    queries = queries if limit is None else queries.limited_to(limit)
    remaining = None if learner.budget is None else remaining_budget(learner)
    return queries if remaining is None else affordable(queries, remaining, before)


def ranges_of(learner: LearnerState, X: Any, candidates: Any = None, *, same_round: bool = False) -> CostRanges:
    """What ``cost_range`` returns."""
    examples = examples_to_decide(ready(learner), X, candidates)
    settings = settings_of(learner)._replace(budget=np.inf, alike=np.inf)
    if flag("same_round", same_round):
        settings = settings._replace(round_step=0)
    found = decide(learner, examples.rows, None, settings=settings).ranges
    if examples.candidates is None:
        return found
    return CostRanges(*(np.where(examples.candidates, end, np.nan) for end in (found.lowest, found.highest)))


def decide(
    learner: LearnerState,
    rows: Rows,
    candidates: Mask | None,
    known: NDArray[np.float32] | None = None,
    asked: Mask | None = None,
    first_round: int | None = None,
    settings: Settings | None = None,
    parts: KnownParts = NO_PARTS,
) -> Queries:
    """The questions about checked rows, the first of which is decided at ``first_round``, by default the next."""
    settings, model = settings or settings_of(learner), learner.model_
    rounds = new_rounds(len(rows.indptr) - 1, settings.n_labels, candidates, known, asked, *parts)
    with model.lock:
        scale = scale_of(learner)
        start = int(model.state.counters[ROUND]) if first_round is None else first_round
        found = model.ask(rows, settings, rounds, start)
    abstain = None if learner.abstain is None else abstain_of(learner.abstain)
    lowest, highest = scale.within(scale.from_unit(found.lowest)), scale.within(scale.from_unit(found.highest))
    return Queries(
        mask=found.mask,
        next=found.next,
        ranges=CostRanges(lowest, highest),
        predicted=scale.from_unit(found.predicted),
        reason_codes=found.reasons,
        propensity=found.propensity,
        classes=learner.classes_,
        first_round=start,
        abstain_cost=None if abstain is None else float(abstain.cost),
        outlook=found.outlook if len(found.outlook) or settings.audit_rate else None,
        truth=found.truth,
        price_of_truth=settings.price_of_truth,
        bounds=scale.ends if scale.open and scale.known else None,
        offset=parts.offsets.astype(np.float64) * scale.span if len(parts.offsets) else None,
    )

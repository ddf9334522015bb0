"""The state of each example of the pool, the questions that come next, and why other labels are not asked about."""

from dataclasses import dataclass

import numpy as np

from coalface.desk.log.store import Row
from coalface.desk.service.messages import Question, reason_in_words
from coalface.desk.service.project_state import ProjectState
from coalface.desk.service.queue import decide_again, scan, without_labels
from coalface.rounds.queries import CostRanges
from coalface.rounds.round import Round

_MOST_SCANNED = 1024  # examples, so that other callers do not wait long


@dataclass(frozen=True)
class _Standing:
    """The state of an example: undecided, open (in question), closed (learned), passed (not asked) or retired."""

    turn: int  # its place in the order of the pool, counted from 1
    id: str
    state: str


@dataclass(frozen=True)
class _Coming:
    """A question that comes next: first ``labels``, then those in ``later`` that no answer settles."""

    example_id: str
    labels: list[str]
    later: list[str]
    ranges: dict[str, tuple[float, float]]
    reason: str


def examples_after(state: ProjectState, turn: int, limit: int) -> list[_Standing]:
    """The examples after a place in the order of the pool."""
    with state.lock:
        pool = state.project.pool
        places = np.asarray(pool.order[turn : turn + limit]).tolist()
        states = states_of(state, places)
        return [_Standing(at, pool.example_id(place), states[place]) for at, place in enumerate(places, turn + 1)]


def states_of(state: ProjectState, places: list[int]) -> dict[int, str]:
    """The states of examples: retired, closed, undecided, open or passed."""
    counters, pool, in_question = state.counters, state.project.pool, state.store.in_question(places)

    def of(place: int) -> str:
        if counters.is_known(place):
            return "retired" if place in counters.retired else "closed"
        if pool.turn(place) > counters.cursor:
            return "undecided"
        return "open" if place in in_question else "passed"

    return {place: of(place) for place in places}


def next_questions(state: ProjectState, n: int) -> list[_Coming]:
    """The next ``n`` questions; fewer if the pool or the budget ends, or after many examples without a question."""
    with state.lock:
        limits, counters, pool = state.project.limits, state.counters, state.project.pool
        if limits.room(counters.spent + limits.spent_on(1)) < 1:
            return []
        waiting = sorted(state.store.free(state.clock()), key=lambda row: (-row.step, row.number))
        found: dict[int, _Coming] = {}  # by example: each annotator gets one of several copies
        for row in waiting:
            asked = Round(0) if row.example in found else _as_of_now(state, row)
            if asked.ask and len(found) < n:
                found[row.example] = _coming(state, row.example, asked)
        lacking, price = n - len(found), state.project.asking_price
        for decided in scan(state.model.learner, pool, counters.cursor, lacking, _MOST_SCANNED, price):
            new = [pair for pair in decided if pair[1].ask and not counters.is_known(pair[0])]
            found |= {example: _coming(state, example, one) for example, one in new}
        return list(found.values())


def not_asked(state: ProjectState, question: Question) -> dict[str, list[str]]:
    """The labels that are not asked about, by the reason why, according to the model now."""
    ranges, project = _ranges_now(state, question), state.project
    guaranteed = min(ranges.highest[0, project.labels.index(label)] for label in project.offered)
    reasons: dict[str, list[str]] = {"perhaps later": [], "surely worse": [], "known well enough": []}
    for k, label in enumerate(project.labels):
        if label in question.labels or label in question.known or label in project.retired:
            continue
        worse = "surely worse" if ranges.lowest[0, k] > guaranteed else "known well enough"
        reasons["perhaps later" if label in question.ranges else worse].append(label)
    return {reason: labels for reason, labels in reasons.items() if labels}


def _ranges_now(state: ProjectState, question: Question) -> CostRanges:
    pool = state.project.pool
    return state.model.learner.cost_range(pool.rows(np.array([pool.place(question.example_id)])))


def _as_of_now(state: ProjectState, row: Row) -> Round:
    """The round of a waiting question; one that was displayed stays as it was, others are decided again."""
    displayed = row.step > 0 or row.holder is not None or state.project.overlap > 1
    if displayed or row.decided == state.counters.learned:
        return without_labels(row.round, state.project.retired)
    return decide_again(state.model.learner, state.project.pool, row, state.project.asking_price)


def _coming(state: ProjectState, example: int, asked: Round) -> _Coming:
    now = asked.next_labels(state.project.cost_bounds)
    return _Coming(
        example_id=state.project.pool.example_id(example),
        labels=[label for label in state.project.labels if label in now],  # as annotators see them
        later=[label for label in asked.ask if label not in now and label not in asked.costs],
        ranges=dict(asked.ranges),
        reason=reason_in_words(asked),
    )

"""The examples of a pool: where each stands, what would be asked next, and why not more. Looking changes nothing."""

from dataclasses import dataclass

import numpy as np

from coalface.service.desk.messages import Question
from coalface.service.desk.plan import Plan
from coalface.service.desk.pool_scan import decide, decide_again
from coalface.service.desk.project_state import Books
from coalface.service.desk.store import Row

_MOST_LOOKED_AT = 1024  # examples, lest others wait long


@dataclass(frozen=True)
class Standing:
    """Where an example stands: undecided, open (in question), closed (answered and learned) or passed (not asked)."""

    turn: int  # its place in the order in which the pool is decided, from 1
    id: str
    state: str


@dataclass(frozen=True)
class Coming:
    """A question that would be asked: ``labels`` at first, and those in ``later`` unless an answer settles them."""

    example_id: str
    labels: list[str]
    later: list[str]
    ranges: dict[str, tuple[float, float]]
    reason: str


def examples_after(books: Books, turn: int, limit: int) -> list[Standing]:
    """The examples behind a place in the order of the pool."""
    with books.lock:
        pool, tally = books.project.pool, books.tally
        places = np.asarray(pool.order[turn : turn + limit]).tolist()
        in_question = books.store.in_question(places)

        def state(turn: int, place: int) -> str:
            if turn > tally.cursor:
                return "undecided"
            return "closed" if place in tally.closed else "open" if place in in_question else "passed"

        return [Standing(at, pool.example_id(place), state(at, place)) for at, place in enumerate(places, turn + 1)]


def next_questions(books: Books, n: int) -> list[Coming]:
    """The first ``n`` questions for whoever comes next; fewer where the pool, the budget or patience ends."""
    with books.lock:
        limits, tally, pool = books.project.limits, books.tally, books.project.pool
        if limits.room(tally.spent + limits.spent_on(1, 0)) < 1:
            return []
        waiting = sorted(books.store.free(books.clock()), key=lambda row: (-row.step, row.number))
        found: dict[int, Coming] = {}  # by example: of several copies everybody is given one
        for row in waiting:
            plan = None if row.example in found else _as_of_now(books, row)
            if plan is not None and len(found) < n:
                found[row.example] = _coming(books, row.example, plan, row)
        for decided in decide(books.model.learner, pool, tally.cursor, n - len(found), _MOST_LOOKED_AT):
            for example, plan in zip(decided.examples, decided.plans, strict=True):
                if plan is not None:
                    found[example] = _coming(books, example, plan)
        return list(found.values())


def not_asked(books: Books, question: Question) -> dict[str, list[str]]:
    """The labels that are not in question, by why not, as the model sees them now."""
    ranges = books.model.learner.cost_range(books.project.pool.rows(np.array([_place(books, question)])))
    guaranteed = ranges.highest[0].min()
    reasons: dict[str, list[str]] = {"perhaps later": [], "surely worse": [], "known well enough": []}
    for k, label in enumerate(books.project.labels):
        if label in question.labels or label in question.known:
            continue
        worse = "surely worse" if ranges.lowest[0, k] > guaranteed else "known well enough"
        reasons["perhaps later" if label in question.ranges else worse].append(label)
    return {reason: labels for reason, labels in reasons.items() if labels}


def _place(books: Books, question: Question) -> int:
    return books.project.pool.place(question.example_id)


def _as_of_now(books: Books, row: Row) -> Plan | None:
    """The plan by which a waiting question would be put; one that somebody has seen stays as it was."""
    seen = row.step > 0 or row.holder is not None or books.project.overlap > 1
    if seen or row.decided == books.tally.learned:
        return Plan(**row.plan)
    return decide_again(books.model.learner, books.project.pool, row.example, row.turn)[0]


def _coming(books: Books, example: int, plan: Plan, row: Row | None = None) -> Coming:
    known = {} if row is None else row.known
    asked = plan.next(known, books.project.cost_bounds)
    labels = [label for label in books.project.labels if label in asked]  # as they are put to people
    return Coming(
        example_id=books.project.pool.example_id(example),
        labels=labels,
        later=[label for label in plan.labels if label not in labels and label not in known],
        ranges={label: (low, high) for label, (low, high) in (plan.ranges or {}).items()},
        reason=plan.reason,
    )

"""Short series of answers at a desk, for tests with several annotators."""

import json

FOUR = ["refund", "delivery", "other", "abuse"]


def tell(desk, who, question, cost=None, key=None, **costs):
    """Answer with one cost for all labels asked about, or with these."""
    told = costs or dict.fromkeys(question.labels, cost)
    return desk.answer(who, question.id, question.lease_id, told, key or f"{question.lease_id} {question.id}")


def logged(desk, kind):
    return [event for event in desk.events(limit=10_000) if event.kind == kind]


def exported(desk):
    return [json.loads(line) for line in desk.export("jsonl")]


def taken_over(desk, clock):
    """Ada's lease ends, and bob gets a question about the same example: both questions."""
    first = desk.lease("ada", ttl=60)
    clock.now += 61
    second = desk.lease("bob")
    assert second.example_id == first.example_id
    return first, second


def undone_before(desk, clock):
    """Ada undoes her answer after bob's lease of the next question ended: her question and his."""
    first, receipt = half_finished(desk, clock)
    theirs = desk.lease("bob", ttl=60)
    clock.now += 61
    desk.undo("ada", receipt.answer_id)
    return first, theirs


def half_finished(desk, clock, who="ada", **costs):
    """An annotator answers the first question about an example, and leaves."""
    question = desk.lease(who, ttl=60)
    receipt = tell(desk, who, question, 1.0, **costs)
    assert receipt.follow_up is not None
    clock.now += 61
    return question, receipt

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


def half_finished(desk, clock, who="ada", **costs):
    """An annotator answers the first question about an example, and leaves."""
    question = desk.lease(who, ttl=60)
    receipt = tell(desk, who, question, 1.0, **costs)
    assert receipt.follow_up is not None
    clock.now += 61
    return question, receipt

"""Small projects for tests, and people who answer by a rule."""

import numpy as np

from coalface.desk.project.project import Project
from coalface.desk.service.messages import NoQuestion

LABELS = ["refund", "delivery", "other"]
WORDS = ["parcel", "late", "refund", "money", "where", "hello", "card", "bank"]


def small_project(folder, n=120, labels=LABELS, **settings):
    rng = np.random.default_rng(1)
    examples = [{"id": f"mail-{i}", "text": " ".join(rng.choice(WORDS, 4))} for i in range(n)]
    return Project.create(folder, examples, labels, **settings)


def costs_for(question):
    """What an honest annotator says: a rule on the words."""
    text = question.content["text"]
    right = "refund" if "money" in text or "refund" in text else "delivery" if "parcel" in text else "other"
    return {label: 0.0 if label == right else 1.0 if label == "other" else 0.5 for label in question.labels}


def work(desk, who="ada", n=10**6, costs=costs_for):
    """Answer up to ``n`` questions, follow-ups included; the receipts, and why there were no more."""
    receipts, question = [], None
    while len(receipts) < n:
        question = question or desk.lease(who)
        if isinstance(question, NoQuestion):
            if question.reason == "looking":
                question = None
                continue
            return receipts, question.reason
        key = f"{who} {question.lease_id} {question.id}"
        receipts.append(desk.answer(who, question.id, question.lease_id, costs(question), key, seconds=2.0))
        question = receipts[-1].follow_up
    return receipts, None


class Clock:
    def __init__(self):
        self.now = 1000.0

    def __call__(self):
        return self.now


def same_bits(one, other):
    mine, theirs = one.model_.arrays(), other.model_.arrays()
    return mine.keys() == theirs.keys() and all(
        mine[name].shape == theirs[name].shape and mine[name].tobytes() == theirs[name].tobytes() for name in mine
    )

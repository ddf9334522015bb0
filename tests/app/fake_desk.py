"""A desk in memory that follows the rules and learns nothing; only the clock can hurry it."""

import itertools
import time
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace

from coalface.app.exchange import (
    AnnotatorRow,
    Answered,
    Estimate,
    Event,
    LabelRow,
    NoQuestion,
    Overview,
    Progress,
    Question,
    Receipt,
)
from coalface.errors import ConflictError, InputError, NotYoursError, UnknownIdError

LEVELS = ("none", "minor", "annoying", "serious", "disaster")


@dataclass
class FakeStore:
    people: dict = field(default_factory=dict)

    def token(self, digest):
        return self.people.get(digest)

    def add_token(self, name, role, digest):
        self.people = {key: who for key, who in self.people.items() if who[0] != name} | {digest: (name, role)}

    def tokens(self):
        return [(name, role, digest, 0.0) for digest, (name, role) in self.people.items()]

    def remove_token(self, name):
        if name not in [who for who, _ in self.people.values()]:
            raise UnknownIdError(f"Nobody has the name {name!r}.")
        self.people = {key: who for key, who in self.people.items() if who[0] != name}


def fake_project(n_examples=50, labels=("Billing", "Refunds", "Fraud"), levels=True, true_label=False):
    scale = [SimpleNamespace(name=name, cost=float(i), anchor=f"like example {i}") for i, name in enumerate(LEVELS)]
    return SimpleNamespace(
        name="tickets",
        title="Tickets",
        question="How bad would it be to route this to…",
        guidelines="Think of the customer.",
        labels=list(labels),
        levels=scale if levels else [],
        cost_bounds=(0.0, 4.0),
        true_label=true_label,
        folder=Path(),
        n_examples=n_examples,
    )


class FakeDesk:
    """Asks for the first two labels of an example, then for the third."""

    def __init__(self, project=None, clock=time.time, budget=None):
        self.project, self.store, self.clock = project or fake_project(), FakeStore(), clock
        self.budget = budget or {"examples": 40, "costs": 100}
        self.numbers = itertools.count(1)
        self.fresh = itertools.count()
        self.open, self.answers, self.log, self.keys, self.truths, self.authors = {}, {}, [], {}, [], {}

    def _note(self, kind, who, **body):
        self.log.append(Event(len(self.log) + 1, self.clock(), kind, who, body))

    def _open(self, who, example, labels, known, lease, ttl):
        text = f"Ticket {example}: my parcel <b>never</b> came & I was charged twice."
        ranges = {label: (0.5, 2.5) for label in labels}
        question = Question(
            f"q{next(self.numbers)}", f"ticket/{example}", {"kind": "text", "text": text}, labels, known, lease,
            self.clock() + ttl, ranges, "3 labels can still be best",
        )  # fmt: skip
        self.open[question.id] = (who, question)
        self._note("asked", None, question=question.id)
        return question

    def held(self, annotator):
        mine = [question for who, question in self.open.values() if who == annotator]
        return [question for question in reversed(mine) if question.expires_at > self.clock()]

    def lease(self, annotator, ttl=600.0):
        if len(self.answers) >= self.budget["examples"]:
            return NoQuestion("budget-spent")
        example = next(self.fresh)
        if example >= self.project.n_examples:
            return NoQuestion("nothing-worth-asking")
        return self._open(annotator, example, self.project.labels[:2], {}, f"l{next(self.numbers)}", ttl)

    def _leased(self, lease_id, annotator):
        for who, question in self.open.values():
            if question.lease_id == lease_id:
                if who != annotator:
                    raise NotYoursError("This lease is somebody else's.")
                return question
        raise UnknownIdError(f"There is no lease {lease_id!r}.")

    def renew(self, lease_id, annotator, ttl=600.0):
        self._leased(lease_id, annotator)
        return self.clock() + ttl

    def release(self, lease_id, annotator):
        del self.open[self._leased(lease_id, annotator).id]

    def answer(self, annotator, question_id, lease_id, costs, key, seconds=None, note=None):
        if (annotator, key) in self.keys:
            return self.keys[annotator, key]
        if any(one.question_id == question_id for one in self.answers.values()):
            raise ConflictError("Answered already.")
        if question_id not in self.open:
            raise UnknownIdError(f"There is no question {question_id!r}.")
        who, question = self.open[question_id]
        if who != annotator or question.lease_id != lease_id:
            raise NotYoursError("This question is with somebody else.")
        for label, cost in costs.items():
            if label not in question.labels or (cost is not None and not 0 <= cost <= 4):
                raise InputError(f"The cost of {label!r} must lie in [0, 4], got {cost!r}.")
        del self.open[question_id]
        name = f"a{next(self.numbers)}"
        self.answers[name] = Answered(
            name, question_id, question.example_id, dict(costs), self.clock(), False, False, note, question.content
        )
        self.authors[name] = (annotator, question)
        self._note("answered", annotator, answer=name, costs=dict(costs))
        rest = self.project.labels[2:] if len(question.known) == 0 else []
        known = {**question.known, **costs}
        example = question.example_id.removeprefix("ticket/")
        follow_up = self._open(annotator, example, rest, known, lease_id, 600.0) if rest else None
        self.keys[annotator, key] = Receipt(name, False, not rest, follow_up)
        return self.keys[annotator, key]

    def answer_truth(self, annotator, question_id, lease_id, label, key, seconds=None, note=None):
        if label not in self.project.labels:
            raise InputError(f"Unknown label {label!r}.")
        self.truths.append(label)
        asked = self.open[question_id][1].labels if question_id in self.open else []
        return self.answer(annotator, question_id, lease_id, {one: 0.0 if one == label else 1.0 for one in asked}, key)

    def undo(self, annotator, answer_id):
        if answer_id not in self.authors:
            raise UnknownIdError(f"There is no answer {answer_id!r}.")
        author, question = self.authors[answer_id]
        if author != annotator:
            raise NotYoursError("This answer is somebody else's.")
        if answer_id not in self.answers:
            raise ConflictError("Undone already.")
        del self.answers[answer_id]
        for name in [name for name, (_, one) in self.open.items() if one.lease_id == question.lease_id]:
            del self.open[name]
        self._note("undone", annotator, answer=answer_id)
        example = question.example_id.removeprefix("ticket/")
        return self._open(annotator, example, question.labels, question.known, question.lease_id, 600.0)

    def recent(self, annotator, n=10):
        mine = [one for name, one in self.answers.items() if self.authors[name][0] == annotator]
        return mine[::-1][:n]

    def progress(self, annotator=None):
        costs = sum(len(one.costs) for one in self.answers.values())
        examples = len({one.example_id for one in self.answers.values()})
        mine = self.recent(annotator, 1000) if annotator else []
        own = sum(len(one.costs) for one in mine)
        return Progress(examples, costs, 0.0, self.budget, len({one.example_id for one in mine}), own, 4.2)

    def overview(self):
        people = sorted({who for who, _ in self.authors.values()})
        rows = [AnnotatorRow(who, 3, 9, 1, 4.2, 0.87, 12, self.clock()) for who in people]
        labels = [LabelRow(label, 5, 1.2, 0.2 * i, 1.0, 3.0, 0.4) for i, label in enumerate(self.project.labels)]
        about = Estimate(0.31, 0.2, 0.42, 100)
        history = [(10, 0.9), (20, 0.6), (40, 0.5), (80, 0.31)]
        return Overview(
            self.progress(), self.project.n_examples, 20, 60, about, None, about, None, False, 20, rows, labels, history
        )

    def events(self, after=0, limit=100):
        return self.log[after : after + limit]

    def predict(self, examples):
        return [{"label": self.project.labels[0], "costs": dict.fromkeys(self.project.labels, 0.5)} for _ in examples]

    def export(self, form):
        yield f"{form} {len(self.answers)}\n".encode()

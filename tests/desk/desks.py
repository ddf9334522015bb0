"""Small desks to try the service with: sixty tickets, three labels, five levels."""

import random
from contextlib import contextmanager

from coalface.desk.project.project import Project
from coalface.desk.service.desk import Desk

LABELS = ("Billing", "Refunds", "Fraud")
LEVELS = ("none", "minor", "annoying", "serious", "disaster")
_WORDS = [
    "parcel",
    "money",
    "back",
    "late",
    "broken",
    "charged",
    "twice",
    "invoice",
    "stolen",
    "card",
    "<b>wrong</b>",
    "item",
    "&",
    "gone",
]


def make_project(folder, n_examples=60, labels=LABELS, **more):
    """A project called tickets; the first examples are asked about in full."""
    draw = random.Random(7)
    examples = [{"id": f"ticket/{i}", "text": " ".join(draw.choices(_WORDS, k=6))} for i in range(n_examples)]
    levels = [{"name": name, "cost": float(i), "anchor": f"such as {i}"} for i, name in enumerate(LEVELS)]
    settings = {
        "levels": levels,
        "budget": {"examples": 40, "costs": 150},
        "guidelines": "Think of the customer.",
    } | more
    return Project.create(folder / "tickets", examples, labels, **settings)


@contextmanager
def open_desk(folder, **more):
    """A desk of such a project."""
    desk = Desk(make_project(folder, **more))
    try:
        yield desk
    finally:
        desk.close()


@contextmanager
def desk_in_turn(folder, **more):
    """A desk that asks about one label at a time from the start."""
    with open_desk(folder, learner={"rule": {"warm_up": 0}}, **more) as desk:
        yield desk


def answers(desk):
    """The answers that count, oldest first: who, and costs by label."""
    events = desk.events(limit=1000)
    undone = {event.body["answer"] for event in events if event.kind == "undone"}
    return [(event.who, event.body["costs"]) for event in events if event.kind == "answered" and event.id not in undone]

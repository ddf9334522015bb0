"""What a desk hands to annotators, programs and pages: plain values that become JSON as they stand.

Times are seconds since 1970, costs are on the user's scale, labels are spelled as the project spells them.
"""

from dataclasses import dataclass, field
from typing import Any

STOPPED = {
    "budget-spent": "The budget is spent.",
    "nothing-worth-asking": "Nothing is left that is worth asking.",
    "all-leased": "Every open question is with somebody now.",
    "others-only": "What is left is for others: you have answered about these examples.",
    "looking": "The model is still looking for an example that is worth asking about.",
    "too-many-held": "You hold too many questions. Answer or release some first.",
}
# Why a program ended that answers.
ENDED = STOPPED | {
    "limit": "It has given as many answers as it was to give.",
    "interrupted": "It was interrupted.",
}


@dataclass(frozen=True)
class Question:
    """One example and the labels whose cost is asked for now; ``known`` holds what the same person said of it before.

    ``ranges`` (lowest and highest cost by label) and ``reason`` are for engineers: they would sway an annotator.

    >>> Question("q1", "mail-7", {"kind": "text", "text": "Where is my parcel?"}, ["billing"], {}, "l1", 600.0).known
    {}
    """

    id: str
    example_id: str
    content: dict[str, Any]  # "kind" is text, image, table or html
    labels: list[str]
    known: dict[str, float | None]
    lease_id: str
    expires_at: float
    ranges: dict[str, tuple[float, float]] = field(default_factory=dict)
    reason: str = ""


@dataclass(frozen=True)
class NoQuestion:
    """Why there is no question now: a key of ``STOPPED``."""

    reason: str


@dataclass(frozen=True)
class Receipt:
    """An answer that is safe; ``follow_up`` asks on about the same example, under the same lease."""

    answer_id: str
    late: bool
    learned: bool
    follow_up: Question | None = None


@dataclass(frozen=True)
class Answered:
    """One of an annotator's answers, newest first in a list of them."""

    answer_id: str
    question_id: str
    example_id: str
    costs: dict[str, float | None]
    at: float
    late: bool = False
    undone: bool = False
    note: str | None = None
    content: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Progress:
    """What was asked so far and what may be spent; ``own_*`` counts one annotator's share."""

    examples: int
    costs: int
    price: float
    budget: dict[str, float]  # of "examples", "costs" and "price": those that are limited
    own_examples: int = 0
    own_costs: int = 0
    own_seconds: float | None = None  # median per example


@dataclass(frozen=True)
class Estimate:
    """A mean with its 95 % interval, from ``n`` observations."""

    mean: float
    low: float
    high: float
    n: int


@dataclass(frozen=True)
class AnnotatorRow:
    """One annotator's work; ``agreement`` is the share of equal costs where somebody else answered too."""

    name: str
    examples: int
    costs: int
    cant_tell: int
    seconds: float | None
    agreement: float | None
    compared: int
    last_seen: float | None


@dataclass(frozen=True)
class LabelRow:
    """One label: how often it was asked about, and means over undecided examples of its prediction and range."""

    label: str
    asked: int
    mean_cost: float | None
    lowest: float
    predicted: float
    highest: float
    contending: float  # share of these examples on which it can still be best


@dataclass(frozen=True)
class Overview:
    """Everything the dashboard shows."""

    progress: Progress
    pool: int
    decided: int
    passive_costs: int  # what asking for every cost of the decided examples would have taken
    test_cost: Estimate | None  # mean cost of the answers the model would have given, each before it was taught
    saving: Estimate | None  # what more asking could still save per example, at most
    contested: Estimate | None  # share of the undecided pool on which something would be asked
    stopped: str | None  # a key of STOPPED
    rebuilding: bool
    model: int  # rounds learned
    annotators: list[AnnotatorRow]
    labels: list[LabelRow]
    history: list[tuple[int, float]] = field(default_factory=list)  # (costs asked, test cost)
    problem: str | None = None  # why the model still knows what was taken back, where that failed to be mended


@dataclass(frozen=True)
class Event:
    """One line of the log; ``id`` counts from 1 and orders it."""

    id: int
    at: float
    kind: str
    who: str | None
    body: dict[str, Any]

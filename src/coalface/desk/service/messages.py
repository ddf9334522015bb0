"""What a desk gives to annotators, programs and pages, and what the REST interface responds.

Times are seconds since 1970, in JSON ISO 8601 in UTC. Costs are on the user's scale, labels are spelled as the project
spells them. What only pages show is ``Unsent``.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Annotated, Any, Generic, Literal, TypeVar

from coalface.desk.project.project import Project
from coalface.desk.project.scale import Level
from coalface.errors import InputError
from coalface.kernels import AUDIT, NEW_LABEL, UNCERTAIN, WARM_UP
from coalface.learner import Interval, spending_text
from coalface.rounds import REASONS, Round

try:
    from pydantic import Field, PlainSerializer
except ModuleNotFoundError:  # pragma: no cover
    raise InputError("The labelling service needs pydantic. Run: pip install 'coalface[app]'") from None

Time = Annotated[float, PlainSerializer(lambda at: datetime.fromtimestamp(at, UTC), return_type=datetime)]
Unsent = Field(exclude=True)
Item = TypeVar("Item")
PoolState = Literal["undecided", "open", "closed", "passed", "retired"]
Content = Annotated[dict[str, Any], Unsent]
STOPPED = {
    "budget-spent": "The budget is spent.",
    "nothing-worth-asking": "Nothing is left that is worth asking.",
    "all-leased": "Other annotators hold every open question now.",
    "others-only": "The questions left are for other annotators: you have answered about these examples.",
    "skipped": "The questions left are those that you skipped.",
    "looking": "The model is still looking for an example that is worth asking about.",
    "held-back": "The judge waits for people: let them answer the examples that it shares with them.",
    "too-many-held": "You hold too many questions. Answer or release some first.",
}
_LATER = "Labels asked about next, in order, each unless a cost at most this number is known."
# Why a program that answers has ended.
ENDED = STOPPED | {
    "limit": "Reached --limit.",
    "run-limit": "Reached the --budget of this run.",
    "interrupted": "It was interrupted.",
    "unanswerable": "The questions left are for other annotators: this one gave no valid answer to them.",
    "budget-too-small": "The rest of the budget does not cover another call at its greatest possible price.",
}


@dataclass(frozen=True)
class Page(Generic[Item]):
    """Part of a list; ``next_cursor`` is the cursor of the next page, null on the last."""

    items: list[Item]
    next_cursor: str | None = None

    @classmethod
    def of(cls, found: list[Item], limit: int, cursor_of: Callable[[Item], object]) -> "Page[Item]":
        """The first ``limit`` items; a cursor to the next page if there are more.

        >>> Page.of([3, 5, 8], 2, lambda number: number)
        Page(items=[3, 5], next_cursor='5')
        """
        return cls(found[:limit], str(cursor_of(found[limit - 1])) if len(found) > limit else None)


@dataclass(frozen=True)
class Question:
    """What an annotator sees, less than a ``Round``: an example, the labels asked about, and their own answers.

    With ``true_label``, the question is which label is true. ``known`` has the costs that the same annotator gave
    before. ``later`` are the labels that are asked about next, in order, each unless a cost at most this number is
    known: an annotator who follows that rule answers about an example in one call. ``ranges`` (lowest and highest cost
    by label) and ``reason`` are for engineers only: they could bias an annotator.

    >>> Question("q1", "mail-7", {"kind": "text", "text": "Where is my parcel?"}, ["billing"], {}, "l1", 600.0).known
    {}
    """

    id: str
    example_id: str
    content: dict[str, Any]  # "kind" is text, image, table or html
    labels: list[str]
    known: dict[str, float | None]
    lease_id: str
    expires_at: Time
    ranges: dict[str, tuple[float, float]] = field(default_factory=dict)
    reason: str = ""
    true_label: bool = False
    later: Annotated[list[tuple[str, float]], Field(description=_LATER)] = field(default_factory=list)


@dataclass(frozen=True)
class NoQuestion:
    """Why there is no question now: a key of ``STOPPED``."""

    reason: str


@dataclass(frozen=True)
class Receipt:
    """An answer is on disk; ``follow_up`` is the next question about the same example, under the same lease."""

    answer_id: str
    late: bool
    learned: bool
    follow_up: Question | None = None


@dataclass(frozen=True)
class LeasedView:
    """Queries to answer; if there are none, ``reason`` says why."""

    queries: list[Question]
    reason: str | None = None


@dataclass(frozen=True)
class LeaseView:
    """The end of a lease."""

    expires_at: Time


@dataclass(frozen=True)
class UndoneView:
    """The query of an undone answer, leased to its author again."""

    query: Question | None


@dataclass(frozen=True)
class ChangedView:
    """How many examples were changed; the others were so already."""

    changed: int


@dataclass(frozen=True)
class Remark:
    """An annotator's note about an example; a ``flag`` waits until an engineer resolves it."""

    id: int
    at: Time
    who: str
    example_id: str
    note: str
    flag: bool
    content: Content = field(default_factory=dict)


@dataclass(frozen=True)
class Answered:
    """One of an annotator's answers, as the annotator may see it and undo it."""

    answer_id: str
    question_id: str
    example_id: str
    costs: dict[str, float | None]
    at: Time
    late: bool = False
    undone: bool = False
    note: str | None = None
    content: Content = field(default_factory=dict)
    asked: Annotated[list[str], Unsent] = field(default_factory=list)
    truth: Annotated[str | None, Unsent] = None


@dataclass(frozen=True)
class DeskProgress:
    """What was asked so far and what may be spent; ``own_*`` is one annotator's share."""

    examples: int
    costs: int
    price: float
    budget: dict[str, float]  # the limits on "examples", "costs" and "price" that are set
    own_examples: int = 0
    own_costs: int = 0
    own_seconds: float | None = None  # median per example


@dataclass(frozen=True)
class EstimatedMean:
    """A mean with its 95 % interval, from ``n`` observations."""

    mean: float
    low: float
    high: float
    n: int


@dataclass(frozen=True)
class Expected:
    """What the questions about the rest of the pool will take, with 90 % intervals, within the budget."""

    examples: Interval
    costs: Interval
    price: Interval | None = None  # None where questions have no usual price
    capped: bool = False  # the budget surely ends before the pool: the costs are what is left of it

    def __str__(self) -> str:
        text = spending_text(self.costs, self.examples, self.capped)
        return text if self.price is None else f"{text}, price {self.price}"


@dataclass(frozen=True)
class AnnotatorRow:
    """One annotator's work; ``agreement`` is the share of equal costs where another annotator answered too.

    A ``judge`` is a program that is checked against people.
    """

    name: str
    examples: int
    costs: int
    cant_tell: int
    seconds: float | None
    agreement: float | None
    compared: int
    last_seen: Time | None
    judge: bool = False
    alpha: EstimatedMean | None = None  # Krippendorff's alpha with people; n is the number of examples
    gate: float = 0.0  # alpha below which a judge's answers are held back; 0 if there is none
    held_back: int = 0  # examples that the model does not learn for now
    costs_per_hour: float | None = None  # of the time spent on recent answers


@dataclass(frozen=True)
class LabelRow:
    """One label: how often it was asked about, and its mean prediction and range over a sample of the pool."""

    label: str
    asked: int
    mean_cost: float | None
    lowest: float
    predicted: float
    highest: float
    contending: float  # share of these examples on which it can still be best
    price: float | None = None  # of asking about it; None unless labels have prices of their own
    spent: float | None = None  # what its costs have taken


@dataclass(frozen=True)
class Advice:
    """Whether to stop asking, None if that is unknown, and why."""

    stop: bool | None
    why: str


@dataclass(frozen=True)
class Overview:
    """Everything the dashboard shows."""

    progress: DeskProgress
    pool: int
    decided: int  # examples that are closed, passed or retired; not those with an open question
    passive_costs: int  # the number of costs if every label of the examples asked about and passed had been asked
    test_cost: EstimatedMean | None  # mean cost of the answers the model would have given before it learned each
    saving: EstimatedMean | None  # the most that further questions could save per example
    contested: EstimatedMean | None  # share of the undecided examples with a question
    stopped: str | None  # a key of STOPPED
    rebuilding: bool
    model: int  # rounds learned
    annotators: list[AnnotatorRow]
    labels: list[LabelRow]
    history: list[tuple[int, float]] = field(default_factory=list)  # (costs asked, test cost)
    problem: str | None = None  # why the model could not be rebuilt after an undo
    expected: Expected | None = None  # what is to come; None at the end of the pool
    passed: int = 0  # examples that needed no question
    sampled: int = 0  # examples that the rows of labels represent: undecided ones or, at the end, the last ones
    finished: bool = False  # whether no example is undecided
    progressive: list[tuple[int, float]] = field(default_factory=list)  # (costs asked, mean cost of all predictions)
    spending: list[tuple[Time, int]] = field(default_factory=list)  # (time, costs asked)
    pace: float | None = None  # costs per hour lately, all annotators together
    advice: Advice = Advice(None, "")


@dataclass(frozen=True)
class ProjectView:
    """The project's question, labels and cost scale."""

    name: str
    title: str
    question: str
    guidelines: str
    labels: list[str]
    retired: list[str]
    all_labels: Annotated[list[str], Field(description="The retired ones too, by their columns.")]
    levels: list[Level]
    cost_bounds: tuple[float, float]
    true_label: bool

    @classmethod
    def of(cls, project: Project) -> "ProjectView":
        """What callers see of a project."""
        return cls(
            name=project.name,
            title=project.title,
            question=project.question,
            guidelines=project.guidelines,
            labels=project.offered,
            retired=list(project.retired),
            all_labels=project.labels,
            levels=project.levels,
            cost_bounds=project.cost_bounds,
            true_label=project.true_label,
        )


@dataclass(frozen=True)
class TokenView:
    """The owner of a token, without the token."""

    name: str
    role: str


@dataclass(frozen=True)
class NewTokenView(TokenView):
    """A new token, shown only in this response."""

    token: str


@dataclass(frozen=True)
class LogEvent:
    """One event of the log as callers see it; ``id`` counts from 1 in the order of the log."""

    id: int
    at: Time
    kind: str
    who: str | None
    body: dict[str, Any]


@dataclass(frozen=True)
class ExampleState:
    """An example of the pool; ``turn`` is its place in the order of decisions, counted from 1.

    Its state is undecided, open (in question), closed (learned), passed (not asked) or retired.
    """

    id: str
    turn: int
    state: PoolState


@dataclass(frozen=True)
class ComingQuestion:
    """A question that comes next: first ``labels``, then those in ``later`` that no answer settles."""

    example_id: str
    labels: list[str]
    later: list[str]
    ranges: dict[str, tuple[float, float]]
    reason: str


def reason_in_words(asked: Round) -> str:
    """Why a round asks about its labels, for engineers.

    >>> reason_in_words(Round(1, ask=("cat", "dog"), reasons=dict.fromkeys(("cat", "dog"), REASONS[UNCERTAIN])))
    '2 labels can still be best'
    """
    reasons = list(asked.reasons.values())
    if REASONS[WARM_UP] in reasons:
        return "the first examples are asked about in full"
    uncertain = reasons.count(REASONS[UNCERTAIN])
    parts = [f"{uncertain} labels can still be best"] if uncertain > 1 else ["one label is uncertain"] * uncertain
    new = reasons.count(REASONS[NEW_LABEL])
    parts += ["one label is new" if new == 1 else f"{new} labels are new"] * (new > 0)
    parts += ["one is drawn at random"] * (REASONS[AUDIT] in reasons)
    return ", ".join(parts) or "the rule asks for every label"

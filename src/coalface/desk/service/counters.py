"""Counters over a project's log: what was spent and when, who answered how much, and where annotators agree."""

from collections import defaultdict, deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from statistics import median
from typing import TypeVar

from coalface.buying import CALLED, CALLING, CallBook
from coalface.desk.log.events import (
    ADDED,
    ANSWERED,
    CLOSED,
    HELD_BACK,
    JUDGE,
    LABELS,
    LEASED,
    PASSED,
    RETIRED,
    SETTLED,
    STOPPED,
    UNDONE,
    WITHDRAWING,
    Decided,
    change_in,
    withdrawn_by,
)
from coalface.desk.project.project import Project
from coalface.desk.project.spending import Limits, Spent
from coalface.desk.service.messages import AnnotatorRow
from coalface.desk.service.read_models import ModelCosts, Remarks, ReviewBook
from coalface.rounds import RENAME, Event, EventLog, LabelChange

_RECENT = 200  # answers in a person's pace
_MOST_POINTS = 512  # of a timeline; beyond that every second one is dropped
_LATELY = 3600.0  # seconds of the present pace
_LONGEST_PAUSE = 900.0  # seconds without an answer that count as work
_Kept = TypeVar("_Kept")


@dataclass
class _Worker:
    """One annotator's counts."""

    answers: int = 0  # those that were not undone
    spent: Spent = field(default_factory=Spent)
    cant_tell: int = 0
    agreed: int = 0
    compared: int = 0
    last_seen: float | None = None
    seconds: deque[float] = field(default_factory=lambda: deque(maxlen=_RECENT))
    asked: deque[int] = field(default_factory=lambda: deque(maxlen=_RECENT))  # costs in the same answers

    @property
    def pace(self) -> float | None:
        """The median of the seconds per answer."""
        return median(self.seconds) if self.seconds else None

    @property
    def costs_per_hour(self) -> float | None:
        """Costs per hour of the time spent on recent answers."""
        spent = sum(self.seconds)
        return 3600.0 * sum(self.asked) / spent if spent > 0 else None


class _Timeline:
    """The number of costs asked over time, in at most ``_MOST_POINTS`` points.

    >>> timeline = _Timeline()
    >>> for minute in range(60):
    ...     timeline.record(60.0 * minute, 2 * minute)
    >>> timeline.points[-1], round(timeline.pace)
    ((3540.0, 118), 120)
    """

    def __init__(self) -> None:
        self._points: list[tuple[float, int]] = []
        self._latest: tuple[float, int] | None = None
        self._every, self._seen = 1, 0
        self._lately: deque[tuple[float, int]] = deque(maxlen=_MOST_POINTS)

    def record(self, at: float, costs: int) -> None:
        """Record that so many costs were asked at this time."""
        self._latest = (at, costs)
        self._lately.append((at, costs))
        if self._seen % self._every == 0:
            self._points.append((at, costs))
        self._seen += 1
        if len(self._points) > _MOST_POINTS:
            self._points, self._every = self._points[::2], 2 * self._every

    @property
    def points(self) -> list[tuple[float, int]]:
        """(time, costs asked), the latest included."""
        last = [] if self._latest is None or self._latest in self._points[-1:] else [self._latest]
        return self._points + last

    @property
    def pace(self) -> float | None:
        """Costs per hour of work within the last hour of work, long pauses left out; None before two answers."""
        seconds, costs = 0.0, 0
        points = list(self._lately)
        for (before, had), (at, has) in zip(points[-2::-1], points[:0:-1], strict=True):
            if seconds > _LATELY:
                break
            if 0.0 < at - before <= _LONGEST_PAUSE:
                seconds, costs = seconds + at - before, costs + has - had
        return max(3600.0 * costs / seconds, 0.0) if seconds > 0 else None


class Counters:
    """Counts that follow the log, event by event.

    >>> counters = Counters((0.0, 1.0), Limits())
    >>> body = {"question": 1, "step": 0, "costs": {"cat": 0.25}, "late": False, "learned": True}
    >>> counters.take_in([Event("answered", at=3.0, who="ada", example=7, seconds=4.0, body=body, id=1)], [[]])
    >>> counters.spent.costs, counters.workers["ada"].pace
    (1, 4.0)
    """

    def __init__(self, bounds: tuple[float, float], limits: Limits) -> None:
        self.spent = Spent()
        self.workers: defaultdict[str, _Worker] = defaultdict(_Worker)
        self.asked: defaultdict[str, int] = defaultdict(int)  # label -> how often it was asked about
        self.known: defaultdict[str, list[float]] = defaultdict(lambda: [0, 0.0])  # the number of costs, and their sum
        self.closed: dict[int, int] = {}  # example -> the event that closed it
        self.retired: dict[int, int | None] = {}  # example -> the event that had closed it
        self.settled: dict[int, int] = {}  # example -> the event that gave its costs without a question
        self.undone: set[int] = set()  # answers
        self.cursor = 0  # number of examples of the pool that were decided
        self.learned = 0  # number of examples closed, also those undone later
        self.stopped: str | None = None
        self.excess = 0.0  # by how much a program's own price of a cost exceeded the usual one, at most
        self.booked: defaultdict[str, float] = defaultdict(
            float
        )  # label -> the price of its costs; 0 unless labels have prices
        self.calls = CallBook()
        self.judges: dict[str, float] = {}  # programs that are checked against people -> their gate, 0 for none
        self._held_back: dict[int, tuple[int, list[str]]] = {}  # question -> example, judges in doubt
        self.comparisons = 0  # grows with every change to costs that two annotators gave
        self._shared: dict[tuple[int, str], None] = {}  # labels of examples to which two annotators gave a cost
        self.timeline, self.model_costs = _Timeline(), ModelCosts(bounds)
        self.passed = 0  # examples that were passed over
        self._limits = limits
        self._given: dict[tuple[int, str], dict[str, list[float]]] = {}
        self.review, self.remarks = ReviewBook(), Remarks()
        self._passed = bytearray()  # by example, 1 if it was passed over

    @classmethod
    def of(cls, project: Project, log: EventLog) -> "Counters":
        """The counts of a project's answers, without a desk: a service may run at the same time."""
        counters = cls(project.cost_bounds, project.limits)
        for event in log.read():
            counters.take_in([event], [[]])
        return counters

    def was_passed(self, example: int) -> bool:
        """Whether an example was passed over: its round is then counted."""
        return example < len(self._passed) and bool(self._passed[example])

    def is_known(self, example: int) -> bool:
        """Whether no question is to be asked about an example: its costs are learned, or it is retired."""
        return example in self.closed or example in self.retired

    @property
    def decided(self) -> int:
        """How many examples get no question any more: they are learned, retired or passed over."""
        known = {*self.closed, *self.retired}
        return len(known) + self.passed - sum(map(self.was_passed, known))

    def take_in(self, events: Sequence[Event], rounds: Sequence[list[Decided]]) -> None:
        """Count events and the rounds that each of them teaches, in the order of the log."""
        for event, decided in zip(events, rounds, strict=True):
            self._take_in(event)
            for example, one in decided:
                self.model_costs.record(event.id, one, self.spent.costs)
                if event.kind == PASSED:
                    self._pass(example)
            self.remarks.take_in(event)
            self.review.take_in(event, decided)

    def _pass(self, example: int) -> None:
        if example >= len(self._passed):
            self._passed.extend(bytes(max(example + 1 - len(self._passed), len(self._passed), 1024)))
        self.passed += not self._passed[example]
        self._passed[example] = 1

    def _take_in(self, event: Event) -> None:
        body = event.body
        self.cursor = max(self.cursor, body.get("cursor", 0))
        if event.who is not None:
            worker = self.workers[event.who]
            worker.last_seen = max(event.at, worker.last_seen or 0.0)
            if event.kind in (CALLING, CALLED):
                paid = Spent(price=self.calls.take_in(event))
                self.spent, worker.spent = self.spent + paid, worker.spent + paid
        self._follow_trust(event)
        if event.kind in (ANSWERED, UNDONE):
            self._count(event, 1 if event.kind == ANSWERED else -1)
        if event.kind == CLOSED and event.example is not None:
            self.closed[event.example] = event.id
            self.learned += 1
        if event.kind == UNDONE:
            self.undone.add(body["answer"])
            if body.get("closed"):
                self.closed.pop(event.example or 0, None)
        self._follow_pool(event)
        if event.kind in WITHDRAWING and (withdrawn := withdrawn_by(event)):
            self.model_costs.withdraw(withdrawn)
        if event.kind == LABELS:
            self._change_labels(change_in(event))
        if event.kind in (LEASED, STOPPED):
            self.stopped = body.get("reason") if event.kind == STOPPED else None

    def _follow_pool(self, event: Event) -> None:
        """Examples that were added, retired, or settled without a question; there may be something to ask again."""
        body = event.body
        if event.kind == ADDED or (event.kind == RETIRED and body.get("back")):
            self.stopped = None
        if event.kind == RETIRED:
            for example in body["examples"]:
                if body.get("back"):
                    self.retired.pop(example, None)
                else:
                    self.retired[example] = self.closed.pop(example, None)
        if event.kind == SETTLED and event.example is not None:
            self.settled[event.example] = event.id
            if not body.get("costs"):
                self.closed.pop(event.example, None)
                self.settled.pop(event.example)
            elif "confirms" not in body:
                self.closed[event.example] = event.id
                self.learned += 1

    def _change_labels(self, change: LabelChange) -> None:
        """Count a renamed label under its new name; there may be something to ask again."""
        self.stopped = None
        if change.kind == RENAME:
            self.asked[change.new_name] = self.asked.pop(change.label, 0)
            self.known[change.new_name] = self.known.pop(change.label, [0, 0.0])
            self.booked[change.new_name] = self.booked.pop(change.label, 0.0)
            self._given = _renamed(self._given, change)
            self._shared = _renamed(self._shared, change)

    def _follow_trust(self, event: Event) -> None:
        """Judges, and the questions whose answers are held back."""
        body = event.body
        if event.kind == JUDGE and event.who is not None:
            self.judges[event.who] = float(body["gate"])
        elif event.kind == HELD_BACK and event.example is not None:
            self._held_back[body["question"]] = event.example, body["judges"]
        elif event.kind in (CLOSED, UNDONE):
            self._held_back.pop(body.get("question", 0), None)

    def _count(self, event: Event, sign: int) -> None:
        body, worker = event.body, self.workers[event.who or ""]
        costs = body["costs"]
        looks, asked = body.get("looks", int(body["step"] == 0)), body.get("put", len(costs))
        booked: dict[str, float] = body.get("booked", {})
        usual = self._limits.price_of(looks, 0 if booked else asked) + sum(booked.values())
        paid = usual if body.get("price") is None else body["price"]
        if body.get("price") is not None and asked:
            self.excess = max(self.excess, (paid - usual) / asked)
        for label, price in booked.items():
            share = price if usual == paid else paid * price / usual if usual else paid / len(booked)
            self.booked[label] += sign * share
        more = Spent(sign * looks, sign * asked, sign * paid)
        self.spent, worker.spent = self.spent + more, worker.spent + more
        worker.answers += sign
        worker.cant_tell += sign * list(costs.values()).count(None)
        if event.seconds is not None and sign > 0:
            worker.seconds.append(event.seconds)
            worker.asked.append(asked)
        self.timeline.record(event.at, self.spent.costs)
        for label in body.get("asked", costs):
            self.asked[label] += sign
        for label, cost in costs.items():
            if cost is not None:
                sums = self.known[label]
                sums[0], sums[1] = sums[0] + sign, sums[1] + sign * cost
                self._compare((event.example or 0, label), event.who or "", cost, sign)

    def _compare(self, what: tuple[int, str], who: str, cost: float, sign: int) -> None:
        """Count for both where two people gave the cost of one label on one example."""
        given = self._given.setdefault(what, {})
        own = given.setdefault(who, [])
        if sign < 0:
            own.remove(cost)
        for other, theirs in given.items():
            for name in (who, other) if other != who else ():
                self.workers[name].compared += sign * len(theirs)
                self.workers[name].agreed += sign * theirs.count(cost)
        if sign > 0:
            own.append(cost)
        if sum(bool(theirs) for theirs in given.values()) > 1:
            self._shared[what] = None
            self.comparisons += 1
        elif self._shared.pop(what, self) is None:
            self.comparisons += 1

    @property
    def held_back(self) -> dict[int, list[str]]:
        """The questions whose answers the model does not learn for now, in the order of the log, and whose they are."""
        return {number: judges for number, (example, judges) in self._held_back.items() if not self.is_known(example)}

    def beside_people(self, name: str) -> dict[tuple[int, str], dict[str, float]]:
        """By example and label, the cost that an annotator gave last, and those of the people who gave one too."""
        found = {}
        for what, given in self.shared_costs().items():
            compared = {who: cost for who, cost in given.items() if who == name or who not in self.judges}
            if name in compared and len(compared) > 1:
                found[what] = compared
        return found

    def shared_costs(self) -> dict[tuple[int, str], dict[str, float]]:
        """By example and label, the cost that each annotator gave last, where two gave one."""
        return {what: _given_last(self._given[what]) for what in list(self._shared)}

    def costs_given(self) -> dict[tuple[int, str], dict[str, float]]:
        """By example and label, the cost that each annotator gave last."""
        return {what: _given_last(given) for what, given in list(self._given.items())}

    def costs_about(self, example: int, labels: Iterable[str]) -> dict[str, dict[str, float]]:
        """By label, the cost that each annotator gave last about an example."""
        last = ((label, _given_last(self._given.get((example, label), {}))) for label in labels)
        return {label: given for label, given in last if given}

    def annotators(self) -> list[AnnotatorRow]:
        """Everyone who answered, by name."""
        held_back = self.held_back
        return [
            AnnotatorRow(
                name=name,
                examples=worker.spent.examples,
                costs=worker.spent.costs,
                cant_tell=worker.cant_tell,
                seconds=worker.pace,
                agreement=worker.agreed / worker.compared if worker.compared else None,
                compared=worker.compared,
                last_seen=worker.last_seen,
                judge=name in self.judges,
                gate=self.judges.get(name, 0.0),
                held_back=sum(name in judges for judges in held_back.values()),
                costs_per_hour=worker.costs_per_hour,
            )
            for name, worker in sorted(self.workers.items())
            if worker.answers
        ]


def _given_last(given: dict[str, list[float]]) -> dict[str, float]:
    """The last of the costs that each annotator gave; other threads may add some meanwhile."""
    return {who: costs[-1] for who, costs in list(given.items()) if costs}


def _renamed(found: dict[tuple[int, str], _Kept], change: LabelChange) -> dict[tuple[int, str], _Kept]:
    """What is kept by example and label, in the same order, under the label's new name."""
    return {(i, change.new_name if label == change.label else label): value for (i, label), value in found.items()}

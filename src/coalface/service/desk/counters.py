"""Counters over a project's log: what was spent, who answered how much, and the cost of the model's answers."""

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field
from statistics import median
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from coalface.data.costs import CostScale
from coalface.rounds.event_log import Event
from coalface.rounds.label_change import ADD, RENAME, LabelChange
from coalface.rounds.round import Round
from coalface.service.desk.call_book import CALLED, CALLING, CallBook
from coalface.service.desk.events import (
    ANSWERED,
    CLOSED,
    HELD_BACK,
    JUDGE,
    LABELS,
    LEASED,
    STOPPED,
    UNDONE,
    Decided,
    change_in,
)
from coalface.service.desk.messages import AnnotatorRow, Estimate
from coalface.service.project.spending import Limits, Spent

_WINDOW = 2000  # examples in the estimate of the cost
_FEWEST = 50
_EVERY = 25  # examples between two points of its history
_RECENT = 200  # answers in a person's pace
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

    @property
    def pace(self) -> float | None:
        """The median of the seconds per answer."""
        return median(self.seconds) if self.seconds else None


class _Paid(NamedTuple):
    """The answer that the model would have given to an example."""

    event: int
    predicted: float  # its cost, on the inner scale
    chance: float  # that its cost was asked for
    cost: float  # on the user's scale; NaN if it is unknown


class Counters:
    """Counts that follow the log, event by event.

    >>> counters = Counters(["cat", "dog"], (0.0, 1.0), Limits())
    >>> body = {"question": 1, "step": 0, "costs": {"cat": 0.25}, "late": False, "learned": True}
    >>> counters.take_in([Event("answered", at=3.0, who="ada", example=7, seconds=4.0, body=body, id=1)], [[]])
    >>> counters.spent.costs, counters.workers["ada"].pace
    (1, 4.0)
    """

    def __init__(self, labels: list[str], bounds: tuple[float, float], limits: Limits) -> None:
        self.spent = Spent()
        self.workers: dict[str, _Worker] = {}
        self.asked = dict.fromkeys(labels, 0)
        self.known = {label: [0, 0.0] for label in labels}  # the number of costs, and their sum
        self.closed: dict[int, int] = {}  # example -> the event that closed it
        self.undone: set[int] = set()  # answers
        self.cursor = 0  # number of examples of the pool that were decided
        self.learned = 0  # number of examples closed, also those undone later
        self.stopped: str | None = None
        self.dearest = 0.0  # the greatest price of a cost that a program asked for itself
        self.calls = CallBook()
        self.judges: dict[str, float] = {}  # programs that are checked against people -> their gate, 0 for none
        self._held_back: dict[int, tuple[int, list[str]]] = {}  # question -> example, judges in doubt
        self.comparisons = 0  # grows with every change to costs that two annotators gave
        self._shared: dict[tuple[int, str], None] = {}  # labels of examples to which two annotators gave a cost
        self.history: list[tuple[int, float]] = []
        self._scale, self._limits = CostScale(*bounds), limits
        self._paid: deque[_Paid] = deque(maxlen=_WINDOW)
        self._recorded = 0
        self._given: dict[tuple[int, str], dict[str, list[float]]] = {}

    def worker(self, name: str) -> _Worker:
        """One person's counts."""
        return self.workers.setdefault(name, _Worker())

    def take_in(self, events: Iterable[Event], rounds: Iterable[list[Decided]]) -> None:
        """Count events and the rounds that each of them teaches, in the order of the log."""
        for event, decided in zip(events, rounds, strict=True):
            self._take_in(event)
            for _, one in decided:
                self._record_cost(event.id, one)

    def _take_in(self, event: Event) -> None:
        body = event.body
        self.cursor = max(self.cursor, body.get("cursor", 0))
        if event.who is not None:
            worker = self.worker(event.who)
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
                self._paid = deque((one for one in self._paid if one.event != body["closed"]), maxlen=_WINDOW)
        if event.kind == LABELS:
            self._change_labels(change_in(event))
        if event.kind in (LEASED, STOPPED):
            self.stopped = body.get("reason") if event.kind == STOPPED else None

    def _change_labels(self, change: LabelChange) -> None:
        """Count a renamed label under its new name; there may be something to ask again."""
        self.stopped = None
        if change.kind == ADD:
            self.asked.setdefault(change.label, 0)
            self.known.setdefault(change.label, [0, 0.0])
        if change.kind == RENAME:
            self.asked[change.new_name] = self.asked.pop(change.label, 0)
            self.known[change.new_name] = self.known.pop(change.label, [0, 0.0])
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
        body, worker = event.body, self.worker(event.who or "")
        costs = body["costs"]
        looks, asked = body.get("looks", int(body["step"] == 0)), body.get("put", len(costs))
        usual = self._limits.price_per_example * looks + self._limits.price_per_cost * asked
        paid = usual if body.get("price") is None else body["price"]
        if body.get("price") is not None and asked:
            self.dearest = max(self.dearest, (paid - self._limits.price_per_example * looks) / asked)
        self.spent, worker.spent = (
            Spent(total.examples + sign * looks, total.costs + sign * asked, total.price + sign * paid)
            for total in (self.spent, worker.spent)
        )
        worker.answers += sign
        worker.cant_tell += sign * sum(cost is None for cost in costs.values())
        if event.seconds is not None and sign > 0:
            worker.seconds.append(event.seconds)
        for label in body.get("asked", costs):
            self.asked[label] = self.asked.get(label, 0) + sign
        for label, cost in costs.items():
            if cost is not None:
                sums = self.known.setdefault(label, [0, 0.0])
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
                self.worker(name).compared += sign * len(theirs)
                self.worker(name).agreed += sign * theirs.count(cost)
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
        return {number: judges for number, (example, judges) in self._held_back.items() if example not in self.closed}

    def beside_people(self, name: str) -> dict[tuple[int, str], list[float]]:
        """By example and label, the cost that an annotator gave last, then those of the people who gave one too."""
        found: dict[tuple[int, str], list[float]] = {}
        for what in self._shared:
            given = self._given[what]
            others = [costs[-1] for who, costs in given.items() if costs and who != name and who not in self.judges]
            if given.get(name) and others:
                found[what] = [given[name][-1], *others]
        return found

    def _record_cost(self, event: int, decided: Round) -> None:
        """The inverse-propensity estimate of the cost of the answer that the model would have given."""
        outlook = decided.outlook
        if outlook is None:
            return
        label = outlook.label
        cost = decided.costs.get(label) if label is not None and label not in decided.unasked else None
        self._paid.append(_Paid(event, outlook.predicted, outlook.chance, np.nan if cost is None else cost))
        self._recorded += 1
        if self._recorded % _EVERY == 0 and len(self._paid) >= _FEWEST:
            mean = float(np.clip(self._costs_paid()[-10 * _EVERY :].mean(), 0.0, 1.0))
            self.history.append((self.spent.costs, float(self._scale.from_unit(np.array(mean)))))

    def _costs_paid(self) -> NDArray[np.float64]:
        """The estimates on the inner scale: the prediction, corrected where its cost was asked for and answered."""
        _, predicted, chance, cost = np.array(self._paid).T
        correction = (self._scale.to_unit(cost) - predicted) / chance
        return np.asarray(predicted + np.where(np.isnan(cost), 0.0, correction))

    def test_cost(self) -> Estimate | None:
        """The mean cost of the answers that the model would have given to the last examples, before it learned them."""
        n = len(self._paid)
        if n < _FEWEST:
            return None
        paid = self._costs_paid()
        half = 1.96 * float(paid.std(ddof=1)) / n**0.5
        floor, ceiling = self._scale.floor, self._scale.ceiling
        ends = [float(self._scale.from_unit(np.array(paid.mean() + step * half))) for step in (0, -1, 1)]
        return Estimate(ends[0], max(ends[1], floor), min(ends[2], ceiling), n)

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
            )
            for name, worker in sorted(self.workers.items())
            if worker.answers
        ]


def _renamed(found: dict[tuple[int, str], _Kept], change: LabelChange) -> dict[tuple[int, str], _Kept]:
    """What is kept by example and label, in the same order, under the label's new name."""
    return {(i, change.new_name if label == change.label else label): value for (i, label), value in found.items()}

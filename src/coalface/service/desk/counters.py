"""Counts over the log: what was spent, who answered how much and how alike, and what the model's answers cost."""

from collections import deque
from dataclasses import dataclass, field
from statistics import median

import numpy as np

from coalface.data.costs import CostScale
from coalface.kernels.state import ANSWER, CHANCE, PREDICTED
from coalface.rounds.event_log import Event
from coalface.service.desk.messages import AnnotatorRow, Estimate
from coalface.service.desk.replay import CLOSED, UNDONE, lessons_in
from coalface.service.project.spending import Limits, Spent

ANSWERED, ASKED, LEASED, STOPPED = "answered", "asked", "leased", "stopped"
_WINDOW = 2000  # examples behind the estimate of the cost
_FEWEST = 50
_EVERY = 25  # examples between two points of its history
_RECENT = 200  # examples behind somebody's pace


@dataclass
class Worker:
    """One annotator's counts."""

    answers: int = 0  # those that were not taken back
    spent: Spent = field(default_factory=Spent)
    cant_tell: int = 0
    agreed: int = 0
    compared: int = 0
    last_seen: float | None = None
    seconds: deque[float] = field(default_factory=lambda: deque(maxlen=_RECENT))

    @property
    def pace(self) -> float | None:
        """Seconds per answer, in the middle."""
        return median(self.seconds) if self.seconds else None


class Tally:
    """Counts that follow the log, event by event.

    >>> tally = Tally(["cat", "dog"], (0.0, 1.0), Limits())
    >>> body = {"question": 1, "step": 0, "costs": {"cat": 0.25}, "late": False, "learned": True}
    >>> tally.take_in(Event("answered", at=3.0, who="ada", example=7, seconds=4.0, body=body, id=1))
    >>> tally.spent.costs, tally.workers["ada"].pace
    (1, 4.0)
    """

    def __init__(self, labels: list[str], bounds: tuple[float, float], limits: Limits) -> None:
        self.spent = Spent()
        self.workers: dict[str, Worker] = {}
        self.asked = dict.fromkeys(labels, 0)
        self.known = {label: [0, 0.0] for label in labels}  # how many costs, and their sum
        self.closed: dict[int, int] = {}  # example -> the event that closed it
        self.undone: set[int] = set()  # answers that were taken back
        self.cursor = 0  # examples of the pool that were decided
        self.learned = 0  # examples closed, also those undone later
        self.stopped: str | None = None
        self.history: list[tuple[int, float]] = []
        self._labels, self._scale, self._limits = labels, CostScale(*bounds), limits
        self._paid: deque[tuple[int, float]] = deque(maxlen=_WINDOW)  # the event, and what its example cost
        self._noted = 0
        self._given: dict[tuple[int, str], dict[str, list[float]]] = {}

    def worker(self, name: str) -> Worker:
        """Somebody's counts."""
        return self.workers.setdefault(name, Worker())

    def take_in(self, event: Event) -> None:
        """Count one event; events come in the order of the log."""
        body = event.body
        self.cursor = max(self.cursor, body.get("cursor", 0))
        if event.who is not None:
            worker = self.worker(event.who)
            worker.last_seen = max(event.at, worker.last_seen or 0.0)
        if event.kind in (ANSWERED, UNDONE):
            self._count(event, 1 if event.kind == ANSWERED else -1)
        if event.kind == CLOSED and event.example is not None:
            self.closed[event.example] = event.id
            self.learned += 1
        if event.kind == UNDONE:
            self.undone.add(body["answer"])
            if body.get("closed"):
                self.closed.pop(event.example or 0, None)
                self._paid = deque((one for one in self._paid if one[0] != body["closed"]), maxlen=_WINDOW)
        if event.kind in (LEASED, STOPPED):
            self.stopped = body.get("reason") if event.kind == STOPPED else None
        for lesson in lessons_in(event):
            self._note_cost(event.id, lesson.outlook, {label: cost for label, cost, asked in lesson.answers if asked})

    def _count(self, event: Event, sign: int) -> None:
        body = event.body
        costs = body["costs"]
        put = body.get("put", len(costs))
        spent = self._limits.spent_on(body.get("looks", int(body["step"] == 0)), put)
        if body.get("price") is not None:
            spent = Spent(spent.examples, spent.costs, body["price"])
        worker = self.worker(event.who or "")
        if sign > 0:
            self.spent, worker.spent = self.spent + spent, worker.spent + spent
        else:
            self.spent, worker.spent = self.spent - spent, worker.spent - spent
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
        """Count where two people gave the cost of one label on one example, for both."""
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

    def _note_cost(self, event: int, outlook: list[float] | None, asked: dict[str, float | None]) -> None:
        """What the answer cost, without bias: one asked about by chance stands for those that were not."""
        if outlook is None or outlook[CHANCE] == 0.0:
            return
        answer, paid = int(outlook[ANSWER]), outlook[PREDICTED]
        cost = asked.get(self._labels[answer]) if answer < len(self._labels) else None
        if cost is not None:
            paid += (float(self._scale.to_unit(np.array(cost))) - paid) / outlook[CHANCE]
        self._paid.append((event, paid))
        self._noted += 1
        if self._noted % _EVERY == 0 and len(self._paid) >= _FEWEST:
            mean = float(np.clip(np.mean([paid for _, paid in self._paid][-10 * _EVERY :]), 0.0, 1.0))
            self.history.append((self.spent.costs, float(self._scale.from_unit(np.array(mean)))))

    def test_cost(self) -> Estimate | None:
        """The mean cost of the answers that the model would have given to the last examples, before it learned them."""
        n = len(self._paid)
        if n < _FEWEST:
            return None
        paid = np.array([paid for _, paid in self._paid])
        half = 1.96 * float(paid.std(ddof=1)) / n**0.5
        floor, ceiling = self._scale.floor, self._scale.ceiling
        ends = [float(self._scale.from_unit(np.array(paid.mean() + step * half))) for step in (0, -1, 1)]
        return Estimate(ends[0], max(ends[1], floor), min(ends[2], ceiling), n)

    def annotators(self) -> list[AnnotatorRow]:
        """Everybody who answered, by name."""
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
            )
            for name, worker in sorted(self.workers.items())
            if worker.answers
        ]

"""Read models: each follows the log for one purpose.

They are what annotators say beside their answers, the answer that stands for each example with the gold questions, and
the cost of the model's answers, each given before its example was learned.
"""

from collections import deque
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from coalface.data import CostScale
from coalface.desk.log.events import (
    ANSWERED,
    CLOSED,
    FLAGGED,
    LABELS,
    RESOLVED,
    RESUMED,
    RETIRED,
    SETTLED,
    SKIPPED,
    UNDONE,
    Decided,
    change_in,
)
from coalface.desk.service.messages import EstimatedMean
from coalface.rounds import RENAME, Costs, Event, Round

_NOTES = 200  # the latest ones are kept at hand; the log has them all
_WINDOW = 2000  # examples in the estimate of the cost
_FEWEST = 50
_EVERY = 25  # examples between two points of its history


class Remarks:
    """The events with notes about examples, and the questions that annotators skip; it follows the log.

    >>> remarks = Remarks()
    >>> flagged = Event("flagged", 3.0, "ada", example=7, body={"question": 1, "note": "two topics"}, id=4)
    >>> remarks.take_in(flagged)
    >>> remarks.take_in(Event("skipped", 3.0, "ada", example=7, body={"questions": [1, 2]}, id=5))
    >>> [flag.body["note"] for flag in remarks.flags.values()], sorted(remarks.skipped_by("ada"))
    (['two topics'], [1, 2])
    """

    def __init__(self) -> None:
        self.flags: dict[int, Event] = {}  # by the number of the event: those that are not resolved
        self._skipped: dict[str, dict[int, list[int]]] = {}  # annotator -> event -> questions, without those closed
        self._in_skips: set[int] = set()  # questions that an annotator skipped; most never are
        self._notes: deque[Event] = deque(maxlen=_NOTES)

    def take_in(self, event: Event) -> None:
        """Follow an event."""
        body, who = event.body, event.who or ""
        if event.kind == FLAGGED:
            self.flags[event.id] = event
        elif event.kind == RESOLVED:
            self.flags.pop(body["flag"], None)
        elif event.kind == SKIPPED:
            self._skipped.setdefault(who, {})[event.id] = list(body["questions"])
            self._in_skips.update(body["questions"])
        elif event.kind == RESUMED:
            for skip in body["skips"]:
                self._skipped.get(who, {}).pop(skip, None)
        elif event.kind == CLOSED:
            self._forget(body.get("question", 0))
        elif event.kind == UNDONE:
            self._notes = deque((note for note in self._notes if note.id != body["answer"]), maxlen=_NOTES)
        if event.kind in (ANSWERED, SKIPPED) and body.get("note"):
            self._notes.append(event)

    def skips_of(self, annotator: str) -> list[int]:
        """The events of this annotator's skips that still hold, in order."""
        return list(self._skipped.get(annotator, {}))

    def skipped_by(self, annotator: str) -> set[int]:
        """The numbers of the questions that this annotator leaves to others."""
        return {number for numbers in self._skipped.get(annotator, {}).values() for number in numbers}

    def latest(self, n: int) -> list[Event]:
        """The flags that are not resolved, then notes, each from the newest; a note that is also a flag comes once."""
        flags = sorted(self.flags.values(), key=lambda flag: -flag.id)
        flagged = {(flag.who, flag.example, flag.body["note"]) for flag in flags}
        notes = [note for note in reversed(self._notes) if (note.who, note.example, note.body["note"]) not in flagged]
        return [*flags, *notes][:n]

    def _forget(self, question: int) -> None:
        """A closed question is asked no more."""
        if question not in self._in_skips:
            return
        self._in_skips.remove(question)
        for skips in self._skipped.values():
            for event, numbers in list(skips.items()):
                if question in numbers:
                    numbers.remove(question)
                if not numbers:
                    del skips[event]


@dataclass
class ReviewBook:
    """Follows the log, event by event.

    >>> book = ReviewBook()
    >>> body = {"costs": {"cat": 0.5, "dog": 0.0}, "gold": True}
    >>> book.take_in(Event("settled", 1.0, example=7, body=body, id=3), [])
    >>> book.gold[7]
    {'cat': 0.5, 'dog': 0.0}
    """

    answers: dict[int, str] = field(default_factory=dict)  # example -> the label of the least known cost
    gold: dict[int, dict[str, float]] = field(default_factory=dict)  # example -> the costs that annotators should give

    def take_in(self, event: Event, decided: list[Decided]) -> None:
        """Follow an event and the rounds that it teaches."""
        body, example = event.body, event.example
        if event.kind == RETIRED and not body.get("back"):
            for place in body["examples"]:
                self.answers.pop(place, None)
        if example is not None and (event.kind == SETTLED or (event.kind == UNDONE and body.get("closed"))):
            if "confirms" not in body:
                self.answers.pop(example, None)
            if event.kind == SETTLED:
                self._follow_gold(example, body)
        for place, one in decided:
            if (best := best_label(one.costs)) is not None:
                self.answers[place] = best
        if event.kind == LABELS and (change := change_in(event)).kind == RENAME:
            old, new = change.label, change.new_name
            self.answers = {example: new if label == old else label for example, label in self.answers.items()}
            self.gold = {
                example: {new if label == old else label: cost for label, cost in costs.items()}
                for example, costs in self.gold.items()
            }

    def _follow_gold(self, example: int, body: Mapping[str, object]) -> None:
        costs = body.get("costs")
        if isinstance(costs, Mapping) and costs and (body.get("gold") or example in self.gold):
            self.gold[example] = {label: float(cost) for label, cost in costs.items() if cost is not None}
        elif not costs:
            self.gold.pop(example, None)


class _Paid(NamedTuple):
    """The answer that the model would have given to an example."""

    event: int
    predicted: float  # its cost, on the inner scale
    chance: float  # that its cost was asked for
    cost: float  # on the user's scale; NaN if it is unknown


class ModelCosts:
    """Inverse-propensity estimates of the cost of the answers that the model would have given.

    >>> from coalface.rounds.round import Outlook
    >>> costs = ModelCosts((0.0, 1.0))
    >>> costs.record(3, Round(1, outlook=Outlook("cat", 0.5, 1.0, 0.0), costs={"cat": 0.25}), asked=1)
    >>> costs.lately() is None  # too few
    True
    """

    def __init__(self, bounds: tuple[float, float]) -> None:
        self.history: list[tuple[int, float]] = []  # (costs asked, mean cost of the latest answers)
        self.progressive: list[tuple[int, float]] = []  # (costs asked, mean cost of all answers so far)
        self._scale = CostScale(*bounds)
        self._paid: deque[_Paid] = deque(maxlen=_WINDOW)
        self._recorded = 0
        self._unsummed: list[_Paid] = []
        self._total, self._n = 0.0, 0  # of the estimates summed up, those withdrawn left out

    def record(self, event: int, decided: Round, asked: int) -> None:
        """Add the answer before a round was learned, of which an event says the costs; ``asked`` were asked so far."""
        outlook = decided.outlook
        if outlook is None:
            return
        label = outlook.label
        cost = decided.costs.get(label) if label is not None and label not in decided.unasked else None
        self._paid.append(_Paid(event, outlook.predicted, outlook.chance, np.nan if cost is None else cost))
        self._unsummed.append(self._paid[-1])
        self._recorded += 1
        if self._recorded % _EVERY == 0 and len(self._paid) >= _FEWEST:
            self._sum_up()
            mean = float(np.clip(self._estimates()[-10 * _EVERY :].mean(), 0.0, 1.0))
            so_far = min(max(self._total / self._n, 0.0), 1.0) if self._n else 0.0
            for history, share in ((self.history, mean), (self.progressive, so_far)):
                history.append((asked, float(self._scale.from_unit(np.array(share)))))

    def withdraw(self, events: Collection[int]) -> None:
        """Leave out the answers about examples that the model does not know any more."""
        self._sum_up()
        for one in self._paid:
            if one.event in events:
                self._total, self._n = self._total - self._estimate(one), self._n - 1
        self._paid = deque((one for one in self._paid if one.event not in events), maxlen=_WINDOW)

    def lately(self) -> EstimatedMean | None:
        """The mean cost of the answers that the model would have given to the last examples, before it learned them."""
        n = len(self._paid)
        if n < _FEWEST:
            return None
        paid = self._estimates()
        half = 1.96 * float(paid.std(ddof=1)) / n**0.5
        floor, ceiling = self._scale.floor, self._scale.ceiling
        ends = [float(self._scale.from_unit(np.array(paid.mean() + step * half))) for step in (0, -1, 1)]
        return EstimatedMean(ends[0], max(ends[1], floor), min(ends[2], ceiling), n)

    def _sum_up(self) -> None:
        for one in self._unsummed:
            self._total, self._n = self._total + self._estimate(one), self._n + 1
        self._unsummed.clear()

    def _estimate(self, one: _Paid) -> float:
        """The estimate of one answer's cost."""
        if np.isnan(one.cost):
            return one.predicted
        return one.predicted + (float(self._scale.to_unit(np.array(one.cost))) - one.predicted) / one.chance

    def _estimates(self) -> NDArray[np.float64]:
        """The estimates on the inner scale: the prediction, corrected where its cost was asked for and answered."""
        _, predicted, chance, cost = np.array(self._paid).T
        correction = (self._scale.to_unit(cost) - predicted) / chance
        return np.asarray(predicted + np.where(np.isnan(cost), 0.0, correction))


def best_label(costs: Costs) -> str | None:
    """The label of the least known cost; None if none is known.

    >>> best_label({"cat": 0.5, "dog": 0.1, "cow": None})
    'dog'
    """
    known = {label: cost for label, cost in costs.items() if cost is not None}
    return min(known, key=lambda label: known[label]) if known else None

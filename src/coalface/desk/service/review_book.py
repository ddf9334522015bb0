"""What reviewers look up: the answer that stands for each example, gold questions, and where annotators disagree."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from coalface.desk.log.events import LABELS, RETIRED, SETTLED, UNDONE, Decided, change_in
from coalface.rounds.event_log import Event
from coalface.rounds.label_change import RENAME

Costs = Mapping[str, float | None]


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

    def take_in(self, event: Event, decided: Iterable[Decided]) -> None:
        """Follow one event and the rounds that it teaches."""
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
            self._rename(change.label, change.new_name)

    def _follow_gold(self, example: int, body: Mapping[str, object]) -> None:
        costs = body.get("costs")
        if isinstance(costs, Mapping) and costs and (body.get("gold") or example in self.gold):
            self.gold[example] = {label: float(cost) for label, cost in costs.items() if cost is not None}
        elif not costs:
            self.gold.pop(example, None)

    def _rename(self, old: str, new: str) -> None:
        self.answers = {example: new if label == old else label for example, label in self.answers.items()}
        self.gold = {
            example: {new if label == old else label: cost for label, cost in costs.items()}
            for example, costs in self.gold.items()
        }


def best_label(costs: Costs) -> str | None:
    """The label of the least known cost; None if none is known.

    >>> best_label({"cat": 0.5, "dog": 0.1, "cow": None})
    'dog'
    """
    known = {label: cost for label, cost in costs.items() if cost is not None}
    return min(known, key=lambda label: known[label]) if known else None


def is_replaced(answer: Event, standing: Event | None, costs: Costs) -> bool:
    """Whether a later correction, or import, that ``standing`` is gave other ``costs`` than an answer.

    >>> answer = Event("answered", 1.0, id=3, body={"costs": {"cat": 1.0}})
    >>> is_replaced(answer, Event("settled", 2.0, id=9), {"cat": 0.0, "dog": 1.0})
    True
    """
    if standing is None or standing.kind != SETTLED or standing.id < answer.id:
        return False
    return any(costs.get(label) != cost for label, cost in answer.body["costs"].items())


def spread(costs: Iterable[float], bounds: tuple[float, float]) -> float:
    """How far costs lie apart, as a share of the scale.

    >>> spread([1.0, 3.0, 2.0], (0.0, 4.0))
    0.5
    """
    given = list(costs)
    return (max(given) - min(given)) / (bounds[1] - bounds[0]) if given else 0.0

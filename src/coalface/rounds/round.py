"""``Round``: what was shown, predicted, asked and answered about one example.

The learner, ledgers, the command line, studies and the service exchange rounds in one JSON form::

    {"round": 14, "ask": ["refund", "legal"], "ranges": {"refund": [0.0, 0.8], "legal": [0.1, 0.6]},
     "features": {"length": 3.5}, "costs": {"refund": 0.25, "legal": null}}

Labels are spelled as text. Costs and ranges are on the user's scale. A cost of null means "can't tell". Where the true
label is asked for, "ask_truth" is true, and "truth" has the answer: a label, or null for "can't tell". Where a label
was served and only its cost was seen, "served" is that label, and "probability" is that with which it was chosen.
"""

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import numpy as np

from coalface.data.costs import CostScale
from coalface.rounds.parsing import FIELDS, NAMES, round_fields

Costs = Mapping[str, float | None]


@dataclass(frozen=True)
class Outlook:
    """The answer that the learner would have given before a round's costs were known; costs are scaled to [0, 1].

    ``label`` is that answer, None if the learner would have abstained. ``chance`` is the probability that its cost
    was asked for, ``reachable`` the least lowest cost of any answer.
    """

    label: str | None
    predicted: float
    chance: float
    reachable: float


@dataclass(frozen=True)
class Round:
    """One round, about one example; every field but the number may be missing.

    >>> asked = Round(14, ask=("refund", "legal"), first=1, ranges={"refund": (0.0, 0.8), "legal": (0.3, 0.6)})
    >>> asked.next_labels(), asked.with_answers({"refund": 0.5}).next_labels()
    (('refund',), ('legal',))
    >>> answered = asked.with_answers({"refund": 0.25}, by="ada")
    >>> answered.next_labels(), answered.to_json()["costs"]
    ((), {'refund': 0.25})
    >>> Round.from_json(answered.to_json()) == answered
    True
    """

    number: int  # at least 1; for late answers, the number of the next round when they were given
    late: bool = False  # answers about an example whose round is closed already
    # the example
    width: int | None = None  # number of columns of X
    indices: tuple[int, ...] = ()
    values: tuple[float, ...] = ()
    features: Mapping[str, float] | None = None  # replaces indices and values if features have names
    columns: tuple[str, ...] | None = None  # the names of all columns, in the first round that uses them
    encoder: Mapping[str, Any] | None = None  # of raw examples, in the first round that uses it
    example: Mapping[str, Any] | None = None  # the raw example, which replaces indices and values
    budget: Mapping[str, Any] | None = None  # of this and later rounds, where it changed; empty: no budget any more
    bounds: tuple[float, float] | None = None  # of costs from this round on, where the learner found new ones
    candidates: tuple[str, ...] | None = None  # None: every label
    # predictions and questions
    ask: tuple[str, ...] = ()  # the most promising label first
    first: int | None = None  # how many to ask together; the others follow one by one unless ruled out
    ranges: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    predicted: Mapping[str, float] = field(default_factory=dict)
    reasons: Mapping[str, str] = field(default_factory=dict)
    propensity: Mapping[str, float] = field(default_factory=dict)  # of audited labels, which were drawn at random
    outlook: Outlook | None = None
    ask_truth: bool = False  # one question, for the true label, gives the costs of all labels in ask
    offset: Mapping[str, float] = field(default_factory=dict)  # the known part of each label's cost, 0 if missing
    # answers
    truth: str | None = None  # the true label, if it was given; the costs follow from it
    costs: Costs = field(default_factory=dict)
    unasked: tuple[str, ...] = ()  # answered labels that the annotator was not asked about
    by: Mapping[str, str] = field(default_factory=dict)  # label -> annotator
    served: str | None = None  # the label that was served, whose cost alone was seen
    probability: float | None = None  # with which the served label was chosen

    @property
    def asked(self) -> tuple[str, ...]:
        """The answered labels that were asked about, including "can't tell"."""
        return tuple(label for label in self.costs if label not in self.unasked)

    def next_labels(self, cost_bounds: tuple[float, float] = (0.0, 1.0)) -> tuple[str, ...]:
        """The labels to ask about now: the first ones together, then one by one.

        A later label is skipped if its range does not reach below the least known cost.
        """
        n_first = len(self.ask) if self.first is None else self.first
        waiting = tuple(label for label in self.ask[:n_first] if label not in self.costs)
        if waiting:
            return waiting
        later = tuple(label for label in self.ask[n_first:] if label not in self.costs)
        if not later:
            return ()
        known = {label: cost for label, cost in self.costs.items() if cost is not None}
        ends = np.array([*(self.ranges[label][0] for label in later), *known.values()], np.float64)
        inner = CostScale(*cost_bounds).to_unit(ends).astype(np.float32)  # as the kernels compare costs
        if self.offset:
            span = cost_bounds[1] - cost_bounds[0]
            inner += np.array([self.offset.get(label, 0.0) / span for label in (*later, *known)], np.float32)
        below = inner[: len(later)] < inner[len(later) :].min(initial=np.inf)
        return (later[int(below.argmax())],) if below.any() else ()

    def with_answers(self, costs: Costs, asked: Iterable[str] | None = None, by: str | None = None) -> "Round":
        """The round with more answers; ``asked`` are the labels that the annotator was asked about, by default all.

        A known cost is never overwritten by one that was not asked for, and "can't tell" does not fill a gap.

        >>> before = Round(1, ask=("cat",), costs={"cow": 0.9})
        >>> answered = before.with_answers({"cat": 0.5, "dog": 0.1, "cow": 0.2}, asked=["cat"])
        >>> answered.unasked, answered.asked, dict(answered.costs)
        (('dog',), ('cow', 'cat'), {'cow': 0.9, 'cat': 0.5, 'dog': 0.1})
        """
        answered = {label: costs[label] for label in (costs if asked is None else asked) if label in costs}
        known = {**self.costs, **answered}
        unasked = {label: cost for label, cost in costs.items() if label not in known and cost is not None}
        authors = dict.fromkeys((*answered, *unasked), by) if by is not None else {}
        return replace(self, costs={**known, **unasked}, unasked=(*self.unasked, *unasked), by={**self.by, **authors})

    def with_answer(self, answer: Mapping[str, Any], by: str | None, *, whole: bool = False) -> "Round":
        """The round with an answer as a log has it: "costs", the labels "asked", and the "truth" where it was asked.

        The annotator may have been asked about labels that the round does not ask about, because it was decided again
        since. Those count as volunteered. A ``whole`` answer is to all that the round asks.

        >>> answer = {"costs": {"cat": 0.5, "dog": 0.1}, "asked": ["cat", "dog"]}
        >>> Round(1, ask=("cat",)).with_answer(answer, "ada").unasked
        ('dog',)
        """
        found = self.with_answers(answer["costs"], asked=self.ask if whole else answer["asked"], by=by)
        found = replace(found, truth=answer.get("truth")) if self.ask_truth else found
        outside = {*found.costs} - {*found.ask, *found.unasked}
        return replace(found, unasked=(*found.unasked, *sorted(outside))) if outside else found

    def without(self, labels: Iterable[str]) -> "Round":
        """The round without questions about these labels, unless they were answered; the same round if it has none.

        >>> Round(3, ask=("cat", "dog"), first=1).without(["cat"]).ask
        ('dog',)
        """
        gone = {label for label in labels if label in self.ask and label not in self.costs}
        if not gone:
            return self
        ask = tuple(label for label in self.ask if label not in gone)
        if self.first is None:
            return replace(self, ask=ask)
        first = sum(label not in gone for label in self.ask[: self.first])
        return replace(self, ask=ask, first=max(first, min(1, len(ask))))

    def with_truth(self, costs: Mapping[str, float]) -> "Round":
        """The round with the costs of all its candidates, which its true label gives.

        >>> answered = Round(1, ask=("cat", "dog"), ask_truth=True, truth="cat").with_truth({"cat": 0.0, "dog": 1.0})
        >>> dict(answered.costs), answered.asked
        ({'cat': 0.0, 'dog': 1.0}, ('cat', 'dog'))
        """
        labels = costs if self.candidates is None else self.candidates
        known = {label: costs[label] for label in labels}
        ask = tuple(known) if self.ask_truth else self.ask
        return replace(self, ask=ask, costs=known, unasked=tuple(label for label in known if label not in ask))

    def to_json(self) -> dict[str, Any]:
        """The round as plain JSON values, without missing fields."""
        line: dict[str, Any] = {"round": self.number}
        line |= {"late": True} if self.late else {}
        line |= {"n_features": self.width} if self.width is not None else {}
        if self.features is not None:
            line["features"] = dict(self.features)
        elif self.indices or (self.costs and self.width is not None):
            line |= {"indices": list(self.indices), "values": list(self.values)}
        line |= {name: dict(part) for name in _PARTS if (part := getattr(self, name)) is not None}
        for name in ("columns", "bounds", "candidates"):
            if getattr(self, name) is not None:
                line[name] = list(getattr(self, name))
        line["ask"] = list(self.ask)
        line |= {} if self.first is None else {"first": self.first}
        line |= {"ask_truth": True} if self.ask_truth else {}
        line |= {} if self.truth is None else {"truth": self.truth}
        line |= {"ranges": {label: list(ends) for label, ends in self.ranges.items()}} if self.ranges else {}
        line |= {name: dict(getattr(self, name)) for name in _MAPPINGS if getattr(self, name)}
        line |= {"outlook": asdict(self.outlook)} if self.outlook is not None else {}
        line |= {} if self.served is None else {"served": self.served, "probability": self.probability}
        implied = tuple(label for label in self.costs if label not in self.ask)
        line |= {"unasked": list(self.unasked)} if self.unasked != implied else {}
        return line

    @classmethod
    def from_json(cls, line: Any) -> "Round":
        """Parse what ``to_json`` returned or a user wrote, without unknown keys; a ValueError says what is wrong."""
        found = round_fields(line)
        if "outlook" in found:
            found["outlook"] = Outlook(**found["outlook"])
        return cls(**found)

    @classmethod
    def trusted(cls, line: Mapping[str, Any]) -> "Round":
        """The round that ``to_json`` returned, unchecked: for rows of a database that only this program writes.

        >>> one = Round(1, ask=("cat",), ranges={"cat": (0.0, 0.5)}, costs={"cat": 0.25, "dog": 1.0}, unasked=("dog",))
        >>> Round.trusted(one.to_json()) == one
        True
        """
        found = {NAMES.get(name, name): value for name, value in line.items() if name in FIELDS}
        found |= {name: tuple(found[name]) for name in _TUPLES if name in found}
        if "ranges" in found:
            found["ranges"] = {label: tuple(ends) for label, ends in found["ranges"].items()}
        if "outlook" in found:
            found["outlook"] = Outlook(**found["outlook"])
        if "unasked" not in found:
            asked = found.get("ask", ())
            found["unasked"] = tuple(label for label in found.get("costs", ()) if label not in asked)
        return cls(**found)


_PARTS = ("encoder", "budget", "example")
_MAPPINGS = ("predicted", "reasons", "propensity", "offset", "costs", "by")
_TUPLES = ("indices", "values", "columns", "bounds", "candidates", "ask", "unasked")

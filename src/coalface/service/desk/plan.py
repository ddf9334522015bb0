"""What is asked about one example: decided once, put to one person in turn.

The first questions are put together. Each later one is put only if its cost may still lie below all that is known, so
that an answer can settle the rest. The ranges are those of the decision: what the model learns from others meanwhile
changes nothing about an example that somebody is looking at.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from coalface.data.costs import CostScale
from coalface.kernels.state import AUDIT, UNCERTAIN, WARM_UP
from coalface.rounds.queries import Queries

Known = Mapping[str, float | None]


@dataclass(frozen=True)
class Plan:
    """The questions about one example; ``then`` has the later ones with the least that each cost may be.

    >>> plan = Plan(["cat"], [["dog", 0.2], ["cow", 0.6]])
    >>> plan.next({}), plan.next({"cat": 0.5}), plan.next({"cat": 0.5, "dog": 0.4}), plan.next({"cat": None})
    (['cat'], ['dog'], [], ['dog'])
    """

    first: list[str]
    then: list[list[Any]]
    audits: dict[str, float] | None = None  # label -> the chance with which it was asked about at random
    outlook: list[float] | None = None  # see ``kernels.stopping``
    ranges: dict[str, list[float]] | None = None
    reason: str = ""
    unasked: tuple[str, ...] = ()  # labels whose cost was told all the same

    @classmethod
    def of(cls, queries: Queries, i: int) -> "Plan | None":
        """The plan for row ``i`` of what a learner asks; None where it asks nothing."""
        asked, first = queries.mask[i], queries.next[i]
        if not asked.any():
            return None
        names = queries.classes.tolist()
        ranges, codes = queries.ranges, queries.reason_codes[i]
        order = np.argsort(queries.predicted[i], kind="stable")
        return cls(
            first=[names[k] for k in order if first[k]],
            then=[[names[k], float(ranges.lowest[i, k])] for k in order if asked[k] and not first[k]],
            audits={names[k]: float(queries.propensity[i, k]) for k in np.flatnonzero(queries.audit[i])},
            outlook=outlook_of(queries, i),
            ranges={names[k]: [float(ranges.lowest[i, k]), float(ranges.highest[i, k])] for k in order if asked[k]},
            reason=_in_words(asked, codes),
        )

    def next(self, known: Known, bounds: tuple[float, float] = (0.0, 1.0)) -> list[str]:
        """The labels to ask about now, where ``known`` has the answers so far, None for "can't tell"."""
        waiting = [label for label in self.first if label not in known]
        if waiting:
            return waiting
        least = min((_single(cost, bounds) for cost in known.values() if cost is not None), default=np.inf)
        for label, lowest in self.then:
            if label not in known and _single(lowest, bounds) < least:
                return [label]
        return []

    def heard(self, known: Known, asked: Iterable[str], costs: Known) -> tuple["Plan", dict[str, float | None]]:
        """The plan and what is known after an answer; costs told before anybody asked for them are noted as such.

        What is known stands, whoever said it: a cost that nobody asked for only fills a gap, and "can't tell" none.

        >>> plan, known = Plan(["cat"], []).heard({"cow": 0.9}, ["cat"], {"cat": 0.5, "dog": 0.1, "cow": 0.2})
        >>> plan.unasked, plan.put(known), known
        (('dog',), ['cat'], {'cow': 0.9, 'cat': 0.5, 'dog': 0.1})
        """
        told = {label: costs[label] for label in asked if label in costs}
        settled = {**known, **told}
        unasked = {label: cost for label, cost in costs.items() if label not in settled and cost is not None}
        return replace(self, unasked=(*self.unasked, *unasked)), {**settled, **unasked}

    def put(self, known: Known) -> list[str]:
        """The labels of the plan that somebody was asked about."""
        return [label for label in self.labels if label in known and label not in self.unasked]

    @property
    def labels(self) -> list[str]:
        """All labels that could be asked about."""
        return [*self.first, *(label for label, _ in self.then)]


def outlook_of(queries: Queries, i: int) -> list[float] | None:
    """What row ``i`` looks like before its answers; None where nothing can be estimated from it."""
    return None if queries.outlook is None else [float(number) for number in queries.outlook[i]]


def _single(cost: float, bounds: tuple[float, float]) -> float:
    """A cost as the kernels compare it: on the inner scale, in 32 bits."""
    return float(np.float32(CostScale(*bounds).to_unit(np.array(cost, np.float64))))


def _in_words(asked: Any, codes: Any) -> str:
    if (codes[asked] == WARM_UP).any():
        return "the first examples are asked about in full"
    uncertain = int(np.count_nonzero(codes[asked] == UNCERTAIN))
    audited = bool((codes[asked] == AUDIT).any())
    parts = [f"{uncertain} labels can still be best"] if uncertain > 1 else ["one label is uncertain"] * uncertain
    parts += ["one is drawn at random"] * audited
    return ", ".join(parts) or "the rule asks for every label"

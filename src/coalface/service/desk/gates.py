"""Judges checked against people: how far they agree, and the gate below which a judge's answers are held back.

The gate of a judge is open while the lower end of the interval of Krippendorff's alpha is at least the judge's gate,
with at least ``FEWEST`` examples that people answered too. The log records which examples were held back and when they
were learned. So a replay gives the same model, whatever the gate would say later.
"""

import numpy as np

from coalface.data.agreement import Agreement, agreement
from coalface.errors import InputError
from coalface.service.desk.counters import Counters

FEWEST = 20  # examples that a judge and people answered before its gate can open


def checked_gate(gate: float, overlap: float) -> float:
    """The gate, from 0 for none to below 1; people can only check a judge on examples that both see.

    >>> checked_gate(0.6, overlap=1.2)
    0.6
    """
    if not 0.0 <= gate < 1.0:
        raise InputError(f"The agreement must be at least 0, for no gate, and below 1, got {gate!r}.")
    if gate and overlap == 1:
        raise InputError(
            "A judge can be checked only on examples that people see too, but overlap is 1. "
            "Set overlap in project.toml to 1.2, for a fifth of the examples, or more."
        )
    return float(gate)


def agreement_with_people(counters: Counters, name: str) -> Agreement:
    """How far an annotator agrees with the people who answered the same: alpha over costs, drawn by example."""
    units = counters.beside_people(name)
    values = np.full((len(units), max(map(len, units.values()), default=2)), np.nan)
    for row, costs in zip(values, units.values(), strict=True):
        row[: len(costs)] = costs
    return agreement(values, np.array([example for example, _ in units], np.int64))


class Gates:
    """The gates of a project's judges; what they say is computed again when new answers can be compared."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[Counters, int, Agreement]] = {}

    def agreement(self, counters: Counters, name: str) -> Agreement:
        """How far an annotator agrees with people."""
        known = self._known.get(name)
        if known is None or known[0] is not counters or known[1] != counters.comparisons:
            known = counters, counters.comparisons, agreement_with_people(counters, name)
            self._known[name] = known
        return known[2]

    def closed(self, counters: Counters) -> frozenset[str]:
        """The judges whose gate is closed."""
        gated = [name for name, gate in counters.judges.items() if gate > 0.0]
        return frozenset(name for name in gated if not self._is_open(counters, name))

    def _is_open(self, counters: Counters, name: str) -> bool:
        found = self.agreement(counters, name)
        return found.examples >= FEWEST and found.low >= counters.judges[name]

"""One measured number: its range over the repetitions, its target, and the details of the run."""

from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, field
from statistics import median
from typing import Any

Progress = Callable[[str], None]


@dataclass(frozen=True)
class Target:
    """The least or the largest value that a figure should have."""

    bound: float
    at_least: bool

    def met(self, value: float) -> bool:
        return value >= self.bound if self.at_least else value <= self.bound

    def __str__(self) -> str:
        return f"{'>=' if self.at_least else '<='} {self.bound:g}"


def at_least(bound: float | None) -> Target | None:
    return None if bound is None else Target(bound, at_least=True)


def at_most(bound: float | None) -> Target | None:
    return None if bound is None else Target(bound, at_least=False)


@dataclass(frozen=True)
class Figure:
    """``value`` is the median over the repetitions, ``low`` and ``high`` their range."""

    name: str
    data: str
    value: float
    unit: str
    low: float
    high: float
    target: Target | None = None
    details: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        name: str,
        data: str,
        values: Iterable[float],
        unit: str,
        target: Target | None = None,
        **details: Any,
    ) -> "Figure":
        numbers = list(values)
        return cls(name, data, median(numbers), unit, min(numbers), max(numbers), target, details)

    @property
    def met(self) -> bool | None:
        return None if self.target is None else self.target.met(self.value)

    def to_json(self) -> dict[str, Any]:
        return {**asdict(self), "target": None if self.target is None else str(self.target), "met": self.met}

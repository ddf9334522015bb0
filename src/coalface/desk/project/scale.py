"""The scale of costs that annotators use: a few named levels, or any number within bounds."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from coalface.data import CostScale, is_number
from coalface.errors import InputError


@dataclass(frozen=True)
class Level:
    """One level of the scale; ``anchor`` is an example of it in words."""

    name: str
    cost: float
    anchor: str = ""


@dataclass(frozen=True)
class Scale:
    """The bounds of all costs, and levels in the order of their costs; without levels, any number is allowed.

    >>> Scale.of([{"name": "right", "cost": 0}, {"name": "harmful", "cost": 3, "anchor": "It insults."}]).bounds
    (0.0, 3.0)
    """

    levels: tuple[Level, ...]
    bounds: tuple[float, float]

    @classmethod
    def of(cls, levels: Sequence[Mapping[str, Any]], bounds: Sequence[float] | None = None) -> "Scale":
        """A scale; the default bounds are those of the levels, or 0 and 1."""
        steps = tuple(sorted((_level(level) for level in levels), key=lambda level: level.cost))
        if len(steps) == 1 or len({step.name for step in steps}) < len(steps):
            names = [step.name for step in steps]
            raise InputError(
                f"A scale must have at least two levels of distinct names, got {names}. Rename or add one."
            )
        if bounds is None:
            bounds = (steps[0].cost, steps[-1].cost) if steps else (0.0, 1.0)
        low, high = (_number(bound) for bound in bounds)
        if not low < high:
            raise InputError(f"The bounds of the costs must be low < high, got {low:g} and {high:g}. Correct them.")
        for step in steps:
            if not low <= step.cost <= high:
                raise InputError(
                    f"Level {step.name!r} must lie in [{low:g}, {high:g}], got {step.cost:g}. Widen the bounds."
                )
        return cls(steps, (low, high))

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> "Scale":
        """The scale that ``plain`` returned."""
        return cls.of(plain.get("levels", ()), plain.get("bounds"))

    def plain(self) -> dict[str, Any]:
        """The scale as a settings file holds it."""
        return {"bounds": list(self.bounds), "levels": [vars(level) for level in self.levels]}

    def shares(self, costs: Sequence[float]) -> list[float]:
        """Costs as shares of the scale, in 32 bits, as the learner compares costs.

        >>> Scale.of([], (0.0, 4.0)).shares([1.0, 4.0])
        [0.25, 1.0]
        """
        found: list[float] = CostScale(*self.bounds).to_unit(np.array(costs, np.float64)).astype(np.float32).tolist()
        return found

    def checked(self, costs: Mapping[str, Any], *, levels: bool = False) -> dict[str, float | None]:
        """Costs by label as an annotator gave them; None, "can't tell", stays None.

        With ``levels``, only the costs of levels are taken, if the scale has any: people and clients of the service
        choose a level. Imported costs and programs may lie between two of them.

        >>> scale = Scale.of([{"name": "right", "cost": 0}, {"name": "wrong", "cost": 1}])
        >>> scale.checked({"cat": 0.5, "dog": None})
        {'cat': 0.5, 'dog': None}
        >>> scale.checked({"cat": 0.5}, levels=True)
        Traceback (most recent call last):
        ...
        coalface.errors.InputError: The cost of label 'cat' must be one of the levels right (0), wrong (1), got 0.5.
        """
        (low, high), known = self.bounds, {level.cost for level in self.levels} if levels else ()
        found: dict[str, float | None] = {}
        for label, cost in costs.items():
            number = cost.item() if isinstance(cost, np.generic) else cost
            if number is not None and not (is_number(number) and low <= number <= high):
                rule = f"lie in [{low:g}, {high:g}]" if is_number(number) else "be a finite number"
                raise InputError(f"The cost of label {label!r} must {rule}, got {number!r}. Correct it.")
            if known and number is not None and number not in known:
                named = ", ".join(f"{level.name} ({level.cost:g})" for level in self.levels)
                raise InputError(f"The cost of label {label!r} must be one of the levels {named}, got {number:g}.")
            found[label] = None if number is None else float(number)
        return found


def _level(level: Mapping[str, Any]) -> Level:
    try:
        return Level(str(level["name"]), _number(level["cost"]), str(level.get("anchor", "")))
    except (KeyError, TypeError, AttributeError):
        raise InputError(f"A level must have a name and a cost, got {level!r}. Add what is missing.") from None


def _number(value: Any) -> float:
    number = value.item() if isinstance(value, np.generic) else value
    if not is_number(number):
        raise InputError(f"A cost must be a finite number, got {value!r}. Correct it.")
    return float(number)

"""One line of the ledger: an example, what was asked about it, and what was answered."""

import math
from dataclasses import asdict, dataclass
from typing import Any

from coalface.errors import FileFormatError


@dataclass(frozen=True)
class Answer:
    """One cost. ``cost`` is None where it was asked for and nobody could tell."""

    label: Any
    cost: float | None
    asked: bool = True
    audit: bool = False
    propensity: float = 1.0  # the chance with which it was asked for


@dataclass(frozen=True)
class Outlook:
    """What a round looked like before its answers came, costs on the inner scale from 0 to 1.

    ``label`` would have been the learner's answer, None if it would have abstained; ``chance`` is that of its cost
    being asked for, ``reachable`` the least that any answer might have cost.
    """

    label: Any
    predicted: float
    chance: float
    reachable: float


@dataclass(frozen=True)
class Entry:
    """One decided example, or a late answer to one. Costs are on the user's scale.

    An example without answers closed a round all the same; its features are not kept.

    >>> entry = Entry(7, False, 64, (3, 5), (1.0, 0.5), (Answer("cat", 0.25), Answer("dog", None)))
    >>> Entry.from_json(entry.to_json()) == entry
    True
    """

    round: int
    late: bool
    width: int
    indices: tuple[int, ...]
    values: tuple[float, ...]
    answers: tuple[Answer, ...]
    candidates: tuple[Any, ...] | None = None
    names: tuple[str, ...] | None = None  # of all columns, where they are named for the first time
    outlook: Outlook | None = None  # where labels are audited and the chances known

    def to_json(self) -> dict[str, Any]:
        """The entry as plain JSON values; what equals its default is left out."""
        line: dict[str, Any] = {"round": self.round, "width": self.width}
        if self.late:
            line["late"] = True
        if self.answers:
            line["indices"], line["values"] = list(self.indices), list(self.values)
            line["answers"] = [_answer_to_json(answer) for answer in self.answers]
        if self.candidates is not None:
            line["candidates"] = list(self.candidates)
        if self.names is not None:
            line["names"] = list(self.names)
        if self.outlook is not None:
            line["outlook"] = asdict(self.outlook)
        return line

    @classmethod
    def from_json(cls, line: Any) -> "Entry":
        """The entry that ``to_json`` wrote; a FileFormatError if it cannot be one."""
        try:
            entry = cls(
                round=_whole(line["round"]),
                late=bool(line.get("late", False)),
                width=_whole(line["width"]),
                indices=tuple(_whole(index) for index in line.get("indices", ())),
                values=tuple(_finite(value) for value in line.get("values", ())),
                answers=tuple(_answer_from_json(answer) for answer in line.get("answers", ())),
                candidates=tuple(_label(label) for label in line["candidates"]) if "candidates" in line else None,
                names=tuple(str(name) for name in line["names"]) if "names" in line else None,
                outlook=_outlook_from_json(line["outlook"]) if "outlook" in line else None,
            )
        except (KeyError, TypeError, ValueError, OverflowError, AttributeError) as problem:
            raise FileFormatError(f"not a ledger entry ({problem!r})") from None
        if len(entry.indices) != len(entry.values):
            raise FileFormatError(f"{len(entry.indices)} indices but {len(entry.values)} values")
        return entry


def _answer_to_json(answer: Answer) -> dict[str, Any]:
    line: dict[str, Any] = {"label": answer.label, "cost": answer.cost}
    if not answer.asked:
        line["asked"] = False
    if answer.audit or answer.propensity != 1.0:
        line["audit"], line["propensity"] = answer.audit, answer.propensity
    return line


def _answer_from_json(line: Any) -> Answer:
    cost = line["cost"]
    return Answer(
        label=_label(line["label"]),
        cost=None if cost is None else _finite(cost),
        asked=bool(line.get("asked", True)),
        audit=bool(line.get("audit", False)),
        propensity=_finite(line.get("propensity", 1.0)),
    )


def _outlook_from_json(line: Any) -> Outlook:
    label, chance = line["label"], _finite(line["chance"])
    if not 0 < chance <= 1:
        raise ValueError(f"{chance!r} is not a chance")
    label = None if label is None else _label(label)
    return Outlook(label, _finite(line["predicted"]), chance, _finite(line["reachable"]))


def _label(value: Any) -> Any:
    if not isinstance(value, str | int | float):
        raise ValueError(f"{value!r} is not a label")
    return value


def _finite(value: Any) -> float:
    number = float(value)
    if not math.isfinite(number):
        raise ValueError(f"{value!r} is not a finite number")
    return number


def _whole(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise ValueError(f"{value!r} is not a whole number")
    return value

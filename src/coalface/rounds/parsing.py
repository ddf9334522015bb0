"""Parses and checks the JSON form of a round; every error names the field, the rule and the value."""

import sys
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

_SHOWN = 60  # characters of a bad value in an error message
_INDEX_END = 2**31 - 1


class Answers(NamedTuple):
    """The questions and answers of a line of any version."""

    ask: tuple[str, ...]
    costs: dict[str, float | None]
    unasked: tuple[str, ...]
    propensity: dict[str, float]


class Parser:
    """Reads the fields of one JSON object."""

    def __init__(self, line: Any) -> None:
        if not isinstance(line, dict):
            raise ValueError(f"a round must be one JSON object, got {shown(line)}")
        self._line: dict[str, Any] = line
        if "names" in line and "columns" not in line:  # version 0.1
            self._line = {**line, "columns": line["names"]}

    def has(self, name: str) -> bool:
        """Whether the line has this field."""
        return name in self._line

    def get(self, name: str, default: Any) -> Any:
        """A field, unchecked."""
        return self._line.get(name, default)

    def whole(self, name: str, default: int | None = None) -> int:
        """A non-negative integer."""
        if name not in self._line and default is not None:
            return default
        return _whole(self.required(name), f'"{name}"')

    def width(self) -> int | None:
        """The number of columns, which version 0.1 called "width"."""
        name = "n_features" if "n_features" in self._line else "width"
        return self.whole(name) if name in self._line else None

    def flag(self, name: str) -> bool:
        """True or false; a missing part is false."""
        value = self._line.get(name, False)
        if not isinstance(value, bool):
            raise ValueError(f'"{name}" must be true or false, got {shown(value)}')
        return value

    def numbers(self, name: str) -> tuple[float, ...]:
        """A list of finite numbers."""
        return tuple(_finite(value, f'a number of "{name}"') for value in self._listed(name))

    def indices(self) -> tuple[int, ...]:
        """The columns of the example's features, without repetitions."""
        indices = tuple(_whole(index, 'a number of "indices"', _INDEX_END) for index in self._listed("indices"))
        refuse_repeated(indices, '"indices"')
        return indices

    def texts(self, name: str) -> tuple[str, ...]:
        """A list of distinct strings."""
        values = self._listed(name)
        if not all(isinstance(value, str | int | float) for value in values):
            raise ValueError(f'"{name}" must be a list of labels as text, got {shown(values)}')
        texts = tuple(str(value) for value in values)
        refuse_repeated(texts, f'"{name}"')
        return texts

    def text_of(self, name: str) -> dict[str, str]:
        """A mapping from labels to strings."""
        return {label: str(text) for label, text in self.mapping(name).items()}

    def number_of(self, name: str) -> dict[str, float]:
        """A mapping from labels or features to finite numbers."""
        return {key: _finite(value, f'{key!r} of "{name}"') for key, value in self.mapping(name).items()}

    def ranges(self) -> dict[str, tuple[float, float]]:
        """The lowest and the highest cost of each label."""
        ranges = {}
        for label, ends in self.mapping("ranges").items():
            if not isinstance(ends, list) or len(ends) != 2:
                raise ValueError(f"the range of {label!r} must be a list of two numbers, got {shown(ends)}")
            low, high = (_finite(end, f"an end of the range of {label!r}") for end in ends)
            ranges[label] = (low, high)
        return ranges

    def outlook(self) -> tuple[str | None, float, float, float]:
        """Label, predicted cost, chance and reachable cost."""
        outlook = Parser(self.mapping("outlook"))
        label = outlook.required("label")
        if label is not None and not isinstance(label, str | int | float):
            raise ValueError(f'the label of "outlook" must be text or null, got {shown(label)}')
        costs = [_finite(outlook.required(name), f'"{name}" of "outlook"') for name in ("predicted", "reachable")]
        if not (self.has("offset") or all(0 <= cost <= 1 for cost in costs)):  # a known part may be of any size
            raise ValueError(f'"predicted" and "reachable" of "outlook" must lie in [0, 1], got {shown(costs)}')
        return (
            None if label is None else str(label),
            costs[0],
            _chance(outlook.required("chance"), '"outlook"'),
            costs[1],
        )

    def answers(self) -> Answers:
        """The questions and answers."""
        if "answers" in self._line:
            return self._answers_in_version_0_1()
        ask = self.texts("ask")
        costs = {label: _cost(cost, label) for label, cost in self.mapping("costs").items()}
        if not costs and "truth" in self._line and self.truth() is None:  # can't tell the true label, so no cost
            costs = dict.fromkeys(ask)
        unasked = (
            self.texts("unasked") if "unasked" in self._line else tuple(label for label in costs if label not in ask)
        )
        return Answers(ask, costs, unasked, self._propensity())

    def asks_truth(self) -> bool:
        """Whether the true label was asked for; a line that only gives it was asked for nothing else."""
        only_truth = self.has("truth") and not (self.has("ask") or self.has("ask_truth"))
        return self.flag("ask_truth") or only_truth

    def truth(self) -> str | None:
        """The true label as text; None if it is missing or null."""
        truth = self._line.get("truth")
        if isinstance(truth, bool) or not (truth is None or isinstance(truth, str | int | float)):
            raise ValueError(f'"truth" must be a label, or null for "can\'t tell", got {shown(truth)}')
        return None if truth is None else str(truth)

    def served(self, costs: Mapping[str, float | None]) -> str | None:
        """The label that was served, which must be the only one with a cost; None if it is missing."""
        if not self.has("served"):
            return None
        label = self._line["served"]
        if isinstance(label, bool) or not isinstance(label, str | int | float):
            raise ValueError(f'"served" must be a label, got {shown(label)}')
        if list(costs) != [str(label)] or costs[str(label)] is None:
            raise ValueError(f'"costs" must have the cost of the served label {shown(label)} alone, got {shown(costs)}')
        return str(label)

    def probability(self) -> float | None:
        """The probability with which the served label was chosen; a ValueError if one is given without the other."""
        if self.has("served") != self.has("probability"):
            raise ValueError('"served" and "probability" belong together; write both or neither')
        return _chance(self._line["probability"], "the served label") if self.has("probability") else None

    def check_example(self, n_indices: int, n_values: int) -> None:
        """Raise a ValueError if the features contradict each other."""
        if n_indices != n_values:
            raise ValueError(f'"indices" and "values" must have the same length, got {n_indices} and {n_values}')
        if "features" in self._line and "indices" in self._line:
            raise ValueError('a round must have "features" or "indices", got both')

    def check_labels(
        self, candidates: tuple[str, ...] | None, ask: tuple[str, ...], costs: Iterable[str], propensity: Iterable[str]
    ) -> None:
        """Raise a ValueError if labels are not among the candidates or the questions."""
        if candidates is not None:
            _refuse_unlisted([*ask, *costs], candidates, "candidates")
        _refuse_unlisted(propensity, ask, "ask")

    def _propensity(self) -> dict[str, float]:
        return {label: _chance(chance, f"label {label!r}") for label, chance in self.mapping("propensity").items()}

    def _answers_in_version_0_1(self) -> Answers:
        """Version 0.1 wrote a list of objects with "label", "cost", "asked", "audit" and "propensity"."""
        lines = [Parser(line) for line in self._listed("answers")]
        labels = [line.label() for line in lines]
        refuse_repeated(labels, '"answers"')
        pairs = list(zip(labels, lines, strict=True))
        ask = tuple(label for label, line in pairs if line.get("asked", True))
        return Answers(
            ask,
            {label: _cost(line.required("cost"), label) for label, line in pairs},
            tuple(label for label in labels if label not in ask),
            {
                la: _chance(line.required("propensity"), f"label {la!r}")
                for la, line in pairs
                if line.get("audit", False)
            },
        )

    def required(self, name: str) -> Any:
        """A field, unchecked; a ValueError if it is missing."""
        if name not in self._line:
            raise ValueError(f'"{name}" is missing')
        return self._line[name]

    def label(self) -> str:
        """The field "label" as text."""
        label = self.required("label")
        if not isinstance(label, str | int | float):
            raise ValueError(f'"label" must be text or a number, got {shown(label)}')
        return str(label)

    def mapping(self, name: str) -> dict[str, Any]:
        """An object, unchecked; a missing one is empty."""
        value = self._line.get(name, {})
        if not isinstance(value, dict):
            raise ValueError(f'"{name}" must be an object, got {shown(value)}')
        return value

    def _listed(self, name: str) -> list[Any]:
        value = self._line.get(name, [])
        if not isinstance(value, list):
            raise ValueError(f'"{name}" must be a list, got {shown(value)}')
        return value


def refuse_repeated(values: Iterable[Any], what: str) -> None:
    """Raise a ValueError if a value is repeated."""
    listed = list(values)
    if len(set(listed)) < len(listed):
        repeated = Counter(listed).most_common(1)[0][0]
        raise ValueError(f"{what} must hold {shown(repeated)} only once")


def shown(value: Any) -> str:
    """A bad value, shortened for an error message."""
    text = repr(value)
    return text if len(text) <= _SHOWN else text[:_SHOWN] + "..."


def _refuse_unlisted(names: Iterable[str], allowed: tuple[str, ...], key: str) -> None:
    for name in names:
        if name not in allowed:
            raise ValueError(
                f'"{key}" must hold {shown(name)}, which is asked about or answered, got {shown(list(allowed))}'
            )


def _cost(value: Any, label: str) -> float | None:
    return None if value is None else _finite(value, f"the cost of {label!r}")


def _chance(value: Any, what: str) -> float:
    chance = _finite(value, f"the propensity of {what}")
    if not 0 < chance <= 1:
        raise ValueError(f"the propensity of {what} must be above 0 and at most 1, got {chance!r}")
    return chance


def _whole(value: Any, what: str, end: int = 2**62) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < end:
        raise ValueError(f"{what} must be a non-negative integer below {end}, got {shown(value)}")
    return value


def _finite(value: Any, what: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) <= sys.float_info.max:
        raise ValueError(f"{what} must be a finite number, got {shown(value)}")
    return float(value)

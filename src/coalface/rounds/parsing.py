"""Parses and checks the JSON form of a round; every error names the field, the rule and the value."""

from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any

from coalface.data.numbers import is_number, is_whole
from coalface.errors import shortened

Reader = Callable[[Any, str], Any]  # of a value with its name in messages


def round_fields(line: Any) -> dict[str, Any]:
    """The fields of the ``Round`` that a line describes; a ValueError says what is wrong. Unknown keys are ignored.

    >>> round_fields({"round": 3, "truth": "cat"})
    {'truth': 'cat', 'number': 3, 'ask_truth': True, 'unasked': ()}
    """
    if not isinstance(line, dict):
        raise ValueError(f"a round must be one JSON object, got {shown(line)}")
    found = {NAMES.get(name, name): read(line[name], f'"{name}"') for name, read in FIELDS.items() if name in line}
    _required(line, "round")
    ask = found.get("ask", ())
    if "truth" in line and found["truth"] is None and not found.get("costs"):
        found["costs"] = dict.fromkeys(ask)  # can't tell the true label, so no cost
    if "truth" in line and not ("ask" in line or "ask_truth" in line):
        found["ask_truth"] = True  # a line that only gives the true label was asked for nothing else
    costs = found.get("costs", {})
    found.setdefault("unasked", tuple(label for label in costs if label not in ask))
    _check_example(line, found)
    _check_served(line, found, costs)
    if "outlook" in line and "offset" not in line:  # a known part may be of any size
        foreseen = [found["outlook"][name] for name in ("predicted", "reachable")]
        if not all(0 <= cost <= 1 for cost in foreseen):
            raise ValueError(f'"predicted" and "reachable" of "outlook" must lie in [0, 1], got {shown(foreseen)}')
    if "candidates" in line:
        _refuse_unlisted([*ask, *costs], found["candidates"], "candidates")
    _refuse_unlisted(found.get("propensity", ()), ask, "ask")
    return found


def _refuse_repeated(values: Iterable[Any], what: str) -> None:
    """Raise a ValueError if a value is repeated."""
    listed = list(values)
    if len(set(listed)) < len(listed):
        repeated = Counter(listed).most_common(1)[0][0]
        raise ValueError(f"{what} must hold {shown(repeated)} only once")


def shown(value: Any) -> str:
    """A bad value, shortened for an error message."""
    return shortened(value, 63)


def _refuse_unlisted(names: Iterable[str], allowed: tuple[str, ...], key: str) -> None:
    for name in names:
        if name not in allowed:
            raise ValueError(
                f'"{key}" must hold {shown(name)}, which is asked about or answered, got {shown(list(allowed))}'
            )


def _required(line: dict[str, Any], name: str) -> Any:
    if name not in line:
        raise ValueError(f'"{name}" is missing')
    return line[name]


def _check_example(line: dict[str, Any], found: dict[str, Any]) -> None:
    """Raise a ValueError if the features contradict each other."""
    n_indices, n_values = len(found.get("indices", ())), len(found.get("values", ()))
    if n_indices != n_values:
        raise ValueError(f'"indices" and "values" must have the same length, got {n_indices} and {n_values}')
    if "features" in line and "indices" in line:
        raise ValueError('a round must have "features" or "indices", got both')


def _check_served(line: dict[str, Any], found: dict[str, Any], costs: dict[str, float | None]) -> None:
    """Raise a ValueError unless a served label has its probability and the only cost."""
    if ("served" in line) != ("probability" in line):
        raise ValueError('"served" and "probability" belong together; write both or neither')
    label = found.get("served")
    if label is not None and (list(costs) != [label] or costs[label] is None):
        given = shown(line["served"])
        raise ValueError(f'"costs" must have the cost of the served label {given} alone, got {shown(costs)}')


# -- values ------------------------------------------------------------------------------------------


def _reader(fits: Callable[[Any], bool], rule: str, made: Callable[[Any], Any] = lambda value: value) -> Reader:
    """A reader of values that fit; others are refused with the rule."""

    def read(value: Any, what: str) -> Any:
        if not fits(value):
            raise ValueError(f"{what} must be {rule}, got {shown(value)}")
        return made(value)

    return read


def _whole_below(end: int) -> Reader:
    return _reader(lambda value: is_whole(value) and 0 <= value < end, f"a non-negative integer below {end}")


_finite = _reader(is_number, "a finite number", float)
_flag = _reader(lambda value: isinstance(value, bool), "true or false")
_list = _reader(lambda value: isinstance(value, list), "a list")
_object = _reader(lambda value: isinstance(value, dict), "an object")
_index = _whole_below(2**31 - 1)


def _chance(value: Any, what: str) -> float:
    chance: float = _finite(value, f"the propensity of {what}")
    if not 0 < chance <= 1:
        raise ValueError(f"the propensity of {what} must be above 0 and at most 1, got {chance!r}")
    return chance


def _label(value: Any, rule: str) -> str:
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise ValueError(f"{rule}, got {shown(value)}")
    return str(value)


def _truth(value: Any, what: str) -> str | None:
    return None if value is None else _label(value, f'{what} must be a label, or null for "can\'t tell"')


def _numbers(values: Any, what: str) -> tuple[float, ...]:
    return tuple(_finite(value, f"a number of {what}") for value in _list(values, what))


def _indices(values: Any, what: str) -> tuple[int, ...]:
    indices = tuple(_index(value, f"a number of {what}") for value in _list(values, what))
    _refuse_repeated(indices, what)
    return indices


def _texts(values: Any, what: str) -> tuple[str, ...]:
    if not all(isinstance(value, str | int | float) for value in _list(values, what)):
        raise ValueError(f"{what} must be a list of labels as text, got {shown(values)}")
    texts = tuple(str(value) for value in values)
    _refuse_repeated(texts, what)
    return texts


def _by_label(read: Reader, place: str) -> Callable[[Any, str], dict[str, Any]]:
    """A reader of an object; ``place`` names one of its values in messages."""
    return lambda value, what: {
        label: read(one, place.format(label=repr(label), what=what)) for label, one in _object(value, what).items()
    }


def _range(ends: Any, what: str) -> tuple[float, float]:
    if not isinstance(ends, list) or len(ends) != 2:
        raise ValueError(f"{what} must be a list of two numbers, got {shown(ends)}")
    low, high = (_finite(end, f"an end of {what}") for end in ends)
    return low, high


def _outlook(value: Any, what: str) -> dict[str, Any]:
    outlook = _object(value, what)
    label = _required(outlook, "label")
    found: dict[str, Any] = {
        "label": None if label is None else _label(label, f"the label of {what} must be text or null")
    }
    for name in ("predicted", "reachable"):
        found[name] = _finite(_required(outlook, name), f'"{name}" of {what}')
    return {**found, "chance": _chance(_required(outlook, "chance"), what)}


NAMES = {"round": "number", "n_features": "width"}  # of fields, where JSON has another one
FIELDS: dict[str, Reader] = {
    "ask": _texts,
    "costs": _by_label(lambda cost, what: None if cost is None else _finite(cost, what), "the cost of {label}"),
    "truth": _truth,
    "unasked": _texts,
    "propensity": _by_label(_chance, "label {label}"),
    "round": _whole_below(2**62),
    "late": _flag,
    "n_features": _whole_below(2**62),
    "indices": _indices,
    "values": _numbers,
    "features": _by_label(_finite, "{label} of {what}"),
    "columns": _texts,
    "encoder": _object,
    "budget": _object,
    "example": _object,
    "bounds": _range,
    "candidates": _texts,
    "first": _whole_below(2**62),
    "ranges": _by_label(_range, "the range of {label}"),
    "predicted": _by_label(_finite, "{label} of {what}"),
    "reasons": _by_label(lambda text, _: str(text), ""),
    "outlook": _outlook,
    "ask_truth": _flag,
    "offset": _by_label(_finite, "{label} of {what}"),
    "by": _by_label(lambda text, _: str(text), ""),
    "served": lambda value, what: _label(value, f"{what} must be a label"),
    "probability": lambda value, _: _chance(value, "the served label"),
}

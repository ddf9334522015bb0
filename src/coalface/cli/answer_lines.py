"""Answers as JSON lines: what came back of the lines that ``ask`` wrote, checked one by one."""

import json
import sys
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from coalface.errors import FileFormatError

_SHOWN = 60  # characters of a bad value
_INDEX_END = 2**31 - 1


class _RepeatedError(ValueError):
    """What may be there once is there twice."""


class LineOutlook(NamedTuple):
    """What the learner would have answered, None to abstain, and what that looked like: see ``kernels.stopping``."""

    label: str | None
    predicted: float
    chance: float
    reachable: float


@dataclass(frozen=True)
class AnswerLine:
    """One line, checked on its own; ``costs`` has None where nobody could tell.

    ``propensity`` is the chance with which each audited label was asked about; a model has no place for it.
    """

    number: int
    round: int
    ask: list[str]
    costs: dict[str, float | None] = field(default_factory=dict)
    features: dict[str, float] | None = None
    indices: list[int] = field(default_factory=list)
    values: list[float] = field(default_factory=list)
    candidates: list[str] | None = None
    propensity: dict[str, float] = field(default_factory=dict)
    outlook: LineOutlook | None = None


def answer_lines(lines: Iterable[str], source: str, *, partial: bool = False) -> list[AnswerLine]:
    """All lines, in the order of their rounds; the first bad one is an error that names it.

    Unless answers may be ``partial``, every cost that was asked for must be there.

    >>> answered = '{"round": 1, "ask": ["a"], "features": {"length": 2}, "costs": {"a": null}}'
    >>> [line.costs for line in answer_lines([answered], "answers.jsonl")]
    [{'a': None}]
    """
    answers: dict[int, AnswerLine] = {}
    for number, text in enumerate(lines, start=1):
        if not text.strip():
            continue
        try:
            answer = _parsed(number, text)
            unanswered = [repr(name) for name in answer.ask if name not in answer.costs]
            if unanswered and not partial:
                raise ValueError(f'"costs" must answer {", ".join(unanswered)}, with null if nobody can tell')
            if answer.round in answers:
                raise ValueError(f"round {answer.round} must be told once, line {answers[answer.round].number} has it")
        except (ValueError, TypeError, KeyError, RecursionError) as problem:
            reason = _reason(problem)
            raise FileFormatError(
                f"{source}, line {number}: {reason}. Nothing was learned; correct the line."
            ) from None
        answers[answer.round] = answer
    return [answers[round_number] for round_number in sorted(answers)]


def _reason(problem: Exception) -> str:
    if isinstance(problem, KeyError):
        return f"{problem} is missing"
    return "its brackets are nested too deeply" if isinstance(problem, RecursionError) else str(problem)


def _parsed(number: int, text: str) -> AnswerLine:
    try:
        line = json.loads(text, object_pairs_hook=_once)
    except _RepeatedError:
        raise
    except ValueError:
        raise ValueError(f"a line must be one JSON object, got {text.strip()[:_SHOWN]!r}") from None
    if not isinstance(line, dict):
        raise TypeError(f"a line must be one JSON object, got {text.strip()[:_SHOWN]!r}")
    answer = AnswerLine(
        number=number,
        round=_whole(line["round"], "round"),
        ask=_texts(line["ask"], "ask"),
        costs={name: _number(cost, f"the cost of {name!r}") for name, cost in _mapping(line, "costs").items()},
        features=_feature_values(line) if "features" in line else None,
        indices=[_whole(index, "an index", _INDEX_END) for index in _listed(line.get("indices", []), "indices")],
        values=[_finite(value, "a value") for value in _listed(line.get("values", []), "values")],
        candidates=_texts(line["candidates"], "candidates") if "candidates" in line else None,
        propensity={name: _chance(value, name) for name, value in _mapping(line, "propensity").items()},
        outlook=_outlook(_mapping(line, "outlook")) if "outlook" in line else None,
    )
    _check_parts(answer, line)
    return answer


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object of JSON; of a name given twice, nobody can say which value is meant."""
    _refuse_repeated([name for name, _ in pairs], "an object")
    return dict(pairs)


def _refuse_repeated(values: list[Any], what: str) -> None:
    if len(set(values)) < len(values):
        repeated = Counter(values).most_common(1)[0][0]
        raise _RepeatedError(f"{what} must hold {_shown(repeated)} once, got it twice")


def _check_parts(answer: AnswerLine, line: dict[str, Any]) -> None:
    """Refuse a line whose parts contradict each other."""
    _refuse_repeated(answer.indices, '"indices"')
    if len(answer.indices) != len(answer.values):
        raise ValueError(f"there are {len(answer.indices)} indices and {len(answer.values)} values")
    if answer.costs and answer.features is None and "indices" not in line:
        raise ValueError('"features", or "indices" and "values", must be there where costs are')
    if answer.features is not None and "indices" in line:
        raise ValueError('"features" and "indices" must not both be there')
    if answer.candidates is not None:
        _refuse_others([*answer.ask, *answer.costs], answer.candidates, "candidates")
    _refuse_others(answer.propensity, answer.ask, "ask")
    audit = _texts(line.get("audit", []), "audit")
    if set(audit) != set(answer.propensity):
        raise ValueError(f'"audit" and "propensity" must name the same labels, got {_shown(audit)}')


def _refuse_others(names: Iterable[str], allowed: list[str], key: str) -> None:
    among = set(allowed)
    for name in names:
        if name not in among:
            raise ValueError(
                f'"{key}" must hold {_shown(name)}, which is asked about or answered, got {_shown(allowed)}'
            )


def _feature_values(line: dict[str, Any]) -> dict[str, float]:
    return {name: _finite(value, f"the feature {name!r}") for name, value in _mapping(line, "features").items()}


def _mapping(line: dict[str, Any], key: str) -> dict[str, Any]:
    value = line.get(key, {})
    if not isinstance(value, dict):
        raise TypeError(f'"{key}" must be an object, got {_shown(value)}')
    return value


def _listed(value: Any, key: str) -> list[Any]:
    if not isinstance(value, list):
        raise TypeError(f'"{key}" must be a list, got {_shown(value)}')
    return value


def _texts(value: Any, key: str) -> list[str]:
    if not all(isinstance(name, str) for name in _listed(value, key)):
        raise TypeError(f'"{key}" must be a list of labels as text, got {_shown(value)}')
    _refuse_repeated(value, f'"{key}"')
    return list(value)


def _whole(value: Any, what: str, end: int = 2**62) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < end:
        raise ValueError(f"{what} must be a whole number from 0 on and below {end}, got {_shown(value)}")
    return value


def _number(value: Any, what: str) -> float | None:
    return None if value is None else _finite(value, what)


def _finite(value: Any, what: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) <= sys.float_info.max:
        raise ValueError(f"{what} must be a finite number, got {_shown(value)}")
    return float(value)


def _chance(value: Any, label: str) -> float:
    chance = _finite(value, f"the propensity of {label!r}")
    if not 0 < chance <= 1:
        raise ValueError(f"the propensity of {label!r} must be above 0 and at most 1, got {chance!r}")
    return chance


def _outlook(outlook: dict[str, Any]) -> LineOutlook:
    label = outlook["label"]
    if label is not None and not isinstance(label, str):
        raise TypeError(f'the label of "outlook" must be text or null, got {_shown(label)}')
    costs = [_finite(outlook[name], f'"{name}"') for name in ("predicted", "reachable")]
    if not all(0 <= cost <= 1 for cost in costs):
        raise ValueError(f'"predicted" and "reachable" must lie in [0, 1], got {_shown(costs)}')
    return LineOutlook(label, costs[0], _chance(outlook["chance"], "outlook"), costs[1])


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= _SHOWN else text[:_SHOWN] + "..."

"""Questions and answers as JSON lines: what ``ask`` writes, somebody completes, and ``tell`` reads.

::

    {"row": 3, "round": 14, "ask": ["refund"], "ranges": {"refund": [0.0, 0.8]}, "features": {"length": 3.5}}
    {"row": 3, "round": 14, "ask": ["refund"], ..., "costs": {"refund": 0.25}}       the same line, answered

Labels are spelled as text. Features are given by name, or as ``indices`` and ``values`` where they have none.
A line for an example without a question is ``{"row": 4, "round": 15, "ask": []}``: it closes its round.
"""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from coalface.data.dataset import CostDataset
from coalface.data.labels import label_texts
from coalface.errors import FileFormatError
from coalface.queries import Queries

_DIGITS = 6


@dataclass(frozen=True)
class AnswerLine:
    """One line, checked on its own; ``costs`` has None where nobody could tell."""

    number: int
    round: int
    ask: list[str]
    costs: dict[str, float | None] = field(default_factory=dict)
    features: dict[str, float] | None = None
    indices: list[int] = field(default_factory=list)
    values: list[float] = field(default_factory=list)
    candidates: list[str] | None = None


def question_lines(queries: Queries, dataset: CostDataset, *, explain: bool) -> Iterator[str]:
    """A line per example; with ``explain`` the ranges of all labels, and why each is asked for or not."""
    names = label_texts(queries.classes)
    for i in range(len(queries)):
        asked = [name for name, ask in zip(names, queries.mask[i].tolist(), strict=True) if ask]
        line: dict[str, Any] = {"row": i, "round": queries.first_round + i, "ask": asked}
        shown = names if explain else asked
        if shown:
            line["ranges"] = _ranges(queries, i, names, shown)
        if explain:
            line["predicted"] = dict(zip(names, _rounded(queries.predicted[i].tolist()), strict=True))
            line["reasons"] = dict(zip(names, queries.reasons[i].tolist(), strict=True))
        if asked:
            line |= _features(dataset, i)
        if asked and dataset.candidates is not None:
            allowed = dataset.candidates[i].tolist()
            line["candidates"] = [name for name, may in zip(names, allowed, strict=True) if may]
        yield json.dumps(line, allow_nan=False)


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
        except (ValueError, TypeError, KeyError) as problem:
            reason = f"{problem} is missing" if isinstance(problem, KeyError) else str(problem)
            raise FileFormatError(
                f"{source}, line {number}: {reason}. Nothing was learned; correct the line."
            ) from None
        answers[answer.round] = answer
    return [answers[round_number] for round_number in sorted(answers)]


def _ranges(queries: Queries, i: int, names: list[str], shown: list[str]) -> dict[str, list[float]]:
    lowest, highest = queries.ranges.lowest[i].tolist(), queries.ranges.highest[i].tolist()
    return {name: _rounded([lowest[names.index(name)], highest[names.index(name)]]) for name in shown}


def _rounded(numbers: list[float]) -> list[float]:
    return [round(number, _DIGITS) for number in numbers]


def _features(dataset: CostDataset, i: int) -> dict[str, Any]:
    span = slice(int(dataset.X.indptr[i]), int(dataset.X.indptr[i + 1]))
    indices = dataset.X.indices[span].tolist()
    values = [float(f"{value:.9g}") for value in dataset.X.data[span]]  # 9 digits give float32 back exactly
    if dataset.feature_names is None:
        return {"indices": indices, "values": values}
    return {"features": {dataset.feature_names[index]: value for index, value in zip(indices, values, strict=True)}}


def _parsed(number: int, text: str) -> AnswerLine:
    try:
        line = json.loads(text)
    except ValueError:
        raise ValueError(f"a line must be one JSON object, got {text.strip()[:60]!r}") from None
    if not isinstance(line, dict):
        raise TypeError(f"a line must be one JSON object, got {text.strip()[:60]!r}")
    answer = AnswerLine(
        number=number,
        round=_whole(line["round"], "round"),
        ask=_texts(line["ask"], "ask"),
        costs={name: _number(cost, f"the cost of {name!r}") for name, cost in _mapping(line, "costs").items()},
        features=_feature_values(line) if "features" in line else None,
        indices=[_whole(index, "an index") for index in _listed(line.get("indices", []), "indices")],
        values=[_finite(value, "a value") for value in _listed(line.get("values", []), "values")],
        candidates=_texts(line["candidates"], "candidates") if "candidates" in line else None,
    )
    if len(answer.indices) != len(answer.values):
        raise ValueError(f"there are {len(answer.indices)} indices and {len(answer.values)} values")
    if answer.costs and answer.features is None and "indices" not in line:
        raise ValueError('"features", or "indices" and "values", must be there where costs are')
    return answer


def _feature_values(line: dict[str, Any]) -> dict[str, float]:
    return {name: _finite(value, f"the feature {name!r}") for name, value in _mapping(line, "features").items()}


def _mapping(line: dict[str, Any], key: str) -> dict[str, Any]:
    value = line.get(key, {})
    if not isinstance(value, dict):
        raise TypeError(f'"{key}" must be an object, got {value!r}')
    return value


def _listed(value: Any, key: str) -> list[Any]:
    if not isinstance(value, list):
        raise TypeError(f'"{key}" must be a list, got {value!r}')
    return value


def _texts(value: Any, key: str) -> list[str]:
    if not all(isinstance(name, str) for name in _listed(value, key)):
        raise TypeError(f'"{key}" must be a list of labels as text, got {value!r}')
    return list(value)


def _whole(value: Any, what: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise ValueError(f"{what} must be a whole number from 0 on, got {value!r}")
    return value


def _number(value: Any, what: str) -> float | None:
    return None if value is None else _finite(value, what)


def _finite(value: Any, what: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) < float("inf"):
        raise ValueError(f"{what} must be a finite number, got {value!r}")
    return float(value)

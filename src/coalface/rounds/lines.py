"""Rounds as JSON lines: ``coalface ask`` writes them, an annotator adds "costs", and ``coalface tell`` reads them.

Where a line has "ask_truth", the annotator adds "truth" instead, and the learner's matrix gives the costs.

::

    {"row": 3, "round": 14, "features": {"length": 3.5}, "ask": ["refund"], "ranges": {"refund": [0.0, 0.8]}}

An example with texts or gaps is written as it was read, as ``"example": {"text": "my parcel is lost"}``.
A label that was served, and what it cost, is ``"served": "refund", "probability": 0.8, "costs": {"refund": 0.2}``.
A line without a question is ``{"row": 4, "round": 15, "ask": []}``: it closes its round.
"""

import json
from collections.abc import Collection, Iterable, Iterator
from dataclasses import replace

from coalface.data.dataset import CostDataset
from coalface.data.formats.records import distinct_fields
from coalface.data.labels import label_texts
from coalface.errors import FileFormatError, UnknownLabelError
from coalface.rounds.queries import REASONS, Queries
from coalface.rounds.round import Round

_DIGITS = 6
_SHOWN = 60  # characters of a bad line


def question_line(queries: Queries, i: int, dataset: CostDataset, *, first: int = 0, explain: bool = False) -> str:
    """Example ``i`` as a line; with ``explain``, the range, prediction and reason of every label.

    ``first`` is the number of the first example in its file.

    >>> from coalface import CoalClassifier
    >>> dataset = CostDataset([[3.5]], [[0.0, 1.0]], ["walk", "fly"], feature_names=["length"])
    >>> print(question_line(CoalClassifier(["walk", "fly"]).ask(dataset.X, max_costs=1), 0, dataset))
    {"row": 0, "round": 1, "features": {"length": 3.5}, "ask": ["walk"], "ranges": {"walk": [0.0, 1.0]}}
    """
    asked = replace(queries.round(i), first=None, predicted={}, reasons={})
    if explain:
        asked = _explained(asked, queries, i)
    asked = replace(asked, ranges={label: _rounded(ends) for label, ends in asked.ranges.items()})
    if asked.ask:
        asked = _with_example(asked, dataset, i)
    named = {} if dataset.ids is None else {"id": str(dataset.ids[i])}
    line = {"row": first + i, **named, **asked.to_json()}
    if asked.ask and asked.features is None and asked.example is None:
        line |= {"indices": list(asked.indices), "values": list(asked.values)}  # also where the example is all zeros
    return json.dumps(line, allow_nan=False)


def read_rounds(
    lines: Iterable[str], source: str, *, labels: Collection[str] | None = None, partial: bool = False
) -> list[Round]:
    """The rounds of all lines, in their order; an error names ``source`` and the line.

    Labels must be among ``labels``, by default any. Unless answers may be ``partial``, every label in "ask" needs a
    cost.

    >>> line = '{"round": 1, "ask": ["walk"], "features": {"length": 2}, "costs": {"walk": null}}'
    >>> [dict(one.costs) for one in read_rounds([line], "answers.jsonl")]
    [{'walk': None}]
    """
    rounds: dict[int, Round] = {}
    line_of: dict[int, int] = {}
    for number, one in numbered_rounds(lines, source, labels=labels, partial=partial):
        if one.number in rounds:
            problem = ValueError(f"round {one.number} must appear once, line {line_of[one.number]} has it too")
            raise _bad_line(source, number, problem)
        rounds[one.number], line_of[one.number] = one, number
    return [rounds[number] for number in sorted(rounds)]


def numbered_rounds(
    lines: Iterable[str], source: str, *, labels: Collection[str] | None, partial: bool
) -> Iterator[tuple[int, Round]]:
    """The round of each line with the number of the line, as they are read; see ``read_rounds``."""
    for number, text in enumerate(lines, start=1):
        if not text.strip():
            continue
        try:
            one = _parsed(text)
            _check(one, labels, partial=partial)
        except (ValueError, TypeError, KeyError, RecursionError) as problem:
            raise _bad_line(source, number, problem) from None
        yield number, one


def _bad_line(source: str, number: int, problem: Exception) -> FileFormatError:
    return FileFormatError(
        f"{source}, line {number}: {_reason(problem)}. Nothing was learned; correct the line.",
        remedy=getattr(problem, "remedy", None),
    )


def _explained(asked: Round, queries: Queries, i: int) -> Round:
    labels = label_texts(queries.classes)
    ends = zip(queries.ranges.lowest[i].tolist(), queries.ranges.highest[i].tolist(), strict=True)
    predicted = (round(cost, _DIGITS) for cost in queries.shown_costs[i].tolist())
    reasons = (REASONS[code] for code in queries.reason_codes[i].tolist())
    return replace(
        asked,
        ranges=dict(zip(labels, ends, strict=True)),
        predicted=dict(zip(labels, predicted, strict=True)),
        reasons=dict(zip(labels, reasons, strict=True)),
    )


def _rounded(ends: tuple[float, float]) -> tuple[float, float]:
    return round(ends[0], _DIGITS), round(ends[1], _DIGITS)


def _with_example(asked: Round, dataset: CostDataset, i: int) -> Round:
    span = slice(int(dataset.X.indptr[i]), int(dataset.X.indptr[i + 1]))
    indices = dataset.X.indices[span].tolist()
    values = [float(f"{value:.9g}") for value in dataset.X.data[span]]  # 9 digits give float32 back exactly
    candidates = None
    if dataset.candidates is not None:
        labels = label_texts(dataset.classes)
        candidates = tuple(labels[k] for k in dataset.candidates[i].nonzero()[0])
    if dataset.records is not None:
        return replace(asked, example=dataset.records[i], candidates=candidates)
    if dataset.feature_names is None:
        return replace(asked, indices=tuple(indices), values=tuple(values), candidates=candidates)
    names = [dataset.feature_names[index] for index in indices]
    return replace(asked, features=dict(zip(names, values, strict=True)), candidates=candidates)


def _parsed(text: str) -> Round:
    try:
        line = json.loads(text, object_pairs_hook=distinct_fields)
    except json.JSONDecodeError:
        raise ValueError(f"a line must be one JSON object, got {text.strip()[:_SHOWN]!r}") from None
    one = Round.from_json(line)
    if "ask" not in line and not one.ask_truth and one.served is None:
        raise KeyError("ask")
    answered = one.costs or one.truth is not None
    if answered and one.features is None and one.example is None and "indices" not in line:
        answer = "costs" if one.costs else "truth"
        raise ValueError(f'a line with "{answer}" must have "example" or "features", or "indices" and "values"')
    return one


def _check(one: Round, labels: Collection[str] | None, *, partial: bool) -> None:
    unanswered = [repr(label) for label in one.ask if label not in one.costs]
    if unanswered and one.ask_truth and one.truth is None and not partial:
        raise ValueError('"truth" must give the true label; write null for "can\'t tell"')
    if unanswered and one.truth is None and not partial:
        raise ValueError(f'"costs" must answer {", ".join(unanswered)}; write null for "can\'t tell"')
    foreseen = () if one.outlook is None or one.outlook.label is None else (one.outlook.label,)
    given = () if one.truth is None else (one.truth,)
    for label in (*one.ask, *one.costs, *(one.candidates or ()), *foreseen, *given):
        if labels is not None and label not in labels:
            raise UnknownLabelError(label, labels)


def _reason(problem: Exception) -> str:
    if isinstance(problem, KeyError):
        return f"{problem} is missing"
    return "its brackets are nested too deeply" if isinstance(problem, RecursionError) else str(problem).rstrip(".")

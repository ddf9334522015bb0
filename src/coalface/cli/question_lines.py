"""Questions as JSON lines: what ``ask`` writes, somebody completes, and ``tell`` reads.

::

    {"row": 3, "round": 14, "ask": ["refund"], "ranges": {"refund": [0.0, 0.8]}, "features": {"length": 3.5}}
    {"row": 3, "round": 14, "ask": ["refund"], ..., "costs": {"refund": 0.25}}       the same line, answered

Labels are spelled as text. Features are given by name, or as ``indices`` and ``values`` where they have none.
A line for an example without a question is ``{"row": 4, "round": 15, "ask": []}``: it closes its round.
Where a label is asked about as an audit, ``"audit": ["refund"], "propensity": {"refund": 0.02}`` says so.
Where labels are audited, ``"outlook"`` says what the learner would answer and what that was expected to cost: ``tell``
estimates from it what more asking could save.
"""

import json
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coalface.data.dataset import CostDataset
from coalface.data.labels import label_texts
from coalface.kernels.state import CHANCE
from coalface.rounds.queries import REASONS, Queries

_DIGITS = 6


def question_lines(queries: Queries, dataset: CostDataset, *, explain: bool) -> Iterator[str]:
    """A line per example; with ``explain`` the ranges of all labels, and why each is asked for or not."""
    names = label_texts(queries.classes)
    audits = queries.audit
    for i in range(len(queries)):
        asked = [name for name, ask in zip(names, queries.mask[i].tolist(), strict=True) if ask]
        line: dict[str, Any] = {"row": i, "round": queries.first_round + i, "ask": asked}
        if audits[i].any():
            line |= _audit(queries, audits, i, names)
        if queries.outlook is not None and queries.outlook[i, CHANCE] > 0:
            line["outlook"] = _outlook(queries.outlook[i], names)
        if asked or explain:
            line["ranges"] = _ranges(queries, i, names, everything=explain)
        if explain:
            line["predicted"] = dict(zip(names, _rounded(queries.predicted[i].tolist()), strict=True))
            line["reasons"] = dict(zip(names, map(REASONS.get, queries.reason_codes[i].tolist()), strict=True))
        if asked:
            line |= _features(dataset, i)
        if asked and dataset.candidates is not None:
            allowed = dataset.candidates[i].tolist()
            line["candidates"] = [name for name, may in zip(names, allowed, strict=True) if may]
        yield json.dumps(line, allow_nan=False)


def _ranges(queries: Queries, i: int, names: list[str], *, everything: bool) -> dict[str, list[float]]:
    ends = zip(queries.ranges.lowest[i].tolist(), queries.ranges.highest[i].tolist(), strict=True)
    rows = zip(names, ends, queries.mask[i].tolist(), strict=True)
    return {name: _rounded(list(pair)) for name, pair, asked in rows if asked or everything}


def _audit(queries: Queries, audits: NDArray[np.bool_], i: int, names: list[str]) -> dict[str, Any]:
    chance = {names[k]: float(queries.propensity[i, k]) for k in np.flatnonzero(audits[i])}
    return {"audit": list(chance), "propensity": chance}


def _outlook(outlook: NDArray[np.float64], names: list[str]) -> dict[str, Any]:
    answer, predicted, chance, reachable = outlook.tolist()
    label = names[int(answer)] if answer < len(names) else None  # None: it would abstain
    return {"label": label, "predicted": predicted, "chance": chance, "reachable": reachable}


def _rounded(numbers: list[float]) -> list[float]:
    return [round(number, _DIGITS) for number in numbers]


def _features(dataset: CostDataset, i: int) -> dict[str, Any]:
    span = slice(int(dataset.X.indptr[i]), int(dataset.X.indptr[i + 1]))
    indices = dataset.X.indices[span].tolist()
    values = [float(f"{value:.9g}") for value in dataset.X.data[span]]  # 9 digits give float32 back exactly
    if dataset.feature_names is None:
        return {"indices": indices, "values": values}
    return {"features": {dataset.feature_names[index]: value for index, value in zip(indices, values, strict=True)}}

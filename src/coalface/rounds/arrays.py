"""Converts rounds to the arrays that the learner uses, one row per round and one column per label, and back."""

from collections.abc import Mapping, Sequence
from dataclasses import astuple
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from coalface.data.rows import Rows, check_row
from coalface.data.targets import UNKNOWN
from coalface.errors import InputError, UnknownLabelError
from coalface.kernels.state import ANSWER, AUDIT, CHANCE, N_OUTLOOK, PREDICTED, REACHABLE, RoundArrays
from coalface.rounds.round import Outlook, Round

Mask = NDArray[np.bool_]


class ServedLabels(NamedTuple):
    """The labels that were served, as columns (n,), and the probabilities (n,) with which they were chosen."""

    labels: NDArray[np.int64]
    chances: NDArray[np.float64]


class AnswerArrays(NamedTuple):
    """The answers of n rounds as arrays."""

    cost: NDArray[np.float64]  # (n, K) on the user's scale, NaN where unknown
    asked: Mask  # (n, K)
    candidates: Mask | None  # (n, K); None: all labels of every example
    outlook: NDArray[np.float64]  # (n, 4): see kernels.stopping; a chance of 0 means unknown
    audits: NDArray[np.float64]  # (n, K) the chances of audits, 0 elsewhere
    asks_truth: NDArray[np.bool_]  # (n,)
    truth: NDArray[np.int64]  # (n,) the column of the true label, -1 where it was not given
    offset: NDArray[np.float64] | None  # (n, K) the known part of each cost on the user's scale; None: there is none
    served: ServedLabels | None  # None unless all labels were served


def answer_arrays(rounds: Sequence[Round], labels: Sequence[Any]) -> AnswerArrays:
    """The answers of rounds as arrays, with the columns in the order of ``labels``.

    >>> one = Round(1, ask=("cat",), costs={"cat": 0.5, "dog": None}, unasked=("dog",))
    >>> found = answer_arrays([one], ["cat", "dog"])
    >>> found.cost.tolist(), found.asked.tolist(), found.candidates
    ([[0.5, nan]], [[True, False]], None)
    """
    column = {str(label): place for place, label in enumerate(labels)}  # as ``label_texts`` spells them
    shape = (len(rounds), len(column))
    cost, asked, candidates = np.full(shape, np.nan), np.zeros(shape, np.bool_), np.ones(shape, np.bool_)
    outlook, audits = np.zeros((len(rounds), N_OUTLOOK)), np.zeros(shape)
    offset = np.zeros(shape) if any(one.offset for one in rounds) else None
    asks_truth, truth = np.array([one.ask_truth for one in rounds], np.bool_), np.full(len(rounds), UNKNOWN, np.int64)
    try:
        for row, one in enumerate(rounds):
            for label, answer in one.costs.items():
                cost[row, column[label]] = np.nan if answer is None else answer
                asked[row, column[label]] = label not in one.unasked
            if one.truth is not None:
                truth[row] = column[one.truth]
            for label, part in one.offset.items():
                assert offset is not None
                offset[row, column[label]] = part
            for label, chance in one.propensity.items():
                audits[row, column[label]] = chance
            if one.candidates is not None:
                candidates[row] = False
                candidates[row, [column[label] for label in one.candidates]] = True
            if one.outlook is not None:
                label, *numbers = astuple(one.outlook)
                outlook[row, ANSWER] = len(column) if label is None else column[label]
                outlook[row, [PREDICTED, CHANCE, REACHABLE]] = numbers
        served = _served(rounds, column)
    except KeyError as unknown:
        raise UnknownLabelError(unknown.args[0], list(column), addable=True) from None
    allowed = None if candidates.all() else candidates
    return AnswerArrays(cost, asked, allowed, outlook, audits, asks_truth, truth, offset, served)


def _served(rounds: Sequence[Round], column: Mapping[str, int]) -> ServedLabels | None:
    if not rounds or any(one.served is None for one in rounds):
        return None
    labels = [column[one.served] for one in rounds if one.served is not None]
    return ServedLabels(np.array(labels, np.int64), np.array([one.probability for one in rounds], np.float64))


def rows_of_rounds(rounds: Sequence[Round]) -> Rows:
    """The examples of rounds as rows; a round without indices gives a row of zeros."""
    named = next((one.number for one in rounds if one.features is not None), None)
    if named is not None:
        raise InputError(f"Round {named} names its features, and only X says in which columns they are. Pass X.")
    parts = [check_row(one.indices, one.values, one.width or 0) for one in rounds]
    return Rows(
        np.cumsum([0, *(len(part.columns) for part in parts)]),
        np.concatenate([part.columns for part in parts]),
        np.concatenate([part.values for part in parts]),
        max(part.width for part in parts),
    )


def rounds_from_arrays(
    first_round: int,
    texts: Sequence[str],
    rows: Rows,
    cost: NDArray[Any],
    arrays: RoundArrays,
    columns: NDArray[np.object_] | None = None,
    late: bool = False,
    truth: NDArray[np.int64] | None = None,
    encoder: Mapping[str, Any] | None = None,
    span: float = 1.0,
    served: ServedLabels | None = None,
) -> list[Round]:
    """One round per row, as ledgers store them; ``cost`` (n, K) is on the user's scale, ``texts`` are the labels.

    ``truth`` (n,) are the columns of the true labels that were given, -1 elsewhere. New column names and a new encoder
    are stored in the first round. The features of an example without answers are left out. ``span`` is the width of the
    user's scale of costs, in which known parts are written. ``served`` are the labels that were served.
    """
    known, asked = ~np.isnan(cost), arrays.asked
    restricted = len(arrays.candidates) > 0
    if restricted:
        known, asked = known & arrays.candidates, asked & arrays.candidates
    audits = asked & (arrays.reasons == AUDIT) if len(arrays.reasons) else np.zeros_like(asked)
    found = []
    for i in range(len(cost)):
        answered = np.flatnonzero(known[i] | asked[i]).tolist()
        cells = slice(rows.indptr[i], rows.indptr[i + 1] if answered else rows.indptr[i])
        values = [float(f"{value:.9g}") for value in rows.values[cells]]  # 9 digits restore a float32 exactly
        candidates = [texts[k] for k in np.flatnonzero(arrays.candidates[i]).tolist()] if restricted else None
        found.append(
            Round(
                number=first_round + (0 if late else i),
                late=late,
                width=rows.width,
                indices=tuple(rows.columns[cells].tolist()),
                values=tuple(values),
                columns=tuple(columns) if columns is not None and i == 0 else None,
                encoder=encoder if i == 0 else None,
                candidates=None if candidates is None else tuple(candidates),
                ask=tuple([texts[k] for k in answered if asked[i, k]]),
                propensity={texts[k]: float(arrays.propensity[i, k]) for k in np.flatnonzero(audits[i]).tolist()},
                outlook=None if late or not len(arrays.outlook) else outlook_of(texts, arrays.outlook[i]),
                ask_truth=len(arrays.truth) > 0 and bool(arrays.truth[i]),
                truth=None if truth is None or truth[i] == UNKNOWN else texts[truth[i]],
                offset={} if not len(arrays.offsets) else _known_part(texts, arrays.offsets[i], span),
                costs={texts[k]: float(cost[i, k]) if known[i, k] else None for k in answered},
                unasked=tuple([texts[k] for k in answered if not asked[i, k]]),
                served=None if served is None else texts[served.labels[i]],
                probability=None if served is None else float(served.chances[i]),
            )
        )
    return found


def _known_part(texts: Sequence[str], offsets: NDArray[np.float32], span: float) -> dict[str, float]:
    """The known parts other than 0 by label, on the user's scale; they are restored exactly."""
    return {texts[k]: float(offsets[k]) * span for k in np.flatnonzero(offsets).tolist()}


def outlook_of(texts: Sequence[str], outlook: NDArray[np.float64]) -> Outlook | None:
    """A row of ``outlook`` with the label's name; None if its chance is unknown."""
    answer, predicted, chance, reachable = outlook.tolist()
    if chance == 0.0:
        return None
    return Outlook(texts[int(answer)] if answer < len(texts) else None, predicted, chance, reachable)


def check_recordable(classes: NDArray[Any]) -> None:
    """Raise an InputError if JSON cannot hold the labels."""
    if not isinstance(label := classes.tolist()[0], str | int | float):
        raise InputError(f"Recorded labels must be text or numbers, got {label!r}. Turn them into text.")

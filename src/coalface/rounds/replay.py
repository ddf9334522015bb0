"""Between the learner's arrays and the ledger's entries."""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from coalface.data.labels import label_codes
from coalface.data.rows import Rows, check_row
from coalface.errors import FileFormatError, InputError
from coalface.kernels.state import ANSWER, CHANCE, N_OUTLOOK, PREDICTED, REACHABLE
from coalface.rounds.asked import Asked
from coalface.rounds.entry import Answer, Entry, Outlook
from coalface.rounds.ledger import Ledger

Mask = NDArray[np.bool_]


def entries_for(
    first_round: int,
    classes: NDArray[Any],
    rows: Rows,
    cost: NDArray[Any],
    asked: Asked,
    candidates: Mask | None = None,
    feature_names: NDArray[np.object_] | None = None,
    *,
    late: bool = False,
) -> list[Entry]:
    """One entry per row, in order; new feature names go with the first."""
    names = classes.tolist()
    known, mask, audit, propensity = ~np.isnan(cost), asked.mask, asked.audit, asked.propensity
    if candidates is not None:
        known, mask = known & candidates, mask & candidates
    entries = []
    for i in range(len(rows)):
        answers = tuple(
            _answer(
                names[k],
                cost[i, k],
                asked=bool(mask[i, k]),
                audit=audit is not None and bool(audit[i, k]),
                propensity=1.0 if propensity is None else float(propensity[i, k]),
            )
            for k in np.flatnonzero(known[i] | mask[i])
        )
        columns, values = rows.row(i) if answers else ((), ())
        entries.append(
            Entry(
                round=first_round + (0 if late else i),
                late=late,
                width=rows.width,
                indices=tuple(int(column) for column in columns),
                values=tuple(float(f"{value:.9g}") for value in values),  # 9 digits give float32 back exactly
                answers=answers,
                candidates=None if candidates is None else tuple(classes[candidates[i]].tolist()),
                names=tuple(feature_names) if feature_names is not None and i == 0 else None,
                outlook=None if late or asked.outlook is None else _outlook(names, asked.outlook[i]),
            )
        )
    return entries


def check_recordable(classes: NDArray[Any]) -> None:
    """Refuse labels that JSON cannot hold."""
    label = classes.tolist()[0]
    if not isinstance(label, str | int | float):
        raise InputError(f"To be written down, labels must be text or numbers, got {label!r}. Turn them into text.")


def _answer(label: Any, cost: Any, *, asked: bool, audit: bool, propensity: float) -> Answer:
    is_audit = asked and audit
    return Answer(label, None if np.isnan(cost) else float(cost), asked, is_audit, propensity if is_audit else 1.0)


def _outlook(names: list[Any], outlook: NDArray[np.float64]) -> Outlook | None:
    answer = int(outlook[ANSWER])
    if outlook[CHANCE] == 0.0:
        return None
    label = names[answer] if answer < len(names) else None
    return Outlook(label, float(outlook[PREDICTED]), float(outlook[CHANCE]), float(outlook[REACHABLE]))


def _outlook_row(outlook: Outlook | None, classes: NDArray[Any]) -> NDArray[np.float64]:
    row = np.zeros((1, N_OUTLOOK))
    if outlook is not None:
        row[0, ANSWER] = len(classes) if outlook.label is None else label_codes([outlook.label], classes)[0]
        row[0, [PREDICTED, CHANCE, REACHABLE]] = outlook.predicted, outlook.chance, outlook.reachable
    return row


class Told(NamedTuple):
    """What one entry told the learner."""

    rows: Rows
    cost: NDArray[np.float64]
    asked: Asked
    candidates: Mask | None
    late: bool
    names: tuple[str, ...] | None


def replayed(ledger: Ledger, classes: NDArray[Any]) -> Iterator[Told]:
    """What was told, entry by entry."""
    round_number = 1
    for entry in ledger:
        if not entry.late and entry.round != round_number:
            raise FileFormatError(
                f"The ledger jumps from round {round_number - 1} to {entry.round}; entries are missing."
            )
        round_number += not entry.late
        cost, asked = np.full((1, len(classes)), np.nan), np.zeros((1, len(classes)), np.bool_)
        if entry.answers:
            codes = label_codes([answer.label for answer in entry.answers], classes)
            if len(np.unique(codes)) < len(codes):
                raise FileFormatError(f"The ledger answers one label twice in round {entry.round}; it is damaged.")
            cost[0, codes] = [np.nan if answer.cost is None else answer.cost for answer in entry.answers]
            asked[0, codes] = [answer.asked for answer in entry.answers]
        candidates = None
        if entry.candidates is not None:
            candidates = np.zeros((1, len(classes)), np.bool_)
            candidates[0, label_codes(entry.candidates, classes)] = True
        row = check_row(entry.indices, entry.values, entry.width)
        said = Asked(asked, outlook=_outlook_row(entry.outlook, classes))
        yield Told(row, cost, said, candidates, entry.late, entry.names)

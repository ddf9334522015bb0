"""Where the cost comes from: the mistakes that cost most, and the cost of the rows of each true label."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from coalface.evaluate.judged import Judged


@dataclass(frozen=True)
class Mistake:
    """All rows of one true label for which one other label was predicted, at a higher cost than the cheapest label.

    ``extra_cost`` is their total cost minus that of the cheapest labels; equal to ``total_cost`` if those cost nothing.
    """

    truth: str
    predicted: str
    rows: int
    mean_cost: float
    total_cost: float
    extra_cost: float


@dataclass(frozen=True)
class LabelCost:
    """The rows of one true label; ``share`` is of the total cost, None if that is 0 or a cost is negative."""

    label: str
    rows: int
    mean_cost: float
    total_cost: float
    share: float | None


def mistakes_of(judged: Judged, names: list[str]) -> tuple[Mistake, ...]:
    """The mistakes, those with the largest extra cost first; ``names`` are the labels, then that of abstaining."""
    wrong = (judged.answers != judged.truth) & (judged.extra > 0)
    pairs = judged.truth[wrong] * len(names) + judged.answers[wrong]
    kinds, place = np.unique(pairs, return_inverse=True)
    rows, total = _sums(place, judged.paid[wrong], len(kinds))
    _, extra = _sums(place, judged.extra[wrong], len(kinds))
    order = np.lexsort((kinds, -extra))
    return tuple(
        Mistake(
            names[kinds[i] // len(names)],
            names[kinds[i] % len(names)],
            int(rows[i]),
            float(total[i] / rows[i]),
            float(total[i]),
            float(extra[i]),
        )
        for i in order.tolist()
    )


def label_costs(judged: Judged, names: list[str]) -> tuple[LabelCost, ...]:
    """The true labels that occur, those with the largest total cost first."""
    rows, total = _sums(judged.truth, judged.paid, len(names))
    whole = float(judged.paid.sum())
    shares = whole > 0 and float(judged.paid.min()) >= 0
    order = [i for i in np.lexsort((np.arange(len(names)), -total)).tolist() if rows[i]]
    return tuple(
        LabelCost(
            names[i],
            int(rows[i]),
            float(total[i] / rows[i]),
            float(total[i]),
            float(total[i] / whole) if shares else None,
        )
        for i in order
    )


def _sums(
    place: NDArray[np.int64], values: NDArray[np.float64], n: int
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """How many values there are at each of ``n`` places, and their sums."""
    sums = np.zeros(n)
    np.add.at(sums, place, values)
    return np.bincount(place, minlength=n).astype(np.int64), sums

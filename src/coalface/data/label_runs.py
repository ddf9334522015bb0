"""Runs of equal labels: a learner that takes rows in order forgets the others during a long one."""

import math
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

_LEAST = 20  # rows; shorter runs do no harm
_CHANCE = 1e-9  # that shuffled rows have such a run


class Run(NamedTuple):
    """Rows in a row with the same label."""

    length: int
    label: Any


def longest_run(labels: Iterable[Any]) -> Run:
    """The longest run of equal labels, the first one of this length.

    >>> longest_run(["cat", "dog", "dog", "cat"])
    Run(length=2, label='dog')
    """
    values = np.asarray(labels if isinstance(labels, np.ndarray) else list(labels))
    if not len(values):
        return Run(0, None)
    starts, lengths = _runs(values)
    longest = int(lengths.argmax())
    return Run(int(lengths[longest]), values[starts[longest]].item())


def is_long_run(length: int, n_of_label: int, n_rows: int) -> bool:
    """Whether a run is longer than chance: shuffled, so many rows with the label hardly ever stand together so.

    The chance is at most the sum over the places where the run can begin.

    >>> is_long_run(50, 50, 150), is_long_run(50, 150, 150), is_long_run(9, 50, 150)
    (True, False, False)
    """
    if length < _LEAST:
        return False
    ways = _log_choose(n_of_label, length) - _log_choose(n_rows, length)
    return math.log(n_rows - length + 1) + ways < math.log(_CHANCE)


class LabelRuns:
    """The runs of labels that come one after another, as the column of each; -1 is no label and ends a run.

    >>> runs = LabelRuns()
    >>> for code in [0] * 30 + [1] * 30:
    ...     runs.add([code])
    >>> runs.long_run()
    Run(length=30, label=0)
    """

    def __init__(self) -> None:
        self.n_rows = 0
        self._counts: dict[int, int] = {}
        self._longest: dict[int, int] = {}
        self._last = Run(0, -1)

    def add(self, codes: Iterable[int]) -> None:
        """Note the labels of the next rows."""
        values = np.asarray(codes if isinstance(codes, np.ndarray) else list(codes))
        if not len(values):
            return
        starts, lengths = _runs(values)
        self.n_rows += int(np.count_nonzero(values >= 0))
        for code, found in zip(values[starts].tolist(), lengths.tolist(), strict=True):
            length = found + (self._last.length if self._last.label == code else 0)
            self._last = Run(length, code)
            if code >= 0:
                self._counts[code] = self._counts.get(code, 0) + found
                self._longest[code] = max(self._longest.get(code, 0), length)

    def long_run(self) -> Run | None:
        """The longest of the runs that are longer than chance; None if there are none."""
        found = [
            Run(length, code)
            for code, length in self._longest.items()
            if is_long_run(length, self._counts[code], self.n_rows)
        ]
        return max(found, key=lambda run: run.length, default=None)


def cheapest_labels(cost: NDArray[Any]) -> NDArray[np.int64]:
    """The column of the label that costs least in each row; -1 where a cost is not known or several cost least.

    >>> cheapest_labels(np.array([[1.0, 0.0], [0.5, 0.5], [np.nan, 0.0]])).tolist()
    [1, -1, -1]
    """
    least = cost.min(axis=1, keepdims=True)  # NaN if one is
    return np.where((cost == least).sum(axis=1) == 1, (cost == least).argmax(axis=1), -1)


def _runs(values: NDArray[Any]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Where runs begin, and their lengths."""
    starts = np.concatenate([[0], np.flatnonzero(values[1:] != values[:-1]) + 1])
    return starts, np.diff(starts, append=len(values))


def _log_choose(n: int, k: int) -> float:
    return math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)

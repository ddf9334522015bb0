"""The lines that VW prints while it learns, at example 1, 2, 4, 8 and so on, or as ``-P`` says."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

HEADING = "average loss   since last     examples      queries"


class Progress:
    """Shows the average loss so far after some numbers of examples: every ``step``, or ``step`` times the last one.

    >>> progress = Progress(2.0, is_factor=True, show=print)
    >>> for number, loss in enumerate([1.0, 0.0, 0.5], start=1):
    ...     progress.add(np.array([loss]))
    ...     if progress.is_due(number):
    ...         progress.report(queries=3 * number)
    average loss   since last     examples      queries
        1.000000     1.000000            1            3
        0.500000     0.000000            2            6
    """

    def __init__(self, step: float, *, is_factor: bool, show: Callable[[str], None]) -> None:
        self._step, self._is_factor, self._show = step, is_factor, show
        self._next = 1.0 if is_factor else step
        self._n_examples, self._has_heading = 0, False
        self._all, self._recent = np.zeros(2), np.zeros(2)  # the sum of the known losses, and their number

    def is_due(self, n_examples: int) -> bool:
        """Whether a line belongs after this many examples."""
        return n_examples >= self._next

    def add(self, loss: NDArray[np.float64]) -> None:
        """Count the next examples; NaN is an unknown loss."""
        known = loss[~np.isnan(loss)]
        self._n_examples += len(loss)
        self._recent += (known.sum(), len(known))

    def report(self, queries: int) -> None:
        """Show a line about the examples so far; the next one is due later."""
        if not self._has_heading:
            self._has_heading = True
            self._show(HEADING)
        self._all += self._recent
        self._show(f"{_mean(self._all)} {_mean(self._recent)} {self._n_examples:12d} {queries:12d}")
        self._recent[:] = 0
        while self._next <= self._n_examples:
            self._next = self._next * self._step if self._is_factor else self._next + self._step


def _mean(total: NDArray[np.float64]) -> str:
    return f"{total[0] / total[1]:12.6f}" if total[1] else f"{'n.a.':>12}"

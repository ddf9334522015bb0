"""The examples, costs and true labels asked for at marked rounds, from which the learner forecasts what is to come.

The marks are the rounds 4, 5, 6, 7, 8, 10, 12, 14, 16, 20, ...: four in each doubling, so a few numbers suffice.
"""

from coalface.kernels.compile import inlined
from coalface.kernels.state import (
    COSTS_QUERIED,
    COUNTS_PER_MARK,
    EXAMPLES_QUERIED,
    HISTORY,
    I64,
    N_MARKS,
    ROUND,
    TRUTHS_QUERIED,
)


@inlined
def note_counts(counters: I64) -> None:
    """Keep the counts if a marked round was closed just now."""
    rest, doublings = counters[ROUND] - 1, 0
    while rest >= 8:
        if rest & 1:
            return
        rest >>= 1
        doublings += 1
    mark = 4 * doublings + rest - 4
    if 0 <= mark < N_MARKS:
        place = HISTORY + COUNTS_PER_MARK * mark
        counters[place] = counters[EXAMPLES_QUERIED]
        counters[place + 1] = counters[COSTS_QUERIED]
        counters[place + 2] = counters[TRUTHS_QUERIED]


def mark_rounds() -> list[int]:
    """The marked rounds, in order.

    >>> mark_rounds()[:10]
    [4, 5, 6, 7, 8, 10, 12, 14, 16, 20]
    """
    return [m << doublings for doublings in range(N_MARKS // 4) for m in range(4, 8)]

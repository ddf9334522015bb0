"""Whether new values have left what was learned, so often and so far that chance does not explain it.

If new and learned values come from one distribution, whichever it is, all orders of them are equally likely. So the k
largest of n learned and m new values are all new with a probability of at most (m / (n + m)) ** k.
"""

from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

T = TypeVar("T", float, NDArray[np.float32])
_FAR = 0.1  # of the learned range: a value nearer than that to its end is harmless
_LEAST_SHARE = 0.02  # of the new values
LEAST_ROWS = 5
_CHANCE = 1e-4  # of an alarm about any column or end of its range
_DEVIATIONS = 4.0  # of a count that chance explains


class Ends(NamedTuple):
    """The ends of a learned range in words, for a message, and how a value is written."""

    below: str
    above: str
    written: Callable[[float], str]


NUMBERS = Ends("below {}, the least value learned", "above {}, the largest value learned", "{:.4g}".format)


def has_left(beyond: Any, n_new: int, n_learned: int, n_columns: int = 1) -> Any:
    """Whether so many of the new values lie beyond one end of the learned range, for each of some columns.

    >>> has_left(np.array([9, 90]), n_new=300, n_learned=300)
    array([False,  True])
    """
    if not n_learned:
        return np.zeros(np.shape(beyond), np.bool_)
    chance = beyond * np.log(n_new / (n_new + n_learned))
    least = max(LEAST_ROWS, _LEAST_SHARE * n_new)
    return (beyond >= least) & (chance < np.log(_CHANCE / (2 * n_columns)))


def has_unseen(n_unseen: int, n_new: int, n_learned: int, once: int, twice: int) -> bool:
    """Whether so many of the new values of a category, ``n_unseen``, are none of the learned ones.

    Values that are rare come up for the first time at any time. The share of these is estimated, as Good and Turing do,
    by that of the values that were learned ``once``; ``twice`` is how many were learned twice.

    >>> has_unseen(30, 300, 300, once=2, twice=0), has_unseen(30, 300, 300, once=40, twice=20)
    (True, False)
    """
    if not n_learned:
        return False
    share = (once + 1 + _DEVIATIONS * np.sqrt(once + 2 * twice + 1)) / n_learned
    most = n_new * share + _DEVIATIONS * np.sqrt(n_new * share)
    return bool(n_unseen > max(most, LEAST_ROWS, _LEAST_SHARE * n_new))


def margins(lowest: T, highest: T) -> tuple[T, T]:
    """The values from which on one lies far below or above a learned range."""
    far: Any = _FAR * (highest - lowest)
    return lowest - far, highest + far


def departure_of(
    name: object,
    values: NDArray[Any],
    ends: tuple[float, float],
    n_learned: int,
    *,
    n_columns: int = 1,
    words: Ends = NUMBERS,
) -> str | None:
    """How the new values of a column have left the range with these ends; None if they have not.

    >>> departure_of("price", np.linspace(0, 100, 300), (0.0, 20.0), n_learned=300)
    "column 'price' of 234 of 300 rows lies above 20, the largest value learned (up to 100, 4 times the range further)"
    """
    low, high = ends
    nearest, farthest = margins(low, high)
    below, above = int((values < nearest).sum()), int((values > farthest).sum())
    if not has_left(max(below, above), len(values), n_learned, n_columns):
        return None
    end, extreme = (high, values.max()) if above >= below else (low, values.min())
    where = (words.above if above >= below else words.below).format(words.written(end))
    times = abs(extreme - end) / (high - low) if high > low else 0.0
    further = f", {times:.1f} times the range further".replace(".0 ", " ") if times and words is NUMBERS else ""
    count = f"{max(below, above):,} of {len(values):,} rows"
    return f"column {name!r} of {count} lies {where} (up to {words.written(float(extreme))}{further})"

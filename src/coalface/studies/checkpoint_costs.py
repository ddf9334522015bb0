"""The numbers of costs asked for at which a run is looked at."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from coalface.errors import InputError

_STEPS = {"doubling": 1, "quarter-doubling": 4}


def budgets_for(budgets: Any, n_labels: int, n_examples: int) -> NDArray[np.int64]:
    """Checkpoints in costs asked for, increasing; the named ones run from 10 K to the cost of everything.

    >>> budgets_for("doubling", n_labels=10, n_examples=100)
    array([ 100,  200,  400,  800, 1600, 3200])
    """
    if isinstance(budgets, str):
        if budgets not in _STEPS:
            raise InputError(f"budgets must be one of {', '.join(map(repr, _STEPS))} or an array, got {budgets!r}.")
        steps = _STEPS[budgets]
        exponents = np.arange(last_doubling(n_examples) * steps + 1) / steps
        return np.unique(np.ceil(10 * n_labels * 2**exponents).astype(np.int64))
    numbers = np.asarray(budgets)
    if numbers.ndim != 1 or numbers.dtype.kind not in "iu" or (numbers <= 0).any() or (np.diff(numbers) <= 0).any():
        raise InputError(f"budgets must be increasing whole numbers of costs above 0, got {budgets!r}.")
    return numbers.astype(np.int64)


def last_doubling(n_examples: int) -> int:
    """The least q with 10 * 2^(q-1) > n: where the common axis of all runs ends.

    >>> last_doubling(1297)
    9
    """
    q = 1
    while 10 * 2 ** (q - 1) <= n_examples:
        q += 1
    return q

"""Arrays that grow by labels: a label that is added later gets the last place."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from coalface.kernels.fill_in import Implications

PER_LABEL = ("squared_residuals", "answered", "asked", "was_best", "since")  # arrays of the counts, (lanes,) each


def widened(array: NDArray[Any], size: int, *axes: int, fill: float = 0.0) -> NDArray[Any]:
    """A copy of the array with ``size`` places along these axes, by default the first; new places have ``fill``.

    >>> widened(np.array([[1, 2]]), 3, 1, fill=7).tolist()
    [[1, 2, 7]]
    """
    more = [(0, size - length if axis in (axes or (0,)) else 0) for axis, length in enumerate(array.shape)]
    return np.pad(array, more, constant_values=fill)


def more_implications(known: Implications) -> Implications:
    """The same implications with one more label, the last, of which nothing is known; if none are learned, none."""
    if len(known.labels) == 0:
        return known
    n_labels = len(known.labels) + 1
    return known._replace(pairs=widened(known.pairs, n_labels, 1, 2), labels=widened(known.labels, n_labels))

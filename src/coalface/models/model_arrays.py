"""The arrays of a model: a label that is added later gets the last place, and saved arrays are checked."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coalface.errors import FileFormatError
from coalface.kernels.implied_costs import Implications
from coalface.kernels.state import Counts, new_counts

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


def restored_counts(n_labels: int, arrays: Mapping[str, NDArray[Any]]) -> Counts:
    """The counts among saved arrays; a FileFormatError if one is missing or does not fit."""
    counts = new_counts(n_labels)
    copy_saved(arrays, counts._asdict())
    if (counts.counters < 0).any():
        raise FileFormatError("The counters of the model are negative; it is damaged. Restore a copy.")
    return counts


def copy_saved(saved: Mapping[str, NDArray[Any]], arrays: Mapping[str, NDArray[Any]]) -> None:
    """Overwrite ``arrays`` with the saved arrays of the same names; a FileFormatError if one is missing or differs."""
    for name, array in arrays.items():
        found = saved.get(name)
        if found is None or found.dtype != array.dtype or found.shape != array.shape:
            raise FileFormatError(
                f"The model has no usable array {name!r}; it was not saved by coalface. Restore a copy."
            )
        array[...] = found

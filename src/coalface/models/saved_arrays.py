"""The arrays of a saved model: they are checked before a model takes them over."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coalface.errors import FileFormatError
from coalface.kernels.state import N_COUNTERS, Counts, new_counts

_COUNTER_NAME, _OLD_COUNTERS = "counters", (5, 6)  # older files do not count true or served labels, or past rounds


def restored_counts(n_labels: int, arrays: Mapping[str, NDArray[Any]]) -> Counts:
    """The counts among saved arrays; a FileFormatError if one is missing or does not fit."""
    counts = new_counts(n_labels)
    copy_saved(arrays, counts._asdict())
    if (counts.counters < 0).any():
        raise FileFormatError("The counters of the model are negative; it is damaged.")
    return counts


def with_new_counters(name: str, saved: NDArray[Any] | None) -> NDArray[Any] | None:
    """A saved array; counters of an earlier version, which had fewer of them, are filled up with zeros."""
    if saved is None or not name.endswith(_COUNTER_NAME) or saved.ndim != 1 or len(saved) not in _OLD_COUNTERS:
        return saved
    return np.concatenate([saved, np.zeros(N_COUNTERS - len(saved), saved.dtype)])


def copy_saved(saved: Mapping[str, NDArray[Any]], arrays: Mapping[str, NDArray[Any]]) -> None:
    """Overwrite ``arrays`` with the saved arrays of the same names; a FileFormatError if one is missing or differs."""
    for name, array in arrays.items():
        found = with_new_counters(name, saved.get(name))
        if found is None and name.endswith(("calibration", "since")):  # of an earlier version
            continue
        if found is None or found.dtype != array.dtype or found.shape != array.shape:
            raise FileFormatError(f"The model has no usable array {name!r}; it was not saved by coalface.")
        array[...] = found

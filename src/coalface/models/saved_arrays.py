"""The arrays of a saved model: they are checked before a model takes them over."""

from collections.abc import Mapping
from typing import Any

from numpy.typing import NDArray

from coalface.errors import FileFormatError
from coalface.kernels.state import Counts, new_counts


def restored_counts(n_labels: int, arrays: Mapping[str, NDArray[Any]]) -> Counts:
    """The counts among saved arrays; a FileFormatError if one is missing or does not fit."""
    counts = new_counts(n_labels)
    copy_saved(arrays, counts._asdict())
    if (counts.counters < 0).any():
        raise FileFormatError("The counters of the model are negative; it is damaged.")
    return counts


def copy_saved(saved: Mapping[str, NDArray[Any]], arrays: Mapping[str, NDArray[Any]]) -> None:
    """Overwrite ``arrays`` with the saved arrays of the same names; a FileFormatError if one is missing or differs."""
    for name, array in arrays.items():
        found = saved.get(name)
        if found is None or found.dtype != array.dtype or found.shape != array.shape:
            raise FileFormatError(f"The model has no usable array {name!r}; it was not saved by coalface.")
        array[...] = found

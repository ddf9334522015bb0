"""The hash table from feature numbers to slots of the model; it contains only features that were learned.

The table uses open addressing and stores slot numbers. 0 marks an empty place and is also the slot of every unseen
feature, so a search that ends on an empty place already has its result.
"""

import numpy as np

from coalface.kernels.compile import inlined, kernel
from coalface.kernels.state import (
    F32,
    I32,
    INVERSE_SCALE,
    LARGEST_VALUE,
    SLOTS_USED,
    SMALLEST_VALUE,
    SQUARES,
    UNSEEN,
    UNSEEN_INVERSE_SCALE,
    WEIGHT,
    Model,
    Scratch,
)

INTERCEPT = -1  # the feature number of the constant
_GOLDEN = np.uint64(2654435769)  # 2^32 / golden ratio: spreads neighbouring features
_LOW_32 = 0xFFFFFFFF
_SHIFT = np.uint64(32)


@inlined
def first_place(feature: int, size: int) -> int:
    """Where the search for ``feature`` starts, in a table of any size (it need not be a power of two)."""
    mixed = (np.uint64(np.int64(feature) & _LOW_32) * _GOLDEN) & np.uint64(_LOW_32)
    return np.int64((mixed * np.uint64(size)) >> _SHIFT)  # type: ignore[return-value]


@inlined
def find_slot(table: I32, features: I32, feature: int) -> int:
    """The slot of ``feature``, or ``UNSEEN``."""
    return find_slot_from(table, features, feature, first_place(feature, table.shape[0]))


@inlined
def find_slot_from(table: I32, features: I32, feature: int, place: int) -> int:
    """The slot of ``feature``, or ``UNSEEN``, for a search that starts at ``place``, its ``first_place``."""
    size = table.shape[0]
    slot = table[place]
    while slot != UNSEEN and features[slot] != feature:
        place = place + 1 if place + 1 < size else 0
        slot = table[place]
    return int(slot)


@inlined
def in_unit(units: F32, slot: int, size: np.float32) -> np.float32:
    """An absolute value in the unit of its feature; the unit of an unseen feature is its own value."""
    return min(max(size / units[slot], SMALLEST_VALUE), LARGEST_VALUE) if slot != UNSEEN else np.float32(1.0)


@inlined
def _add_feature(table: I32, feature: int, slot: int) -> None:
    """Add a feature that is not in the table yet; there must be an empty place."""
    size = table.shape[0]
    place = first_place(feature, size)
    while table[place] != UNSEEN:
        place += 1
        if place == size:
            place = 0
    table[place] = slot


@kernel
def is_clean(columns: I32, values: F32) -> bool:
    """Whether a row's columns are non-negative and increasing, and its values finite."""
    last = -1
    for j in range(columns.shape[0]):
        if columns[j] <= last or not np.isfinite(values[j]):
            return False
        last = columns[j]
    return last < 2147483647


@kernel
def fill_table(table: I32, features: I32, used: int) -> None:
    """Add the features of all used slots to an empty table."""
    for slot in range(1, used):
        _add_feature(table, features[slot], slot)


@inlined
def _fill(numbers: F32, value: np.float32) -> None:
    """Write the same value everywhere; one array per loop, so that vector instructions do it."""
    for k in range(numbers.shape[0]):
        numbers[k] = value


@inlined
def claim_slots(model: Model, scratch: Scratch, n: int) -> None:
    """Give every feature of the current row a slot; the caller has made sure that there are enough."""
    cells, units, features, table = model.cells, model.units, model.features, model.table
    slots, columns, sizes = scratch.slots, scratch.columns, scratch.sizes
    used = model.counters[SLOTS_USED]
    for j in range(n):
        if slots[j] == UNSEEN:
            slots[j] = find_slot(table, features, columns[j])  # the row may contain a column twice
        if slots[j] == UNSEEN:
            cell = cells[used]
            _fill(cell[WEIGHT], np.float32(0.0))
            _fill(cell[SQUARES], np.float32(0.0))
            _fill(cell[INVERSE_SCALE], UNSEEN_INVERSE_SCALE)
            features[used] = columns[j]
            units[used] = sizes[j]
            _add_feature(table, columns[j], used)
            slots[j] = used
            used += 1
    model.counters[SLOTS_USED] = used

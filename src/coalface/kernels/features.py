"""Feature number -> slot: an open-addressing table that holds only the features that were learned.

The table stores slot numbers; 0 marks an empty place and is at the same time the slot of the unseen
feature, so a look-up that ends on an empty place already has its answer.
"""

import numpy as np

from coalface.kernels.compile import inlined, kernel
from coalface.kernels.state import (
    F32,
    I32,
    INVERSE_SCALE,
    SLOTS_USED,
    SQUARES,
    UNSEEN,
    UNSEEN_INVERSE_SCALE,
    WEIGHT,
    Model,
    Scratch,
)

INTERCEPT = -1  # its feature number
_GOLDEN = np.uint64(2654435769)  # 2^32 / golden ratio: neighbours land far apart
_LOW_32 = 0xFFFFFFFF
_SHIFT = np.uint64(32)


@inlined
def first_place(feature: int, size: int) -> int:
    """Where the search for ``feature`` starts in a table of any size (no power of two needed)."""
    mixed = (np.uint64(np.int64(feature) & _LOW_32) * _GOLDEN) & np.uint64(_LOW_32)
    return np.int64((mixed * np.uint64(size)) >> _SHIFT)  # type: ignore[return-value]


@inlined
def find(table: I32, features: I32, feature: int) -> int:
    """The slot of ``feature``, or ``UNSEEN``."""
    size = table.shape[0]
    place = first_place(feature, size)
    slot = table[place]
    while slot != UNSEEN and features[slot] != feature:
        place = place + 1 if place + 1 < size else 0
        slot = table[place]
    return int(slot)


@inlined
def enter(table: I32, feature: int, slot: int) -> None:
    """Put a feature that is not in the table into it; there must be an empty place."""
    size = table.shape[0]
    place = first_place(feature, size)
    while table[place] != UNSEEN:
        place += 1
        if place == size:
            place = 0
    table[place] = slot


@kernel
def is_clean(columns: I32, values: F32) -> bool:
    """Whether a row's columns increase from 0 on and its values are finite."""
    last = -1
    for j in range(columns.shape[0]):
        if columns[j] <= last or not np.isfinite(values[j]):
            return False
        last = columns[j]
    return last < 2147483647


@kernel
def fill_table(table: I32, features: I32, used: int) -> None:
    """Enter all the features of the used slots into an empty table."""
    for slot in range(1, used):
        enter(table, features[slot], slot)


@inlined
def claim_slots(model: Model, scratch: Scratch, n: int) -> None:
    """Give every feature of the row at hand a slot; the caller has made room."""
    cells, units, features, table = model.cells, model.units, model.features, model.table
    slots, columns, sizes = scratch.slots, scratch.columns, scratch.sizes
    lanes = cells.shape[2]
    used = model.counters[SLOTS_USED]
    for j in range(n):
        if slots[j] == UNSEEN:
            slots[j] = find(table, features, columns[j])  # a column given twice has its slot by now
        if slots[j] == UNSEEN:
            for k in range(lanes):
                cells[used, WEIGHT, k] = np.float32(0.0)
                cells[used, SQUARES, k] = np.float32(0.0)
                cells[used, INVERSE_SCALE, k] = UNSEEN_INVERSE_SCALE
            features[used] = columns[j]
            units[used] = sizes[j]
            enter(table, columns[j], used)
            slots[j] = used
            used += 1
    model.counters[SLOTS_USED] = used

"""Interactions: the products of two features of a row, added to the row in scratch memory as features of their own.

Which columns are multiplied is a table with four numbers per line: the first column and the end of one range, then of
another. A line multiplies each column of one range by each column of the other. If both ranges are the same, it
multiplies each pair of its columns once, squares included, as Vowpal Wabbit does. The intercept takes no part.

The feature of columns i <= j has the number -2 - (j (j + 1) / 2 + i) modulo a prime just below 2^31. So it is never the
number of a column or of the intercept, and pairs of the first 65,535 columns never share a number. Of larger columns,
two given pairs share a number, and so their weights, with a probability of about one in two billion.
"""

import numpy as np

from coalface.kernels.compile import called, inlined
from coalface.kernels.features import find_slot, in_unit
from coalface.kernels.state import I32, Model, Scratch, Settings

FIRST, FIRST_END, SECOND, SECOND_END = range(4)  # columns of Model.interactions
_PRIME = 2147483629
FIRST_PRODUCT = -2  # -1 is the intercept
_LARGEST = np.float32(3.4028235e38)


@inlined
def product_feature(low: int, high: int) -> int:
    """The feature number of the product of columns ``low`` <= ``high``."""
    wide = np.int64(high)
    return int(FIRST_PRODUCT - ((wide * (wide + 1)) // 2 + np.int64(low)) % _PRIME)


@inlined
def _position_of(columns: I32, n: int, column: int) -> int:
    """The first of ``n`` increasing columns that is at least ``column``."""
    low, high = 0, n
    while low < high:
        middle = (low + high) // 2
        if columns[middle] < column:
            low = middle + 1
        else:
            high = middle
    return low


@called
def append_products(model: Model, settings: Settings, scratch: Scratch, n: int) -> int:
    """Append the products of the gathered row's features to it; returns the new length.

    A product that underflows to zero is left out, one that overflows has the largest finite value.
    """
    ranges, table, features, units = model.interactions, model.table, model.features, model.units
    slots, values, columns, sizes = scratch.slots, scratch.values, scratch.columns, scratch.sizes
    n_columns = n - settings.intercept
    for line in range(ranges.shape[0]):
        first = _position_of(columns, n_columns, ranges[line, FIRST])
        first_end = _position_of(columns, n_columns, ranges[line, FIRST_END])
        second = _position_of(columns, n_columns, ranges[line, SECOND])
        second_end = _position_of(columns, n_columns, ranges[line, SECOND_END])
        with_itself = ranges[line, FIRST] == ranges[line, SECOND]
        for i in range(first, first_end):
            for j in range(i if with_itself else second, second_end):
                size = min(sizes[i] * sizes[j], _LARGEST)
                if size == np.float32(0.0):
                    continue
                feature = product_feature(columns[i], columns[j])
                slot = find_slot(table, features, feature)
                relative = in_unit(units, slot, size)
                columns[n] = feature
                sizes[n] = size
                slots[n] = slot
                values[n] = relative if (values[i] > 0) == (values[j] > 0) else -relative
                n += 1
    return n

"""What host and device exchange: the bytes of the structures in ``state.cuh``, and the shape of a block."""

from typing import NamedTuple

import numpy as np

from coalface.kernels.state import COUNT_CLASSES, LEVELS, lanes_for

_WHOLE = ["rule", "accumulator", "sensitivity", "slack", "warm_up", "in_turn", "seed", "intercept"]
_REAL = ["mellowness", "width_scale", "learning_rate", "audit_rate", "abstain_cost", "miss_rate"]
_BUDGET = ["budget", "over", "price_per_example", "price_per_cost"]
FIELDS = (*_WHOLE, *_REAL, *_BUDGET)  # of kernels.state.Settings
SETTINGS = np.dtype(
    [(name, np.int64 if name in _WHOLE else np.float64) for name in FIELDS] + [("order", np.int64)]  # of rows
)
SIZES = ["n_features", "longest", "n_rows", "n_test", "n_targets", "n_traced", "implies"]
POINTERS = (
    *("indptr", "test_indptr", "columns", "test_columns", "orders", "values", "test_values", "costs", "test_costs"),
    *("candidates", "targets", "cells", "units", "implied", "row_slots", "row_values"),
    *("counts", "test_cost", "n_measured", "traced", "next_run", "stop", "n_finished"),
)
PROBLEM = np.dtype([(name, np.int64) for name in (*SIZES, *POINTERS)])  # a pointer is an address

TRAINED_ARRAYS = ("norm_sum", "updates", "squared_residuals", "row_sizes", "answered")
TRAINED = np.dtype([(name, np.int64) for name in (*TRAINED_ARRAYS, "first_round", "round_step", "slots_used")])

_WARP, _MOST_THREADS = 32, 128  # of a block
_MOST_GROUPS = 16  # that share the non-zeros of a row
_ROW_BYTES = 20_000  # of slots and values in shared memory; those of a longer row are kept in global memory


class BlockShape(NamedTuple):
    """What the code of a block is compiled for: a block plays one run."""

    n_labels: int
    group_size: int  # threads that share the labels of one non-zero, four labels each
    n_threads: int
    row_capacity: int  # non-zeros of a row in shared memory; 1 if rows are too long for it

    @classmethod
    def of(cls, n_labels: int, longest_row: int) -> "BlockShape":
        """The shape for this many labels and non-zeros of the longest row.

        >>> BlockShape.of(n_labels=102, longest_row=500)
        BlockShape(n_labels=102, group_size=32, n_threads=128, row_capacity=512)
        """
        group_size = min(1 << (lanes_for(n_labels) // 4 - 1).bit_length(), _WARP)
        n_threads = max(min(_MOST_THREADS, _MOST_GROUPS * group_size), _WARP)
        capacity = -(-(longest_row + 1) // 64) * 64
        return cls(n_labels, group_size, n_threads, capacity if 8 * capacity <= _ROW_BYTES else 1)

    @property
    def constants(self) -> dict[str, int]:
        """The constants of the source, by name."""
        return {"LANES": lanes_for(self.n_labels), **{name.upper(): value for name, value in self._asdict().items()}}

    @property
    def shared_bytes(self) -> int:
        """The size of ``Block``, rounded up."""
        lanes, groups, warps = lanes_for(self.n_labels), self.n_threads // self.group_size, -(-self.n_threads // _WARP)
        by_label = lanes * (3 * 8 + 10 * 4 + 4 * 4 + 4)
        between = 12 * groups * lanes + lanes + (3 + 2 * warps) * LEVELS * COUNT_CLASSES * 8 + 8
        run = 7 * 8 + 4 * 8 + 7 * 4 + 3 * 8 + PROBLEM.itemsize + SETTINGS.itemsize
        row = 8 + 2 * 4 + 4 * lanes + 8 * self.row_capacity
        return by_label + between + run + 2 * row + 128  # the last for alignment


def bytes_per_run(n_labels: int, n_features: int, longest_row: int, implies: bool) -> int:
    """The device memory of one run that is being played: its weights, and what answers imply.

    >>> bytes_per_run(n_labels=102, n_features=47_236, longest_row=500, implies=False) // 10**6
    59
    """
    lanes, slots = lanes_for(n_labels), n_features + 2
    implied = 8 * lanes * LEVELS * lanes if implies else 0
    return 4 * slots * (3 * lanes + 1) + implied + 16 * (longest_row + 1)

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

TRAINED_ARRAYS = ("norm_sum", "updates", "squared_residuals", "row_sizes", "answered", "was_best")
TRAINED = np.dtype([(name, np.int64) for name in (*TRAINED_ARRAYS, "first_round", "round_step", "slots_used")])

_WARP = 32
_FEW_THREADS, _MANY_THREADS, _LONG_ROW = 128, 512, 1000  # of a block; those with long rows have many
_THREADS_PER_PROCESSOR = 512  # with 128 registers each; measured: more runs side by side are slower
_SHARED_PER_PROCESSOR = 228 * 1024  # bytes that the blocks of one multiprocessor share
_RESERVED_PER_BLOCK = 1024
_MOST_GROUPS = 64  # that share the non-zeros of a row
_LINE = 32  # float32 numbers in a line of the cache
_ROW_BYTES = 20_000  # of slots and values in shared memory; those of a longer row are kept in global memory


class BlockShape(NamedTuple):
    """What the code of a block is compiled for: a block plays one run."""

    n_labels: int
    group_size: int  # threads that share the labels of one non-zero, four labels each
    n_threads: int
    row_capacity: int  # non-zeros of a row in shared memory; 1 if rows are too long for it
    n_kept: int  # non-zeros of the row whose cells are copied into shared memory, for learning

    @classmethod
    def of(cls, n_labels: int, longest_row: int) -> "BlockShape":
        """The shape for this many labels and non-zeros of the longest row.

        >>> BlockShape.of(n_labels=102, longest_row=500)
        BlockShape(n_labels=102, group_size=32, n_threads=128, row_capacity=512, n_kept=36)
        """
        group_size = min(1 << (lanes_for(n_labels) // 4 - 1).bit_length(), _WARP)
        most_threads = _MANY_THREADS if longest_row > _LONG_ROW else _FEW_THREADS
        n_threads = max(min(most_threads, _MOST_GROUPS * group_size), _WARP)
        capacity = -(-(longest_row + 1) // 64) * 64
        shape = cls(n_labels, group_size, n_threads, capacity if 8 * capacity <= _ROW_BYTES else 1, n_kept=0)
        while shape.n_threads > _FEW_THREADS and shape.shared_bytes > _SHARED_PER_PROCESSOR - _RESERVED_PER_BLOCK:
            shape = shape._replace(n_threads=shape.n_threads // 2)
        return shape.with_room(_THREADS_PER_PROCESSOR // shape.n_threads)

    def with_room(self, n_blocks: int) -> "BlockShape":
        """The same shape with as many copies as fit if ``n_blocks`` share a multiprocessor."""
        free = _SHARED_PER_PROCESSOR // n_blocks - _RESERVED_PER_BLOCK - self._replace(n_kept=0).shared_bytes
        fitting = max(free, 0) // (8 * lanes_for(self.n_labels))
        return self._replace(n_kept=min(fitting, self.row_capacity) if self.row_capacity > 1 else fitting)

    @property
    def blocks_per_processor(self) -> int:
        """How many blocks one multiprocessor plays at the same time."""
        by_memory = _SHARED_PER_PROCESSOR // (self.shared_bytes + _RESERVED_PER_BLOCK)
        return max(min(_THREADS_PER_PROCESSOR // self.n_threads, by_memory, 32), 1)

    @property
    def constants(self) -> dict[str, int]:
        """The constants of the source, by name."""
        numbers = {name.upper(): value for name, value in self._asdict().items()}
        return {"LANES": lanes_for(self.n_labels), "STRIDE": stride_for(self.n_labels), **numbers}

    @property
    def shared_bytes(self) -> int:
        """The size of ``Block``, rounded up."""
        lanes, groups, warps = lanes_for(self.n_labels), self.n_threads // self.group_size, -(-self.n_threads // _WARP)
        by_label = lanes * (3 * 8 + 10 * 4 + 4 * 4 + 4)
        between = 12 * groups * lanes + lanes + (3 + 2 * warps) * LEVELS * COUNT_CLASSES * 8 + 8
        run = 8 * 8 + 4 * 8 + 7 * 4 + 6 * 8 + 3 * 8 + PROBLEM.itemsize + SETTINGS.itemsize
        row = 2 * 8 + 3 * 4 + 4 * lanes + 8 * self.row_capacity
        kept = max(8 * lanes * self.n_kept, 32)
        return by_label + between + run + 2 * row + kept + 128  # the last for alignment


def stride_for(n_labels: int) -> int:
    """The float32 numbers between the cells of two features: three for each label, and a gap up to the next line.

    >>> stride_for(102), stride_for(40)
    (320, 128)
    """
    return -(-3 * lanes_for(n_labels) // _LINE) * _LINE


def bytes_per_run(n_labels: int, n_features: int, longest_row: int, implies: bool) -> int:
    """The device memory of one run that is being played: its weights, and what answers imply.

    >>> bytes_per_run(n_labels=102, n_features=47_236, longest_row=500, implies=False) // 10**6
    60
    """
    lanes, slots = lanes_for(n_labels), n_features + 2
    implied = 8 * lanes * LEVELS * lanes if implies else 0
    return 4 * slots * (stride_for(n_labels) + 1) + implied + 16 * (longest_row + 1)

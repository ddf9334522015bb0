"""Prefetching: a hint to the processor that some memory will be read soon.

The cells of an example's features are scattered over the model. Requesting them a few features ahead hides most of the
wait for main memory; for a model that fits the cache it costs almost nothing.
"""

from typing import Any

from llvmlite import ir
from numba import config, types
from numba.core import cgutils
from numba.extending import intrinsic

from coalface.kernels.compile import inlined
from coalface.kernels.state import F32, I64

LINE = 16  # float32 numbers in a cache line
AHEAD = 4  # features between the hint and the use


def _prefetch(typing_context: Any, cells: Any, index: Any) -> Any:  # noqa: ARG001
    """Request the cache line of the number at flat ``index`` of a contiguous array."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        array = context.make_array(signature.args[0])(context, builder, arguments[0])
        byte, word = ir.IntType(8).as_pointer(), ir.IntType(32)
        address = builder.bitcast(builder.gep(array.data, [arguments[1]]), byte)
        kind = ir.FunctionType(ir.VoidType(), [byte, word, word, word])
        hint = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0")
        builder.call(hint, [address, word(0), word(3), word(1)])  # for reading, into all caches, as data
        return context.get_dummy_value()

    return types.void(cells, types.int64), generate


def _no_prefetch(cells: F32, index: int) -> None:
    """Replaces the hint where the kernels run as plain Python."""


prefetch: Any = _no_prefetch if config.DISABLE_JIT else intrinsic(_prefetch)


@inlined
def prefetch_ahead(numbers: F32, slots: I64, j: int, n: int, per_slot: int, n_read: int) -> None:
    """While feature ``j`` of ``n`` is read, request the first ``n_read`` numbers of the slot of a later one."""
    if j + AHEAD < n:
        first = slots[j + AHEAD] * per_slot
        for offset in range(0, n_read, LINE):
            prefetch(numbers, first + offset)

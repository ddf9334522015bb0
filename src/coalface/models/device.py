"""Where the arrays of a model live: in memory, with NumPy, or on a GPU, with CuPy. And how much memory there is."""

import os
from pathlib import Path
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from coalface.data.numbers import choice
from coalface.kernels.cuda.library import cuda_library

DeviceName = Literal["cpu", "cuda"]
Precision = Literal["single", "tf32"]
_CPU, _CUDA = range(2)
_DEVICES = {"cpu": _CPU, "cuda": _CUDA}
SINGLE, TF32 = range(2)  # of matrix products: 24 bits per factor, or 11 on tensor cores; sums have 24
PRECISIONS = {"single": SINGLE, "tf32": TF32}
_MEMINFO = Path("/proc/meminfo")
_LIMITS = (Path("/sys/fs/cgroup/memory.max"), Path("/sys/fs/cgroup/memory/memory.limit_in_bytes"))  # of a container


class HostArrays:
    """Arrays of NumPy."""

    xp: ClassVar[Any] = np

    def to_host(self, array: Any) -> NDArray[Any]:
        """The array in memory."""
        return np.asarray(array)

    def scaled(self, values: NDArray[np.float32], unit: float, most: float) -> Any:
        """The values divided by the unit and clipped to [-most, most], as an array of the device."""
        return (values.astype(np.float64) / unit).clip(-most, most).astype(np.float32)

    def available_bytes(self) -> int | None:
        """The memory that can be allocated, None if unknown."""
        return available_bytes()


class CudaArrays(HostArrays):
    """Arrays of CuPy on the current GPU."""

    def __init__(self) -> None:
        cupy, cublas = cuda_library("device='cuda'")
        self.xp, self._cupy, self._cublas = cupy, cupy, cublas  # type: ignore[misc]
        self._compute = {SINGLE: cublas.CUBLAS_COMPUTE_32F, TF32: cublas.CUBLAS_COMPUTE_32F_FAST_TF32}
        self._scaled = cupy.ElementwiseKernel(
            "float32 x, float64 unit, float64 most", "float32 y", "y = fmin(fmax(x / unit, -most), most)", "scaled"
        )
        self._squares = cupy.ReductionKernel("T x", "T y", "x * x", "a + b", "y = a", "0", "coalface_squares")

    def to_host(self, array: Any) -> NDArray[Any]:
        """The array, copied to memory."""
        return np.asarray(self._cupy.asnumpy(array))

    def scaled(self, values: NDArray[np.float32], unit: float, most: float) -> Any:
        """The values divided by the unit and clipped to [-most, most], as an array of the GPU."""
        return self._scaled(self._cupy.asarray(values), unit, most)

    def kernels(self, source: str, *names: str) -> dict[str, Any]:
        """The functions with these names in a source of CUDA; CuPy keeps what it has compiled."""
        module = self._cupy.RawModule(code=source)
        return {name: module.get_function(name) for name in names}

    def available_bytes(self) -> int | None:
        """The memory of the GPU that can be allocated: what it has free, and what CuPy keeps for reuse."""
        free, _ = self._cupy.cuda.runtime.memGetInfo()
        return int(free + self._cupy.get_default_memory_pool().free_bytes())

    def product(self, left: Any, right: Any, precision: int) -> Any:
        """The matrix product of 32-bit arrays, or of two stacks of as many matrices."""
        out = self._cupy.empty((*left.shape[:-1], right.shape[-1]), np.float32)
        self._multiply(left, right, out, precision, 1.0, 0.0)
        return out

    def subtract_product(self, target: Any, left: Any, right: Any, precision: int) -> None:
        """Subtract the product of two stacks of matrices from ``target``, in place."""
        self._multiply(left, right, target, precision, -1.0, 1.0)

    def squares(self, array: Any) -> Any:
        """The sums of squares along the last axis."""
        return self._squares(array, axis=array.ndim - 1)

    def _multiply(self, left: Any, right: Any, out: Any, precision: int, scale: float, keep: float) -> None:
        """Set ``out`` to scale x left x right + keep x out.

        cuBLAS reads columns first: what it sees as right x left, both transposed, is out, transposed. CuPy's product
        would copy transposed stacks and could not add to ``out``.
        """
        if not out.size:
            return
        scales = np.array([scale, keep], np.float32)
        (a, turned_a, lead_a, step_a), (b, turned_b, lead_b, step_b) = self._operand(right), self._operand(left)
        real = self._cupy.cuda.runtime.CUDA_R_32F
        n_rows, n_columns = out.shape[-2:]
        self._cublas.gemmStridedBatchedEx(
            *(self._cupy.cuda.device.get_cublas_handle(), turned_a, turned_b),
            *(n_columns, n_rows, left.shape[-1], scales.ctypes.data),
            *(a.data.ptr, real, lead_a, step_a),
            *(b.data.ptr, real, lead_b, step_b),
            *(scales.ctypes.data + scales.itemsize, out.data.ptr, real, n_columns, n_rows * n_columns),
            *(len(out) if out.ndim == 3 else 1, self._compute[precision], self._cublas.CUBLAS_GEMM_DEFAULT),
        )

    def _operand(self, array: Any) -> tuple[Any, int, int, int]:
        """An array whose rows or columns are contiguous, which of them, and its strides in numbers."""
        size = array.itemsize
        if size not in array.strides[-2:]:
            array = self._cupy.ascontiguousarray(array)
        turned = int(array.strides[-1] != size)
        lead = max(array.strides[turned - 2] // size, array.shape[-1 - turned])
        return array, turned, lead, array.strides[0] // size if array.ndim == 3 else 0


def is_gpu(device: Any) -> bool:
    """Whether a parameter ``device`` names the GPU; an InputError if it names nothing."""
    return choice("device", device, _DEVICES) == _CUDA


def available_bytes() -> int | None:
    """Bytes that can be allocated without swapping; all physical memory if the system does not tell, None if unknown.

    >>> available_bytes() > 0
    True
    """
    known = [free for free in (_machine_memory(), *map(_container_limit, _LIMITS)) if free is not None]
    return min(known, default=None)


def _machine_memory() -> int | None:
    try:
        lines = dict(line.split(":", 1) for line in _MEMINFO.read_text().splitlines())
        return int(lines["MemAvailable"].split()[0]) * 1024
    except (OSError, KeyError, ValueError):
        pass
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):
        return None


def _container_limit(file: Path) -> int | None:
    """A container's limit. Its current use is not subtracted, because much of that is file cache that can be freed."""
    try:
        return int(file.read_text())
    except (OSError, ValueError):  # ValueError: it says "max"
        return None

"""Enough of CuPy and cuBLAS, on NumPy arrays, to run ``CudaArrays`` without a GPU.

The product reads and writes memory by address, columns first, as cuBLAS documents it.
"""

import ctypes
from types import SimpleNamespace

import numpy as np

from coalface.models.device import HostArrays


class Array(np.ndarray):
    """An array that has an address where CuPy's have one."""

    @property
    def data(self):
        return SimpleNamespace(ptr=self.ctypes.data)


def array(values):
    return np.asarray(values).view(Array)


def _matrix(address, rows, columns, lead):
    """A matrix of this shape whose columns begin ``lead`` numbers apart."""
    numbers = (ctypes.c_float * (lead * (columns - 1) + rows)).from_address(address)
    return np.lib.stride_tricks.as_strided(np.frombuffer(numbers, np.float32), (rows, columns), (4, 4 * lead))


def _scalar(address):
    return ctypes.c_float.from_address(address).value


class Cublas:
    """The one function of cuBLAS that is used, and its constants."""

    CUBLAS_COMPUTE_32F, CUBLAS_COMPUTE_32F_FAST_TF32, CUBLAS_GEMM_DEFAULT = 68, 77, -1

    def __init__(self):
        self.computed = []

    def gemmStridedBatchedEx(  # noqa: N802
        self, handle, turned_a, turned_b, m, n, k, alpha, *operands_and_how
    ):
        a, a_type, lead_a, step_a, b, b_type, lead_b, step_b, beta, c, c_type, lead_c, step_c, count, how, algorithm = (
            operands_and_how
        )
        assert (handle, a_type, b_type, c_type, algorithm) == (7, 0, 0, 0, -1)
        self.computed.append(how)
        assert lead_a >= (k if turned_a else m)
        assert lead_b >= (n if turned_b else k)
        assert lead_c >= m
        for i in range(count):
            left = _matrix(a + 4 * i * step_a, *((k, m) if turned_a else (m, k)), lead_a)
            right = _matrix(b + 4 * i * step_b, *((n, k) if turned_b else (k, n)), lead_b)
            out = _matrix(c + 4 * i * step_c, m, n, lead_c)
            product = (left.T if turned_a else left) @ (right.T if turned_b else right)
            out[...] = _scalar(alpha) * product + (_scalar(beta) * out if _scalar(beta) else 0.0)


class CUDARuntimeError(RuntimeError):
    """What CuPy raises without a driver."""


def _made_by(function):
    return lambda *args, **kwargs: array(function(*args, **kwargs))


def modules(n_devices=1, cublas=None, raw_module=None):
    """The modules as ``sys.modules`` names them."""

    def count():
        if n_devices is None:
            raise CUDARuntimeError("cudaErrorNoDevice: no CUDA-capable device is detected")
        return n_devices

    runtime = SimpleNamespace(
        CUDARuntimeError=CUDARuntimeError, CUDA_R_32F=0, getDeviceCount=count, memGetInfo=lambda: (1000, 2000)
    )
    cuda = SimpleNamespace(runtime=runtime, device=SimpleNamespace(get_cublas_handle=lambda: 7))
    made = ("zeros", "asarray", "arange", "ascontiguousarray", "concatenate")
    cupy = SimpleNamespace(
        cuda=cuda,
        **{name: _made_by(getattr(np, name)) for name in made},
        empty=lambda shape, dtype=np.float64: array(np.full(shape, np.nan, dtype)),
        asnumpy=lambda values: np.array(values),
        RawModule=raw_module,
        ElementwiseKernel=lambda *_: lambda values, unit, most: array(HostArrays().scaled(values, unit, most)),
        get_default_memory_pool=lambda: SimpleNamespace(free_bytes=lambda: 50),
        ReductionKernel=lambda *_: lambda values, axis: (values**2).sum(axis=axis),
    )
    libs = SimpleNamespace(cublas=cublas or Cublas())
    names = {"cupy_backends": SimpleNamespace(), "cupy_backends.cuda": SimpleNamespace()}
    return {"cupy": cupy, **names, "cupy_backends.cuda.libs": libs}

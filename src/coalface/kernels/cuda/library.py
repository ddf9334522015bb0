"""CuPy, which works on a GPU: an optional package, imported only when a device is opened."""

from typing import Any, NamedTuple

from coalface.errors import InputError, in_one_line

_REMEDY = "Run: pip install 'coalface[cuda]' on a machine with an NVIDIA GPU, or use the CPU"


class _CudaLibrary(NamedTuple):
    """The modules that work on a GPU."""

    cupy: Any
    cublas: Any  # CuPy's functions for matrix products


def cuda_library(chosen_by: str) -> _CudaLibrary:
    """CuPy, if it is installed and there is a GPU; else an InputError that begins with what was chosen."""
    try:
        import cupy
        from cupy_backends.cuda.libs import cublas
    except ImportError:
        raise InputError(f"{chosen_by} needs CuPy, which is not installed. {_REMEDY}.") from None
    try:
        count = cupy.cuda.runtime.getDeviceCount()
    except cupy.cuda.runtime.CUDARuntimeError as problem:
        raise InputError(f"{chosen_by} needs a GPU: {in_one_line(problem)}. {_REMEDY}.") from None
    if count == 0:
        raise InputError(f"{chosen_by} needs a GPU, got none. {_REMEDY}.")
    return _CudaLibrary(cupy, cublas)

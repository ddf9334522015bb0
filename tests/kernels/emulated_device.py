"""The CUDA source compiled as plain C++: a device with blocks of one thread, for machines without a GPU."""

import ctypes
import shutil
import subprocess
from functools import cache
from pathlib import Path
from tempfile import mkdtemp

import numpy as np

from coalface.kernels.cuda.layout import BlockShape
from coalface.kernels.cuda.source import source

COMPILER = shutil.which("g++") or shutil.which("c++")


@cache
def _library(shape):
    folder = Path(mkdtemp(prefix="coalface-cuda-"))
    (folder / "runs.cpp").write_text("".join([_defines(shape), "#define COALFACE_EMULATED\n", source()]))
    flags = ["-std=c++17", "-O2", "-ffp-contract=off", "-shared", "-fPIC", "-Wall", "-Wno-unused", "-Werror"]
    subprocess.run([COMPILER, *flags, "-o", folder / "runs.so", folder / "runs.cpp"], check=True)
    return ctypes.CDLL(str(folder / "runs.so"))


def _defines(shape):
    return "".join(f"#define {name} {value}\n" for name, value in shape.constants.items())


class EmulatedDevice:
    """Runs one block after another; an array of the device is an array of the host."""

    name, memory = "emulated device", 2**30

    def put(self, array):
        return np.array(array)

    def zeros(self, shape, kind):
        return np.zeros(shape, kind)

    def empty(self, size, kind=np.float32):
        return np.full(size, np.nan, kind)  # what is read before it was written shows

    def get(self, array):
        return array.copy()

    def address(self, array):
        return 0 if array is None else array.ctypes.data

    def shape_for(self, n_labels, longest_row):
        return BlockShape.of(n_labels, longest_row)._replace(n_threads=1, group_size=1, n_kept=12)

    def n_blocks(self, shape):  # noqa: ARG002
        return 1

    def start(self, shape, n_blocks, problem, settings, n_runs):  # noqa: ARG002
        arguments = [ctypes.c_void_p(problem.ctypes.data), ctypes.c_void_p(settings.ctypes.data)]
        library = _library(shape)
        assert library.block_bytes() <= shape.shared_bytes  # what the host sets aside is enough
        library.simulate_runs(*arguments, ctypes.c_int(n_runs))

    def score(self, name, shape, n_blocks, *arrays):
        problem, settings, trained, *written = (ctypes.c_void_p(array.ctypes.data) for array in arrays)
        _library(shape)[name](problem, settings, trained, ctypes.c_int(n_blocks), *written)

    def is_done(self):
        return True

    def set_flag(self, array):
        array[0] = 1

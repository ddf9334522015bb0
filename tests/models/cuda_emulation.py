"""Runs CUDA kernels without a GPU: compiled as C++, with a thread for each of CUDA's and one block after the other."""

import ctypes
import re
import subprocess
from functools import cache
from types import SimpleNamespace

_BEFORE = """
#include <barrier>
#include <cmath>
#include <thread>
#include <vector>
struct Place { int x, y; };
static thread_local Place threadIdx, blockIdx;
static Place blockDim, gridDim;
static std::barrier<>* gate;  // of the threads of a block; those that are done leave it
#define __global__
#define __shared__ static
#define __syncthreads() gate->arrive_and_wait()
template <class... Args>
void launch(void (*kernel)(Args...), int columns, int rows, int threads, Args... args) {
    gridDim = {columns, rows};
    blockDim = {threads, 1};
    for (int y = 0; y < rows; y++)
        for (int x = 0; x < columns; x++) {
            std::barrier<> barrier(threads);
            gate = &barrier;
            std::vector<std::thread> all;
            for (int t = 0; t < threads; t++)
                all.emplace_back([=] {
                    threadIdx = {t, 0};
                    blockIdx = {x, y};
                    kernel(args...);
                    gate->arrive_and_drop();
                });
            for (auto& one : all) one.join();
        }
}
"""
_KERNEL = re.compile(r'extern "C" __global__ void (\w+)\((.*?)\)', re.DOTALL)
_TYPES = {"int": ctypes.c_int, "long long": ctypes.c_longlong, "float": ctypes.c_float}


def raw_module(folder):
    """What CuPy calls ``RawModule``, for sources compiled into a folder."""

    @cache
    def compiled(code):
        kernels = {name: [part.strip() for part in args.split(",")] for name, args in _KERNEL.findall(code)}
        entries = []
        for name, args in kernels.items():
            names = ", ".join(re.split(r"[ *]", arg)[-1] for arg in args)
            given = ", ".join(["int grid_x", "int grid_y", "int block_x", *args])
            entries.append(
                f'extern "C" void run_{name}({given}) {{ launch({name}, grid_x, grid_y, block_x, {names}); }}'
            )
        source, library = folder / "kernels.cpp", folder / "kernels.so"
        source.write_text("\n".join([_BEFORE, code, *entries]))
        command = ["g++", "-std=c++20", "-O1", "-shared", "-fPIC", "-pthread", "-o", str(library), str(source)]
        subprocess.run(command, check=True, capture_output=True, text=True)
        loaded = ctypes.CDLL(str(library))

        def function(name):
            entry = loaded[f"run_{name}"]

            def call(grid, block, args):
                assert len(args) == len(kernels[name])
                passed = [_passed(arg, kind) for arg, kind in zip(args, kernels[name], strict=True)]
                entry(*(*grid, 1)[:2], *block, *passed)

            return call

        return SimpleNamespace(get_function=function)

    return compiled


def _passed(arg, kind):
    """A pointer to an array of the declared type, or a number of the declared type."""
    declared = kind.removeprefix("const ").rsplit(" ", 1)[0]
    if declared.endswith("*"):
        dtype = {"float": "float32", "double": "float64", "long long": "int64"}[declared.rstrip("*")]
        assert arg.dtype == dtype
        assert arg.flags.c_contiguous
        return ctypes.c_void_p(arg.data.ptr)
    assert arg.dtype == {"int": "int32", "long long": "int64", "float": "float32"}[declared]
    return _TYPES[declared](arg.item())

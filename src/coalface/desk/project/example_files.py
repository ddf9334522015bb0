"""Examples in memory-mapped files: a line of JSON per example, the starts of the lines, and the rows of features.

A pool has two sets of such files: those that ``init`` wrote, and those that grow when examples are added. The log says
how much of the growing files counts. What lies after that was written by a process that ended before its commit; the
next writer cuts it off.
"""

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from coalface.data.rows import Examples
from coalface.errors import FileFormatError
from coalface.files.atomic import sync_folder

LINES = "examples.jsonl"
DTYPES = {"starts": "<i8", "indptr": "<i8", "columns": "<i4", "values": "<f4"}
GROWING = "added_"  # the prefix of the files that grow


class Sizes(NamedTuple):
    """How much of the files counts: so many examples, cells of features, and bytes of lines.

    >>> Sizes.of({"examples": 2, "cells": 9, "bytes": 80}).numbers_in("indptr")
    3
    """

    examples: int
    cells: int
    bytes: int

    @classmethod
    def of(cls, plain: Any) -> "Sizes":
        """The sizes among the values of a JSON object."""
        return cls(int(plain["examples"]), int(plain["cells"]), int(plain["bytes"]))

    def numbers_in(self, name: str) -> int:
        """How many numbers of an array count; the arrays of ends begin with a 0."""
        return self.cells if name in ("columns", "values") else self.examples + 1


class ExampleFiles:
    """The examples in a folder whose files have this prefix, up to these sizes."""

    def __init__(self, folder: Path, sizes: Sizes, prefix: str = "") -> None:
        self._folder, self._prefix, self.sizes = folder, prefix, sizes
        self.arrays = {name: self._array(name, np.dtype(dtype)) for name, dtype in DTYPES.items()}
        lines = self._path(LINES, sizes.bytes)
        self.lines = np.memmap(lines, np.uint8, "r", shape=(sizes.bytes,)) if sizes.bytes else np.zeros(0, np.uint8)

    def __len__(self) -> int:
        return self.sizes.examples

    def line(self, place: int) -> Any:
        """The id and the content of an example."""
        starts = self.arrays["starts"]
        return json.loads(self.lines[starts[place] : starts[place + 1]].tobytes())

    def text(self, place: int) -> bytes:
        """The line of an example, as it is in the file."""
        starts = self.arrays["starts"]
        return self.lines[starts[place] : starts[place + 1]].tobytes()

    def rows(self, places: NDArray[np.int64], width: int) -> Examples:
        """The features of these examples."""
        indptr = self.arrays["indptr"]
        starts, lengths = indptr[places], indptr[places + 1] - indptr[places]
        ends = np.concatenate([[0], np.cumsum(lengths)])
        cells = np.repeat(starts - ends[:-1], lengths) + np.arange(ends[-1])
        X: Examples = csr_array(
            (self.arrays["values"][cells], self.arrays["columns"][cells], ends), shape=(len(places), width)
        )
        return X

    def _array(self, name: str, dtype: np.dtype[Any]) -> NDArray[Any]:
        n = self.sizes.numbers_in(name)
        file = self._path(f"{name}.bin", n * dtype.itemsize)
        return np.memmap(file, dtype, "r", shape=(n,)).view(np.ndarray) if n else np.zeros(0, dtype)

    def _path(self, name: str, n_bytes: int) -> Path:
        """The path of a file; files that grow may be longer than what counts, but no file may be shorter."""
        path = self._folder / f"{self._prefix}{name}"
        found = path.stat().st_size if path.exists() else 0
        if found < n_bytes or (found > n_bytes and not self._prefix):
            raise FileFormatError(f"{path} must have {n_bytes:,} bytes, it has {found:,}. Restore it from a copy.")
        return path


def append(folder: Path, sizes: Sizes, lines: Sequence[bytes], X: Any) -> Sizes:
    """Write examples after what counts, which survives a power cut when this returns; the sizes with them."""
    ends = np.cumsum([len(line) for line in lines], dtype=np.int64) + sizes.bytes
    first = [0] if not sizes.examples else []  # the arrays of ends begin with a 0
    new = {
        "starts": np.concatenate([np.array(first, np.int64), ends]),
        "indptr": np.concatenate([np.array(first, np.int64), X.indptr[1:].astype(np.int64) + sizes.cells]),
        "columns": X.indices,
        "values": X.data,
    }
    for name, numbers in new.items():
        before = sizes.numbers_in(name) if sizes.examples or name in ("columns", "values") else 0
        dtype = np.dtype(DTYPES[name])
        _write_at(
            folder / f"{GROWING}{name}.bin", before * dtype.itemsize, np.ascontiguousarray(numbers, dtype).tobytes()
        )
    _write_at(folder / f"{GROWING}{LINES}", sizes.bytes, b"".join(lines))
    sync_folder(folder)
    return Sizes(sizes.examples + len(lines), sizes.cells + int(X.nnz), int(ends[-1]) if len(ends) else sizes.bytes)


def _write_at(path: Path, place: int, data: bytes) -> None:
    handle = os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_BINARY", 0), 0o666)
    with os.fdopen(handle, "r+b") as file:
        file.truncate(place)
        file.seek(place)
        file.write(data)
        file.flush()
        os.fsync(file.fileno())

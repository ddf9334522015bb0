"""Bundles: one file that holds JSON values and named arrays, with a checksum.

A bundle consists of 8 magic bytes, the format version, the length of a JSON header, the header, the arrays one after
another, and the SHA-256 of everything before it.
"""

import hashlib
import json
import math
import os
import struct
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coalface.errors import FileFormatError, MissingFileError, in_one_line, shortened
from coalface.files.atomic import atomic_write
from coalface.long_work import LongWork

BUNDLE_VERSION = 1
_MAGIC = b"COALFACE"
_PREFIX = struct.Struct("<8sIQ")  # magic, version, length of the header
_DIGEST = hashlib.sha256().digest_size
_KINDS = "biufU"  # kinds of arrays: truth values, numbers and texts
# What Python, NumPy and the models raise if values do not fit each other.
_DAMAGE = (ValueError, TypeError, LookupError, AttributeError, ArithmeticError, MemoryError, RecursionError)


def write_bundle(
    path: str | os.PathLike[str],
    kind: str,
    meta: Mapping[str, Any],
    arrays: Mapping[str, NDArray[Any]],
    *,
    private: bool = False,
) -> None:
    """Write JSON values and arrays as one file, atomically.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     write_bundle(Path(folder, "b"), "example", {"a": 1}, {"x": np.arange(3)})
    ...     read_bundle(Path(folder, "b"), "example")
    ({'a': 1}, {'x': array([0, 1, 2])})
    """
    blocks = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
    index = {name: [array.dtype.str, list(array.shape)] for name, array in blocks.items()}
    header = json.dumps({"kind": kind, "meta": meta, "arrays": index}, allow_nan=False).encode()
    digest = hashlib.sha256()
    with atomic_write(path, private=private) as file:
        for part in (
            _PREFIX.pack(_MAGIC, BUNDLE_VERSION, len(header)),
            header,
            *map(_bytes, blocks.values()),
        ):
            digest.update(part)
            file.write(part)
        file.write(digest.digest())


def read_bundle(path: str | os.PathLike[str], kind: str) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """The values and arrays of a bundle of this kind; any other file is a FileFormatError."""
    with LongWork(f"reading {path}", after=3.0):
        return _read_bundle(Path(path), kind)


def _read_bundle(path: Path, kind: str) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        raise MissingFileError(f"There is no {kind} {path}. Check the path, or save one there first.") from None
    except IsADirectoryError:
        raise FileFormatError(f"{path} is a folder, not a coalface {kind}. Pass the file that save wrote.") from None
    if len(content) < _PREFIX.size or not content.startswith(_MAGIC):
        raise FileFormatError(f"{path} is not a coalface {kind}: its first bytes are {content[:8]!r}.")
    _, version, length = _PREFIX.unpack_from(content)
    if version > BUNDLE_VERSION:
        raise FileFormatError(
            f"{path} has format {version}; this coalface reads up to {BUNDLE_VERSION}. Upgrade coalface."
        )
    if hashlib.sha256(content[:-_DIGEST]).digest() != content[-_DIGEST:]:
        raise FileFormatError(f"{path} is truncated or corrupted: its checksum does not match. Restore it from a copy.")
    with rebuilding(path, kind):
        header = json.loads(content[_PREFIX.size : _PREFIX.size + length])
        if header["kind"] != kind:
            raise FileFormatError(f"{path} holds a {header['kind']!s:.40}, not a {kind}.")
        blocks = memoryview(content)[_PREFIX.size + length : -_DIGEST]
        return dict(header["meta"]), _arrays(header["arrays"], blocks)


@contextmanager
def rebuilding(path: str | os.PathLike[str], kind: str) -> Iterator[None]:
    """Turn every error of a block that rebuilds something from a file into a FileFormatError that names the file.

    A checksum proves that a file is as it was written, not that coalface wrote it.
    """
    try:
        yield
    except FileFormatError:
        raise
    except _DAMAGE as problem:
        reason = in_one_line(problem) or type(problem).__name__
        raise FileFormatError(f"{path} is not a coalface {kind} that can be used: {reason}. Save it again.") from None


def _arrays(index: Mapping[str, Any], blocks: memoryview) -> dict[str, NDArray[Any]]:
    """The arrays that an index describes; together they must take exactly the bytes that there are."""
    arrays, start = {}, 0
    for name, (code, shape) in index.items():
        dtype = np.dtype(str(code))
        if dtype.kind not in _KINDS or any(type(n) is not int or n < 0 for n in shape):
            raise ValueError(f"its array {name!r:.40} has the type {dtype.str} and the shape {shortened(shape, 40)}")
        size = dtype.itemsize * math.prod(shape)
        if size > len(blocks) - start:
            raise ValueError(f"its array {name!r:.40} is larger than the file")
        block = blocks[start : start + size]
        if dtype.kind == "U" and not _is_text(np.frombuffer(block, np.dtype("u4").newbyteorder(dtype.byteorder))):
            raise ValueError(f"its array {name!r:.40} has letters that Unicode does not have")
        arrays[name] = np.frombuffer(block, dtype).reshape(shape).copy()
        start += size
    if start != len(blocks):
        raise ValueError("it has more bytes than its arrays")
    return arrays


def _is_text(letters: NDArray[np.uint32]) -> bool:
    """Whether all numbers are letters of Unicode; NumPy takes any, and Python fails on others much later."""
    return bool(((letters < 0xD800) | ((letters > 0xDFFF) & (letters <= 0x10FFFF))).all())


def _bytes(array: NDArray[Any]) -> memoryview | bytes:
    return memoryview(array.data).cast("B") if array.size and array.dtype.kind != "U" else array.tobytes()

"""Bundles: one file that holds JSON values and named arrays, with a checksum.

A bundle consists of 8 magic bytes, the format version, the length of a JSON header, the header, the arrays one after
another, and the SHA-256 of everything before it.
"""

import hashlib
import json
import os
import struct
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coalface.errors import FileFormatError
from coalface.files.atomic import atomic_write

BUNDLE_VERSION = 2
_MAGIC = b"COALFACE"
_PREFIX = struct.Struct("<8sIQ")  # magic, version, length of the header
_DIGEST = hashlib.sha256().digest_size


def write_bundle(
    path: str | os.PathLike[str],
    kind: str,
    meta: Mapping[str, Any],
    arrays: Mapping[str, NDArray[Any]],
    version: int = 1,
) -> None:
    """Write JSON values and arrays as one file, atomically; readers of an earlier format than ``version`` refuse it.

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
    with atomic_write(path) as file:
        for part in (
            _PREFIX.pack(_MAGIC, version, len(header)),
            header,
            *map(_bytes, blocks.values()),
        ):
            digest.update(part)
            file.write(part)
        file.write(digest.digest())


def read_bundle(path: str | os.PathLike[str], kind: str) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """The values and arrays of a bundle of this kind; any other file is a FileFormatError."""
    content = Path(path).read_bytes()
    if len(content) < _PREFIX.size or not content.startswith(_MAGIC):
        raise FileFormatError(f"{path} is not a coalface {kind}: its first bytes are {content[:8]!r}.")
    _, version, length = _PREFIX.unpack_from(content)
    if version > BUNDLE_VERSION:
        raise FileFormatError(
            f"{path} has format {version}; this coalface reads up to {BUNDLE_VERSION}. Upgrade coalface."
        )
    if hashlib.sha256(content[:-_DIGEST]).digest() != content[-_DIGEST:]:
        raise FileFormatError(f"{path} is truncated or corrupted: its checksum does not match. Restore it from a copy.")
    header = json.loads(content[_PREFIX.size : _PREFIX.size + length])
    if header["kind"] != kind:
        raise FileFormatError(f"{path} holds a {header['kind']}, not a {kind}.")
    arrays, start = {}, _PREFIX.size + length
    for name, (dtype, shape) in header["arrays"].items():
        array = np.frombuffer(content, dtype, int(np.prod(shape, dtype=np.int64)), start).reshape(shape).copy()
        arrays[name] = array
        start += array.nbytes
    return header["meta"], arrays


def _bytes(array: NDArray[Any]) -> memoryview | bytes:
    return memoryview(array.data).cast("B") if array.size and array.dtype.kind != "U" else array.tobytes()

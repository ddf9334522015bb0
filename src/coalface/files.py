"""Files that are never half-written, and one file for many arrays.

A bundle is: 8 bytes of magic, the format version, the length of a JSON header, the header, the arrays
one after another, and the SHA-256 of all that.
"""

import hashlib
import json
import os
import struct
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from coalface.errors import FileFormatError

_MAGIC = b"COALFACE"
_PREFIX = struct.Struct("<8sIQ")  # magic, version, length of the header
_DIGEST = hashlib.sha256().digest_size
BUNDLE_VERSION = 1


@contextmanager
def atomic_write(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """A binary file that takes the place of ``path`` only when the block ends without an error.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     target = Path(folder, "greeting.txt")
    ...     with atomic_write(target) as file:
    ...         _ = file.write(b"hello")
    ...     target.read_text()
    'hello'
    """
    target = Path(path)
    handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.", suffix=".part")
    try:
        with os.fdopen(handle, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        Path(name).chmod(0o666 & ~_umask())  # mkstemp makes private files; a result is an ordinary one
        Path(name).replace(target)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
    sync_folder(target.parent)


def sync_folder(folder: Path) -> None:
    """Make a rename in ``folder`` survive a power cut, where the system can do that."""
    if os.name != "posix":
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def write_bundle(
    path: str | os.PathLike[str], kind: str, meta: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]
) -> None:
    """One file with JSON values and arrays, written atomically.

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
            _PREFIX.pack(_MAGIC, BUNDLE_VERSION, len(header)),
            header,
            *map(_bytes, blocks.values()),
        ):
            digest.update(part)
            file.write(part)
        file.write(digest.digest())


def read_bundle(path: str | os.PathLike[str], kind: str) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """The values and arrays of a bundle of this kind; a FileFormatError if it is anything else."""
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


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask

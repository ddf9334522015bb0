"""Files that are never half-written nor changed by two at once, and one file for many arrays.

A bundle is: 8 bytes of magic, the format version, the length of a JSON header, the header, the arrays
one after another, and the SHA-256 of all that.
"""

import errno
import hashlib
import json
import os
import secrets
import stat
import struct
import sys
import time
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from coalface.errors import FileBusyError, FileFormatError

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

_MAGIC = b"COALFACE"
_PREFIX = struct.Struct("<8sIQ")  # magic, version, length of the header
_DIGEST = hashlib.sha256().digest_size
BUNDLE_VERSION = 1
_EYEBLINK = 0.05  # seconds between two attempts at a lock
_TAKEN = (errno.EAGAIN, errno.EACCES, errno.EDEADLK)  # how systems say that somebody else holds a lock


@contextmanager
def atomic_write(path: str | os.PathLike[str], *, private: bool = False) -> Iterator[BinaryIO]:
    """A binary file that takes the place of ``path`` only when the block ends without an error.

    Nobody but its owner may read a ``private`` one.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     target = Path(folder, "greeting.txt")
    ...     with atomic_write(target) as file:
    ...         _ = file.write(b"hello")
    ...     target.read_text()
    'hello'
    """
    target = Path(path).resolve()  # what a link points to is written, the link stays
    handle, part = _fresh_beside(target, private=private)
    try:
        with os.fdopen(handle, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        part.replace(target)
    except BaseException:
        part.unlink(missing_ok=True)
        raise
    sync_folder(target.parent)


def _fresh_beside(target: Path, *, private: bool) -> tuple[int, Path]:
    """A new file in the folder of ``target``, with its permissions if it exists; errors name the target."""
    if not target.parent.is_dir():
        raise FileNotFoundError(errno.ENOENT, f"There is no folder {target.parent}", str(target))
    if target.is_dir():
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(target))
    part = target.with_name(f".{target.name}.{secrets.token_hex(6)}.part")
    mode = stat.S_IMODE(target.stat().st_mode) if target.exists() else None
    mode = stat.S_IRUSR | stat.S_IWUSR if private else mode
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    try:
        handle = os.open(part, flags, 0o666 if mode is None else mode)
    except OSError as problem:
        raise OSError(problem.errno, problem.strerror, str(target)) from None
    if mode is not None:
        part.chmod(mode)  # the umask may have taken some of it
    return handle, part


@contextmanager
def exclusive(path: str | os.PathLike[str], patience: float = 10.0) -> Iterator[None]:
    """The right to change ``path``, which one process has at a time; others wait, ``patience`` seconds at most.

    It is a lock on the file ``.NAME.lock`` beside it, and ends with the process whatever happens.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder, exclusive(Path(folder, "m.coal")):
    ...     [file.name for file in Path(folder).iterdir()]
    ['.m.coal.lock']
    """
    target = Path(path).resolve()
    lock = target.with_name(f".{target.name}.lock")
    deadline = time.monotonic() + patience
    while (handle := _locked(lock)) is None:
        if time.monotonic() >= deadline:
            since = f"held it for {patience:g} seconds" if patience else "is at it"
            raise FileBusyError(
                f"{path} must be changed by one process at a time, another {since}. Try again when that one is done."
            )
        time.sleep(_EYEBLINK)
    try:
        yield
    finally:
        if os.name == "posix":  # elsewhere an open file stays
            lock.unlink(missing_ok=True)
        os.close(handle)


def _locked(lock: Path) -> int | None:
    """The open and locked file, or None if somebody else has it."""
    handle = os.open(lock, os.O_RDWR | os.O_CREAT, 0o666)
    with suppress(FileNotFoundError):
        # The one before us may have removed the file between our opening and locking it.
        if _lock(handle, lock) and os.path.samestat(os.fstat(handle), lock.stat()):
            return handle
    os.close(handle)
    return None


def _lock(handle: int, lock: Path) -> bool:
    try:
        if sys.platform == "win32":
            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
        else:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as problem:
        if problem.errno in _TAKEN:
            return False
        warnings.warn(
            f"{lock.parent} cannot hold locks ({problem.strerror}). Let only one process at a time change files there.",
            stacklevel=4,
        )
    return True


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

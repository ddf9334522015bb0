"""Locks: one process at a time may change a file."""

import errno
import os
import sys
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from coalface.errors import FileBusyError

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

_RETRY_SECONDS = 0.05
_HELD_ELSEWHERE = (errno.EAGAIN, errno.EACCES, errno.EDEADLK)  # how systems report that another process has the lock


@contextmanager
def exclusive(path: str | os.PathLike[str], patience: float = 10.0) -> Iterator[None]:
    """A lock on ``path``: other processes wait for it, at most ``patience`` seconds.

    The lock is on the file ``.NAME.lock`` beside ``path``. The system releases it when the process ends.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder, exclusive(Path(folder, "m.coal")):
    ...     [file.name for file in Path(folder).iterdir()]
    ['.m.coal.lock']
    """
    target = Path(path).resolve()
    lock = target.with_name(f".{target.name}.lock")
    deadline = time.monotonic() + patience
    while (handle := _acquire(lock)) is None:
        if time.monotonic() >= deadline:
            since = f"has held its lock for {patience:g} seconds" if patience else "is changing it"
            raise FileBusyError(
                f"{path} must be changed by one process at a time; another process {since}. "
                "Try again when that process is done."
            )
        time.sleep(_RETRY_SECONDS)
    try:
        yield
    finally:
        if os.name == "posix":  # other systems do not remove an open file
            lock.unlink(missing_ok=True)
        os.close(handle)


def _acquire(lock: Path) -> int | None:
    """The open and locked file, or None if another process has the lock."""
    handle = os.open(lock, os.O_RDWR | os.O_CREAT, 0o666)
    with suppress(FileNotFoundError):
        # The previous holder may have removed the file after this process opened it.
        if _try_lock(handle, lock) and os.path.samestat(os.fstat(handle), lock.stat()):
            return handle
    os.close(handle)
    return None


def _try_lock(handle: int, lock: Path) -> bool:
    try:
        if sys.platform == "win32":
            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
        else:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as problem:
        if problem.errno in _HELD_ELSEWHERE:
            return False
        warnings.warn(
            f"{lock.parent} does not support locks ({problem.strerror}). "
            "Let only one process at a time change files there.",
            stacklevel=4,
        )
    return True

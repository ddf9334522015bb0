"""Atomic writes of files and folders, and locks: nothing is half-written or changed by two processes at once."""

import errno
import os
import re
import secrets
import shutil
import stat
import sys
import time
import uuid
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from coalface.errors import FileBusyError, InputError, IsFolderError

_RETRY_SECONDS = 0.05
_HELD_ELSEWHERE = (errno.EAGAIN, errno.EACCES, errno.EDEADLK)  # how systems report that another process has the lock
_STALE_SECONDS = 3600  # a younger part may belong to a process that has not locked it yet


@contextmanager
def atomic_write(path: str | os.PathLike[str], *, private: bool = False) -> Iterator[BinaryIO]:
    """A binary file that replaces ``path`` only when the block ends without an error.

    With ``private``, only its owner may read the file. A killed process leaves a hidden part of the file, which a write
    of the same file removes after an hour.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     target = Path(folder, "greeting.txt")
    ...     with atomic_write(target) as file:
    ...         _ = file.write(b"hello")
    ...     target.read_text()
    'hello'
    """
    target = Path(path).resolve()  # a symbolic link is kept; the file that it points to is replaced
    handle, part = _create_beside(target, private=private)
    try:
        with os.fdopen(handle, "wb") as file:
            _hold_part(handle)
            _remove_stale_parts(target)
            yield file
            file.flush()
            os.fsync(file.fileno())
        part.replace(target)
    except BaseException:
        part.unlink(missing_ok=True)
        raise
    sync_folder(target.parent)


def _create_beside(target: Path, *, private: bool) -> tuple[int, Path]:
    """A new file in the folder of ``target``, with the target's permissions if it exists; errors name the target."""
    if not target.parent.is_dir():
        raise FileNotFoundError(errno.ENOENT, f"There is no folder {target.parent}", str(target))
    if target.is_dir():
        raise IsFolderError(target)
    part = target.with_name(f".{target.name}.{secrets.token_hex(6)}.part")
    mode = stat.S_IMODE(target.stat().st_mode) if target.exists() else None
    mode = stat.S_IRUSR | stat.S_IWUSR if private else mode
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    try:
        handle = os.open(part, flags, 0o666 if mode is None else mode)
    except OSError as problem:
        raise OSError(problem.errno, problem.strerror, str(target)) from None
    if mode is not None:
        part.chmod(mode)  # the umask may have removed some permissions
    return handle, part


def sync_folder(folder: Path) -> None:
    """Make a rename in ``folder`` survive a power cut, where the system supports that."""
    if os.name != "posix":
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


@contextmanager
def new_folder(folder: str | os.PathLike[str]) -> Iterator[Path]:
    """A hidden folder that is renamed to ``folder`` when the block ends, or removed after an error.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as place:
    ...     with new_folder(f"{place}/mail") as part:
    ...         _ = (part / "note.txt").write_text("hello")
    ...     [path.name for path in Path(place).iterdir()]
    ['mail']
    """
    target = Path(folder)
    refuse_used(target)
    target.parent.mkdir(parents=True, exist_ok=True)
    part = target.parent / f".{target.name}.{uuid.uuid4().hex}.part"
    try:
        part.mkdir()
        yield part
        if target.exists():
            target.rmdir()
        part.replace(target)
    finally:
        shutil.rmtree(part, ignore_errors=True)


def refuse_used(target: Path) -> None:
    """Raise an InputError unless ``target`` is absent or an empty folder."""
    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        raise InputError(f"{target} must be a new or empty folder. Choose another name.")


if sys.platform == "win32":
    import msvcrt
else:
    import fcntl


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
    handle = _awaited(path, patience, lambda: _acquire(lock))
    try:
        yield
    finally:
        if os.name == "posix":  # other systems do not remove an open file
            lock.unlink(missing_ok=True)
        os.close(handle)


@contextmanager
def exclusive_folder(folder: str | os.PathLike[str], patience: float = 10.0) -> Iterator[None]:
    """A lock on a folder, which lasts even if files in it are removed. Only POSIX systems lock folders.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder, exclusive_folder(folder):
    ...     list(Path(folder).iterdir())
    []
    """
    if os.name != "posix":  # the system keeps the open lock file of ``exclusive`` from being removed
        yield
        return
    handle = _awaited(folder, patience, lambda: _acquire_folder(Path(folder)))
    try:
        yield
    finally:
        os.close(handle)


def _awaited(path: str | os.PathLike[str], patience: float, acquire: Callable[[], int | None]) -> int:
    """The locked handle, as soon as another process lets go of it."""
    deadline = time.monotonic() + patience
    while (handle := acquire()) is None:
        if time.monotonic() >= deadline:
            since = f"has held its lock for {patience:g} seconds" if patience else "is changing it"
            raise FileBusyError(
                f"{path} must be changed by one process at a time; another process {since}. "
                "Try again when that process is done."
            )
        time.sleep(_RETRY_SECONDS)
    return handle


def _acquire_folder(folder: Path) -> int | None:
    handle = os.open(folder, os.O_RDONLY)
    if _try_lock(handle, folder / "."):
        return handle
    os.close(handle)
    return None


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


if sys.platform != "win32":
    import fcntl


def _hold_part(handle: int) -> None:
    """Mark an open part as being written until it is closed. On Windows, no open file can be removed anyway."""
    if sys.platform != "win32":
        with suppress(OSError):  # a folder without locks: its parts are never removed
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)


def _remove_stale_parts(target: Path) -> None:
    """Remove old parts of ``target`` that no process is writing.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     part = Path(folder, ".greeting.txt.0123456789ab.part")
    ...     part.touch()
    ...     os.utime(part, (0, 0))
    ...     _remove_stale_parts(Path(folder, "greeting.txt"))
    ...     part.exists()
    False
    """
    is_part = re.compile(re.escape(f".{target.name}.") + r"[0-9a-f]{12}\.part").fullmatch
    with suppress(OSError):  # a folder that cannot be listed
        for path in target.parent.iterdir():
            with suppress(OSError):  # of another user, held, or removed by another process
                if is_part(path.name):
                    _remove_if_stale(path)


def _remove_if_stale(part: Path) -> None:
    if time.time() - part.stat().st_mtime < _STALE_SECONDS:
        return
    if sys.platform == "win32":
        part.unlink()
        return
    handle = os.open(part, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        part.unlink()
    finally:
        os.close(handle)

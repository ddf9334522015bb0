"""Atomic writes: a file is replaced as a whole or not at all."""

import errno
import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO


@contextmanager
def atomic_write(path: str | os.PathLike[str], *, private: bool = False) -> Iterator[BinaryIO]:
    """A binary file that replaces ``path`` only when the block ends without an error.

    With ``private``, only its owner may read the file.

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

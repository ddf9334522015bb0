"""Parts of files that a killed process left behind: the next write of the same file removes them."""

import os
import re
import sys
import time
from contextlib import suppress
from pathlib import Path

if sys.platform != "win32":
    import fcntl

_STALE_SECONDS = 3600  # a younger part may belong to a process that has not locked it yet


def hold_part(handle: int) -> None:
    """Mark an open part as being written until it is closed. On Windows, no open file can be removed anyway."""
    if sys.platform != "win32":
        with suppress(OSError):  # a folder without locks: its parts are never removed
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)


def remove_stale_parts(target: Path) -> None:
    """Remove old parts of ``target`` that no process is writing.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     part = Path(folder, ".greeting.txt.0123456789ab.part")
    ...     part.touch()
    ...     os.utime(part, (0, 0))
    ...     remove_stale_parts(Path(folder, "greeting.txt"))
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

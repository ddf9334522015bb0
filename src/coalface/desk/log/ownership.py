"""The lock of a project, which one process opens at a time, and the errors of a database in one line."""

import secrets
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from coalface.errors import FileBusyError, FileFormatError, in_one_line
from coalface.files import exclusive, exclusive_folder
from coalface.rounds import without_password

import sqlalchemy as sa  # isort: skip  (after the module that says how to install it)

_LOCK = "project.toml"  # a file beside it is locked, too, for systems that cannot lock a folder
_PATIENCE = 0.5  # seconds to wait for a process that is about to end
RESTORE = "Restore it from a copy, or import an exported .zip."


def new_id() -> str:
    """An id that no other project has.

    >>> len(new_id())
    32
    """
    return secrets.token_hex(16)


@contextmanager
def sole_use(folder: Path) -> Iterator[None]:
    """Lock a project's folder against other processes; a FileBusyError if one of them has it open.

    The lock is on the folder itself where the system can do that, so it does not end if a file in it is removed.
    """
    with ExitStack() as stack:
        try:
            stack.enter_context(exclusive_folder(folder, _PATIENCE))
            stack.enter_context(exclusive(folder / _LOCK, _PATIENCE))
        except FileBusyError:
            raise FileBusyError(
                f"The project {folder} is already open in another process, a service or coalface label. "
                "Stop that one first."
            ) from None
        yield


@contextmanager
def opening(url: str) -> Iterator[None]:
    """Turn the errors of a database that cannot be opened or used into errors of one line."""
    try:
        yield
    except sa.exc.OperationalError as problem:
        raise FileBusyError(
            f"The database {without_password(url)} cannot be used now ({_reason(problem)}). Try again later."
        ) from None
    except sa.exc.DatabaseError as problem:
        raise FileFormatError(
            f"The database {without_password(url)} is damaged ({_reason(problem)}). {RESTORE}"
        ) from None


def _reason(problem: sa.exc.DBAPIError) -> str:
    return in_one_line(Exception(problem.orig))

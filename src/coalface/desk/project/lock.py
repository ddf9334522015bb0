"""The lock of a project: one process at a time has it open."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from coalface.desk.project.settings_file import SETTINGS
from coalface.errors import FileBusyError
from coalface.files.atomic import exclusive, exclusive_folder

_PATIENCE = 0.5  # seconds to wait for a process that is about to end


@contextmanager
def sole_use(folder: Path) -> Iterator[None]:
    """Lock a project against other processes; a FileBusyError if one of them has it open.

    The lock is on the folder itself, so it does not end if a file in it is removed. Earlier versions lock a file there.
    """
    with ExitStack() as stack:
        try:
            stack.enter_context(exclusive_folder(folder, _PATIENCE))
            stack.enter_context(exclusive(folder / SETTINGS, _PATIENCE))
        except FileBusyError:
            raise FileBusyError(
                f"The project {folder} is already open in another process, a service or coalface label. "
                "Stop that one first."
            ) from None
        yield

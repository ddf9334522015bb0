"""Watches the file of an open SQLite database: commits to a file that was deleted or moved would be lost."""

from pathlib import Path

from coalface.errors import LostDatabaseError

import sqlalchemy as sa  # isort: skip  (after the module that says how to install it)

_JOURNAL = "-wal"  # the file beside the database that holds the newest transactions
_Identity = tuple[int, int] | None


class DatabaseFile:
    """Remembers which files a database consists of, and notices if their names point elsewhere.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "answers.db")
    ...     _ = path.write_bytes(b"")
    ...     file = DatabaseFile(path)
    ...     file.check()
    ...     path.unlink()
    ...     file.is_lost
    True
    """

    def __init__(self, path: Path | None) -> None:
        self._paths: tuple[Path, ...] = () if path is None else (path, path.with_name(path.name + _JOURNAL))
        self._known: dict[Path, _Identity] = {}

    @classmethod
    def of(cls, address: sa.URL) -> "DatabaseFile":
        """The file of a SQLite address; other databases have none that could be checked."""
        name = address.database if address.drivername.startswith("sqlite") else None
        return cls(None if not name or name == ":memory:" or name.startswith("file:") else Path(name).resolve())

    @property
    def is_lost(self) -> bool:
        """Whether a file that was seen before is another one now."""
        return any(_identity(path) != known for path, known in self._known.items())

    def check(self) -> None:
        """Remember the files at the first call; a LostDatabaseError if they are others at a later one."""
        if self.is_lost:
            raise LostDatabaseError(
                f"The database {self._paths[0]} was moved, deleted or replaced while it was open, so what was sent "
                "last is not stored. Put the file back or restore a copy, then start again."
            )
        for path in self._paths:
            if path not in self._known and (found := _identity(path)) is not None:
                self._known[path] = found


def _identity(path: Path) -> _Identity:
    """The device and the number of a file; None if there is none."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino

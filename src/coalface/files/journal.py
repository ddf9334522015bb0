"""Journals: append-only files of JSON objects, one per line, that lose no acknowledged line.

The first line is a header that names the kind of file. ``append`` returns only when its lines are on disk. A crash
during a write leaves a last line without a line end. Such a line was never acknowledged: it is ignored on opening, and
the next line overwrites it. Any other damage is an error. So is a change by another writer since the journal was
opened, because two writers would erase each other's lines.
"""

import json
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import IO, Any

from coalface.errors import FileFormatError, IsFolderError
from coalface.files.atomic import sync_folder

Line = Mapping[str, Any]


def _write_all(file: IO[bytes], content: bytes) -> None:
    while content:
        content = content[file.write(content) or 0 :]


class Journal:
    """The journal of this ``kind`` at ``path``, read once on opening; ``begin`` creates the file.

    It writes the format ``version`` and reads all up to it.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     journal = Journal(Path(folder, "notes.jsonl"), kind="notes", version=1)
    ...     journal.begin({"author": "Ada"})
    ...     journal.append([{"note": "it works"}])
    ...     [(number, line["note"]) for number, line in Journal(journal.path, "notes", 1)]
    [(2, 'it works')]
    """

    def __init__(self, path: str | os.PathLike[str], kind: str, version: int) -> None:
        self.path = Path(path)
        self.header: dict[str, Any] | None = None
        self.length = 0  # lines after the header
        self._mark, self._kind, self._version = f"coalface_{kind}", kind, version
        self._end = 0  # bytes of complete lines
        self._size = 0  # bytes of the file; after a crash, more than ``_end``
        if self.path.is_dir():
            raise IsFolderError(path)
        if self.path.exists():
            self._read_through()

    def begin(self, header: Line) -> None:
        """Write the header, once."""
        self._write([{self._mark: self._version, **header}])
        sync_folder(self.path.parent)
        self.header = dict(header)

    def append(self, lines: Iterable[Line]) -> None:
        """Write lines; they are on disk when this returns."""
        listed = list(lines)
        self._write(listed)
        self.length += len(listed)

    def __iter__(self) -> Iterator[tuple[int, Any]]:
        """Every line after the header, with its line number in the file."""
        for number, line in self._lines():
            if number > 1:
                yield number, self._parsed(number, line)

    def damaged(self, number: int, problem: Exception) -> FileFormatError:
        """The error that names a damaged line."""
        place = f"{self.path}, line {number}"
        text = str(problem).removeprefix(f"{place} is damaged: ")
        return FileFormatError(f"{place} is damaged: {text.rstrip('.')}. Restore the file from a copy.")

    def _write(self, lines: list[Line]) -> None:
        text = "".join(json.dumps(line, allow_nan=False, separators=(",", ":")) + "\n" for line in lines)
        mode = "r+b" if self._size or self.path.exists() else "xb"
        with self.path.open(mode, buffering=0) as file:  # unbuffered, so that a failed write can be cut off
            if file.seek(0, os.SEEK_END) != self._size:
                raise FileFormatError(
                    f"{self.path} has changed since it was opened; open it again and continue from there."
                )
            file.truncate(self._end)  # remove an unfinished line that a crash left
            self._size = file.seek(self._end)
            try:
                _write_all(file, text.encode())
                os.fsync(file.fileno())
            except OSError as problem:
                with suppress(OSError):
                    file.truncate(self._end)
                    self._size = self._end
                raise OSError(problem.errno, problem.strerror, str(self.path)) from None
            self._end = self._size = file.tell()

    def _read_through(self) -> None:
        self._size = self.path.stat().st_size
        for number, line in self._lines():
            if number == 1:
                self.header = self._read_header(line)
            else:
                self.length += 1
            self._end += len(line)
        if self.header is None:
            beginning = f'{{"{self._mark}":'.encode()
            with self.path.open("rb") as file:
                torn = file.read(len(beginning))
            if torn != beginning[: len(torn)]:
                raise self._foreign()

    def _lines(self) -> Iterator[tuple[int, bytes]]:
        if not self._size:
            return
        with self.path.open("rb") as file:
            for number, line in enumerate(file, start=1):
                if line.endswith(b"\n"):
                    yield number, line

    def _read_header(self, line: bytes) -> dict[str, Any]:
        header = self._parsed(1, line)
        version = header.pop(self._mark, None) if isinstance(header, dict) else None
        if not isinstance(version, int):
            raise self._foreign()
        if version > self._version:
            raise FileFormatError(
                f"{self.path} has {self._kind} format {version}; this coalface reads up to {self._version}. "
                "Upgrade coalface."
            )
        return dict(header)

    def _foreign(self) -> FileFormatError:
        return FileFormatError(f"{self.path} is not a coalface {self._kind}: its first line has no '{self._mark}'.")

    def _parsed(self, number: int, line: bytes) -> Any:
        try:
            return json.loads(line)
        except ValueError as problem:
            raise self.damaged(number, problem) from None

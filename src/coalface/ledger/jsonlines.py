"""A ledger in a file: one JSON object per line, the header first.

A line is written in one go and forced to disk before ``append`` comes back. A last line without its
line end is what a crash in the middle of a write leaves behind: it was never acknowledged, so it is
dropped on opening and overwritten by the next entry. Any other damage is an error, and so is a file
that somebody else has written to since it was opened: two writers would erase each other's lines.
"""

import json
import os
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from coalface.errors import FileFormatError
from coalface.files import sync_folder
from coalface.ledger.entry import Entry
from coalface.ledger.memory import Header, refuse_second_header, require_header

VERSION = 1
_BEGINNING = b'{"coalface_ledger":'  # of every ledger


class JsonLinesLedger:
    """The ledger at ``path``; the file is made by ``begin`` and read back by opening it again.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     ledger = JsonLinesLedger(Path(folder, "answers.jsonl"))
    ...     ledger.begin({"classes": ["a", "b"]})
    ...     ledger.append([Entry(1, False, 3, (), (), ())])
    ...     [entry.round for entry in JsonLinesLedger(ledger.path)]
    [1]
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        self._header: Header | None = None
        self._length = 0
        self._end = 0  # bytes of whole lines
        self._size = 0  # bytes of the file; more than the above after a crash
        if self.path.exists():
            self._read_through()

    @property
    def header(self) -> Header | None:
        """The learner's settings and labels; None before ``begin``."""
        return self._header

    def begin(self, header: Header) -> None:
        """Write the header, once."""
        refuse_second_header(self._header)
        self._write([{"coalface_ledger": VERSION, **header}])
        sync_folder(self.path.parent)
        self._header = dict(header)

    def append(self, entries: Iterable[Entry]) -> None:
        """Write entries; when this comes back, they are on disk."""
        require_header(self._header)
        lines = [entry.to_json() for entry in entries]
        self._write(lines)
        self._length += len(lines)

    def __iter__(self) -> Iterator[Entry]:
        for number, line in self._lines():
            if number > 1:
                yield self._entry(number, line)

    def __len__(self) -> int:
        return self._length

    def _write(self, lines: list[dict[str, Any]]) -> None:
        text = "".join(json.dumps(line, allow_nan=False, separators=(",", ":")) + "\n" for line in lines)
        with self.path.open("r+b" if self._size or self.path.exists() else "xb") as file:
            if file.seek(0, os.SEEK_END) != self._size:
                raise FileFormatError(
                    f"{self.path} has changed since it was opened; open it again and go on from there."
                )
            file.truncate(self._end)  # what a crash left of an unfinished line
            self._size = file.seek(self._end)
            try:
                file.write(text.encode())
                file.flush()
                os.fsync(file.fileno())
            except OSError:
                with suppress(OSError):
                    file.truncate(self._end)
                raise
            self._end = self._size = file.tell()

    def _read_through(self) -> None:
        self._size = self.path.stat().st_size
        for number, line in self._lines():
            if number == 1:
                self._header = self._read_header(line)
            else:
                self._entry(number, line)
                self._length += 1
            self._end += len(line)
        if self._header is None:
            with self.path.open("rb") as file:
                torn = file.read(len(_BEGINNING))
            if torn != _BEGINNING[: len(torn)]:
                raise self._foreign()

    def _lines(self) -> Iterator[tuple[int, bytes]]:
        if not self._size:
            return
        with self.path.open("rb") as file:
            for number, line in enumerate(file, start=1):
                if line.endswith(b"\n"):
                    yield number, line

    def _read_header(self, line: bytes) -> Header:
        header = self._parse(1, line)
        version = header.pop("coalface_ledger", None) if isinstance(header, dict) else None
        if not isinstance(version, int):
            raise self._foreign()
        if version > VERSION:
            raise FileFormatError(
                f"{self.path} has ledger format {version}; this coalface reads up to {VERSION}. Upgrade coalface."
            )
        return dict(header)

    def _foreign(self) -> FileFormatError:
        return FileFormatError(f"{self.path} is not a coalface ledger: its first line has no 'coalface_ledger'.")

    def _entry(self, number: int, line: bytes) -> Entry:
        try:
            return Entry.from_json(self._parse(number, line))
        except FileFormatError as problem:
            raise self._damaged(number, problem) from None

    def _parse(self, number: int, line: bytes) -> Any:
        try:
            return json.loads(line)
        except ValueError as problem:
            raise self._damaged(number, problem) from None

    def _damaged(self, number: int, problem: Exception) -> FileFormatError:
        place = f"{self.path}, line {number}"
        text = str(problem).removeprefix(f"{place} is damaged: ")
        return FileFormatError(f"{place} is damaged: {text.rstrip('.')}. Restore the file from a copy.")

"""The lines of a file or of standard input, plain or compressed, read once from start to end.

``Position`` says how far a stream was read. It is saved with the model, so that training can continue from there.
"""

import hashlib
import io
import os
import sys
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO

from coalface.data.formats.compression import DAMAGED, unpacked
from coalface.data.streams.encodings import ADVICE, SNIFFED, UTF_8, WESTERN, as_utf_8, western
from coalface.errors import FileFormatError, InputError

STDIN = Path("-")
ALL = sys.maxsize  # lines or rows
_NAME_OF_STDIN = Path("standard input")
_PIECE = 1 << 20  # bytes skipped at a time
_BOM = b"\xef\xbb\xbf"


@dataclass(frozen=True)
class Position:
    """The rows, lines and bytes that were read, the checksum of these bytes, and what the first rows decided.

    >>> Position.from_plain(Position(rows=100, lines=100, bytes=5210, checksum="ab").plain()).rows
    100
    """

    rows: int
    lines: int
    bytes: int
    checksum: str  # of the unpacked bytes read so far, or of the end of a Parquet file
    decided: Mapping[str, Any] = field(default_factory=dict)

    def plain(self) -> dict[str, Any]:
        """The position as JSON values."""
        return asdict(self)

    @classmethod
    def from_plain(cls, plain: Any) -> "Position":
        """The position that ``plain`` described."""
        try:
            return cls(**plain)
        except TypeError as problem:
            raise FileFormatError(
                f"A position must have rows, lines, bytes and a checksum ({problem}). Train a new model."
            ) from None


class LineSource:
    r"""Lines as bytes or as text; ``n_lines`` and ``n_bytes`` count those read so far.

    With ``checksums``, it also sums up what it reads, so that a later run can tell whether the file is the same. With
    the ``encoding`` "auto", a file that is not UTF-8 may have a byte-order mark, or be Western text.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     _ = Path(folder, "a.txt").write_bytes(b"one\ntwo\nthree\n")
    ...     with LineSource(Path(folder, "a.txt")) as lines:
    ...         lines.take(2), next(lines.texts()), lines.n_bytes
    (b'one\ntwo\n', 'three\n', 14)
    """

    def __init__(self, path: Path, *, checksums: bool = False, encoding: str = UTF_8) -> None:
        is_stdin = path == STDIN
        if not is_stdin and (path.is_dir() or not path.exists()):
            raise FileFormatError(f"There is no file {path}. Check the path, or pass - for standard input.")
        self.path = _NAME_OF_STDIN if is_stdin else path
        self.n_lines = self.n_bytes = 0
        self._opened: BinaryIO | None = None if is_stdin else path.open("rb")
        packed = _stdin() if self._opened is None else self._opened
        self._file, self.encoding = as_utf_8(unpacked(packed), encoding, self.path)
        self._may_be_western = encoding == SNIFFED and self.encoding == UTF_8  # until there is a letter in UTF-8
        self._is_western, self._takes_encoding = False, encoding == SNIFFED
        self._sum = hashlib.blake2b(digest_size=16) if checksums else None
        self._size = None if self._opened is None else os.fstat(self._opened.fileno()).st_size

    @property
    def progress(self) -> tuple[int, int | None]:
        """The bytes read of the file, compressed as it is, and its size; None for standard input."""
        if self._opened is None or self._size is None:
            return self.n_bytes, None
        return min(self._opened.tell(), self._size), self._size

    @property
    def checksum(self) -> str:
        """The checksum of all bytes read so far."""
        if self._sum is None:
            raise InputError("This stream was opened without checksums. Pass checksums=True.")
        return self._sum.hexdigest()

    def take(self, n_lines: int) -> bytes:
        """The next lines as one text; empty at the end."""
        try:
            text = self._file.read() if n_lines == ALL else b"".join(islice(self._file, n_lines))
        except DAMAGED as problem:
            raise self._damaged(problem) from None
        self.n_lines += text.count(b"\n") + (bool(text) and not text.endswith(b"\n"))
        self._count(text)
        return text

    def texts(self) -> Iterator[str]:
        """The lines as texts, one by one, without a byte-order mark."""
        while True:
            try:
                line = self._file.readline()
            except DAMAGED as problem:
                raise self._damaged(problem) from None
            if not line:
                return
            self._count(line)
            self.n_lines += 1
            yield self._text(line.removeprefix(_BOM) if self.n_lines == 1 else line)

    def _text(self, line: bytes) -> str:
        if self._is_western:
            text = western(line)
        else:
            try:
                text = line.decode()
                self._may_be_western = self._may_be_western and text.isascii()
                return text
            except UnicodeDecodeError:
                text = western(line) if self._may_be_western else None
        if text is None:
            rule = f"{self.path}, line {self.n_lines}: text must be UTF-8."
            if self._takes_encoding:
                raise FileFormatError(f"{rule} {ADVICE}.", remedy={"encoding": None})
            raise FileFormatError(f"{rule} Save the file as UTF-8.")
        self.take_as(WESTERN)
        return text

    def take_as(self, encoding: str) -> None:
        """Take the lines that follow for text of an encoding that was found out before."""
        self.encoding, self._is_western = encoding, encoding == WESTERN

    def skip_to(self, position: Position) -> None:
        """Skip what was read before; an InputError if it is not what the file has there."""
        left = position.bytes
        while left and (piece := self._file.read(min(left, _PIECE))):
            self._count(piece)
            left -= len(piece)
        if left or self.checksum != position.checksum:
            raise InputError(
                f"{self.path} must begin with the {position.rows:,} examples that the model has learned, got another "
                "file. Pass the same file, or train a new model."
            )
        self.n_lines = position.lines

    def _count(self, read: bytes) -> None:
        self.n_bytes += len(read)
        if self._sum is not None:
            self._sum.update(read)

    def _damaged(self, problem: BaseException) -> FileFormatError:
        where = f", after line {self.n_lines}" if self.n_lines else ""
        return FileFormatError(f"{self.path}{where}: the file is truncated or damaged ({problem}). Restore the file.")

    def __enter__(self) -> "LineSource":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file, unless it is standard input."""
        if self._opened is not None:
            self._file.close()
            self._opened.close()


def _stdin() -> BinaryIO:
    """Standard input as bytes; a program may have replaced it with texts."""
    found: BinaryIO | None = getattr(sys.stdin, "buffer", None)
    return io.BytesIO(sys.stdin.read().encode()) if found is None else found


def text_lines(path: Path) -> Iterator[str]:
    """The lines of a file, plain or compressed, or of standard input as texts, one by one."""
    with LineSource(path) as lines:
        yield from lines.texts()

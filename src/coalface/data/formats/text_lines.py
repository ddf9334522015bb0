"""Text files as lines: lists of texts, or an array of bytes with line positions for compiled readers."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from coalface.data.formats.compression import no_file
from coalface.data.streams.line_source import text_lines
from coalface.errors import FileFormatError

_CHUNK = 1 << 22  # bytes searched for line ends at a time


@dataclass(frozen=True, eq=False)
class TextLines:
    r"""The bytes of a file and where its lines start and end; blank lines are skipped.

    >>> lines = TextLines.of(Path("a.txt"), np.frombuffer(b"one\r\n\r\ntwo words", np.uint8))
    >>> [lines.text(start, end) for start, end in zip(lines.starts, lines.ends)]
    ['one', 'two words']
    """

    path: Path
    buffer: NDArray[np.uint8]
    starts: NDArray[np.int64]
    ends: NDArray[np.int64]
    n_blanks: int
    first_line: int = 1  # the number of the line that the buffer starts with

    @classmethod
    def of(cls, source: Path, buffer: NDArray[np.uint8], first_line: int = 1) -> "TextLines":
        """The lines of some bytes of a file, which start with the line of this number."""
        marked = first_line == 1 and buffer[:3].tobytes() == b"\xef\xbb\xbf"
        skip = 3 if marked else 0  # a byte-order mark
        newlines, n_blanks = [], 0
        for start in range(0, len(buffer), _CHUNK):
            chunk = buffer[start : start + _CHUNK]
            newlines.append(np.flatnonzero(chunk == ord("\n")) + start)
            n_blanks += int(np.count_nonzero(chunk == ord(" ")) + np.count_nonzero(chunk == ord("\t")))
        if newlines and not (len(newlines[-1]) and newlines[-1][-1] == len(buffer) - 1):
            newlines.append(np.array([len(buffer)]))  # the last line has no line end
        ends = np.concatenate([*newlines, np.empty(0, np.int64)]).astype(np.int64)
        starts = np.concatenate([[skip], ends[:-1] + 1]).astype(np.int64)[: len(ends)]
        ends = ends - ((ends > starts) & (buffer[ends - 1] == ord("\r")))
        kept = ends > starts
        hollow = kept & (buffer[starts * kept] <= ord(" ")) & (buffer[(ends - 1) * kept] <= ord(" "))
        for line in np.flatnonzero(hollow):
            kept[line] = bool(buffer[starts[line] : ends[line]].tobytes().strip())
        if not kept.any():
            raise FileFormatError(f"{source} must hold at least one example, got none. Check the file.")
        return cls(source, buffer, starts[kept], ends[kept], n_blanks, first_line)

    def text(self, start: int, end: int, *, strict: bool = True) -> str:
        """A span as text; where it is not UTF-8, an error or, unless ``strict``, a printable form."""
        raw = self.buffer.data[start:end]
        try:
            return str(raw, "utf-8")
        except UnicodeDecodeError:
            shown = str(raw, "utf-8", errors="backslashreplace")
            if strict:
                raise self.error(start, shown, "text must be UTF-8", "Convert the file") from None
            return shown

    def words(self, starts: NDArray[np.int64], ends: NDArray[np.int64]) -> list[str]:
        """Many spans, each within a line, as texts; they are decoded together, which is fast."""
        spans = list(zip(starts.tolist(), ends.tolist(), strict=True))
        raw = self.buffer.data
        try:
            return str(b"\n".join([raw[start:end] for start, end in spans]), "utf-8").split("\n") if spans else []
        except UnicodeDecodeError:
            return [self.text(start, end) for start, end in spans]  # names the line

    def error(self, place: int, text: str, rule: str, remedy: str) -> FileFormatError:
        """The error for the line at this position: file, line number, rule, text and remedy."""
        number = self.first_line + int(np.count_nonzero(self.buffer[:place] == ord("\n")))
        return bad_line(self.path, number, rule, text, remedy)


def read_lines(source: Path) -> list[str]:
    """The lines of a plain or compressed file of UTF-8 text, without line ends."""
    return [line.removesuffix("\n").removesuffix("\r") for line in lines_of_file(source)]


def lines_of_file(source: Path) -> Iterator[str]:
    """The lines of a plain or compressed file, which may be read more than once."""
    if not source.is_file():
        raise no_file(source)
    return text_lines(source)


def bad_line(source: Path, number: int, rule: str, got: str, remedy: str) -> FileFormatError:
    """The error for a bad line: file, line number, rule, text found and remedy."""
    shown = got if len(got) <= 60 else got[:57] + "..."
    return FileFormatError(f"{source}, line {number}: {rule}, got {shown!r}. {remedy}.")


def spells_number(text: str) -> bool:
    """Whether Python reads a text as a number.

    >>> spells_number("1e-3"), spells_number("one")
    (True, False)
    """
    try:
        float(text)
    except ValueError:
        return False
    return True


def harmless(text: str) -> str:
    """A text that no spreadsheet runs as a formula: one that begins like a formula gets an apostrophe in front.

    Removing one leading apostrophe, if there is one, gives the text back. Numbers stay unchanged.

    >>> [harmless(text) for text in ("mail-7", "-7", "=1+2", "'tis")]
    ['mail-7', '-7', "'=1+2", "''tis"]
    """
    if not text.startswith(("=", "+", "-", "@", "\t", "\r", "\n", "'")):
        return text
    try:
        float(text)
    except ValueError:
        return f"'{text}"
    return text


def as_written(text: str) -> str:
    """The text that ``harmless`` made harmless.

    >>> [as_written(harmless(text)) for text in ("mail-7", "-7", "=1+2", "'tis")]
    ['mail-7', '-7', '=1+2', "'tis"]
    """
    return text.removeprefix("'")

"""Encodings of text files: byte-order marks, files that are read as UTF-8, and Western text that is not UTF-8."""

import codecs
import io
import re
from pathlib import Path
from typing import BinaryIO, cast

from coalface.data.formats.compression import DAMAGED
from coalface.errors import FileFormatError, InputError

SNIFFED = "auto"  # UTF-8, or what the bytes say
UTF_8 = "utf-8"
WESTERN = "cp1252"  # holds all of Latin-1
ADVICE = "Pass encoding=, such as encoding='cp1252', or save the file as UTF-8"
_MARKS = (  # the longer ones first
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_PIECE = 1 << 16
_SIGNS = (
    r"\x80-\x9f\xa1-\xa9\xab-\xae\xb1-\xb3\xb5\xb6\xb8\xb9\xbb-\xbf\u201a\u201c-\u201e\u2022\u2026\u2039\u203a\u2122"
)
_LETTERS = "À-ÖØ-öø-ÿŠŒŽšœžŸ"
_NOT_WESTERN = re.compile(  # what text of another encoding looks like if it is read as cp1252
    rf"(?<=[^\W\d_])[{_SIGNS}](?=[^\W\d_])|[\u0192\u201a][\x80-\uffff]|[À-ÿ][\x80-\x9f\xa1-\xbf][À-ÿ]"
    f"|[a-z][À-ÖØ-ÞŠŒŽŸ](?=[a-z])|(?=[{_LETTERS}]{{3}})[{_LETTERS}]*[ðÐþÞýÝÿ]"
)


class _Recoded(io.RawIOBase):
    """The text of a file as UTF-8."""

    def __init__(self, file: BinaryIO, encoding: str, path: Path) -> None:
        self._file, self._encoding, self._path = file, encoding, path
        self._decoder, self._ready, self._ended = codecs.getincrementaldecoder(encoding)(), b"", False

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: object) -> int:
        view = memoryview(cast("bytearray", buffer))
        while not self._ready and not self._ended:
            piece = cast("io.BufferedReader", self._file).read1(_PIECE)
            self._ended = not piece
            try:
                self._ready = self._decoder.decode(piece, final=self._ended).encode(UTF_8, "surrogatepass")
            except UnicodeError as problem:
                raise FileFormatError(
                    f"{self._path}: text must be {self._encoding} ({problem.args[-1]}). {ADVICE}.",
                    remedy={"encoding": None},
                ) from None
        n = min(len(view), len(self._ready))
        view[:n] = self._ready[:n]
        self._ready = self._ready[n:]
        return n


def as_utf_8(file: BinaryIO, encoding: str, path: Path) -> tuple[BinaryIO, str]:
    r"""A file that gives the text of ``file`` as UTF-8, and the encoding that the file has, as far as one can tell.

    >>> text, encoding = as_utf_8(io.BytesIO("é".encode("utf-16")), "utf-16", Path("a.csv"))
    >>> text.read().decode(), encoding
    ('é', 'utf-16')
    """
    if encoding == SNIFFED:
        try:
            encoding = _by_first_bytes(cast("io.BufferedReader", file).peek(4))
        except DAMAGED:  # the first line says so
            encoding = UTF_8
    if encoding == UTF_8:
        return file, encoding
    return cast("BinaryIO", io.BufferedReader(_Recoded(file, encoding, path), _PIECE)), encoding


def checked_encoding(name: str) -> str:
    """The name of an encoding as Python writes it; an InputError if there is none of this name.

    >>> checked_encoding("UTF8"), checked_encoding("latin1")
    ('utf-8', 'iso8859-1')
    """
    try:
        found = codecs.lookup(name)
        if not found._is_text_encoding:
            raise LookupError(name)
    except (LookupError, TypeError, ValueError):
        raise InputError(
            f"encoding must be one that Python knows, such as 'cp1252', got {name!r:.40}. Correct it."
        ) from None
    return UTF_8 if found.name == "utf-8-sig" else found.name


def western(line: bytes) -> str | None:
    r"""A line as Western text; None if it is probably in another encoding.

    >>> western("Übergröße: 3 €".encode("cp1252")), western("привет".encode("cp1251")), western("für".encode("cp437"))
    ('Übergröße: 3 €', None, None)
    """
    try:
        text = line.decode(WESTERN)
    except UnicodeDecodeError:
        return None
    return None if _NOT_WESTERN.search(text) else text


def _by_first_bytes(start: bytes) -> str:
    for mark, encoding in _MARKS:
        if start.startswith(mark):
            return encoding
    pairs = start[: len(start) // 2 * 2]
    odd, even = pairs[1::2], pairs[::2]
    if pairs and not any(odd) and all(even):
        return "utf-16-le"
    return "utf-16-be" if pairs and not any(even) and all(odd) else UTF_8

"""Compressed files: gzip and zstd, known by their first bytes and unpacked as they are read."""

import gzip
import io
import os
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, Protocol, cast

from coalface.errors import FileFormatError, InputError
from coalface.files.atomic import atomic_write

DAMAGED = (EOFError, OSError, zlib.error)  # what reading a truncated or damaged file raises
SUFFIXES = (".gz", ".zst", ".zstd")
_GZIP, _ZSTD = b"\x1f\x8b", b"\x28\xb5\x2f\xfd"
_PIECE = 1 << 17  # bytes read of a packed file at a time


class _Frame(Protocol):
    """Unpacks one frame of a zstd file."""

    eof: bool
    unused_data: bytes

    def decompress(self, data: bytes) -> bytes:
        """The next bytes."""


class _UnpackedZstd(io.RawIOBase):
    """The content of a zstd file, frame after frame."""

    def __init__(self, packed: BinaryIO) -> None:
        self._packed, self._frame, self._ready = packed, _new_frame(), b""
        self._began = False  # whether the frame has got any bytes

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: object) -> int:
        view = memoryview(cast("bytearray", buffer))
        while not self._ready:
            packed = self._frame.unused_data if self._frame.eof else b""
            if self._frame.eof:
                self._frame, self._began = _new_frame(), False
            packed = packed or self._packed.read(_PIECE)
            if not packed:
                if self._began:
                    raise EOFError("Compressed file ended before the end of its last frame")
                return 0
            self._began = True
            self._ready = _unpacked_piece(self._frame, packed)
        n = min(len(view), len(self._ready))
        view[:n] = self._ready[:n]
        self._ready = self._ready[n:]
        return n


def unpacked(file: BinaryIO) -> BinaryIO:
    """A binary file that gives the content of ``file``, whether it is plain, gzip or zstd, and leaves it open.

    >>> unpacked(io.BytesIO(gzip.compress(b"one line"))).read(), unpacked(io.BytesIO(b"plain")).read()
    (b'one line', b'plain')
    """
    buffered = file if isinstance(file, io.BufferedReader) else io.BufferedReader(cast("io.RawIOBase", file))
    start = buffered.peek(4)[:4]
    if start.startswith(_GZIP):
        return cast("BinaryIO", io.BufferedReader(gzip.GzipFile(fileobj=buffered), _PIECE))
    if start == _ZSTD:
        return io.BufferedReader(_UnpackedZstd(buffered), _PIECE)
    return buffered


@contextmanager
def packed_write(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """A binary file that replaces ``path`` when the block ends, compressed if the name ends in ``.gz``.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     with packed_write(Path(folder, "pets.vw.gz")) as file:
    ...         _ = file.write(b"one line")
    ...     gzip.decompress(Path(folder, "pets.vw.gz").read_bytes())
    b'one line'
    """
    with atomic_write(path) as file:
        if not str(path).endswith(".gz"):
            yield file
            return
        with gzip.GzipFile("", "wb", fileobj=file, mtime=0) as packed:
            yield cast("BinaryIO", packed)


def no_file(path: Path) -> FileFormatError:
    """The error for a path that is not that of a file."""
    if path.exists() and not path.is_dir():
        return FileFormatError(f"{path} must be a file, since it may be read twice, got a pipe. Save it first.")
    return FileFormatError(f"There is no file {path}. Check the path.")


def without_packing(path: Path) -> Path:
    """The path without the suffix of its compression.

    >>> without_packing(Path("calls.csv.zst")).name, without_packing(Path("calls.csv")).name
    ('calls.csv', 'calls.csv')
    """
    return path.with_suffix("") if path.suffix.lower() in SUFFIXES else path


def _new_frame() -> _Frame:
    try:
        from zstandard import ZstdDecompressor
    except ModuleNotFoundError:
        pass
    else:
        return cast("_Frame", ZstdDecompressor().decompressobj())
    try:
        from compression import zstd  # type: ignore[import-not-found,unused-ignore]  # of Python 3.14
    except ModuleNotFoundError:
        raise InputError("Files in zstd need zstandard. Run: pip install 'coalface[zstd]'") from None
    return cast("_Frame", zstd.ZstdDecompressor())


def _unpacked_piece(frame: _Frame, packed: bytes) -> bytes:
    try:
        return frame.decompress(packed)
    except Exception as problem:  # each library has its own error
        raise OSError(f"not zstd: {problem}") from None

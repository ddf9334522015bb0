"""Limits on archives: members, bytes and lines. A small .zip file may unpack to more than the disk holds."""

import json
import shutil
import tomllib
import zipfile
import zlib
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import sqlalchemy as sa

from coalface.errors import CoalfaceError, FileFormatError, InputError, in_one_line

_LONGEST_LINE = 16 << 20  # bytes of one event or question
_SMALL_FILES = {"project.toml": 1 << 20, "labels.txt": 64 << 20, "cost_matrix.csv": 1 << 30}  # read as a whole
_ENCRYPTED = 0x1
_DAMAGE = (
    zipfile.BadZipFile,
    zlib.error,
    tomllib.TOMLDecodeError,
    sa.exc.StatementError,
    EOFError,
    RuntimeError,  # of a .zip file, and of values that are nested too deeply
    ValueError,
    TypeError,
    LookupError,
    AttributeError,
    ArithmeticError,
    MemoryError,
)


@dataclass(frozen=True)
class ArchiveLimits:
    """The most that an archive may unpack to; an archive that needs more is refused before a byte is written."""

    bytes: int = 64 << 30
    members: int = 2_000_000


USUAL_LIMITS = ArchiveLimits()


@contextmanager
def readable(source: Path) -> Iterator[None]:
    """Turn every error of an archive that cannot be read into one line that names it."""
    try:
        yield
    except CoalfaceError:
        raise
    except (*_DAMAGE, OSError) as problem:
        if isinstance(problem, OSError) and problem.filename is not None:  # such as a full disk
            raise
        reason = in_one_line(problem) or type(problem).__name__
        if isinstance(problem, sa.exc.StatementError):  # its text has the whole statement
            reason = type(problem).__name__
        raise FileFormatError(
            f"{source} must be a project that export wrote ({reason:.200}). Export it again."
        ) from None


def check_members(archive: zipfile.ZipFile, limits: ArchiveLimits, folder: Path) -> None:
    """Refuse an archive with too many, too large, repeated, encrypted or unusually packed members."""
    members = archive.infolist()
    if len(members) > limits.members:
        raise InputError(f"{archive.filename} must have at most {limits.members:,} files, it has {len(members):,}.")
    total = sum(member.file_size for member in members)
    free = shutil.disk_usage(folder).free
    if total > min(limits.bytes, free):
        raise InputError(
            f"{archive.filename} must unpack to at most {limits.bytes:,} bytes, and {free:,} are free, it takes "
            f"{total:,}. Check where it comes from; --most-bytes allows for more."
        )
    for member in members:
        most = _SMALL_FILES.get(member.filename, limits.bytes)
        unusual = member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
        if unusual or member.flag_bits & _ENCRYPTED or member.file_size > most:
            raise FileFormatError(
                f"{archive.filename} must hold files of a project only, got {member.filename!r:.80} of "
                f"{member.file_size:,} bytes, encrypted or in an unknown form. Export it again."
            )
    name, times = Counter(member.filename for member in members).most_common(1)[0] if members else ("", 0)
    if times > 1:
        raise FileFormatError(f"{archive.filename} must have each file once, got {name!r:.80} {times} times.")


def bounded_lines(file: IO[bytes]) -> Iterator[bytes]:
    """The lines of a member; one that is too long to be an event is refused before it fills the memory."""
    while line := file.readline(_LONGEST_LINE + 1):
        if len(line) > _LONGEST_LINE:
            raise FileFormatError(f"A line of an archive must have at most {_LONGEST_LINE:,} bytes. Export it again.")
        yield line


def plain_object(line: bytes) -> dict[str, Any]:
    """A line as a JSON object of finite numbers; a ValueError otherwise.

    >>> plain_object(b'{"at": 1.5}')
    {'at': 1.5}
    """
    found = json.loads(line, parse_constant=_refuse_constant, parse_float=_finite)
    if not isinstance(found, dict):
        raise ValueError("a line is not a JSON object")
    return found


def _refuse_constant(text: str) -> float:
    raise ValueError(f"{text} is not a number of JSON")


def _finite(text: str) -> float:
    number = float(text)
    if number in (float("inf"), float("-inf")):
        raise ValueError(f"{text:.40} is too large")
    return number

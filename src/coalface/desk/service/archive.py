"""A whole project in one .zip file: settings, pool, every event and every question.

``read_archive`` gives the same project: the same log, and a model of the same bits. Tokens, the id and the address of
the database are left out. An import checks its size and lines, its pool, each event by itself, then all of them by a
replay: a small .zip file may unpack to more than the disk holds, and compiled code trusts the arrays of a pool.
"""

import json
import math
import os
import re
import shutil
import time
import tomllib
import zipfile
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import IO, Any, cast

import numpy as np
import sqlalchemy as sa
from numpy.typing import NDArray

from coalface.desk.log.events import ANSWERED, LEASED, UNDONE
from coalface.desk.log.ownership import new_id
from coalface.desk.log.store import QuestionRow, Store
from coalface.desk.project.pool import ExampleFiles, Pool
from coalface.desk.project.project import DATABASE, LABELS, MATRIX, POOL, Project
from coalface.desk.project.settings_file import SETTINGS, changed_text, whole_text, without_addresses, write_settings
from coalface.desk.service.checks import can_store
from coalface.desk.service.project_state import ProjectState
from coalface.errors import CoalfaceError, FileFormatError, InputError, in_one_line, shortened
from coalface.files import atomic_write, new_folder
from coalface.rounds import Event

_EVENTS, _QUESTIONS = "events.jsonl", "questions.jsonl"
_POOL_FILE = re.compile(rf"{POOL}/([a-z_]+\.(bin|json|jsonl)|images/[0-9]+\.[a-z]+)")  # every file name in a pool
_BLOCK = 1000  # lines written to the database at a time
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
_PART = 1 << 20  # numbers checked at a time, as the arrays are on disk
_LARGEST = 1 << 62
_NUMBER, _TEXT, _WHOLE = (int, float), (str,), (int,)
_NONE = (type(None),)
_FIELDS = {
    "kind": _TEXT,
    "at": _NUMBER,
    "who": _TEXT + _NONE,
    "seconds": _NUMBER + _NONE,
    "example": _WHOLE + _NONE,
    "ref": _TEXT + _NONE,
    "body": (dict,),
    "id": _WHOLE,
}
# What the desk reads later in the bodies of events, without looking again.
_BODIES: dict[str, dict[str, tuple[type, ...]]] = {
    ANSWERED: {"question": _WHOLE, "step": _WHOLE, "costs": (dict,), "learned": (bool,), "late": (bool,)},
    LEASED: {"question": _WHOLE, "step": _WHOLE, "ttl": _NUMBER},
    UNDONE: {"answer": _WHOLE, "question": _WHOLE, "step": _WHOLE, "costs": (dict,)},
}
_LISTS = ("asked", "labels")  # of labels, wherever a body has them
_COLUMNS = {
    "example": _WHOLE,
    "copy": _WHOLE,
    "open": (bool,),
    "step": _WHOLE,
    "asking": _WHOLE,
    "decided": _WHOLE,
    "lease": _TEXT + _NONE,
    "holder": _TEXT + _NONE,
    "expires": _NUMBER + _NONE,
    "previous": _TEXT + _NONE,
}


@dataclass(frozen=True)
class ArchiveLimits:
    """The most that an archive may unpack to; an archive that needs more is refused before a byte is written."""

    bytes: int = 64 << 30
    members: int = 2_000_000


_USUAL_LIMITS = ArchiveLimits()


def write_archive(project: Project, store: Store, path: str | os.PathLike[str]) -> None:
    """Write the project, as it is now, to a .zip file that appears whole or not at all."""
    files = [name for name in (LABELS, MATRIX) if (project.folder / name).exists()]
    in_pool = (file.relative_to(project.folder).as_posix() for file in (project.folder / POOL).rglob("*"))
    files += sorted(name for name in in_pool if _POOL_FILE.fullmatch(name))
    settings = (project.folder / SETTINGS).read_text(encoding="utf-8")
    with (
        store.database.one_moment(),
        atomic_write(path, private=True) as file,
        zipfile.ZipFile(cast("Any", file), "w", zipfile.ZIP_DEFLATED) as archive,
    ):
        archive.writestr(SETTINGS, without_addresses(settings))
        for name in files:
            archive.write(project.folder / name, name)
        _write_lines(archive, _EVENTS, (event.to_json() for event in store.log.read()))
        _write_lines(archive, _QUESTIONS, (row.to_json() for row in store.rows()))


def read_archive(
    path: str | os.PathLike[str],
    folder: str | os.PathLike[str],
    database: str = DATABASE,
    limits: ArchiveLimits = _USUAL_LIMITS,
) -> Project:
    """Create a project in a new folder from what ``write_archive`` wrote; after an error there is none.

    Everything is checked before the database is touched: the sizes, the pool, every event and every question.
    """
    source = Path(path)
    if not source.is_file():
        raise FileFormatError(f"There is no file {source}. Check the path.")
    with new_folder(folder) as part, _readable(source), zipfile.ZipFile(source) as archive:
        _check_members(archive, limits, part)
        _unpack(archive, part, database)
        project = Project.open(part)
        _rehearse(project, archive)
        _fill(project, archive)
    project = Project.open(folder)
    with closing(project.open_store()) as store:
        project.pool.grown(store.log)
    return project


def _write_lines(archive: zipfile.ZipFile, name: str, lines: Iterable[dict[str, Any]]) -> None:
    with archive.open(name, "w", force_zip64=True) as file:
        for line in lines:
            file.write(json.dumps(line, allow_nan=False, separators=(",", ":")).encode() + b"\n")


def _unpack(archive: zipfile.ZipFile, folder: Path, database: str) -> None:
    """Write the archive's files; a file that is not part of a project, or in another place, is refused."""
    for name in archive.namelist():
        if name in (_EVENTS, _QUESTIONS, SETTINGS):
            continue
        if name not in (LABELS, MATRIX) and not _POOL_FILE.fullmatch(name):
            raise FileFormatError(
                f"{archive.filename} must hold files of a project only, got {name!r:.80}. Export it again."
            )
        place = folder / name
        place.parent.mkdir(parents=True, exist_ok=True)
        with archive.open(name) as packed, place.open("wb") as file:
            shutil.copyfileobj(packed, file)
    text = archive.read(SETTINGS).decode()
    tomllib.loads(text)  # its errors are the caller's; the parser below is more lenient
    write_settings(folder, changed_text(text, {"id": new_id(), "database": database}))


def _rehearse(project: Project, archive: zipfile.ZipFile) -> None:
    """Replay the whole history from a temporary database, so that the real one only gets what can be replayed."""
    trial = replace(project, database="sqlite:///rehearsal.db")
    _fill(trial, archive)
    with closing(trial.open_store()) as store:
        _check_pool(trial.pool.grown(store.log))
        _check_history(trial, store)
    for file in project.folder.glob("rehearsal.db*"):
        file.unlink()


def _fill(project: Project, archive: zipfile.ZipFile) -> None:
    """Write the whole log and all questions, or nothing, to an empty database."""
    with project.new_store() as (store, connection):
        for lines in _blocks(archive, _EVENTS):
            store.log.extend(connection, [_checked_event(line) for line in lines])
        for lines in _blocks(archive, _QUESTIONS):
            store.add(connection, map(QuestionRow.from_json, lines))
        store.renumber(connection)


def _blocks(archive: zipfile.ZipFile, name: str) -> Iterator[list[dict[str, Any]]]:
    with archive.open(name) as file:
        lines = _bounded_lines(file)
        while block := list(islice(lines, _BLOCK)):
            yield [_plain_object(line) for line in block]


# -- checks ---------------------------------------------------------------------------------------


@contextmanager
def _readable(source: Path) -> Iterator[None]:
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


def _check_members(archive: zipfile.ZipFile, limits: ArchiveLimits, folder: Path) -> None:
    """Refuse an archive with too many, too large, repeated, encrypted or unusually packed members."""
    members = archive.infolist()
    if len(members) > limits.members:
        raise InputError(
            f"{archive.filename} must have at most {limits.members:,} files, it has {len(members):,}. "
            "Check where it comes from."
        )
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
        raise FileFormatError(
            f"{archive.filename} must have each file once, got {name!r:.80} {times} times. Export it again."
        )


def _bounded_lines(file: IO[bytes]) -> Iterator[bytes]:
    """The lines of a member; one that is too long to be an event is refused before it fills the memory."""
    while line := file.readline(_LONGEST_LINE + 1):
        if len(line) > _LONGEST_LINE:
            raise FileFormatError(f"A line of an archive must have at most {_LONGEST_LINE:,} bytes. Export it again.")
        yield line


def _plain_object(line: bytes) -> dict[str, Any]:
    """A line as a JSON object of finite numbers; a ValueError otherwise.

    >>> _plain_object(b'{"at": 1.5}')
    {'at': 1.5}
    """
    found = json.loads(line, parse_constant=_finite, parse_float=_finite)
    if not isinstance(found, dict):
        raise ValueError("a line is not a JSON object")
    return found


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(f"{text:.40} is not a finite number")
    return number


def _check_pool(pool: Pool) -> None:
    """Refuse a pool whose files do not describe examples; those of a project that coalface made do."""
    _refuse_unless(len(pool) > 0 and 0 < pool.width <= np.iinfo(np.int32).max, "sizes")
    for part in pool.parts:
        _check_files(part, pool.width)
    _refuse_unless(_is_permutation(pool.order), "order")
    _refuse_unless(_is_permutation(pool.index["id_places"]), "places of ids")
    _refuse_unless(_rises(pool.index["id_hashes"]), "ids")
    for place in range(len(pool)):
        content, name = pool.content(place), pool.example_id(place)
        whole_text("A text of the pool", json.dumps([name, content], ensure_ascii=False))
        _refuse_unless(pool.place(name) == place, "ids")
        _refuse_unless(content["kind"] == pool.kind and _is_shown(content), "contents")


def _check_files(part: ExampleFiles, width: int) -> None:
    arrays = part.arrays
    _refuse_unless(_rises_to(arrays["starts"], len(part.lines)), "starts of lines")
    _refuse_unless(_rises_to(arrays["indptr"], len(arrays["columns"])), "starts of rows")
    _refuse_unless(all(((block >= 0) & (block < width)).all() for block in _parts(arrays["columns"])), "columns")
    _refuse_unless(all(np.isfinite(block).all() for block in _parts(arrays["values"])), "values")


def _is_shown(content: dict[str, object]) -> bool:
    """Whether an annotator can be shown the content: a text, HTML, the name of an image's file, or cells."""
    fields = {"text": str, "html": str, "file": str, "cells": dict}
    return any(isinstance(content.get(name), kind) for name, kind in fields.items()) and all(
        isinstance(content[name], kind) for name, kind in fields.items() if name in content
    )


def _rises(numbers: NDArray[Any]) -> bool:
    return bool((numbers[1:] >= numbers[:-1]).all())


def _rises_to(starts: NDArray[Any], end: int) -> bool:
    return len(starts) > 0 and starts[0] == 0 and starts[-1] == end and _rises(starts)


def _is_permutation(places: NDArray[Any]) -> bool:
    return bool(np.array_equal(np.sort(places), np.arange(len(places))))


def _parts(array: NDArray[Any]) -> list[NDArray[Any]]:
    return [array[start : start + _PART] for start in range(0, len(array), _PART)]


def _refuse_unless(fits: bool, what: str) -> None:
    if not fits:
        raise FileFormatError(f"The {what} of the pool do not describe examples. Export the project again.")


def _checked_event(line: Mapping[str, Any]) -> Event:
    """The event that a line of an archive holds; a FileFormatError if a value has the wrong type."""
    event = Event(**line)
    where = f"event {shortened(event.id, 40)}"
    for name, kinds in _FIELDS.items():
        _check(where, name, getattr(event, name), kinds)
    if not 0 < event.id < _LARGEST:
        raise FileFormatError(f"The archive has an impossible number of an event, {event.id!r:.40}. Export it again.")
    for name, kinds in _BODIES.get(event.kind, {}).items():
        _check(where, name, event.body.get(name), kinds)
    for name in _LISTS:
        if name in event.body and event.kind in _BODIES:
            for label in _check(where, name, event.body[name], (list,)):
                _check(where, name, label, _TEXT)
    for name, cost in event.body["costs"].items() if "costs" in _BODIES.get(event.kind, {}) else ():
        _check(where, name, cost, _NUMBER + _NONE)
    return event


def _check_history(project: Project, store: Store) -> None:
    """Refuse a log that cannot be replayed, or questions about examples or labels that the project does not have."""
    state = ProjectState(project, store, time.time)
    n, labels = len(state.project.pool), {*state.project.labels, *project.first_labels}
    for event in store.log.read():
        if event.example is not None and not 0 <= event.example < n:
            raise FileFormatError(
                f"The log must refer to examples of the pool, 0 to {n - 1}, got {event.example}. Export it again."
            )
    for row in store.rows():
        _check_question(row, n, labels, state.project.cost_bounds)


def _check_question(row: QuestionRow, n: int, labels: set[str], bounds: tuple[float, float]) -> None:
    where = f"question {row.number}"
    for name, kinds in _COLUMNS.items():
        _check(where, name, getattr(row, name), kinds)
    unknown = {*row.round.ask, *row.round.costs} - labels
    if not 0 <= row.example < n or min(row.step, row.asking, row.copy) < 0 or unknown:
        raise FileFormatError(f"The archive asks about what the project does not have in {where}. Export it again.")
    row.round.next_labels(bounds)


def _check(where: str, name: str, value: Any, kinds: tuple[type, ...]) -> Any:
    """The value, if it is of one of these types; truth values are not numbers, and texts can be stored."""
    fits = isinstance(value, kinds) and (bool in kinds or not isinstance(value, bool))
    if isinstance(value, int) and not -_LARGEST < value < _LARGEST:
        fits = False
    if isinstance(value, str) and not can_store(value):
        fits = False
    if not fits:
        raise FileFormatError(f"The archive has a wrong {name} in {where}: {shortened(value, 60)}. Export it again.")
    return value

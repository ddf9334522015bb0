"""A whole project in one .zip file: settings, pool, every event and every question.

``read_archive`` gives the same project: the same log, and a model of the same bits. Tokens, the id and the address of
the database are left out.
"""

import json
import os
import re
import shutil
import tomllib
import zipfile
from collections.abc import Iterable, Iterator
from contextlib import closing
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any, cast

from coalface.desk.log.ownership import new_id
from coalface.desk.log.store import QuestionRow, Store
from coalface.desk.project.project import DATABASE, LABELS, MATRIX, POOL, Project
from coalface.desk.project.settings_file import SETTINGS, changed_text, without_addresses, write_settings
from coalface.desk.service.archive_checks import (
    USUAL_LIMITS,
    ArchiveLimits,
    bounded_lines,
    check_history,
    check_members,
    check_pool,
    checked_event,
    plain_object,
    readable,
)
from coalface.errors import FileFormatError
from coalface.files import atomic_write, new_folder

_EVENTS, _QUESTIONS = "events.jsonl", "questions.jsonl"
_POOL_FILE = re.compile(rf"{POOL}/([a-z_]+\.(bin|json|jsonl)|images/[0-9]+\.[a-z]+)")  # every file name in a pool
_BLOCK = 1000  # lines written to the database at a time


def write_archive(project: Project, store: Store, path: str | os.PathLike[str]) -> None:
    """Write the project, as it is now, to a .zip file that appears whole or not at all."""
    files = [name for name in (LABELS, MATRIX) if (project.folder / name).exists()]
    files += _pool_files(project.folder)
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
    limits: ArchiveLimits = USUAL_LIMITS,
) -> Project:
    """Create a project in a new folder from what ``write_archive`` wrote; after an error there is none.

    Everything is checked before the database is touched: the sizes, the pool, every event and every question.
    """
    source = Path(path)
    if not source.is_file():
        raise FileFormatError(f"There is no file {source}. Check the path.")
    with new_folder(folder) as part, readable(source), zipfile.ZipFile(source) as archive:
        check_members(archive, limits, part)
        _unpack(archive, part, database)
        project = Project.open(part)
        _rehearse(project, archive)
        _fill(project, archive)
    project = Project.open(folder)
    with closing(project.open_store()) as store:
        project.pool.grown(store.log)
    return project


def _pool_files(folder: Path) -> list[str]:
    names = (file.relative_to(folder).as_posix() for file in (folder / POOL).rglob("*"))
    return sorted(name for name in names if _POOL_FILE.fullmatch(name))


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
        check_pool(trial.pool.grown(store.log))
        check_history(trial, store)
    for file in project.folder.glob("rehearsal.db*"):
        file.unlink()


def _fill(project: Project, archive: zipfile.ZipFile) -> None:
    """Write the whole log and all questions, or nothing, to an empty database."""
    with project.new_store() as (store, connection):
        for lines in _blocks(archive, _EVENTS):
            store.log.extend(connection, [checked_event(line) for line in lines])
        for lines in _blocks(archive, _QUESTIONS):
            store.add(connection, map(QuestionRow.from_json, lines))
        store.renumber(connection)


def _blocks(archive: zipfile.ZipFile, name: str) -> Iterator[list[dict[str, Any]]]:
    with archive.open(name) as file:
        lines = bounded_lines(file)
        while block := list(islice(lines, _BLOCK)):
            yield [plain_object(line) for line in block]

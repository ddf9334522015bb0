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
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO, cast

from coalface.errors import FileFormatError
from coalface.files.atomic import atomic_write, new_folder
from coalface.rounds.event_log import Event
from coalface.service.desk.store import Row, Store
from coalface.service.project.label_history import LabelHistory
from coalface.service.project.ownership import new_id
from coalface.service.project.project import DATABASE, LABELS, MATRIX, POOL, Project
from coalface.service.project.settings_file import SETTINGS, changed_text, without_addresses, write_settings

import sqlalchemy as sa  # isort: skip  (after the module that says how to install it)

_EVENTS, _QUESTIONS = "events.jsonl", "questions.jsonl"
_NOW = "labels_now.txt"  # for readers, and so that earlier versions refuse an archive whose labels have changed
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
        history = LabelHistory.of(store.log)
        if history.changes:
            archive.writestr(_NOW, "".join(f"{label}\n" for label in history.project(project).offered))


def read_archive(path: str | os.PathLike[str], folder: str | os.PathLike[str], database: str = DATABASE) -> Project:
    """Create a project in a new folder from what ``write_archive`` wrote; after an error there is none."""
    source = Path(path)
    if not source.is_file():
        raise FileFormatError(f"There is no file {source}. Check the path.")
    with new_folder(folder) as part:
        try:
            with zipfile.ZipFile(source) as archive:
                _unpack(archive, part, database)
                _fill(Project.open(part), archive)
        except (zipfile.BadZipFile, KeyError, EOFError, tomllib.TOMLDecodeError, UnicodeDecodeError) as problem:
            raise FileFormatError(
                f"{source} must be a project that export wrote ({problem}). Export it again."
            ) from None
    return Project.open(folder)


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
        if name in (_EVENTS, _QUESTIONS, _NOW, SETTINGS):
            continue
        if name not in (LABELS, MATRIX) and not _POOL_FILE.fullmatch(name):
            raise FileFormatError(f"{archive.filename} must hold files of a project only, got {name!r:.80}.")
        place = folder / name
        place.parent.mkdir(parents=True, exist_ok=True)
        with archive.open(name) as packed, place.open("wb") as file:
            shutil.copyfileobj(packed, file)
    text = archive.read(SETTINGS).decode()
    tomllib.loads(text)  # its errors are the caller's; the parser below is more lenient
    write_settings(folder, changed_text(text, {"id": new_id(), "database": database}))


def _fill(project: Project, archive: zipfile.ZipFile) -> None:
    """Write the whole log and all questions, or nothing, to an empty database."""
    pool = len(project.pool)
    try:
        with project.new_store() as (store, connection):
            for lines in _blocks(archive, _EVENTS):
                events = [Event(**line) for line in lines]
                _refuse_unknown([event.example for event in events], pool)
                store.log.extend(connection, events)
            for lines in _blocks(archive, _QUESTIONS):
                rows = [Row.from_json(line, project.first_labels) for line in lines]
                _refuse_unknown([row.example for row in rows], pool)
                store.add(connection, rows)
            store.renumber(connection)
    except (TypeError, json.JSONDecodeError, sa.exc.StatementError) as problem:
        raise FileFormatError(
            f"{archive.filename} must be a project that export wrote ({type(problem).__name__}). Export it again."
        ) from None


def _refuse_unknown(examples: Iterable[int | None], n: int) -> None:
    for example in examples:
        if example is not None and not 0 <= example < n:
            raise FileFormatError(f"The log must refer to examples of the pool, 0 to {n - 1}, got {example!r:.40}.")


def _blocks(archive: zipfile.ZipFile, name: str) -> Iterator[list[dict[str, Any]]]:
    with archive.open(name) as file:
        lines = iter(cast("BinaryIO", file))
        while block := [json.loads(line) for line in islice(lines, _BLOCK)]:
            yield block

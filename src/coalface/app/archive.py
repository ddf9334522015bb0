"""A whole project in one file, to be taken elsewhere: settings, pool, every event and where the questions stand.

What comes out of ``read_archive`` is the same project: the same history, and a model of the same bits. Tokens stay at
home.
"""

import json
import os
import shutil
import uuid
import zipfile
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path, PurePosixPath
from typing import Any, BinaryIO, cast

from coalface.app.project import LABELS, MATRIX, POOL, SETTINGS, Project
from coalface.app.store import Row, Store
from coalface.errors import FileFormatError, InputError
from coalface.files import atomic_write
from coalface.ledger.events import Event

_EVENTS, _QUESTIONS = "events.jsonl", "questions.jsonl"
_BLOCK = 1000  # lines written to the database at a time


def write_archive(project: Project, store: Store, path: str | os.PathLike[str]) -> None:
    """Write the project to a .zip file; it appears whole or not at all."""
    files = [name for name in (SETTINGS, LABELS, MATRIX) if (project.folder / name).exists()]
    files += sorted(file.relative_to(project.folder).as_posix() for file in _files(project.folder / POOL))
    with atomic_write(path) as file, zipfile.ZipFile(cast("Any", file), "w", zipfile.ZIP_DEFLATED) as archive:
        for name in files:
            archive.write(project.folder / name, name)
        _write_lines(archive, _EVENTS, (event.to_json() for event in store.log.read()))
        _write_lines(archive, _QUESTIONS, (vars(row) for row in store.rows()))


def read_archive(path: str | os.PathLike[str], folder: str | os.PathLike[str]) -> Project:
    """Make a project in a new folder from what ``write_archive`` wrote; after an error there is none."""
    source, target = Path(path), Path(folder)
    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        raise InputError(f"{target} must be a new or empty folder. Choose another name.")
    target.parent.mkdir(parents=True, exist_ok=True)
    part = target.parent / f".{target.name}.{uuid.uuid4().hex}.part"
    try:
        part.mkdir()
        with zipfile.ZipFile(source) as archive:
            _unpack(archive, part)
            _fill(Project.open(part), archive)
        if target.exists():
            target.rmdir()
        part.replace(target)
    except (zipfile.BadZipFile, KeyError, EOFError) as problem:
        raise FileFormatError(f"{source} must be a project that export wrote ({problem}). Export it again.") from None
    except FileNotFoundError:
        raise FileFormatError(f"There is no file {source}. Check the path.") from None
    finally:
        shutil.rmtree(part, ignore_errors=True)
    return Project.open(target)


def _files(folder: Path) -> Iterator[Path]:
    return (file for file in folder.rglob("*") if file.is_file())


def _write_lines(archive: zipfile.ZipFile, name: str, lines: Iterable[dict[str, Any]]) -> None:
    with archive.open(name, "w", force_zip64=True) as file:
        for line in lines:
            file.write(json.dumps(line, allow_nan=False, separators=(",", ":")).encode() + b"\n")


def _unpack(archive: zipfile.ZipFile, folder: Path) -> None:
    """Only files that a project has, and nothing outside the folder."""
    for name in archive.namelist():
        parts = PurePosixPath(name).parts
        inside = (
            len(parts) in (2, 3) and parts[0] == POOL and not any(part in ("..", ".") or "\\" in part for part in parts)
        )
        if name in (_EVENTS, _QUESTIONS):
            continue
        if name not in (SETTINGS, LABELS, MATRIX) and not inside:
            raise FileFormatError(f"{archive.filename} must hold files of a project only, got {name!r:.80}.")
        place = folder.joinpath(*parts)
        place.parent.mkdir(parents=True, exist_ok=True)
        with archive.open(name) as packed, place.open("wb") as file:
            shutil.copyfileobj(packed, file)


def _fill(project: Project, archive: zipfile.ZipFile) -> None:
    store = project.open_store()
    try:
        if store.log.page(0, 1):
            raise InputError(f"The database {project.database} must be empty to take in a project. Choose another one.")
        with store.database.writing() as connection:
            for lines in _blocks(archive, _EVENTS):
                store.log.extend(connection, [Event(**line) for line in lines])
            for lines in _blocks(archive, _QUESTIONS):
                store.add(connection, [Row(**line) for line in lines])
            store.renumber(connection)
    except TypeError as problem:
        raise FileFormatError(f"{archive.filename} must be a project that export wrote ({problem}).") from None
    finally:
        store.close()


def _blocks(archive: zipfile.ZipFile, name: str) -> Iterator[list[dict[str, Any]]]:
    with archive.open(name) as file:
        lines = iter(cast("BinaryIO", file))
        while block := [json.loads(line) for line in islice(lines, _BLOCK)]:
            yield block

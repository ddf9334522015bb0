"""The owner of a database: it belongs to one project, whose random id it holds, and one process uses it at a time.

It also holds the settings that the answers depend on, such as the labels. Those must not be edited; others may.
"""

import json
import secrets
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import Any

from coalface.errors import FileBusyError, FileFormatError, InputError, in_one_line
from coalface.files import exclusive, exclusive_folder
from coalface.rounds import Database, any_event, sql_step, without_password

import sqlalchemy as sa  # isort: skip  (after the module that says how to install it)

STEPS = (sql_step("CREATE TABLE project (id TEXT PRIMARY KEY NOT NULL, rests_on TEXT NOT NULL)"),)
_LOCK = "project.toml"  # a file beside it is locked, too, for systems that cannot lock a folder
_PATIENCE = 0.5  # seconds to wait for a process that is about to end
_project = sa.table("project", sa.column("id"), sa.column("rests_on"))
_CHANGES = {"list of labels": "; coalface labels adds, renames and retires labels"}
_RESTORE = "Restore it from a copy, or import an exported .zip."


def new_id() -> str:
    """An id that no other project has.

    >>> len(new_id())
    32
    """
    return secrets.token_hex(16)


@contextmanager
def sole_use(folder: Path) -> Iterator[None]:
    """Lock a project's folder against other processes; a FileBusyError if one of them has it open.

    The lock is on the folder itself where the system can do that, so it does not end if a file in it is removed.
    """
    with ExitStack() as stack:
        try:
            stack.enter_context(exclusive_folder(folder, _PATIENCE))
            stack.enter_context(exclusive(folder / _LOCK, _PATIENCE))
        except FileBusyError:
            raise FileBusyError(
                f"The project {folder} is already open in another process, a service or coalface label. "
                "Stop that one first."
            ) from None
        yield


@contextmanager
def opening(url: str) -> Iterator[None]:
    """Turn the errors of a database that cannot be opened or used into errors of one line."""
    try:
        yield
    except sa.exc.OperationalError as problem:
        raise FileBusyError(
            f"The database {without_password(url)} cannot be used now ({_reason(problem)}). Try again later."
        ) from None
    except sa.exc.DatabaseError as problem:
        raise FileFormatError(
            f"The database {without_password(url)} is damaged ({_reason(problem)}). {_RESTORE}"
        ) from None


def refuse_missing(url: str) -> None:
    """Refuse a missing database: it was moved or deleted with all answers, and only ``init`` creates one."""
    local = "sqlite:///"
    missing = url.startswith(local) and not Path(url.removeprefix(local).partition("?")[0]).is_file()
    if not missing:
        with closing(Database(url)) as database:
            missing = not database.version_of("desk")
    if missing:
        raise InputError(
            f"The database {without_password(url)} must hold this project's answers, but it is missing or empty. "
            f"{_RESTORE}"
        )


def claim(connection: sa.Connection, project_id: str, foundations: Mapping[str, Any]) -> None:
    """Claim the database for this project; refuse another project's, or one begun with other labels or bounds."""
    owner = connection.execute(sa.select(_project)).first()
    plain = json.loads(json.dumps(foundations))
    if owner is None:
        connection.execute(_project.insert().values(id=project_id, rests_on=json.dumps(plain)))
        return
    if owner.id != project_id:
        raise InputError(
            f"The database {_shown(connection)} belongs to the project of id {owner.id}, this one has {project_id}. "
            "Correct database in project.toml or, if it is the same project, id."
        )
    kept = json.loads(owner.rests_on)
    if kept != plain and not any_event(connection):
        connection.execute(_project.update().values(rests_on=json.dumps(plain)))
        return
    for name, value in plain.items():
        if kept.get(name) != value:
            raise InputError(
                f"The {name} must not change after the first question, it was {kept.get(name)!s:.200}, got "
                f"{value!s:.200}. Change it back, or create a new project{_CHANGES.get(name, '')}."
            )


def claim_empty(connection: sa.Connection, project_id: str, foundations: Mapping[str, Any]) -> None:
    """Claim an empty database for this project; refuse any other."""
    if connection.execute(sa.select(_project.c.id)).first() or any_event(connection):
        raise InputError(
            f"The database {_shown(connection)} must be empty, but it holds a project or a ledger. Choose another one."
        )
    claim(connection, project_id, foundations)


def _shown(connection: sa.Connection) -> str:
    return without_password(connection.engine.url.render_as_string(hide_password=True))


def _reason(problem: sa.exc.DBAPIError) -> str:
    return in_one_line(Exception(problem.orig))

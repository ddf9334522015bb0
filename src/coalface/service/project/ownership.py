"""Which project a database belongs to: one and only one, which it knows by a random id.

It knows as well what the answers rest on, such as the labels: other settings may be edited, these may not.
"""

import json
import secrets
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from coalface.errors import FileBusyError, FileFormatError, InputError, in_one_line
from coalface.rounds.database import Database, sql_step
from coalface.rounds.event_log import any_event
from coalface.rounds.sql_engines import without_password

import sqlalchemy as sa  # isort: skip  (behind the module that says how to install it)

STEPS = (
    sql_step("CREATE TABLE project (id TEXT PRIMARY KEY NOT NULL)"),
    sql_step("ALTER TABLE project ADD COLUMN rests_on TEXT"),
)
_project = sa.table("project", sa.column("id"), sa.column("rests_on"))
_RESTORE = "Restore it from a copy, or import an exported .zip."


def new_id() -> str:
    """An id that no other project has.

    >>> len(new_id())
    32
    """
    return secrets.token_hex(16)


@contextmanager
def opening(url: str) -> Iterator[None]:
    """Say in one line why the database at an address cannot be opened or used."""
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


def refuse_unmade(url: str) -> None:
    """Only making a project makes a database: one that is missing was moved or deleted, with all answers."""
    local = "sqlite:///"
    missing = url.startswith(local) and not Path(url.removeprefix(local).partition("?")[0]).is_file()
    if not missing:
        with closing(Database(url)) as database:
            missing = not database.has_part("desk")
    if missing:
        raise InputError(
            f"The database {without_password(url)} must hold this project's answers, it is missing or empty. {_RESTORE}"
        )


def claim(connection: sa.Connection, project_id: str, rests_on: Mapping[str, Any]) -> None:
    """Make the database this project's; refuse one of another project, or of this one with other labels or the like.

    Projects of older versions have a database without an owner.
    """
    owner = connection.execute(sa.select(_project)).first()
    kept = None if owner is None or owner.rests_on is None else json.loads(owner.rests_on)
    if owner is None:
        connection.execute(_project.insert().values(id=project_id))
    elif owner.id != project_id:
        raise InputError(
            f"The database {_shown(connection)} belongs to the project of id {owner.id}, this one has {project_id}. "
            "Correct database in project.toml or, if it is the same project, id."
        )
    plain = json.loads(json.dumps(rests_on))
    if kept is None or (kept != plain and not any_event(connection)):
        connection.execute(_project.update().values(rests_on=json.dumps(plain)))
        return
    for name, value in plain.items():
        if kept.get(name) != value:
            raise InputError(
                f"The {name} must stay as the answers so far have found it, {kept.get(name)!s:.200}, got "
                f"{value!s:.200}. Change it back, or begin a new project."
            )


def claim_empty(connection: sa.Connection, project_id: str, rests_on: Mapping[str, Any]) -> None:
    """Make a database this project's in which there is nothing yet; refuse any other."""
    if connection.execute(sa.select(_project.c.id)).first() or any_event(connection):
        raise InputError(
            f"The database {_shown(connection)} must be empty, it holds a project or a ledger. Choose another one."
        )
    claim(connection, project_id, rests_on)


def _shown(connection: sa.Connection) -> str:
    return without_password(connection.engine.url.render_as_string(hide_password=True))


def _reason(problem: sa.exc.DBAPIError) -> str:
    return in_one_line(Exception(problem.orig))

"""Which project a database belongs to: one and only one, which it knows by a random id."""

import secrets

from coalface.errors import InputError
from coalface.ledger.database import written_out
from coalface.ledger.engines import without_password
from coalface.ledger.events import any_event

import sqlalchemy as sa  # isort: skip  (behind the module that says how to install it)

STEPS = (written_out("CREATE TABLE project (id TEXT PRIMARY KEY NOT NULL)"),)
_project = sa.table("project", sa.column("id"))


def new_id() -> str:
    """An id that no other project has.

    >>> len(new_id())
    32
    """
    return secrets.token_hex(16)


def claim(connection: sa.Connection, project_id: str) -> None:
    """Make the database this project's, if it is nobody's yet; refuse one of another project."""
    owner = connection.execute(sa.select(_project.c.id)).scalar()
    if owner is None:
        connection.execute(_project.insert().values(id=project_id))
    elif owner != project_id:
        raise InputError(
            f"The database {_shown(connection)} belongs to the project of id {owner}, this one has {project_id}. "
            "Correct database in project.toml or, if it is the same project, id."
        )


def claim_empty(connection: sa.Connection, project_id: str) -> None:
    """Make a database this project's in which there is nothing yet; refuse any other."""
    if connection.execute(sa.select(_project.c.id)).first() or any_event(connection):
        raise InputError(
            f"The database {_shown(connection)} must be empty, it holds a project or a ledger. Choose another one."
        )
    claim(connection, project_id)


def _shown(connection: sa.Connection) -> str:
    return without_password(connection.engine.url.render_as_string(hide_password=True))

"""Connections to SQLite and PostgreSQL, and the locks that let one writer in at a time."""

import os
import time
from contextlib import suppress
from typing import Any

from coalface.errors import FileBusyError, InputError, in_one_line

try:
    import sqlalchemy as sa
except ModuleNotFoundError:  # pragma: no cover
    raise InputError("Databases need SQLAlchemy. Run: pip install 'coalface[app]'") from None

_PATIENCE = 5_000  # milliseconds to wait for a writer in another process
_TURN_LOCK, _SOLE_WRITER_LOCK = 0xC0A1, 0xC0A2  # numbers of PostgreSQL's advisory locks
_FAREWELL = 5.0  # seconds in which the server notices that the process before this one is gone
_KEEPALIVES = {"tcp_keepalives_idle": 30, "tcp_keepalives_interval": 10, "tcp_keepalives_count": 3}
# The first statement of a transaction that writes. It locks at once: a transaction that reads first may fail later.
TAKE_TURN = {"sqlite": "BEGIN IMMEDIATE", "postgresql": f"SELECT pg_advisory_xact_lock({_TURN_LOCK})"}


def engine_of(url: str) -> sa.Engine:
    """Connections to the database at an address; one is made at once to see that the database is there."""
    try:
        address = sa.make_url(url)
        if address.drivername in ("postgresql", "postgres"):
            address = address.set(drivername="postgresql+psycopg")
        _create_private(address)
        engine = sa.create_engine(address, pool_pre_ping=not address.drivername.startswith("sqlite"))
        with engine.connect():
            pass
    except ModuleNotFoundError:
        raise InputError("PostgreSQL needs a driver. Run: pip install 'coalface[postgres]'") from None
    except sa.exc.SQLAlchemyError as problem:
        shown = without_password(url)
        said = str(problem).splitlines()[0].replace(url, shown)  # SQLAlchemy 2.0 quotes an address that it cannot read
        raise InputError(
            f"The database must be sqlite:///FILE or postgresql://USER@HOST/NAME and can be opened, got "
            f"{shown} ({in_one_line(Exception(said))})."
        ) from None
    if engine.dialect.name == "sqlite":
        engine.dispose()  # the connection above was made without the settings below
        sa.event.listen(engine, "connect", _prepare_sqlite)
    return engine


def _create_private(address: sa.URL) -> None:
    """Create a new SQLite file that only its owner may read; the files beside it get the same permissions."""
    if address.drivername.startswith("sqlite") and address.database and not address.query:
        with suppress(OSError):  # the engine reports what is wrong
            os.close(os.open(address.database, os.O_CREAT | os.O_RDWR, 0o600))


def sole_writer(engine: sa.Engine) -> sa.Engine:
    """The one connection of a process that writes alone; PostgreSQL refuses other sole writers while it lasts.

    A lost connection is made again only if no other process has become the sole writer meanwhile.
    """
    if engine.dialect.name != "postgresql":
        return engine
    alone = sa.create_engine(engine.url, pool_size=1, max_overflow=0, pool_pre_ping=True)
    sa.event.listen(alone, "connect", _become_sole_writer)
    return alone


def without_password(url: str) -> str:
    """An address that is safe to show.

    >>> without_password("postgresql://ada:secret@host/answers?password=secret")
    'postgresql://ada:***@host/answers?password=hidden'
    """
    try:
        address = sa.make_url(url)
    except (sa.exc.SQLAlchemyError, ValueError):
        return "something else"  # a password may be anywhere in it
    shown = address.set(query={name: "hidden" if "pass" in name else value for name, value in address.query.items()})
    return shown.render_as_string(hide_password=True)


def _prepare_sqlite(connection: Any, _: Any) -> None:
    """Let readers work beside one writer, keep commits through a power cut, and leave BEGIN to the program."""
    connection.isolation_level = None
    for setting in ("journal_mode=WAL", "synchronous=FULL", f"busy_timeout={_PATIENCE}"):
        connection.execute(f"PRAGMA {setting}")


def _become_sole_writer(connection: Any, _: Any) -> None:
    """Hold the sole writer's lock while this connection lives; a lost machine is noticed within a minute."""
    deadline = time.monotonic() + _FAREWELL
    connection.autocommit = True
    for name, value in _KEEPALIVES.items():
        connection.execute(f"SET {name} = {value}")
    while not connection.execute(f"SELECT pg_try_advisory_lock({_SOLE_WRITER_LOCK})").fetchone()[0]:
        if time.monotonic() > deadline:
            connection.close()
            raise FileBusyError(
                "The database must be written by one service at a time, and another one uses it. Stop that one first."
            )
        time.sleep(0.1)
    connection.autocommit = False

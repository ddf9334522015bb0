"""Connections to SQLite and PostgreSQL, and who may write through them."""

import time
from typing import Any

from coalface.errors import FileBusyError, InputError, in_one_line

try:
    import sqlalchemy as sa
except ModuleNotFoundError:  # pragma: no cover
    raise InputError("Databases need SQLAlchemy. Run: pip install 'coalface[app]'") from None

_PATIENCE = 5_000  # milliseconds to wait for another process that writes; meanwhile, all of ours wait
_ONE_BY_ONE, _ALONE = 0xC0A1, 0xC0A2  # what PostgreSQL's locks are called
_FAREWELL = 5.0  # seconds in which the server notices that the process before us is gone
_ALIVE = {"tcp_keepalives_idle": 30, "tcp_keepalives_interval": 10, "tcp_keepalives_count": 3}


def engine_of(url: str) -> sa.Engine:
    """Connections to the database at an address, seen to be there."""
    try:
        address = sa.make_url(url)
        if address.drivername in ("postgresql", "postgres"):
            address = address.set(drivername="postgresql+psycopg")
        engine = sa.create_engine(address, pool_pre_ping=not address.drivername.startswith("sqlite"))
        with engine.connect():
            pass
    except ModuleNotFoundError:
        raise InputError("PostgreSQL needs a driver. Run: pip install 'coalface[postgres]'") from None
    except sa.exc.SQLAlchemyError as problem:
        raise InputError(
            f"The database must be sqlite:///FILE or postgresql://USER@HOST/NAME and can be opened, got "
            f"{without_password(url)} ({in_one_line(Exception(str(problem).splitlines()[0]))})."
        ) from None
    if engine.dialect.name == "sqlite":
        engine.dispose()  # the connection above knows nothing of what follows
        sa.event.listen(engine, "connect", _prepare_sqlite)
    sa.event.listen(engine, "begin", _begin)
    return engine


def sole_writer(engine: sa.Engine) -> sa.Engine:
    """The one connection of a process that writes alone: PostgreSQL lets nobody else have it while this one lasts.

    A connection that was lost is made again only if nobody else has come to write meanwhile.
    """
    if engine.dialect.name != "postgresql":
        return engine
    alone = sa.create_engine(engine.url, pool_size=1, max_overflow=0, pool_pre_ping=True)
    sa.event.listen(alone, "connect", _write_alone)
    return alone


def without_password(url: str) -> str:
    """An address as it may be shown.

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
    """Readers beside one writer; what is committed survives a power cut; transactions begin when we say so."""
    connection.isolation_level = None
    for setting in ("journal_mode=WAL", "synchronous=FULL", f"busy_timeout={_PATIENCE}"):
        connection.execute(f"PRAGMA {setting}")


def _begin(connection: sa.Connection) -> None:
    """A writer takes its place at once: one that first reads and then writes may be sent away half-way."""
    begin = connection.get_execution_options().get("coalface_begin")
    if begin and connection.dialect.name == "sqlite":
        connection.exec_driver_sql(begin)
    elif begin == "BEGIN IMMEDIATE":
        connection.exec_driver_sql(f"SELECT pg_advisory_xact_lock({_ONE_BY_ONE})")


def _write_alone(connection: Any, _: Any) -> None:
    """Hold the lock of the only writer for as long as this connection lives; a lost machine is noticed in a minute."""
    deadline = time.monotonic() + _FAREWELL
    connection.autocommit = True
    for name, value in _ALIVE.items():
        connection.execute(f"SET {name} = {value}")
    while not connection.execute(f"SELECT pg_try_advisory_lock({_ALONE})").fetchone()[0]:
        if time.monotonic() > deadline:
            connection.close()
            raise FileBusyError(
                "The database must be written by one service at a time, another one is at it. Stop that one first."
            )
        time.sleep(0.1)
    connection.autocommit = False

"""A SQLite or PostgreSQL database that ledgers and projects read, write and migrate.

A transaction is on disk when its block ends. Writers take turns, so row numbers grow in the order in which rows become
visible. Numbered steps create and change the tables. Each part of the program has its own list of steps, and the
database records how many steps each part has taken.
"""

import os
import threading
import time
import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from pathlib import Path
from threading import RLock
from typing import Any

from coalface.errors import FileBusyError, FileFormatError, InputError, LostDatabaseError, in_one_line

try:
    import sqlalchemy as sa
except ModuleNotFoundError:  # pragma: no cover
    raise InputError("Databases need SQLAlchemy. Run: pip install 'coalface[app]'") from None

Step = Callable[[sa.Connection], None]
BIG = sa.BigInteger().with_variant(sa.Integer(), "sqlite")  # SQLite numbers rows itself only if they are INTEGER
_COUNTED = {"sqlite": "INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT", "postgresql": "BIGSERIAL PRIMARY KEY"}
_versions = sa.Table(
    "coalface_schema",
    sa.MetaData(),
    sa.Column("part", sa.Text, primary_key=True),
    sa.Column("version", sa.Integer, nullable=False),
)
_PATIENCE = 5_000  # milliseconds to wait for a writer in another process
_TURN_LOCK, _SOLE_WRITER_LOCK = 0xC0A1, 0xC0A2  # numbers of PostgreSQL's advisory locks
_FAREWELL = 5.0  # seconds in which the server notices that the process before this one is gone
_KEEPALIVES = {"tcp_keepalives_idle": 30, "tcp_keepalives_interval": 10, "tcp_keepalives_count": 3}
# The first statement of a transaction that writes. It locks at once: a transaction that reads first may fail later.
TAKE_TURN = {"sqlite": "BEGIN IMMEDIATE", "postgresql": f"SELECT pg_advisory_xact_lock({_TURN_LOCK})"}
_JOURNAL = "-wal"  # the file beside the database that holds the newest transactions


def sql_step(*statements: str) -> Step:
    """A step in literal SQL. Never change one that was released: later table definitions must not alter it.

    ``{counted}`` is a primary key that the database counts up. Write other braces twice.
    """

    def step(connection: sa.Connection) -> None:
        for statement in statements:
            connection.exec_driver_sql(statement.format(counted=_COUNTED[connection.dialect.name]))

    return step


class Database:
    """The database at an address such as ``sqlite:///answers.db`` or ``postgresql://ada@host/answers``.

    With ``alone``, PostgreSQL refuses a second process that writes. For SQLite, the caller locks a file.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     database = Database(f"sqlite:///{folder}/notes.db")
    ...     with database.writing() as connection:
    ...         _ = connection.execute(sa.text("create table notes (note text)"))
    ...     database.close()
    """

    def __init__(self, url: str, *, alone: bool = False) -> None:
        self.engine = _engine_of(url)
        self._writer = _sole_writer(self.engine) if alone else self.engine
        self.file = _DatabaseFile.of(self.engine.url)
        self._lock = RLock()  # threads of one process take turns here, not at the file
        self._thread = threading.local()
        weakref.finalize(self, _close, self._writer, self.engine).atexit = False  # where a caller forgets to close

    def reading(self) -> AbstractContextManager[sa.Connection]:
        """A connection to read with; it never waits for a writer."""
        moment: sa.Connection | None = getattr(self._thread, "moment", None)
        return self.engine.connect() if moment is None else nullcontext(moment)

    @contextmanager
    def one_moment(self) -> Iterator[None]:
        """A block in which this thread reads the database as it is when the block begins."""
        if getattr(self._thread, "moment", None) is not None:
            yield
            return
        with self.engine.connect() as connection:
            if connection.dialect.name == "postgresql":
                connection = connection.execution_options(isolation_level="REPEATABLE READ")
            with connection.begin():
                if connection.dialect.name == "sqlite":
                    connection.exec_driver_sql("BEGIN")
                self._thread.moment = connection
                try:
                    yield
                finally:
                    self._thread.moment = None

    @contextmanager
    def writing(self) -> Iterator[sa.Connection]:
        """A transaction: all of it is on disk when the block ends, or none of it after an error.

        If the connection is lost during the commit, the outcome is unknown until the database is read again. A commit
        into a file that was deleted or replaced meanwhile is a LostDatabaseError.
        """
        with self._lock:
            with self._writer.connect() as connection, connection.begin():
                connection.exec_driver_sql(TAKE_TURN[connection.dialect.name])
                self.file.check()
                yield connection
            self.file.check()

    def bring_up_to_date(self, part: str, steps: Sequence[Step]) -> None:
        """Take the steps that this part of the database has not taken yet, all or none of them."""
        with self.writing() as connection:
            _versions.create(connection, checkfirst=True)
            where = _versions.c.part == part
            done = connection.execute(sa.select(_versions.c.version).where(where)).scalar()
            if (done or 0) > len(steps):
                raise FileFormatError(
                    f"The database has {part} {done}; this coalface knows up to {len(steps)}. Upgrade coalface."
                )
            for step in steps[done or 0 :]:
                step(connection)
            if done is None:
                connection.execute(_versions.insert().values(part=part, version=len(steps)))
            elif done < len(steps):
                connection.execute(_versions.update().where(where).values(version=len(steps)))

    def version_of(self, part: str) -> int:
        """How many steps this part of the database has taken; 0 if it was never created."""
        with self.reading() as connection:
            if not sa.inspect(connection).has_table(_versions.name):
                return 0
            return connection.execute(sa.select(_versions.c.version).where(_versions.c.part == part)).scalar() or 0

    def close(self) -> None:
        """Close all connections."""
        _close(self._writer, self.engine)


def _close(*engines: sa.Engine) -> None:
    for engine in engines:
        engine.dispose()


def _engine_of(url: str) -> sa.Engine:
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


def _sole_writer(engine: sa.Engine) -> sa.Engine:
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


_Identity = tuple[int, int] | None


class _DatabaseFile:
    """Remembers which files a database consists of, and notices if their names point elsewhere.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "answers.db")
    ...     _ = path.write_bytes(b"")
    ...     file = _DatabaseFile(path)
    ...     file.check()
    ...     path.unlink()
    ...     file.is_lost
    True
    """

    def __init__(self, path: Path | None) -> None:
        self._paths: tuple[Path, ...] = () if path is None else (path, path.with_name(path.name + _JOURNAL))
        self._known: dict[Path, _Identity] = {}

    @classmethod
    def of(cls, address: sa.URL) -> "_DatabaseFile":
        """The file of a SQLite address; other databases have none that could be checked."""
        name = address.database if address.drivername.startswith("sqlite") else None
        return cls(None if not name or name == ":memory:" or name.startswith("file:") else Path(name).resolve())

    @property
    def is_lost(self) -> bool:
        """Whether a file that was seen before is another one now."""
        return any(_identity(path) != known for path, known in self._known.items())

    def check(self) -> None:
        """Remember the files at the first call; a LostDatabaseError if they are others at a later one."""
        if self.is_lost:
            raise LostDatabaseError(
                f"The database {self._paths[0]} was moved, deleted or replaced while it was open, so what was sent "
                "last is not stored. Put the file back or restore a copy, then start again."
            )
        for path in self._paths:
            if path not in self._known and (found := _identity(path)) is not None:
                self._known[path] = found


def _identity(path: Path) -> _Identity:
    """The device and the number of a file; None if there is none."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino

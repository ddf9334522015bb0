"""A database as ledgers and services use it: SQLite in a file, or PostgreSQL by its address.

What a transaction has written is on disk when its block ends. Tables are made and changed by numbered steps; each part
of the program has its own list of steps, and the database knows how far each part has come.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from threading import RLock
from typing import Any

from coalface.errors import FileFormatError, InputError, in_one_line

try:
    import sqlalchemy as sa
except ModuleNotFoundError:  # pragma: no cover
    raise InputError("Databases need SQLAlchemy. Run: pip install 'coalface[app]'") from None

Step = Callable[[sa.Connection], None]
BIG = sa.BigInteger().with_variant(sa.Integer(), "sqlite")  # SQLite numbers rows by itself only if they are INTEGER
_PATIENCE = 30_000  # milliseconds to wait for another process that writes
_versions = sa.Table(
    "coalface_schema",
    sa.MetaData(),
    sa.Column("part", sa.Text, primary_key=True),
    sa.Column("version", sa.Integer, nullable=False),
)


class Database:
    """The database at an address such as ``sqlite:///answers.db`` or ``postgresql://ada@host/answers``.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     database = Database(f"sqlite:///{folder}/notes.db")
    ...     with database.writing() as connection:
    ...         _ = connection.execute(sa.text("create table notes (note text)"))
    ...     database.close()
    """

    def __init__(self, url: str) -> None:
        self.engine = _engine(url)
        self._lock = RLock()  # one writer at a time: those of one process need not fight over the file

    @contextmanager
    def reading(self) -> Iterator[sa.Connection]:
        """A connection to look at what is there; it never waits for a writer."""
        with self.engine.connect() as connection:
            yield connection

    @contextmanager
    def writing(self) -> Iterator[sa.Connection]:
        """A transaction: all of it is on disk when the block ends, or none of it after an error."""
        with self._lock, self.engine.connect() as connection:
            connection = connection.execution_options(coalface_writes=True)
            with connection.begin():
                yield connection

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

    def close(self) -> None:
        """Let go of all connections."""
        self.engine.dispose()


def _engine(url: str) -> sa.Engine:
    try:
        address = sa.make_url(url)
        if address.drivername in ("postgresql", "postgres"):
            address = address.set(drivername="postgresql+psycopg")
        engine = sa.create_engine(address)
        with engine.connect():
            pass
    except ModuleNotFoundError:
        raise InputError("PostgreSQL needs a driver. Run: pip install 'coalface[postgres]'") from None
    except sa.exc.SQLAlchemyError as problem:
        raise InputError(
            f"The database must be sqlite:///FILE or postgresql://USER@HOST/NAME and can be opened, got "
            f"{_without_password(url)} ({in_one_line(Exception(str(problem).splitlines()[0]))})."
        ) from None
    if engine.dialect.name == "sqlite":
        engine.dispose()  # the connection above knows nothing of what follows
        sa.event.listen(engine, "connect", _prepare_sqlite)
        sa.event.listen(engine, "begin", _begin_sqlite)
    return engine


def _without_password(url: str) -> str:
    try:
        return sa.make_url(url).render_as_string(hide_password=True)
    except sa.exc.SQLAlchemyError:
        return repr(url)


def _prepare_sqlite(connection: Any, _: Any) -> None:
    """Readers beside one writer; what is committed survives a power cut; transactions begin when we say so."""
    connection.isolation_level = None
    for setting in ("journal_mode=WAL", "synchronous=FULL", f"busy_timeout={_PATIENCE}"):
        connection.execute(f"PRAGMA {setting}")


def _begin_sqlite(connection: sa.Connection) -> None:
    """A writer takes its place at once: one that first reads and then writes may be sent away half-way."""
    if connection.get_execution_options().get("coalface_writes"):
        connection.exec_driver_sql("BEGIN IMMEDIATE")

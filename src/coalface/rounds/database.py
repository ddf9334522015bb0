"""A SQLite or PostgreSQL database that ledgers and projects read, write and migrate.

A transaction is on disk when its block ends. Writers take turns, so row numbers grow in the order in which rows become
visible. Numbered steps create and change the tables. Each part of the program has its own list of steps, and the
database records how many steps each part has taken.
"""

import threading
import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from threading import RLock

from coalface.errors import FileFormatError
from coalface.rounds.database_file import DatabaseFile
from coalface.rounds.sql_engines import TAKE_TURN, engine_of, sole_writer

import sqlalchemy as sa  # isort: skip  (after the module that says how to install it)

Step = Callable[[sa.Connection], None]
BIG = sa.BigInteger().with_variant(sa.Integer(), "sqlite")  # SQLite numbers rows itself only if they are INTEGER
_COUNTED = {"sqlite": "INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT", "postgresql": "BIGSERIAL PRIMARY KEY"}
_versions = sa.Table(
    "coalface_schema",
    sa.MetaData(),
    sa.Column("part", sa.Text, primary_key=True),
    sa.Column("version", sa.Integer, nullable=False),
)


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
        self.engine = engine_of(url)
        self._writer = sole_writer(self.engine) if alone else self.engine
        self.file = DatabaseFile.of(self.engine.url)
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

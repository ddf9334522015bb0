"""A database as ledgers and services use it: SQLite in a file, or PostgreSQL by its address.

What a transaction has written is on disk when its block ends, and transactions that write come one after the other, so
that the numbers of rows are in the order in which they became visible. Tables are made and changed by numbered steps;
each part of the program has its own list of steps, and the database knows how far each part has come.
"""

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from threading import RLock

from coalface.errors import FileFormatError
from coalface.rounds.sql_engines import engine_of, sole_writer

import sqlalchemy as sa  # isort: skip  (behind the module that says how to install it)

Step = Callable[[sa.Connection], None]
BIG = sa.BigInteger().with_variant(sa.Integer(), "sqlite")  # SQLite numbers rows by itself only if they are INTEGER
_COUNTED = {"sqlite": "INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT", "postgresql": "BIGSERIAL PRIMARY KEY"}
_versions = sa.Table(
    "coalface_schema",
    sa.MetaData(),
    sa.Column("part", sa.Text, primary_key=True),
    sa.Column("version", sa.Integer, nullable=False),
)


def written_out(*statements: str) -> Step:
    """A step in the words of SQL, never to be changed: tables of today must not slip into it tomorrow.

    ``{counted}`` stands for a primary key that the database counts up by itself.
    """

    def step(connection: sa.Connection) -> None:
        for statement in statements:
            connection.exec_driver_sql(statement.format(counted=_COUNTED[connection.dialect.name]))

    return step


class Database:
    """The database at an address such as ``sqlite:///answers.db`` or ``postgresql://ada@host/answers``.

    Where it is to be written by one process ``alone``, a second one is refused; on SQLite, a lock on a file has to see
    to that.

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
        self._lock = RLock()  # one writer at a time: those of one process need not fight over the file
        self._here = threading.local()

    @contextmanager
    def reading(self) -> Iterator[sa.Connection]:
        """A connection to look at what is there; it never waits for a writer."""
        moment: sa.Connection | None = getattr(self._here, "moment", None)
        if moment is not None:
            yield moment
            return
        with self.engine.connect() as connection:
            yield connection

    @contextmanager
    def one_moment(self) -> Iterator[None]:
        """A block in which this thread reads the database as it is when the block begins, whoever writes meanwhile."""
        if getattr(self._here, "moment", None) is not None:
            yield
            return
        with self.engine.connect() as connection:
            if connection.dialect.name == "postgresql":
                connection = connection.execution_options(isolation_level="REPEATABLE READ")
            connection = connection.execution_options(coalface_begin="BEGIN")
            with connection.begin():
                self._here.moment = connection
                try:
                    yield
                finally:
                    self._here.moment = None

    @contextmanager
    def writing(self) -> Iterator[sa.Connection]:
        """A transaction: all of it is on disk when the block ends, or none of it after an error.

        Only where the database went away in the last moment nobody knows, until one asks it again.
        """
        with self._lock, self._writer.connect() as connection:
            connection = connection.execution_options(coalface_begin="BEGIN IMMEDIATE")
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

    def knows(self, part: str) -> bool:
        """Whether this part of the program has made its tables here."""
        with self.reading() as connection:
            if not sa.inspect(connection).has_table(_versions.name):
                return False
            return connection.execute(sa.select(_versions).where(_versions.c.part == part)).first() is not None

    def close(self) -> None:
        """Let go of all connections."""
        self._writer.dispose()
        self.engine.dispose()

"""The tables of a desk beside its log: the open questions with their leases, and the tokens of those who answer.

The log says what happened; the table of questions says where each stands now, and changes in the same transactions. A
lease is one statement that finds a question, sees whether an old lease has run out, and takes it.
"""

import json
import time
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from coalface.errors import ConflictError, UnknownIdError
from coalface.rounds.database import BIG, Database, written_out
from coalface.rounds.event_log import EventLog
from coalface.service.project import ownership

import sqlalchemy as sa  # isort: skip  (behind the module that says how to install it)

_events = sa.table("events", sa.column("example"), sa.column("kind"), sa.column("who"))  # of the log, to look at

_metadata = sa.MetaData()
_questions = sa.Table(
    "questions",
    _metadata,
    sa.Column("number", BIG, primary_key=True),
    sa.Column("example", BIG, nullable=False),
    sa.Column("copy", sa.Integer, nullable=False),  # 0, and 1, 2, ... where several people are asked
    sa.Column("open", sa.Boolean, nullable=False),
    sa.Column("step", sa.Integer, nullable=False),  # answers that came
    sa.Column("asking", sa.Integer, nullable=False),  # costs in question now
    sa.Column("turn", BIG, nullable=False),  # its place in the order of the pool, from 1
    sa.Column("decided", BIG, nullable=False),  # how many examples the model had learned when it was decided
    sa.Column("plan", sa.Text, nullable=False),
    sa.Column("known", sa.Text, nullable=False),  # label -> cost, or null: can't tell
    sa.Column("lease", sa.Text),
    sa.Column("holder", sa.Text),  # of the lease or, of a closed question, who closed it
    sa.Column("expires", sa.Double),
    sa.Column("previous", sa.Text),  # whose lease had run out
    sa.UniqueConstraint("example", "copy"),
    sa.Index("questions_open", "open", "number"),
    sqlite_autoincrement=True,
)
_tokens = sa.Table(
    "tokens",
    _metadata,
    sa.Column("name", sa.Text, primary_key=True),
    sa.Column("role", sa.Text, nullable=False),
    sa.Column("digest", sa.Text, nullable=False, unique=True),
    sa.Column("created", sa.Double, nullable=False),
)
STEPS = (
    written_out(
        "CREATE TABLE questions (number {counted}, example BIGINT NOT NULL, copy INTEGER NOT NULL, "
        "open BOOLEAN NOT NULL, step INTEGER NOT NULL, asking INTEGER NOT NULL, turn BIGINT NOT NULL, "
        "decided BIGINT NOT NULL, plan TEXT NOT NULL, known TEXT NOT NULL, lease TEXT, holder TEXT, "
        "expires DOUBLE PRECISION, previous TEXT, "
        "UNIQUE (example, copy))",
        "CREATE INDEX questions_open ON questions (open, number)",
        "CREATE INDEX questions_by_holder ON questions (holder)",
        "CREATE TABLE tokens (name TEXT PRIMARY KEY NOT NULL, role TEXT NOT NULL, digest TEXT NOT NULL UNIQUE, "
        "created DOUBLE PRECISION NOT NULL)",
    ),
    written_out("DROP INDEX questions_by_holder"),  # it led to all that somebody ever closed; few questions are open
)
_q = _questions.c


@dataclass(frozen=True)
class Row:
    """A question as it stands."""

    number: int
    example: int
    copy: int
    open: bool
    step: int
    asking: int
    turn: int
    decided: int
    plan: dict[str, Any]
    known: dict[str, float | None]
    lease: str | None = None
    holder: str | None = None
    expires: float | None = None
    previous: str | None = None


class Store:
    """The database of a project: its log, questions and tokens.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     store = Store(f"sqlite:///{folder}/project.db")
    ...     store.add_token("ada", "engineer", "0" * 64)
    ...     store.token("0" * 64)
    ...     store.close()
    ('ada', 'engineer')
    """

    def __init__(self, url: str, *, alone: bool = False) -> None:
        self.database = Database(url, alone=alone)
        try:
            self.log = EventLog(self.database)
            self.database.bring_up_to_date("desk", STEPS)
            self.database.bring_up_to_date("project", ownership.STEPS)
        except BaseException:
            self.database.close()
            raise

    def close(self) -> None:
        """Let go of the database."""
        self.database.close()

    # -- questions -------------------------------------------------------------------------------

    def add(self, connection: sa.Connection, rows: Iterable[Row]) -> None:
        """Open questions; those with a number keep it."""
        listed = [_columns(row) for row in rows]
        if listed:
            connection.execute(_questions.insert(), listed)

    def question(self, number: int) -> Row | None:
        """Where a question stands; None if there is none, or if it was taken back unanswered."""
        return next(iter(self.rows(_q.number == number)), None)

    def copies(self, row: Row) -> list[Row]:
        """The other copies of a question, in order."""
        return self.rows(_q.example == row.example, _q.number != row.number)

    def rows(self, *conditions: sa.ColumnElement[bool]) -> list[Row]:
        """The questions of which all this is true, in order."""
        with self.database.reading() as connection:
            return [_row(row) for row in connection.execute(_questions.select().where(*conditions).order_by(_q.number))]

    def in_question(self, examples: list[int]) -> set[int]:
        """Those of these examples that have an open question."""
        query = sa.select(_q.example).where(_q.open, _q.example.in_(examples))
        with self.database.reading() as connection:
            return set(connection.execute(query).scalars())

    def free(self, now: float) -> list[Row]:
        """Open questions that nobody holds."""
        return self.rows(_q.open, _unleased(now))

    def half_finished(self, now: float) -> list[Row]:
        """Open questions with some answers that nobody holds."""
        return self.rows(_q.open, _q.step > 0, _unleased(now))

    def held(self, annotator: str, now: float) -> list[Row]:
        """Open questions that somebody holds, those held longest last."""
        return sorted(self.rows(*_held_by(annotator, now)), key=lambda row: -(row.expires or 0.0))

    def n_open(self, annotator: str | None = None) -> int:
        """How many questions are open, or may be put to one annotator once nobody holds them."""
        return self._count(_q.open, *([] if annotator is None else [~_not_for(annotator)]))

    def n_held(self, annotator: str, now: float) -> int:
        """How many questions somebody holds."""
        return self._count(*_held_by(annotator, now))

    def n_free(self, now: float) -> int:
        """How many open questions nobody holds."""
        return self._count(_q.open, _unleased(now))

    def outstanding(self, now: float, without: int | None = None) -> tuple[int, int]:
        """The examples first looked at, and the costs, that are in question with somebody now; one question aside."""
        first = sa.func.coalesce(sa.func.sum(sa.case((_q.step == 0, 1), else_=0)), 0)
        costs = sa.func.coalesce(sa.func.sum(_q.asking), 0)
        query = sa.select(first, costs).where(_q.open, _q.lease.is_not(None), _q.expires >= now)
        query = query if without is None else query.where(_q.number != without)
        with self.database.reading() as connection:
            examples, asked = connection.execute(query).one()
        return int(examples), int(asked)

    def take(
        self, connection: sa.Connection, annotator: str, lease: str, now: float, expires: float, new: bool = True
    ) -> Row | None:
        """Lease the next question that nobody holds and that may be put to this annotator, a ``new`` one or not."""
        chosen = (
            sa.select(_q.number)
            .where(_q.open, _unleased(now), ~_not_for(annotator), _q.step >= (0 if new else 1))
            .order_by(_q.step.desc(), _q.number)
            .limit(1)
            .with_for_update(skip_locked=True)
            .scalar_subquery()
        )
        changed = (
            _questions.update()
            .where(_q.number == chosen)
            .values(lease=lease, holder=annotator, expires=expires, previous=_q.holder)
            .returning(_questions)
        )
        row = connection.execute(changed).first()
        return None if row is None else _row(row)

    def change(self, connection: sa.Connection, number: int, **values: Any) -> None:
        """Put a question where it stands now."""
        if "known" in values:
            values["known"] = json.dumps(values["known"])
        if "plan" in values:
            values["plan"] = json.dumps(values["plan"])
        connection.execute(_questions.update().where(_q.number == number).values(**values))

    def remove(self, connection: sa.Connection, numbers: Iterable[int]) -> None:
        """Take back questions that nobody has seen."""
        connection.execute(_questions.delete().where(_q.number.in_(list(numbers))))

    def renumber(self, connection: sa.Connection) -> None:
        """Go on behind the largest numbers after events and questions were added with numbers of their own."""
        if connection.dialect.name == "postgresql":  # SQLite does so by itself
            for table, column in (("events", "id"), ("questions", "number")):
                largest = f"coalesce((select max({column}) from {table}), 1)"
                connection.execute(sa.text(f"select setval(pg_get_serial_sequence('{table}', '{column}'), {largest})"))

    def _count(self, *conditions: sa.ColumnElement[bool]) -> int:
        with self.database.reading() as connection:
            query = sa.select(sa.func.count()).select_from(_questions).where(*conditions)
            return int(connection.execute(query).scalar_one())

    # -- tokens ----------------------------------------------------------------------------------

    def token(self, digest: str) -> tuple[str, str] | None:
        """The name and role of whoever has the token of this SHA-256."""
        with self.database.reading() as connection:
            query = sa.select(_tokens.c.name, _tokens.c.role).where(_tokens.c.digest == digest)
            row = connection.execute(query).first()
        return None if row is None else (row.name, row.role)

    def add_token(self, name: str, role: str, digest: str) -> None:
        """Let somebody in; a name has one token."""
        try:
            with self.database.writing() as connection:
                connection.execute(_tokens.insert().values(name=name, role=role, digest=digest, created=time.time()))
        except sa.exc.IntegrityError:
            raise ConflictError(f"There is a token for {name!r} already. Remove it first.") from None

    def tokens(self) -> list[tuple[str, str, str, float]]:
        """Name, role, digest and time of all tokens."""
        with self.database.reading() as connection:
            rows = connection.execute(_tokens.select().order_by(_tokens.c.name))
            return [(row.name, row.role, row.digest, row.created) for row in rows]

    def remove_token(self, name: str) -> None:
        """Let somebody in no longer."""
        with self.database.writing() as connection:
            if connection.execute(_tokens.delete().where(_tokens.c.name == name)).rowcount == 0:
                raise UnknownIdError(f"There is no token for {name!r}.")


def _unleased(now: float) -> sa.ColumnElement[bool]:
    return sa.or_(_q.lease.is_(None), _q.expires < now)


def _held_by(annotator: str, now: float) -> tuple[sa.ColumnElement[bool], ...]:
    return _q.open, _q.holder == annotator, _q.lease.is_not(None), _q.expires >= now


def _not_for(annotator: str) -> sa.ColumnElement[bool]:
    """Whether a question is a copy of one that this annotator was the last to hold, or has answered."""
    other, said = _questions.alias(), _events.c
    copies = sa.exists().where(other.c.example == _q.example, other.c.copy != _q.copy)
    answered = sa.exists().where(said.example == _q.example, said.kind == "answered", said.who == annotator)
    own = sa.func.coalesce(_q.holder, "") == annotator  # an interview of one's own may go on
    return sa.or_(copies.where(other.c.holder == annotator), sa.and_(copies, answered, ~own))


def _columns(row: Row) -> dict[str, Any]:
    columns = {**vars(row), "plan": json.dumps(row.plan), "known": json.dumps(row.known)}
    if not row.number:
        del columns["number"]
    return columns


def _row(row: Any) -> Row:
    return Row(**{**row._mapping, "plan": json.loads(row.plan), "known": json.loads(row.known)})

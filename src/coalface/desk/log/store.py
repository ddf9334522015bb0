"""The table of a project's questions beside its log; ``access`` has those of tokens and sessions.

The log records what happened. The table of questions holds the present state of each question and changes in the same
transactions. One statement leases a question: it finds a free one, checks that an old lease has expired, and takes it.
The database belongs to one project. It holds its random id, and the settings that must not be edited, because the
answers depend on them.
"""

import json
from collections.abc import Collection, Iterable, Mapping
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from coalface.desk.log.access import AccessTables
from coalface.desk.log.ownership import RESTORE
from coalface.errors import FileFormatError, InputError
from coalface.rounds import BIG, Database, Event, EventLog, Round, any_event, sql_step, without_password

import sqlalchemy as sa  # isort: skip  (after the module that says how to install it)

_events = sa.table("events", sa.column("example"), sa.column("kind"), sa.column("who"))  # the log's table, read only

_MOST_NAMED = 1000  # numbers in one statement; databases have a limit
_questions = sa.table(
    "questions",
    sa.column("number", BIG),
    sa.column("example", BIG),
    sa.column("copy", sa.Integer),  # 0, and 1, 2, ... where several people are asked
    sa.column("open", sa.Boolean),
    sa.column("step", sa.Integer),  # number of answers so far
    sa.column("asking", sa.Integer),  # number of costs asked for now
    sa.column("decided", BIG),  # number of examples the model had learned when it chose the labels
    sa.column("lease", sa.Text),
    sa.column("holder", sa.Text),  # of the lease or, for a closed question, who closed it
    sa.column("expires", sa.Double),
    sa.column("previous", sa.Text),  # who held the lease before, if it expired
    sa.column("round", sa.Text),  # JSON
)
STEPS = (
    sql_step(
        "CREATE TABLE questions (number {counted}, example BIGINT NOT NULL, copy INTEGER NOT NULL, "
        "open BOOLEAN NOT NULL, step INTEGER NOT NULL, asking INTEGER NOT NULL, decided BIGINT NOT NULL, "
        "lease TEXT, holder TEXT, expires DOUBLE PRECISION, previous TEXT, round TEXT NOT NULL, "
        "UNIQUE (example, copy))",
        "CREATE INDEX questions_open ON questions (open, number)",
        "CREATE TABLE tokens (name TEXT PRIMARY KEY NOT NULL, role TEXT NOT NULL, digest TEXT NOT NULL UNIQUE, "
        "created DOUBLE PRECISION NOT NULL)",
        "CREATE TABLE sessions (digest TEXT PRIMARY KEY NOT NULL, token TEXT NOT NULL, "
        "expires DOUBLE PRECISION NOT NULL)",
    ),
)
PROJECT_STEPS = (sql_step("CREATE TABLE project (id TEXT PRIMARY KEY NOT NULL, rests_on TEXT NOT NULL)"),)
_project = sa.table("project", sa.column("id"), sa.column("rests_on"))
_CHANGES = {"list of labels": "; coalface labels adds, renames and retires labels"}
_q = _questions.c


@dataclass(frozen=True)
class QuestionRow:
    """A row of the table of questions: a ``Round``, and who holds it, until when, and how far it is answered.

    The number of the round is the place of the example in the order of the pool, counted from 1.
    """

    number: int  # 0 until the database sets it
    example: int
    copy: int
    open: bool
    step: int
    asking: int
    decided: int
    round: Round
    lease: str | None = None
    holder: str | None = None
    expires: float | None = None
    previous: str | None = None

    def is_held(self, now: float) -> bool:
        """Whether an annotator has the question on a lease that has not expired."""
        return self.lease is not None and (self.expires or 0.0) >= now

    def to_json(self) -> dict[str, Any]:
        """The row as plain JSON values."""
        return {**vars(self), "round": self.round.to_json()}

    @classmethod
    def from_json(cls, line: Mapping[str, Any]) -> "QuestionRow":
        """The row that ``to_json`` gave, checked: a line of an archive."""
        try:
            return cls(**{**line, "round": Round.from_json(line["round"])})
        except (KeyError, TypeError, ValueError) as problem:
            raise FileFormatError(
                f"Question {line.get('number')} is damaged ({problem}). Restore the project from a copy."
            ) from None


class Store(AccessTables):
    """The database of a project: its log, questions and tokens.

    >>> from tempfile import TemporaryDirectory
    >>> from coalface.desk.log.access import digest_of
    >>> with TemporaryDirectory() as folder:
    ...     store = Store(f"sqlite:///{folder}/project.db")
    ...     store.add_token("ada", "engineer", "0" * 64)
    ...     store.role_of(digest_of("0" * 64))
    ...     store.close()
    ('ada', 'engineer')
    """

    def __init__(self, url: str, *, alone: bool = False) -> None:
        self.database = Database(url, alone=alone)
        try:
            self.log = EventLog(self.database)
            self.database.bring_up_to_date("desk", STEPS)
            self.database.bring_up_to_date("project", PROJECT_STEPS)
        except BaseException:
            self.database.close()
            raise

    def close(self) -> None:
        """Close the database."""
        self.database.close()

    @classmethod
    def existing(cls, url: str, *, alone: bool = False) -> "Store":
        """The store in a database that must not be missing: with all answers, and only ``init`` creates one."""
        local = "sqlite:///"
        missing = url.startswith(local) and not Path(url.removeprefix(local).partition("?")[0]).is_file()
        if not missing:
            with closing(Database(url)) as database:
                missing = not database.version_of("desk")
        if missing:
            raise InputError(
                f"The database {without_password(url)} must hold this project's answers, but it is missing or empty. "
                f"{RESTORE}"
            )
        return cls(url, alone=alone)

    def claim(
        self, connection: sa.Connection, project_id: str, foundations: Mapping[str, Any], *, empty: bool = False
    ) -> None:
        """Claim the database for this project; refuse another project's, or one begun with other labels or bounds.

        With ``empty``, refuse any that holds something.
        """
        owner = connection.execute(sa.select(_project)).first()
        if empty and (owner or any_event(connection)):
            raise InputError(
                f"The database {_shown(connection)} must be empty, but it holds a project or a ledger. "
                "Choose another one."
            )
        plain = json.loads(json.dumps(foundations))
        if owner is None:
            connection.execute(_project.insert().values(id=project_id, rests_on=json.dumps(plain)))
            return
        if owner.id != project_id:
            raise InputError(
                f"The database {_shown(connection)} belongs to the project of id {owner.id}, this one has "
                f"{project_id}. Correct database in project.toml or, if it is the same project, id."
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

    # -- questions -------------------------------------------------------------------------------

    def add(self, connection: sa.Connection, rows: Iterable[QuestionRow]) -> None:
        """Add questions; a question that has a number keeps it."""
        listed = [_columns(row) for row in rows]
        try:
            if listed:
                connection.execute(_questions.insert(), listed)
        except sa.exc.IntegrityError:
            raise FileFormatError(
                "The project has a question about this example already: its log and its questions do not fit. "
                "Restore the project from a copy."
            ) from None

    def insert(self, connection: sa.Connection, row: QuestionRow) -> QuestionRow:
        """Add one question; the row with its number."""
        number = connection.execute(_questions.insert().returning(_q.number), [_columns(row)]).scalar_one()
        return replace(row, number=number)

    def question(self, number: int) -> QuestionRow | None:
        """The question of this number; None if there is none, or if it was removed unanswered."""
        return next(iter(self.rows(_q.number == number)), None)

    def situation(
        self, number: int, answer: str, lease: str
    ) -> tuple[Event | None, Event | None, list[Event], QuestionRow | None]:
        """What an answer meets: the same answer sent before, its lease, the example's events, and the question."""
        with self.database.reading() as connection:
            found = connection.execute(_questions.select().where(_q.number == number)).first()
            row = None if found is None else _row(found)
            return *self.log.of_answer(connection, answer, lease), row

    def copies(self, row: QuestionRow) -> list[QuestionRow]:
        """The other copies of a question, in order."""
        return [other for other in self.about(row.example) if other.number != row.number]

    def rows(self, *conditions: sa.ColumnElement[bool]) -> list[QuestionRow]:
        """The questions that meet all conditions, in order."""
        query = _questions.select().where(*conditions).order_by(_q.number)
        with self.database.reading() as connection:
            return [_row(row) for row in connection.execute(query)]

    def about(self, example: int) -> list[QuestionRow]:
        """All copies of the question about an example, in order."""
        return self.rows(_q.example == example)

    def in_question(self, examples: list[int]) -> set[int]:
        """Those of these examples that have an open question."""
        query = sa.select(_q.example).where(_q.open)
        if len(examples) <= _MOST_NAMED:
            query = query.where(_q.example.in_(examples))
        with self.database.reading() as connection:
            return set(connection.execute(query).scalars()).intersection(examples)

    def free(self, now: float) -> list[QuestionRow]:
        """Open questions without a lease."""
        return self.rows(_q.open, _unleased(now))

    def leased(self, now: float) -> list[QuestionRow]:
        """Open questions with a lease."""
        return self.rows(_q.open, ~_unleased(now))

    def held(self, annotator: str, now: float) -> list[QuestionRow]:
        """Open questions that an annotator holds, the lease that ends last first."""
        return sorted(self.rows(*_held_by(annotator, now)), key=lambda row: -(row.expires or 0.0))

    def n_open(self, annotator: str | None = None, without: Collection[int] = (), judges: Collection[str] = ()) -> int:
        """How many questions are open, or are open to one annotator once their leases end, ``without`` some."""
        for_them = [] if annotator is None else [~_not_for(annotator, judges)]
        return self._count(_q.open, _q.number.not_in(without), *for_them)

    def n_awaited(self, judge: str) -> int:
        """How many examples a judge has answered that have an open copy for people."""
        other = _questions.alias()
        return self._count(
            _q.open, sa.exists().where(other.c.example == _q.example, ~other.c.open, other.c.holder == judge)
        )

    def n_held(self, annotator: str, now: float) -> int:
        """How many questions an annotator holds."""
        return self._count(*_held_by(annotator, now))

    def n_free(self, now: float) -> int:
        """How many open questions have no lease."""
        return self._count(_q.open, _unleased(now))

    def outstanding(self, now: float, without: int | None = None) -> tuple[int, int]:
        """The new examples and the costs that annotators are asked about now; ``without`` leaves out a question."""
        first = sa.func.coalesce(sa.func.sum(sa.case((_q.step == 0, 1), else_=0)), 0)
        costs = sa.func.coalesce(sa.func.sum(_q.asking), 0)
        query = sa.select(first, costs).where(_q.open, _q.lease.is_not(None), _q.expires >= now)
        query = query if without is None else query.where(_q.number != without)
        with self.database.reading() as connection:
            examples, asked = connection.execute(query).one()
        return int(examples), int(asked)

    def take(
        self,
        connection: sa.Connection,
        annotator: str,
        lease: str,
        now: float,
        expires: float,
        *,
        new: bool = True,
        without: Collection[int] = (),
        judges: Collection[str] = (),
    ) -> QuestionRow | None:
        """Lease the next free question to this annotator; without ``new``, only one that has answers already.

        ``without`` has the numbers of questions to leave to others. If there are ``judges``, the last copy of a
        question that only judges hold is for people, and the other way round.
        """
        chosen = (
            sa.select(_q.number)
            .where(_q.open, _unleased(now), ~_not_for(annotator, judges), _q.step >= (0 if new else 1))
            .where(_q.number.not_in(without))
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
        """Change columns of a question; ``round`` in its JSON form."""
        if "round" in values:
            values["round"] = json.dumps(values["round"])
        connection.execute(_questions.update().where(_q.number == number).values(**values))

    def remove(self, connection: sa.Connection, numbers: Iterable[int]) -> None:
        """Remove questions that were never displayed."""
        connection.execute(_questions.delete().where(_q.number.in_(list(numbers))))

    def renumber(self, connection: sa.Connection) -> None:
        """Reset the id sequences after events and questions were added with numbers of their own."""
        if connection.dialect.name == "postgresql":  # SQLite does so itself
            for table, column in (("events", "id"), ("questions", "number")):
                largest = f"coalesce((select max({column}) from {table}), 1)"
                connection.execute(sa.text(f"select setval(pg_get_serial_sequence('{table}', '{column}'), {largest})"))

    def _count(self, *conditions: sa.ColumnElement[bool]) -> int:
        with self.database.reading() as connection:
            query = sa.select(sa.func.count()).select_from(_questions).where(*conditions)
            return int(connection.execute(query).scalar_one())


def _unleased(now: float) -> sa.ColumnElement[bool]:
    return sa.or_(_q.lease.is_(None), _q.expires < now)


def _held_by(annotator: str, now: float) -> tuple[sa.ColumnElement[bool], ...]:
    return _q.open, _q.holder == annotator, _q.lease.is_not(None), _q.expires >= now


def _not_for(annotator: str, judges: Collection[str]) -> sa.ColumnElement[bool]:
    """Whether the annotator was the last to hold another copy of the question, or has answered one.

    Where there are judges, also whether all other copies are held by annotators of the same kind, judges or people.
    """
    other, said = _questions.alias(), _events.c
    copies = sa.exists().where(other.c.example == _q.example, other.c.copy != _q.copy)
    answered = sa.exists().where(said.example == _q.example, said.kind == "answered", said.who == annotator)
    own = sa.func.coalesce(_q.holder, "") == annotator  # an annotator may continue their own copy
    taken = sa.or_(copies.where(other.c.holder == annotator), sa.and_(copies, answered, ~own))
    if not judges:
        return taken
    unlike = other.c.holder.not_in(judges) if annotator in judges else other.c.holder.in_(judges)
    return sa.or_(taken, sa.and_(copies, ~copies.where(sa.or_(other.c.holder.is_(None), unlike))))


def _row(row: Any) -> QuestionRow:
    """A row that this program wrote itself, so its round is not checked again."""
    try:
        return QuestionRow(**{**row._mapping, "round": Round.trusted(json.loads(row.round))})
    except (AttributeError, KeyError, TypeError, ValueError) as problem:
        raise FileFormatError(
            f"Question {row.number} is damaged ({problem}). Restore the project from a copy."
        ) from None


def _columns(row: QuestionRow) -> dict[str, Any]:
    columns = {**vars(row), "round": json.dumps(row.round.to_json())}
    if not row.number:
        del columns["number"]
    return columns


def _shown(connection: sa.Connection) -> str:
    return without_password(connection.engine.url.render_as_string(hide_password=True))

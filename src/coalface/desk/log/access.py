"""The tables of who may enter a project: tokens and the sessions of browsers. Only digests of them are stored."""

import hashlib
import time

from coalface.errors import ConflictError, UnknownIdError
from coalface.rounds import Database

import sqlalchemy as sa  # isort: skip  (after the module that says how to install it)

_tokens = sa.table(
    "tokens",
    sa.column("name", sa.Text),
    sa.column("role", sa.Text),
    sa.column("digest", sa.Text),
    sa.column("created", sa.Double),
)
_sessions = sa.table(
    "sessions",
    sa.column("digest", sa.Text),
    sa.column("token", sa.Text),  # the digest of its token
    sa.column("expires", sa.Double),
)


class AccessTables:
    """The part of a project's database that says who may enter."""

    database: Database

    # -- tokens ----------------------------------------------------------------------------------

    def add_token(self, name: str, role: str, token: str) -> None:
        """Add a person's token, of which only the digest is stored; a name has one token."""
        self.admit(name, role, digest_of(token))

    def tokens(self) -> list[tuple[str, str, str, float]]:
        """Name, role, digest and time of all tokens."""
        with self.database.reading() as connection:
            rows = connection.execute(_tokens.select().order_by(_tokens.c.name))
            return [(row.name, row.role, row.digest, row.created) for row in rows]

    def remove_token(self, name: str) -> None:
        """Revoke a person's token."""
        with self.database.writing() as connection:
            digest = connection.execute(sa.select(_tokens.c.digest).where(_tokens.c.name == name)).scalar()
            if digest is None:
                raise _no_token(name)
            connection.execute(_tokens.delete().where(_tokens.c.name == name))
            connection.execute(_sessions.delete().where(_sessions.c.token == digest))

    def change_role(self, name: str, role: str) -> None:
        """Give a person another role; their token stays the same."""
        with self.database.writing() as connection:
            changed = connection.execute(_tokens.update().where(_tokens.c.name == name).values(role=role))
            if changed.rowcount == 0:
                raise _no_token(name)

    def admit(self, name: str, role: str, digest: str) -> None:
        """Let a person in with the token that they have in another project, of which only the digest is known."""
        try:
            with self.database.writing() as connection:
                connection.execute(_tokens.insert().values(name=name, role=role, digest=digest, created=time.time()))
        except sa.exc.IntegrityError:
            raise ConflictError(f"There is a token for {name!r} already. Remove it first.") from None

    def role_of(self, digest: str) -> tuple[str, str] | None:
        """The name and role of the person whose token has this digest."""
        query = sa.select(_tokens.c.name, _tokens.c.role).where(_tokens.c.digest == digest)
        with self.database.reading() as connection:
            row = connection.execute(query).first()
        return None if row is None else (row.name, row.role)

    # -- sessions --------------------------------------------------------------------------------

    def begin_session(self, session: str, token: str, expires: float, now: float) -> None:
        """Keep the session of a browser whose user has this token; sessions that have ended are removed."""
        with self.database.writing() as connection:
            connection.execute(_sessions.delete().where(_sessions.c.expires < now))
            row = {"digest": digest_of(session), "token": digest_of(token), "expires": expires}
            connection.execute(_sessions.insert().values(**row))

    def token_of_session(self, session: str, now: float) -> str | None:
        """The digest of the token with which a session began; None if the session is unknown or has ended."""
        where = (_sessions.c.digest == digest_of(session), _sessions.c.expires >= now)
        with self.database.reading() as connection:
            found = connection.execute(sa.select(_sessions.c.token).where(*where)).scalar()
        return None if found is None else str(found)

    def end_session(self, session: str) -> None:
        """Forget a session."""
        with self.database.writing() as connection:
            connection.execute(_sessions.delete().where(_sessions.c.digest == digest_of(session)))


def _no_token(name: str) -> UnknownIdError:
    return UnknownIdError(f"There is no token for {name!r}. Check the name in the list of people.")


def digest_of(token: str) -> str:
    """What is stored of a token. A plain hash is enough, as a random token is in no dictionary."""
    return hashlib.sha256(token.encode("utf-8", "replace")).hexdigest()

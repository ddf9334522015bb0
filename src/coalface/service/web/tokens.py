"""Tokens say who is calling; a project keeps only their digests, so a stolen database opens no door."""

import hashlib
import hmac
import secrets
from dataclasses import dataclass

from coalface.errors import InputError

ROLES = ("annotator", "engineer")
_LONGEST_NAME = 100


@dataclass(frozen=True)
class Caller:
    """Whoever sent a request."""

    name: str
    role: str
    token: str

    @property
    def is_engineer(self) -> bool:
        """Engineers see ranges, everybody's work and the dashboard."""
        return self.role == "engineer"


def new_token() -> str:
    """A token that nobody can guess (256 bits); it is shown once and never stored.

    >>> new_token().startswith("coal_"), new_token() == new_token()
    (True, False)
    """
    return "coal_" + secrets.token_urlsafe(32)


def digest_of(token: str) -> str:
    """What is stored of a token. A plain hash is enough: a random token cannot be guessed from a dictionary.

    >>> len(digest_of("coal_x"))
    64
    """
    return hashlib.sha256(token.encode("utf-8", "replace")).hexdigest()


def form_key(token: str) -> str:
    """What a form of ours carries and one of another site cannot know; it needs no memory and survives a restart.

    >>> form_key("a") == form_key("a"), form_key("a") == form_key("b")
    (True, False)
    """
    return hmac.new(token.encode("utf-8", "replace"), b"coalface form", hashlib.sha256).hexdigest()


def same_text(given: str, expected: str) -> bool:
    """Whether two secrets are equal, in a time that does not tell how much of them is."""
    return hmac.compare_digest(given.encode("utf-8", "replace"), expected.encode())


def check_person(name: str, role: str) -> None:
    """Refuse a name or a role that no token can have."""
    if role not in ROLES:
        raise InputError(f"role must be annotator or engineer, got {role!r}.")
    if not 0 < len(name) <= _LONGEST_NAME or not name.isprintable() or name != name.strip() or ":" in name:
        raise InputError(
            f"A name must have 1 to {_LONGEST_NAME} printable characters, no colon and no space at either end, got "
            f"{name!r}."
        )

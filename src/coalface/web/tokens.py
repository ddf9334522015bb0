"""Tokens that identify callers, and sessions of browsers. A stolen database gives no access: only digests are stored.

A session is a random id in a cookie, which a log-out or the end of a token makes worthless. A browser never keeps the
token of its user.
"""

import hashlib
import hmac
import secrets
from dataclasses import dataclass

from coalface.errors import InputError

ROLES = ("annotator", "reviewer", "engineer")
_LONGEST_NAME = 100
A_MONTH = 30 * 86400.0  # seconds that a session lasts


@dataclass(frozen=True)
class Caller:
    """The person or program that sent a request, with their role in the project that it is about.

    ``token`` is the token or, for a page, the id of the session. ``digest`` is that of the person's token.
    """

    name: str
    role: str
    token: str
    digest: str = ""

    @property
    def may_review(self) -> bool:
        """Reviewers see every annotator's answers and correct them; engineers may do so, too."""
        return self.role in ("reviewer", "engineer")

    @property
    def is_engineer(self) -> bool:
        """Engineers see cost ranges, every annotator's work and the dashboard."""
        return self.role == "engineer"


def new_token() -> str:
    """A random token of 256 bits; it is shown once and never stored.

    >>> new_token().startswith("coal_"), new_token() == new_token()
    (True, False)
    """
    return "coal_" + secrets.token_urlsafe(32)


def form_key(token: str) -> str:
    """The key in our forms that protects against forged requests: other sites cannot compute it.

    It depends on the token only, so it is valid after a restart.

    >>> form_key("a") == form_key("a"), form_key("a") == form_key("b")
    (True, False)
    """
    return hmac.new(token.encode("utf-8", "replace"), b"coalface form", hashlib.sha256).hexdigest()


def is_form_key(given: str, token: str) -> bool:
    """Whether a request carries the form key of this token, compared in constant time.

    >>> is_form_key(form_key("a"), "a"), is_form_key("", "a")
    (True, False)
    """
    return hmac.compare_digest(given.encode("utf-8", "replace"), form_key(token).encode())


def check_person(name: str, role: str) -> None:
    """Refuse a name or a role that no token can have."""
    if role not in ROLES:
        raise InputError(f"role must be annotator, reviewer or engineer, got {role!r}. Choose one of these.")
    if not 0 < len(name) <= _LONGEST_NAME or not name.isprintable() or name != name.strip() or ":" in name:
        raise InputError(
            f"A name must have 1 to {_LONGEST_NAME} printable characters, no colon and no space at either end, got "
            f"{name!r}. Choose another name."
        )


def new_session() -> str:
    """A random id of 256 bits.

    >>> new_session().startswith("sess_"), new_session() == new_session()
    (True, False)
    """
    return "sess_" + secrets.token_urlsafe(32)

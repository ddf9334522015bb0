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

    @property
    def form_key(self) -> str:
        """The key in our forms that protects against forged requests: other sites cannot compute it.

        It depends on the token only, so it is valid after a restart.

        >>> Caller("ann", "annotator", "a").form_key == Caller("ann", "annotator", "b").form_key
        False
        """
        return hmac.new(self.token.encode("utf-8", "replace"), b"coalface form", hashlib.sha256).hexdigest()


def new_token(kind: str = "coal") -> str:
    """A random token of 256 bits, which is shown once and never stored, or the id of a session.

    >>> new_token().startswith("coal_"), new_token("sess") == new_token("sess")
    (True, False)
    """
    return f"{kind}_{secrets.token_urlsafe(32)}"


def check_person(name: str, role: str) -> None:
    """Refuse a name or a role that no token can have."""
    if role not in ROLES:
        raise InputError(f"role must be annotator, reviewer or engineer, got {role!r}. Choose one of these.")
    if not 0 < len(name) <= _LONGEST_NAME or not name.isprintable() or name != name.strip() or ":" in name:
        raise InputError(
            f"A name must have 1 to {_LONGEST_NAME} printable characters, no colon and no space at either end, got "
            f"{name!r}. Choose another name."
        )

"""Sessions of browsers: random ids in a cookie, which a log-out or the end of a token makes worthless.

A browser never keeps the token of its user. The database keeps only the digests of ids, as of tokens.
"""

import secrets

A_MONTH = 30 * 86400.0  # seconds that a session lasts


def new_session() -> str:
    """A random id of 256 bits.

    >>> new_session().startswith("sess_"), new_session() == new_session()
    (True, False)
    """
    return "sess_" + secrets.token_urlsafe(32)

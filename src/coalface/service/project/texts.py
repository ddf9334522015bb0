"""A check that texts can be written as UTF-8."""

from coalface.errors import InputError


def whole_text(what: str, text: str) -> str:
    r"""The text, unless it has half a surrogate pair, which UTF-8 cannot encode.

    >>> whole_text("A label", "Grüße")
    'Grüße'
    >>> whole_text("A label", "\ud83d")
    Traceback (most recent call last):
    ...
    coalface.errors.InputError: A label must be text of whole characters, got '\ud83d' (a lone surrogate). Read its ...
    """
    try:
        text.encode()
    except UnicodeEncodeError as problem:
        near = text[max(problem.start - 10, 0) : problem.start + 10]
        raise InputError(
            f"{what} must be text of whole characters, got {near!r} (a lone surrogate). Read its source as UTF-8."
        ) from None
    return text

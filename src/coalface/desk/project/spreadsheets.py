"""Escapes texts that a spreadsheet would run as formulas."""


def harmless(text: str) -> str:
    """A text that no spreadsheet runs as a formula: one that begins like a formula gets an apostrophe in front.

    Removing one leading apostrophe, if there is one, gives the text back. Numbers stay unchanged.

    >>> [harmless(text) for text in ("mail-7", "-7", "=1+2", "'tis")]
    ['mail-7', '-7', "'=1+2", "''tis"]
    """
    if not text.startswith(("=", "+", "-", "@", "\t", "\r", "\n", "'")):
        return text
    try:
        float(text)
    except ValueError:
        return f"'{text}"
    return text


def as_written(text: str) -> str:
    """The text that ``harmless`` made harmless.

    >>> [as_written(harmless(text)) for text in ("mail-7", "-7", "=1+2", "'tis")]
    ['mail-7', '-7', '=1+2', "'tis"]
    """
    return text.removeprefix("'")

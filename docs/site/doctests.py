"""Shows the examples of docstrings as code: Markdown would read ``>>>`` as a quotation in a quotation."""

import re
from typing import Any

import griffe

_EXAMPLE = re.compile(r"^(?P<indent> *)>>> .*\n(?:(?P=indent) *\S.*\n)*", re.MULTILINE)


def with_fences(text: str) -> str:
    r"""A docstring with its examples in blocks of code.

    >>> print(with_fences("Two.\n\n>>> 1 + 1\n2\n\nMore."))
    Two.
    <BLANKLINE>
    ```pycon
    >>> 1 + 1
    2
    ```
    <BLANKLINE>
    More.
    """
    return _EXAMPLE.sub(
        lambda match: f"{match['indent']}```pycon\n{match[0]}{match['indent']}```\n", text + "\n"
    ).rstrip()


class Examples(griffe.Extension):
    """Changes every docstring when its object is loaded."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        """Put fences around the examples."""
        if obj.docstring:
            obj.docstring.value = with_fences(obj.docstring.value)

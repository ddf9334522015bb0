"""Says where a line may end: inside a long path or name of code in a table, and never between a number and its %."""

import re
from typing import Any

_TABLE = re.compile(r"<table>.*?</table>", re.DOTALL)
_CODE = re.compile(r"(?<=<code>)[^<]{25,}(?=</code>)")
_STEP = re.compile(r"::|/|(?<=\w)\.(?=\w)")
_WORD = re.compile(r"\w{40,}")
_NOT_PROSE = re.compile(r"(<(pre|code|script|style|svg)\b.*?</\2>|<[^>]+>)", re.DOTALL)


def with_breaks(html: str) -> str:
    """A page whose tables can be narrow: a long path may be broken after a step, a very long name after an underscore.

    >>> with_breaks("<table><td><code>coalface.kernels.ranges.pull</code></td></table>")
    '<table><td><code>coalface.<wbr>kernels.<wbr>ranges.<wbr>pull</code></td></table>'
    """
    return _TABLE.sub(lambda table: _CODE.sub(lambda code: _broken(code[0]), table[0]), html)


def _broken(code: str) -> str:
    words = _WORD.sub(lambda word: word[0].replace("_", "_<wbr>"), code)
    return _STEP.sub(lambda step: f"{step[0]}<wbr>", words)


def with_units(html: str) -> str:
    r"""A page whose percentages stay on one line.

    >>> with_units("<p>5 % of <code>7 % 2</code></p>")
    '<p>5\xa0% of <code>7 % 2</code></p>'
    """
    parts = _NOT_PROSE.split(html)  # prose, what is not, the name of its tag, prose, ...
    parts[::3] = [re.sub(r"(?<=\d) (?=%)", "\xa0", prose) for prose in parts[::3]]
    return "".join(part for at, part in enumerate(parts) if at % 3 < 2)


def on_post_page(output: str, **_: Any) -> str:
    """Add the breaks after the search index is made, which has the words as they are."""
    start = output.find("<article")
    return output[:start] + with_units(with_breaks(output[start:])) if start >= 0 else output

"""Small tables for notebooks: HTML without scripts, every cell escaped."""

from collections.abc import Iterable, Sequence
from html import escape


def html_table(caption: str, headings: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """The rows as a table with a caption.

    >>> html_table("Pets", ("kind",), [["<cat>"]])
    '<table><caption>Pets</caption><thead><tr><th>kind</th></tr></thead><tbody><tr><td>&lt;cat&gt;</td></tr></tbody></table>'
    """
    head = "".join(f"<th>{escape(heading)}</th>" for heading in headings)
    body = "".join("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in rows)
    caption = f"<caption>{escape(caption)}</caption>"
    return f"<table>{caption}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"

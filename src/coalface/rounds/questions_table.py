"""The questions about the first examples of a batch as an HTML table, for notebooks."""

from html import escape
from typing import TYPE_CHECKING

import numpy as np

from coalface.data.labels import label_texts
from coalface.kernels.state import NOT_A_CANDIDATE

if TYPE_CHECKING:
    from coalface.rounds.queries import Queries

_MOST_ROWS = 10
_MOST_LABELS = 8
_HEADINGS = ("round", "asks for", "least predicted cost", "its range")


def questions_table(queries: "Queries") -> str:
    """The table; every label is escaped.

    >>> from coalface import CoalClassifier
    >>> table = questions_table(CoalClassifier(["walk", "<b>"]).ask([[1.0]] * 20))
    >>> "walk, &lt;b&gt;" in table, "10 of 20 examples are shown" in table
    (True, True)
    """
    shown = min(len(queries), _MOST_ROWS)
    rows = [_row(queries, i, label_texts(queries.classes)) for i in range(shown)]
    head = "".join(f"<th>{heading}</th>" for heading in _HEADINGS)
    body = "".join("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in rows)
    more = f"; {shown} of {len(queries)} examples are shown" if shown < len(queries) else ""
    caption = f"<caption>{escape(str(queries))}{more}</caption>"
    return f"<table>{caption}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _row(queries: "Queries", i: int, names: list[str]) -> list[str]:
    asked = [names[k] for k in queries.mask[i].nonzero()[0]]
    more = [f"{len(asked) - _MOST_LABELS} more"] if len(asked) > _MOST_LABELS else []
    candidate = queries.reason_codes[i] != NOT_A_CANDIDATE
    best = int(np.where(candidate, queries.predicted[i], np.inf).argmin())
    lowest, highest = queries.ranges.lowest[i, best], queries.ranges.highest[i, best]
    return [
        str(queries.first_round + i),
        ", ".join(asked[:_MOST_LABELS] + more) or "nothing",
        f"{queries.predicted[i, best]:.3f} ({names[best]})",
        f"{lowest:.3f} to {highest:.3f}",
    ]

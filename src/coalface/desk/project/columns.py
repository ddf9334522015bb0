"""Which columns of a table of examples are texts, ids and true labels, or are left out."""

import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Self

from coalface.data import as_text, is_missing
from coalface.errors import InputError

_MAIN = ("html", "text")  # shown to annotators as they are, unless the user names other columns


@dataclass(frozen=True)
class ColumnRoles:
    """The roles of columns; without any, ``id`` is the id, and ``text`` or ``html`` is what annotators read.

    Annotators read the first column of ``text``. The others are cells of a table, but learned as texts.
    ``ignore`` and ``label``, the true label, are neither shown nor learned.

    >>> columns = ColumnRoles(text=("body",), id="ticket", label="team")
    >>> columns.main({"ticket": 7, "body": "my parcel is late", "days": 3, "team": "post"})
    'body'
    >>> sorted(columns.not_cells("body"))
    ['body', 'kind', 'team', 'ticket']
    """

    text: tuple[str, ...] = ()
    id: str = "id"
    ignore: tuple[str, ...] = ()
    label: str | None = None

    @classmethod
    def of(
        cls, text: Iterable[str] = (), id: str | None = None, ignore: Iterable[str] = (), label: str | None = None
    ) -> Self:
        """The roles that a user gives; an InputError if a column has two."""
        found = cls(tuple(text), "id" if id is None else id, tuple(ignore), label)
        named = found.named
        repeated = next((name for name in named if named.count(name) > 1), None)
        if repeated is not None:
            raise InputError(
                f"A column must have one role, got {repeated!r} twice in text, id, ignore and label. Remove one."
            )
        return found

    @property
    def named(self) -> list[str]:
        """The columns that the examples must have, because the user named them."""
        return [
            *self.text,
            *self.ignore,
            *([self.id] if self.id != "id" else []),
            *([self.label] if self.label else []),
        ]

    def main(self, record: Mapping[str, Any]) -> str | None:
        """The column that annotators read as a text; None if they see a table only."""
        if self.text:
            return self.text[0] if self.text[0] in record else None
        return next((name for name in _MAIN if isinstance(record.get(name), str) and name not in self.named), None)

    def not_cells(self, main: str | None) -> set[str | None]:
        """The columns that are not shown as cells of a table."""
        usual = () if self.text else _MAIN
        return {"kind", main, self.id, *self.ignore, self.label, *usual} - {None}

    @property
    def as_written(self) -> set[str | None]:
        """The columns whose cells stay texts, also if they look like numbers."""
        return {*_MAIN, self.id, *self.text, self.label}

    def found_in(self, source: object, records: Iterable[Mapping[str, Any]]) -> Iterator[Mapping[str, Any]]:
        """The records, unchanged; an InputError after the last if no record has a column that the user named."""
        wanted = dict.fromkeys(self.named)
        titles: dict[str, None] = {}
        for record in records:
            if wanted and isinstance(record, Mapping):
                wanted = {name: None for name in wanted if name not in record}
                titles.update(dict.fromkeys(map(str, record)) if wanted else {})
            yield record
        if wanted and titles:
            where = f"{os.fspath(source)} has" if isinstance(source, str | os.PathLike) else "The examples have"
            shown = ", ".join(map(repr, list(titles)[:20]))
            raise InputError(f"{where} no column {next(iter(wanted))!r}. The columns are {shown}.")

    def labels_of(self, records: Iterable[Mapping[str, Any]]) -> list[str]:
        """The true labels of records, each once, in ascending order.

        >>> ColumnRoles(label="team").labels_of([{"team": "post"}, {"team": "bank"}, {"team": "post"}])
        ['bank', 'post']
        """
        cells = (record.get(self.label or "") for record in records)
        return sorted({as_text(cell) for cell in cells if not is_missing(cell) and cell != ""})

    def plain(self) -> dict[str, Any]:
        """JSON values, which ``from_plain`` reads."""
        return {"text": list(self.text), "id": self.id, "ignore": list(self.ignore), "label": self.label}

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> Self:
        """The roles that ``plain`` wrote; the usual ones for an empty mapping."""
        return cls(tuple(plain["text"]), plain["id"], tuple(plain["ignore"]), plain["label"]) if plain else cls()

"""``Encoder``: turns raw examples into rows of numbers, in a way that the first rows decide once and for all."""

import warnings
from collections.abc import Iterable, Iterator, Mapping
from itertools import accumulate
from typing import Any, Self

import numpy as np
from scipy.sparse import csr_array, hstack

from coalface.data.departures import LEAST_ROWS
from coalface.data.embedding.embedder import Embedder, SentenceEmbedder, embedder_again, embedder_named, plain_embedder
from coalface.data.encoding import kinds
from coalface.data.encoding.blocks import Block
from coalface.data.encoding.cells import Cells, is_missing
from coalface.data.encoding.columns import (
    CategoryColumn,
    EmbeddedColumn,
    EncodedColumn,
    LeftOutColumn,
    NumberColumn,
    TextColumn,
    column_of,
    plain_column,
    texts_of,
)
from coalface.data.encoding.dates import DateColumn
from coalface.data.encoding.kinds import warn_of_doubts
from coalface.data.encoding.table import Table, table_of
from coalface.data.encoding.text import MOST_BITS, hashed_texts
from coalface.data.numbers import whole_number
from coalface.data.rows import Examples
from coalface.errors import DoubtfulColumnWarning, FileFormatError, InputError, listed, warn_user

ID = "id"  # a column of this name is left out, unless an option names it
_FORMAT = "coalface encoder"
_VERSION = 1
_LISTS = ("text", "category", "number", "date", "ignore")
_FLAGS = ("pairs", "letters")


class Encoder:
    """Turns texts, tables and records into sparse rows; the first rows decide how, and later rows follow.

    Numbers and dates are standardised, categories become one column per value, and the words and letters of texts are
    hashed. Columns may be named under ``text``, ``category``, ``number``, ``date`` or ``ignore``; the first rows decide
    the kinds of the others. ``id`` names the column of ids, which is left out. ``pairs`` adds pairs of adjacent words,
    ``letters`` those within words; all texts share ``2**bits`` columns. ``embed`` turns a list of texts into vectors:
    a function, "minilm", or the folder of a sentence encoder. ``words`` says whether words are hashed beside vectors:
    by default, they are beside those of a sentence encoder, and not beside those of a function.

    >>> tickets = [{"text": "Where is my parcel?", "days": 3}, {"text": "I want my money back", "days": 9}]
    >>> encoder = Encoder().fit(tickets)
    >>> print(encoder.describe())
    text  text, words and letters in words hashed into 262,144 columns
    days  number, standardised (mean 6, deviation 3)
    >>> encoder.transform([{"text": "hello", "days": 12}])[:, [0]].toarray()
    array([[2.]], dtype=float32)
    """

    def __init__(
        self,
        text: Iterable[str] = (),
        category: Iterable[str] = (),
        number: Iterable[str] = (),
        date: Iterable[str] = (),
        ignore: Iterable[str] = (),
        *,
        id: str | None = None,
        pairs: bool = False,
        letters: bool = True,
        bits: int = 18,
        embed: Embedder | str | None = None,
        words: bool | None = None,
    ) -> None:
        named = dict(zip(_LISTS, (text, category, number, date, ignore), strict=True))
        for option, names in named.items():
            if isinstance(names, str):
                raise InputError(f"{option} must be a list of columns, got {names!r}. Pass {option}=[{names!r}].")
        self.named = {option: tuple(map(str, names)) for option, names in named.items()}
        self.id, self.pairs, self.letters = id, bool(pairs), bool(letters)
        self.bits = whole_number("bits", bits, 1, MOST_BITS)
        self.embed: Embedder | None = embed if embed is None or callable(embed) else embedder_named(embed)
        of_sentences = self.embed is None or isinstance(self.embed, SentenceEmbedder)
        self.words = of_sentences if words is None else bool(words)
        self.columns: tuple[EncodedColumn, ...] | None = None
        self._announced: set[str] = set()
        if not self.words and self.embed is None:
            raise InputError(
                "words=False needs embed, because texts would have no columns otherwise. Pass one of them."
            )
        self._refuse_named_twice()

    # -- fitting and encoding ----------------------------------------------------------------------

    @property
    def is_fitted(self) -> bool:
        """Whether the first rows have decided about the columns."""
        return self.columns is not None

    def fit(self, X: Any) -> Self:
        """Decide about every column from these rows."""
        table = table_of(X)
        if not table.n_rows:
            raise InputError("X must have at least one row to decide how columns are encoded, got none. Pass some.")
        self._refuse_unknown(table)
        kinds_of = {name: self._kind(name, cells, table) for name, cells in table.columns.items()}
        n_texts = sum(kind == kinds.TEXT for kind in kinds_of.values())
        bits = self.bits - max(n_texts - 1, 0).bit_length()  # texts share the columns
        self.columns = tuple(
            column
            for name, cells in table.columns.items()
            for column in self._fitted(name, kinds_of[name], cells, bits)
        )
        if not self.width:
            raise InputError(
                f"X must have a column to learn from, got {listed(kinds_of)}, all left out. Keep one of them."
            )
        self._warn_of_doubts(table, kinds_of)
        return self

    def transform(self, X: Any) -> Examples:
        """The rows of these examples: narrow columns first, hashed columns after them.

        >>> Encoder().fit([[1.0, "a"], [3.0, "b"]]).transform([[1.0, "b"]]).toarray()
        array([[-1.,  0.,  1.,  0.]], dtype=float32)
        """
        table, used = self._table(X), self._used()
        cells = [self._cells(table, column) for column in used]
        self._warn_of_new(table)
        blocks = [column.encode(found) for column, found in zip(used, cells, strict=True)]
        self._warn_of_dates(zip(used, cells, blocks, strict=True))
        narrow = csr_array(np.hstack(blocks))
        hashed = [
            hashed_texts(texts_of(found), column.bits, pairs=column.pairs, letters=column.letters)
            for column, found in zip(used, cells, strict=True)
            if isinstance(column, TextColumn)
        ]
        X_encoded: Any = hstack([narrow, *hashed], format="csr", dtype=np.float32) if hashed else narrow
        X_encoded.sort_indices()
        rows: Examples = csr_array(X_encoded)
        return rows

    def fit_transform(self, X: Any, y: Any = None) -> Examples:  # noqa: ARG002 (as pipelines of scikit-learn call it)
        """``fit``, then ``transform``."""
        return self.fit(X).transform(X)

    # -- what it does ------------------------------------------------------------------------------

    @property
    def width(self) -> int:
        """The number of columns of the rows."""
        return max((end for _, end in self.groups.values()), default=0)

    @property
    def groups(self) -> dict[str, tuple[int, int]]:
        """The range of columns that each raw column becomes, as ``OnlineModel(interactions=...)`` takes them.

        If a text becomes a vector and hashed words, those have a range of their own.

        >>> Encoder().fit([[1.0, "a"], [3.0, "b"]]).groups
        {'x0': (0, 1), 'x1': (1, 4)}
        """
        ends: dict[str, tuple[int, int]] = {}
        place = 0
        for hashed in (False, True):
            for column in self._columns():
                width = (1 << column.bits if hashed else 0) if isinstance(column, TextColumn) else column.width
                if isinstance(column, TextColumn) == hashed and width:
                    name = f"{column.name} words" if hashed and column.name in ends else column.name
                    ends[name] = (place, place + width)
                    place += width
        return ends

    @property
    def text_column(self) -> str:
        """The column that a plain text means: the only one that examples need; an InputError if they need others.

        >>> Encoder(text=["prompt"]).fit([{"prompt": "2 + 2?"}]).text_column
        'prompt'
        """
        used = self._used()
        names = dict.fromkeys(column.name for column in used)
        texts = {column.name for column in used if isinstance(column, TextColumn | EmbeddedColumn)}
        needed = {column.name for column in used if not column.optional} or texts or set(names)
        if len(needed) > 1 or needed - (texts or needed):
            raise InputError(
                f"A plain text is not a whole example, because the first rows had the columns {listed(names)}. Pass "
                "records with these columns."
            )
        return needed.pop()

    @property
    def n_narrow(self) -> int:
        """The number of columns before the hashed ones."""
        return sum(column.width for column in self._columns())

    def narrow_columns(self) -> Iterator[tuple[int, EncodedColumn]]:
        """The columns before the hashed ones, each with the place of its first one in the rows."""
        ends = accumulate((column.width for column in self._columns()), initial=0)
        return ((place, column) for place, column in zip(ends, self._columns(), strict=False) if column.width)

    def describe(self) -> str:
        """What is done to each column, one line per column."""
        columns = self._columns()
        longest = max((len(column.name) for column in columns), default=0)
        return "\n".join(f"{column.name:<{longest}}  {column.describe()}" for column in columns)

    def __repr__(self) -> str:
        options = [f"{option}={list(names)!r}" for option, names in self.named.items() if names]
        options += [f"id={self.id!r}"] * (self.id is not None) + ["pairs=True"] * self.pairs
        options += ["letters=False"] * (not self.letters) + [f"bits={self.bits}"] * (self.bits != 18)
        options += [f"embed={self.embed!r}"] * (self.embed is not None)
        options += [f"words={self.words}"] * (self.embed is not None)
        names = {column.name for column in self.columns or ()}
        fitted = "" if self.columns is None else f" fitted to {len(names)} column{'s' * (len(names) != 1)}"
        return f"Encoder({', '.join(options)}){fitted}"

    # -- as JSON -----------------------------------------------------------------------------------

    def plain(self) -> dict[str, Any]:
        """The encoder as JSON values; of ``embed``, only the name and hash of a sentence encoder.

        >>> Encoder.from_plain(Encoder(pairs=True).plain())
        Encoder(pairs=True)
        """
        options = {name: getattr(self, name) for name in ("id", *_FLAGS, "bits")}
        described: dict[str, Any] = {"format": _FORMAT, "version": _VERSION, "embeds": plain_embedder(self.embed)}
        described |= {option: list(names) for option, names in self.named.items()} | options
        described |= {"words": self.words} if self.embed is not None else {}
        return described | {
            "columns": None if self.columns is None else [plain_column(column) for column in self.columns]
        }

    @classmethod
    def from_plain(cls, plain: Any, embed: Embedder | None = None) -> "Encoder":
        """The encoder that ``plain`` described."""
        if not isinstance(plain, Mapping) or plain.get("format") != _FORMAT:
            raise FileFormatError(
                f"An encoder must be a JSON object of format {_FORMAT!r}, got {plain!r:.60}. Save it again."
            )
        if plain.get("version") != _VERSION:
            raise FileFormatError(
                f"This encoder has version {plain.get('version')!r}; this version of coalface reads {_VERSION}. Update "
                "coalface."
            )
        try:
            embed = embedder_again(plain["embeds"], embed)
            options = {name: plain[name] for name in (*_LISTS, "id", *_FLAGS, "bits")}
            encoder = cls(**options, embed=embed, words=plain.get("words", embed is None))
            if plain["columns"] is not None:
                encoder.columns = tuple(column_of(column, embed) for column in plain["columns"])
        except KeyError as missing:
            raise FileFormatError(f"An encoder must have the field {missing}. Save it again.") from None
        return encoder

    # -- internals ---------------------------------------------------------------------------------

    def _columns(self) -> tuple[EncodedColumn, ...]:
        if self.columns is None:
            raise InputError("This encoder has not seen any rows yet. Call fit first.")
        return self.columns

    def _used(self) -> list[EncodedColumn]:
        return [column for column in self._columns() if not isinstance(column, LeftOutColumn)]

    def _table(self, X: Any) -> Table:
        """The columns of X; plain texts are those of the column that they mean."""
        table = table_of(X)
        if not table.texts:
            return table
        (cells,) = table.columns.values()
        return table._replace(columns={self.text_column: cells}, records=True)

    def _kind(self, name: str, cells: Cells, table: Table) -> str:
        named = next((option for option, names in self.named.items() if name in names), None)
        if name == self.id:
            return ID
        if named is not None:
            return named
        if name.lower() == ID and len(table.columns) > 1:
            return ID
        if list(table.columns) == [kinds.TEXT] and table.texts:
            return kinds.TEXT
        return kinds.kind_of(name, cells)

    def _fitted(self, name: str, kind: str, cells: Cells, bits: int) -> list[EncodedColumn]:
        """The columns that a raw one becomes: two for a text that has a vector and hashed words, otherwise one."""
        if kind == kinds.NUMBER:
            return [NumberColumn.fitted(name, cells)]
        if kind == kinds.DATE:
            return [DateColumn.fitted(name, cells)]
        if kind == kinds.CATEGORY:
            return [CategoryColumn.fitted(name, cells)]
        if kind == kinds.TEXT:
            vectors = [] if self.embed is None else [EmbeddedColumn.fitted(name, cells, self.embed)]
            words = [TextColumn(name, bits, self.pairs, self.letters, any(map(is_missing, cells)))]
            return [*vectors, *(words if self.words else [])]
        reasons = {ID: "it has the ids", kinds.EMPTY: "it was empty in the first rows", "ignore": "as told"}
        return [LeftOutColumn(name, reasons[kind])]

    def _cells(self, table: Table, column: EncodedColumn) -> Cells:
        """The cells of a column; an InputError if it is missing, or a record lacks what all first rows had."""
        cells = table.columns.get(column.name)
        gap = 0 if cells is None else table.gaps.get(column.name)
        if cells is not None and (gap is None or column.optional):
            return cells
        if table.records and column.optional:
            return [None] * table.n_rows
        row = gap or 0
        where = (
            f"The record in {table.place(row) if table.lines else f'row {table.first + row}'} has no {column.name!r}"
            if table.records
            else f"X has no column {column.name!r}"
        )
        new = self._new(table)
        hint = f" New here: {listed(new)}." if new else ""
        raise InputError(f"{where}, which the first rows had.{hint} Add it, with None where it is unknown.")

    def _new(self, table: Table) -> list[str]:
        known = {column.name for column in self._columns()} | {*self.named["ignore"], self.id, ID}
        return [name for name in table.columns if name not in known]

    def _warn_of_new(self, table: Table) -> None:
        """Warn once of each column that the first rows did not have."""
        new = [name for name in self._new(table) if name not in self._announced]
        if new:
            self._announced.update(new)
            plural = "s" if len(new) > 1 else ""
            warnings.warn(
                f"X has the new column{plural} {listed(new)}, which the first rows did not have. Ignored.",
                stacklevel=3,
            )

    def _warn_of_dates(self, encoded: Iterable[tuple[EncodedColumn, Cells, Block]]) -> None:
        """Warn once of each column with dates that are not encoded, because the first rows had none like them."""
        for column, cells, block in encoded:
            if not isinstance(column, DateColumn) or column.name in self._announced:
                continue
            if np.count_nonzero(block[:, 0] == 0.0) >= LEAST_ROWS and (found := column.departure(cells)) is not None:
                self._announced.add(column.name)
                warn_user(
                    f"C{found[1:]}. They count as unknown. If costs change with time, train again with such dates.",
                    DoubtfulColumnWarning,
                )

    def _warn_of_doubts(self, table: Table, kinds_of: Mapping[str, str]) -> None:
        """Warn of columns that look like something else than what they were taken for, unless the user said so."""
        named = {name for names in self.named.values() for name in names}
        several = len({column.name for column in self._used()}) > 1
        for name, kind in kinds_of.items():
            if kind in (kinds.TEXT, kinds.CATEGORY) and name not in named and not table.texts:
                warn_of_doubts(name, table.columns[name], may_be_id=several and kind == kinds.TEXT)

    def _refuse_unknown(self, table: Table) -> None:
        for option in _LISTS[:-1]:
            for name in self.named[option]:
                if name not in table.columns:
                    raise InputError(f"{option} names the column {name!r}. X has {listed(table.columns)}.")

    def _refuse_named_twice(self) -> None:
        names = [name for listed in self.named.values() for name in listed]
        repeated = next((name for name in names if names.count(name) > 1), None)
        if repeated is not None:
            raise InputError(f"The column {repeated!r} must be named once, got it twice. Remove one.")

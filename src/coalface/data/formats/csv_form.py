"""How a CSV file is written: its separator, decimal mark and encoding, which its first lines show.

A separator is one that the header has and that gives every line as many cells. The decimal mark is a comma if there
are numbers such as ``3,5`` and none such as ``3.5``; ``1,234`` shows nothing, because it may be a thousand. Text that
is not UTF-8 is UTF-16 if it begins so, or Western (Windows-1252) if it does not look like another encoding.
"""

import csv
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import chain, islice
from pathlib import Path
from typing import Any, TypeAlias

from coalface.data.costs import COST_PREFIX
from coalface.data.formats.compression import no_file, without_packing
from coalface.data.streams.encodings import SNIFFED, UTF_8, checked_encoding
from coalface.data.streams.line_source import ALL, LineSource
from coalface.errors import FileFormatError, InputError
from coalface.long_work import WORK

CsvRows: TypeAlias = Iterator[tuple[int, list[str]]]  # the number of a line and its cells

COMMA = ","
TABBED = ".tsv"
_SEPARATORS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars"}
_NAMES = {"tab": "\t", "\\t": "\t"}
_DECIMALS = (".", COMMA)
_LOOKED_AT = 10_000  # lines, or those of the first block if they are fewer
_SPLIT = 1_000  # of these lines, those that must have as many cells as the header
_WITH_COMMA = re.compile(r"\s*[-+]?\d*,\d+(?:[eE][-+]?\d+)?\s*")
_WITH_POINT = re.compile(r"\s*[-+]?(?:\d+\.\d*|\.\d+)(?:[eE][-+]?\d+)?\s*")
_THOUSANDS = re.compile(r"\s*[-+]?[1-9]\d{0,2}[.,]\d{3}\s*")


@dataclass(frozen=True)
class CsvForm:
    r"""What users say about the form of a CSV file; None where its first lines show it.

    >>> CsvForm(separator="tab", encoding="latin1")
    CsvForm(separator='\t', decimal=None, encoding='iso8859-1')
    """

    separator: str | None = None
    decimal: str | None = None
    encoding: str | None = None

    def __post_init__(self) -> None:
        separator = _NAMES.get(self.separator or "", self.separator)
        if separator is not None and (not isinstance(separator, str) or len(separator) != 1 or separator in '"\r\n'):
            raise InputError(
                f"separator must be one character, such as ';', or 'tab', got {self.separator!r:.40}. Correct it."
            )
        if self.decimal not in (None, *_DECIMALS):
            raise InputError(f"decimal must be '.' or ',', got {self.decimal!r:.40}. Choose one of them.")
        object.__setattr__(self, "separator", separator)
        if self.encoding is not None:
            object.__setattr__(self, "encoding", checked_encoding(self.encoding))

    @classmethod
    def taken(cls, options: Mapping[str, Any]) -> "tuple[CsvForm, dict[str, Any]]":
        """The form among the options of a reader, and the other options."""
        names = ("separator", "decimal", "encoding")
        return cls(**{name: options.get(name) for name in names}), {
            name: value for name, value in options.items() if name not in names
        }

    @property
    def read_as(self) -> str:
        """The encoding for a ``LineSource``."""
        return self.encoding or SNIFFED


SHOWN = CsvForm()  # by the first lines of the file


def csv_rows(source: Path, form: CsvForm = SHOWN) -> CsvRows:
    r"""The cells of every non-empty line of a file, plain or compressed, with its line number.

    All lines have as many cells as the first one, the header.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     _ = Path(folder, "pets.csv").write_text("weight,kind\n\n4,cat\n")
    ...     list(csv_rows(Path(folder, "pets.csv")))
    [(1, ['weight', 'kind']), (3, ['4', 'cat'])]
    """
    return rows_again(source, form)()


def rows_again(source: Path, form: CsvForm, as_written: Collection[str] = ()) -> Callable[[], CsvRows]:
    """A function that gives the rows of a file at every call; its form is found, and said, once."""
    if not source.is_file():
        raise no_file(source)
    read: list[tuple[LineSource, CsvForm]] = []

    def rows() -> CsvRows:
        again = form
        if read:
            before, again = read.pop()
            again = replace(again, encoding=form.encoding if before.encoding == UTF_8 else before.encoding)
        with LineSource(source, encoding=again.read_as) as lines:
            found, again = formed_rows(lines, again, as_written=as_written)
            read.append((lines, again))
            yield from found

    return rows


def formed_rows(
    lines: LineSource, form: CsvForm, *, rows: int = ALL, as_written: Collection[str] = ()
) -> tuple[CsvRows, CsvForm]:
    r"""The rows of a CSV file from its start, the header first, and its form, which its first ``rows`` show.

    With decimal commas, numbers get a point, except in the columns that stay ``as_written``.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "pets.csv")
    ...     _ = path.write_text("weight;kind\n4,5;cat\n")
    ...     with LineSource(path) as lines:
    ...         rows, form = formed_rows(lines, CsvForm(separator=";", decimal=","))
    ...         list(rows)
    [(1, ['weight', 'kind']), (2, ['4.5', 'cat'])]
    """
    if form.separator is None and without_packing(lines.path).suffix.lower() == TABBED:
        form = replace(form, separator="\t")
    texts = lines.texts()
    n_lines = min(_LOOKED_AT, rows + 1)
    first = [] if form.separator and form.decimal else list(islice(texts, n_lines))
    separator = form.separator or _separator_of(lines.path, first, cut=len(first) == n_lines)
    decimal = form.decimal or _decimal_of(first, separator)
    found = replace(form, separator=separator, decimal=decimal)
    _say(lines, form, found)
    if form.encoding is None and lines.encoding == UTF_8:
        texts = _heard(lines, texts, found)
    return rows_of_lines(lines.path, chain(first, texts), found, as_written=as_written), found


def _heard(lines: LineSource, texts: Iterator[str], form: CsvForm) -> Iterator[str]:
    """The same texts; an encoding that shows only later is said then."""
    for text in texts:
        yield text
        if lines.encoding != UTF_8:
            _say(lines, form, form)
            break
    yield from texts


def rows_of_lines(
    source: Path,
    lines: Iterable[str],
    form: CsvForm,
    header: list[str] | None = None,
    before: int = 0,
    as_written: Collection[str] = (),
) -> CsvRows:
    """The cells of every non-empty line of a table, with its line number.

    The table has as many cells per line as its ``header``, by default its first line. ``before`` lines were read
    already.
    """
    reader = csv.reader(lines, delimiter=form.separator or COMMA)
    points = None if header is None else _Points(source, header, as_written)
    try:
        for cells in filter(None, reader):
            line = before + reader.line_num
            if header is None:
                header, points = cells, _Points(source, cells, as_written)
            elif len(cells) != len(header):
                raise FileFormatError(
                    f"{source}, line {line}: every line must have {len(header)} cells like the header, got "
                    f"{len(cells)}. Look for missing {_named(form)}, for example in the header, or a broken line, or "
                    "name another separator.",
                    remedy={"separator": None},
                )
            elif form.decimal == COMMA and points is not None:
                cells = points.of(line, cells)
            yield line, cells
    except csv.Error as error:
        raise FileFormatError(
            f"{source}, line {before + reader.line_num}: the text is not CSV ({error}). Write the file again."
        ) from None


class _Points:
    """Puts points in place of decimal commas; a column that has numbers with points too is refused."""

    def __init__(self, source: Path, header: list[str], as_written: Collection[str]) -> None:
        self._source, self._header = source, header
        self._places = [place for place, name in enumerate(header) if name not in as_written]
        self._commas: dict[int, str] = {}  # the first number of a column with a comma
        self._points: dict[int, str] = {}

    def of(self, line: int, cells: list[str]) -> list[str]:
        """The cells of a line with points."""
        for place in self._places:
            cell = cells[place]
            if _WITH_COMMA.fullmatch(cell):
                self._commas.setdefault(place, cell)
                cells[place] = cell.replace(COMMA, ".")
            elif _WITH_POINT.fullmatch(cell):
                self._points.setdefault(place, cell)
            else:
                continue
            if place in self._points and (place in self._commas or self._header[place].startswith(COST_PREFIX)):
                raise FileFormatError(
                    f"{self._source}, line {line}, column {self._header[place]!r}: with decimal commas, a number must "
                    f"not have a point, got {self._points[place]!r:.40}. Write all numbers alike, or pass decimal='.' "
                    "if the point is the decimal mark.",
                    remedy={"decimal": "."},
                )
        return cells


def _separator_of(source: Path, lines: list[str], *, cut: bool) -> str:
    lines = lines[:_SPLIT]
    possible = [mark for mark in _SEPARATORS if lines and max(_widths(lines[:1], mark), default=1) > 1]
    if len(possible) < 2:
        return possible[0] if possible else COMMA
    fitting = [mark for mark in possible if len(_widths(lines, mark, cut=cut or len(lines) == _SPLIT)) == 1]
    if len(fitting) == 1:
        return fitting[0]
    if not fitting and COMMA in possible:
        return COMMA  # the error of a line says what is wrong
    marks = " or ".join(_SEPARATORS[mark] for mark in fitting or possible)
    raise FileFormatError(
        f"{source}: the separator may be {marks}. Pass separator=, such as separator=';'.", remedy={"separator": None}
    )


def _widths(lines: list[str], mark: str, *, cut: bool = False) -> set[int]:
    """The numbers of cells that lines have with a separator; the last line may be ``cut``."""
    try:
        found = [len(cells) for cells in csv.reader(lines, delimiter=mark) if cells]
    except csv.Error:
        return {0, 1}
    return set(found[:-1] if cut and len(found) > 1 else found)


def _decimal_of(lines: list[str], separator: str) -> str:
    if separator == COMMA:
        lines = [line for line in lines if '"' in line] and lines
    commas, points = False, False
    try:
        for cells in csv.reader(lines, delimiter=separator):
            for cell in cells:
                if COMMA in cell:
                    commas = commas or bool(_WITH_COMMA.fullmatch(cell) and not _THOUSANDS.fullmatch(cell))
                elif "." in cell:
                    points = points or bool(_WITH_POINT.fullmatch(cell) and not _THOUSANDS.fullmatch(cell))
            if points:
                return "."
    except csv.Error:
        return "."  # the error of a line says what is wrong
    return COMMA if commas else "."


def _say(lines: LineSource, given: CsvForm, found: CsvForm) -> None:
    """Say what was found in the file and is not what CSV files usually have."""
    facts = []
    if given.separator is None and found.separator != COMMA:
        facts.append(f"{_named(found)} between cells")
    if given.decimal is None and found.decimal == COMMA:
        facts.append("decimal commas")
    if given.encoding is None and lines.encoding != UTF_8:
        facts.append(f"the encoding {lines.encoding}")
    if facts:
        listed = " and ".join(facts) if len(facts) < 3 else f"{facts[0]}, {facts[1]} and {facts[2]}"
        WORK.warning(
            "%s was read with %s, as its first lines suggest. Pass separator, decimal or encoding if that is wrong.",
            lines.path,
            listed,
        )


def _named(form: CsvForm) -> str:
    mark = form.separator or COMMA
    return _SEPARATORS.get(mark, f"the separator {mark!r}")

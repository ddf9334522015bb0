"""ARFF tables as ASlib uses them: dense rows of numbers, strings and nominal values, ``?`` where missing."""

import re
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from coalface.data.formats.text_lines import bad_line, read_lines
from coalface.errors import FileFormatError

_QUOTED = r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*\""""
_ATTRIBUTE = re.compile(rf"@attribute\s+({_QUOTED}|[^\s{{]+)(?:\s+|(?=\{{))(\{{.*\}}|\S+)\s*$", re.IGNORECASE)
_CELL = re.compile(rf"""\s*({_QUOTED}|(?:[^\s,'"][^,]*?)?)\s*(,|$)""")
_NUMERIC = ("numeric", "real", "integer")


@dataclass(frozen=True, eq=False)
class ArffTable:
    """Named columns of texts, None where a value is missing, and the line number of each row."""

    path: Path
    columns: dict[str, list[str | None]]
    numeric: frozenset[str]
    lines: list[int]

    @property
    def names(self) -> list[str]:
        """The columns, in the order of the file."""
        return list(self.columns)

    def texts(self, name: str) -> list[str]:
        """A column in which no value may be missing."""
        values = self._column(name)
        if None in values:
            raise self._error(values.index(None), f"{name} must not be missing", "?", "Fill it in")
        return [text for text in values if text is not None]

    def numbers(self, name: str) -> NDArray[np.float64]:
        """A column of numbers, NaN where missing."""
        values = self._column(name)
        if name not in self.numeric:
            raise FileFormatError(f"{self.path}: the attribute {name} must be numeric. Check the header.")
        found = np.empty(len(values))
        for row, text in enumerate(values):
            try:
                found[row] = np.nan if text is None else float(text)
            except ValueError:
                raise self._error(row, f"{name} must be a number", str(text), "Write ? where it is missing") from None
        return found

    def _column(self, name: str) -> list[str | None]:
        if name not in self.columns:
            found = ", ".join(self.names[:10])
            raise FileFormatError(f"{self.path} must have the attribute {name}, got {found}. Check the file.")
        return self.columns[name]

    def _error(self, row: int, rule: str, got: str, remedy: str) -> FileFormatError:
        return FileFormatError(f"{self.path}, line {self.lines[row]}: {rule}, got {got!r}. {remedy}.")


def read_arff(path: Path) -> ArffTable:
    r"""The table of an ARFF file.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "runs.arff")
    ...     _ = path.write_text("@RELATION runs\n@ATTRIBUTE 'the solver' STRING\n@ATTRIBUTE time NUMERIC\n@DATA\na,?\n")
    ...     table = read_arff(path)
    >>> table.texts("the solver"), table.numbers("time")
    (['a'], array([nan]))
    """
    lines = read_lines(path)
    kinds, start = _header(path, lines)
    columns: dict[str, list[str | None]] = {name: [] for name in kinds}
    numbers = []
    for number, line in enumerate(lines[start:], start=start + 1):
        text = line.strip()
        if not text or text.startswith("%"):
            continue
        cells = _cells(path, number, text, len(kinds))
        for (name, kind), cell in zip(kinds.items(), cells, strict=True):
            if isinstance(kind, frozenset) and cell is not None and cell not in kind:
                allowed = ", ".join(sorted(kind))
                raise bad_line(path, number, f"{name} must be one of {allowed}", cell, "Correct it or the header")
            columns[name].append(cell)
        numbers.append(number)
    numeric = frozenset(name for name, kind in kinds.items() if kind in _NUMERIC)
    return ArffTable(path, columns, numeric, numbers)


def _header(path: Path, lines: list[str]) -> tuple[dict[str, str | frozenset[str]], int]:
    """The type of every attribute (for nominal ones, their values), and the number of lines up to ``@DATA``."""
    kinds: dict[str, str | frozenset[str]] = {}
    for number, line in enumerate(lines, start=1):
        text = line.strip()
        word = text.split(maxsplit=1)[0].lower() if text else ""
        if word == "@data":
            break
        if word == "@attribute":
            name, kind = _attribute(path, number, text)
            if name in kinds:
                raise bad_line(path, number, "an attribute must be declared once", name, "Remove one of the two")
            kinds[name] = kind
        elif word and not word.startswith("%") and word != "@relation":
            rule = "a header may hold only @relation, @attribute and @data"
            raise bad_line(path, number, rule, text, "Check the file")
    if not kinds or word != "@data":
        raise FileFormatError(
            f"{path} must have attributes and then @data, got {len(kinds)} attributes. Check the file."
        )
    return kinds, number


def _attribute(path: Path, number: int, text: str) -> tuple[str, str | frozenset[str]]:
    found = _ATTRIBUTE.match(text)
    if found is None:
        raise bad_line(path, number, "an attribute must have a name and a type", text, "Quote a name with blanks")
    name, kind = _unquoted(found[1]), found[2]
    if kind.startswith("{"):
        return name, frozenset(cell for cell in _split(kind[1:-1]) or () if cell is not None)
    if kind.lower() not in (*_NUMERIC, "string"):
        rule = "the type of an attribute must be numeric, string or {listed, values}"
        raise bad_line(path, number, rule, kind, "Other types are not supported")
    return name, kind.lower()


def _cells(path: Path, number: int, text: str, n_cells: int) -> list[str | None]:
    cells = _split(text)
    if cells is None:
        raise bad_line(path, number, "a quote must be closed and followed by a comma", text, "Close it")
    if len(cells) != n_cells:
        rule = f"a row must have {n_cells} values, separated by commas"
        raise bad_line(path, number, rule, text, f"It has {len(cells)}")
    return cells


def _split(text: str) -> list[str | None] | None:
    """The values of a row, None where one is missing; None if its quotes do not match."""
    if "'" not in text and '"' not in text:  # true of nearly all rows, and much faster
        return [None if cell == "?" else cell for cell in map(str.strip, text.split(","))]
    cells: list[str | None] = []
    place, comma = 0, ","
    while comma:
        found = _CELL.match(text, place)
        if found is None:
            return None
        cells.append(None if found[1] == "?" else _unquoted(found[1]))
        place, comma = found.end(), found[2]
    return cells


def _unquoted(text: str) -> str:
    if text[:1] in ("'", '"'):
        return re.sub(r"\\(.)", r"\1", text[1:-1])
    return text

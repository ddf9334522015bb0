"""CSV files of a sweep: the same bytes for the same values, and errors that name the damaged line.

Numbers are written in full, rows end with one line feed, and names are quoted only where necessary.
"""

import csv
import gzip
import io
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from coalface.errors import FileFormatError
from coalface.files.atomic import atomic_write

Parser = Callable[[str], Any]
_KINDS: dict[Parser, str] = {int: "a whole number", float: "a number"}
REMEDY = "Write the tables of the sweep again or restore them from a copy"


def write_csv(path: Path, headings: Sequence[str], rows: Iterable[Sequence[Any]]) -> int:
    r"""Write the rows and return their number.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     write_csv(Path(folder, "t.csv"), ["name", "share"], [["a, b", 1 / 3]])
    ...     Path(folder, "t.csv").read_text()
    1
    'name,share\n"a, b",0.3333333333333333\n'
    """
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(headings)
    n = 0
    for row in rows:
        writer.writerow([_plain(value) for value in row])
        n += 1
    with atomic_write(path) as file:
        file.write(text.getvalue().encode())
    return n


def read_csv(
    path: Path, columns: Mapping[str, Parser], n_rows: int, optional: Mapping[str, Parser] | None = None
) -> Iterator[tuple[int, dict[str, Any]]]:
    """The rows with their line numbers; a FileFormatError names the damaged line.

    The ``optional`` columns may be missing, all together; they follow the others.

    If the file does not exist, ``path.gz``, packed by gzip, is read instead.
    """
    reader = csv.reader(io.StringIO(_text_of(path), newline=""), strict=True)
    n, names = 0, list(columns)
    try:
        found = next(reader, [])
        if optional and found == [*names, *optional]:
            columns = {**columns, **optional}
        elif found != names:
            raise FileFormatError(
                f"{path}, line 1: the columns must be {','.join(names)}, got {','.join(found)}. {REMEDY}."
            )
        for cells in reader:
            n += 1
            yield reader.line_num, _parsed(cells, columns, path, reader.line_num)
    except csv.Error as problem:
        raise FileFormatError(f"{path}, line {reader.line_num}: invalid CSV ({problem}). {REMEDY}.") from None
    if n != n_rows:
        raise FileFormatError(f"{path}: it must have {n_rows} rows, as sweep.json says, got {n}. {REMEDY}.")


def is_there(path: Path) -> bool:
    """Whether the file exists, packed or not."""
    return path.exists() or _packed(path).exists()


def _packed(path: Path) -> Path:
    return path.with_name(f"{path.name}.gz")


def _text_of(path: Path) -> str:
    packed = _packed(path)
    try:
        if packed.exists() and not path.exists():
            text = gzip.decompress(packed.read_bytes()).decode()
        else:
            text = path.read_bytes().decode()
    except FileNotFoundError:
        raise FileFormatError(f"{path} is missing. {REMEDY}.") from None
    except (EOFError, zlib.error, gzip.BadGzipFile) as problem:
        raise FileFormatError(f"{packed} must be packed by gzip ({problem}). {REMEDY}.") from None
    except UnicodeDecodeError as problem:
        raise FileFormatError(f"{path} must be UTF-8 text: {problem}. {REMEDY}.") from None
    if not text.endswith("\n"):
        raise FileFormatError(
            f"{path}, line {text.count(chr(10)) + 1}: the last line must end with a line feed, it is cut off. {REMEDY}."
        )
    return text


def _parsed(cells: Sequence[str], columns: Mapping[str, Parser], path: Path, line: int) -> dict[str, Any]:
    if len(cells) != len(columns):
        raise FileFormatError(f"{path}, line {line}: a row has {len(columns)} cells, got {len(cells)}. {REMEDY}.")
    values = {}
    for (name, parse), cell in zip(columns.items(), cells, strict=True):
        try:
            values[name] = parse(cell)
        except ValueError:
            kind = _KINDS.get(parse, "a number or auto")
            raise FileFormatError(f"{path}, line {line}: {name} must be {kind}, got {cell!r}. {REMEDY}.") from None
    return values


def _plain(value: Any) -> str:
    """The value in full: a float of any type reads back as the same float."""
    if isinstance(value, str):
        return value
    number = value.item() if hasattr(value, "item") else value
    return repr(number) if isinstance(number, float) else str(number)

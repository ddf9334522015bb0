"""Readers of examples from JSON lines, CSV, Parquet or a folder of images: the id and the content of each.

And of labels and costs that exist already, also in files that ``export`` wrote; their texts are no formulas.
"""

import csv
import json
import math
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Any, NamedTuple, Self

import numpy as np

from coalface.data import as_text, as_written, check_header, is_missing, json_records, read_lines
from coalface.desk.project.hugging_face import dataset_records, is_saved_dataset
from coalface.desk.project.label_studio import read_tasks, task_costs, task_id
from coalface.desk.project.settings_file import whole_text
from coalface.errors import FileFormatError, InputError

_MAIN = ("html", "text")  # shown to annotators as they are, unless the user names other columns
_COST = "cost:"  # begins the title of a column of costs
_PICTURES = (".bmp", ".gif", ".jpeg", ".jpg", ".png", ".tif", ".tiff", ".webp")
_LONGEST_ID = 200
_LARGEST = float(np.finfo(np.float32).max)  # the largest 32-bit number, which is what the model uses


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


_USUAL = ColumnRoles()


class GivenExample(NamedTuple):
    """An example as it was read; ``file`` is the file of an image."""

    id: str
    content: dict[str, Any]
    file: Path | None = None


_READERS: dict[str, Callable[[Path], Iterator[Mapping[str, Any]]]] = {
    ".jsonl": json_records,
    ".json": lambda path: ({**task["data"], "id": task_id(task)} for task in read_tasks(path)),
    ".parquet": dataset_records,
}
Source = str | os.PathLike[str] | Iterable[Mapping[str, Any]]


def read_examples(source: Source, columns: ColumnRoles = _USUAL) -> Iterator[GivenExample]:
    """The examples of a .jsonl, .csv or .parquet file, of a folder of images, or of records in memory.

    Annotators see a record's "text" or "html", or the text that ``columns`` names, and its other fields as a table. A
    record without an id gets a hash of its content as its id.

    >>> [given.id for given in read_examples([{"id": 7, "text": "hello"}, {"text": "hello"}, {"text": "hello"}])]
    ['7', 'b6f9f3d151dfdaa1', 'b6f9f3d151dfdaa1-2']
    """
    if isinstance(source, str | os.PathLike) and Path(source).is_dir() and not is_saved_dataset(Path(source)):
        if columns.named:
            raise InputError(f"Images have no column {columns.named[0]!r}: only tables have columns. Leave it out.")
        return _pictures(Path(source))
    return _named(content_of(record, columns) for record in read_records(source, columns))


def read_records(source: Source, columns: ColumnRoles) -> Iterator[Mapping[str, Any]]:
    """The records of a .jsonl, .csv or .parquet file, or of memory; an InputError if they lack a named column.

    >>> list(read_records([{"body": "hello"}], ColumnRoles(text=("body",))))
    [{'body': 'hello'}]
    """
    if not isinstance(source, str | os.PathLike):
        return columns.found_in(source, source)
    path = Path(source)
    if path.is_dir() and is_saved_dataset(path):
        return columns.found_in(path, dataset_records(path))
    if not path.is_file():
        raise FileFormatError(f"There is no file {path}. Check the path of the examples.")
    if path.suffix not in _READERS and path.suffix != ".csv":
        raise InputError(
            "Examples must be in a .jsonl, .csv or .parquet file or a folder of images, or in Label Studio's .json, "
            f"got {path}. Convert it."
        )
    found = _csv(path, columns) if path.suffix == ".csv" else _READERS[path.suffix](path)
    return columns.found_in(path, _in_utf8(path, found))


def content_of(record: Mapping[str, Any], columns: ColumnRoles = _USUAL) -> tuple[str | None, dict[str, Any]]:
    """The id of a record, if it has one, and its content.

    >>> content_of({"id": "a", "size": 3})
    ('a', {'kind': 'table', 'cells': {'size': 3}})
    >>> content_of({"ticket": 7, "body": "hello"}, ColumnRoles(text=("body",), id="ticket"))
    ('7', {'kind': 'text', 'text': 'hello'})
    """
    if not isinstance(record, Mapping):
        raise InputError(
            f"An example must be an object with fields such as id and text, got {record!r:.60}. "
            f'Write it as {{"text": ...}}.'
        )
    name = None if columns.id in columns.ignore else record.get(columns.id)
    main = columns.main(record)
    hidden = columns.not_cells(main)
    rest = {str(field): value for field, value in record.items() if field not in hidden}
    kind = "table" if main is None else "html" if main == "html" else "text"
    content: dict[str, Any] = {"kind": kind} | ({} if main is None else {kind: _text(main, record.get(main))})
    if rest or kind == "table":
        content["cells"] = {whole_text("A field", field): _cell(field, value) for field, value in rest.items()}
    return None if name is None or name == "" else str(name), content


def _text(field: str, value: Any) -> str:
    return whole_text(field, value if isinstance(value, str) else "" if value is None else as_text(value))


def _cell(field: str, value: Any) -> Any:
    if value is None or (isinstance(value, float) and not math.isfinite(value)):
        return None
    if isinstance(value, int | float):
        if abs(value) > _LARGEST:
            raise InputError(f"The number {field!r} must lie within +-{_LARGEST:.2g}, got {_short(value)}. Scale it.")
        return value
    return whole_text(f"The field {field!r}", value if isinstance(value, str) else json.dumps(value, default=str))


def _short(number: float) -> str:
    try:
        return f"{number:.3g}"
    except OverflowError:
        return "one of hundreds of digits"


def _named(contents: Iterable[tuple[str | None, dict[str, Any]]]) -> Iterator[GivenExample]:
    seen: dict[str, int] = {}
    for name, content in contents:
        if name is None:
            plain = json.dumps(content, sort_keys=True, ensure_ascii=False).encode("utf-8", "surrogatepass")
            name = blake2b(plain, digest_size=8).hexdigest()
            seen[name] = times = seen.get(name, 0) + 1
            name = name if times == 1 else f"{name}-{times}"
        if len(whole_text("An id", name)) > _LONGEST_ID:
            raise InputError(f"An id must have at most {_LONGEST_ID} characters, got {name[:40]!r}... Shorten it.")
        yield GivenExample(name, content)


def _in_utf8(path: Path, records: Iterable[Mapping[str, Any]]) -> Iterator[Mapping[str, Any]]:
    """The records; an error names the line that is not UTF-8."""
    try:
        yield from records
    except UnicodeDecodeError:
        read_lines(path)  # names the line
        raise


def _csv_cells(path: Path) -> Iterator[tuple[int, dict[str, str]]]:
    """The cells of each line of a table by their columns, and the number of the line; an error names a bad line."""
    with path.open(encoding="utf-8-sig", newline="") as file:
        reader = csv.DictReader(file, restkey="")
        try:
            check_header(path, list(reader.fieldnames or ()))
            for record in reader:
                if "" in record or None in record.values():
                    n_columns = len(reader.fieldnames or ())
                    raise FileFormatError(
                        f"{path}, line {reader.line_num}: every line must have {n_columns} cells as the header has. "
                        "Look for a missing comma or quote."
                    )
                yield reader.line_num, record
        except csv.Error as problem:
            raise FileFormatError(f"{path}, line {reader.line_num}: {problem}. Look for a missing quote.") from None


def _csv(path: Path, columns: ColumnRoles) -> Iterator[Mapping[str, Any]]:
    as_written = columns.as_written
    for _, record in _csv_cells(path):
        yield {field: cell if field in as_written else _number_or_text(cell) for field, cell in record.items()}


def _number_or_text(cell: str) -> float | str | None:
    """The value of a cell; an integer stays one, because annotators see it.

    >>> [_number_or_text(cell) for cell in ("20", "2.50", "late", "")]
    [20, 2.5, 'late', None]
    """
    for number in (int, float):
        with suppress(ValueError):
            return number(cell)
    return cell or None


def _pictures(folder: Path) -> Iterator[GivenExample]:
    """The images under a folder; their ids are their paths in it."""
    found = sorted(path for path in folder.rglob("*") if path.suffix.lower() in _PICTURES and path.is_file())
    if not found:
        raise FileFormatError(f"{folder} must hold images ({', '.join(_PICTURES)}), got none. Check the path.")
    for number, path in enumerate(found):
        kept = f"{number:07d}{path.suffix.lower()}"
        name = whole_text("The name of an image", path.relative_to(folder).as_posix())
        yield GivenExample(name, {"kind": "image", "file": kept}, path)


# -- known costs ----------------------------------------------------------------------------------


def read_costs(path: Path, id: str = "id", label: str = "label") -> list[dict[str, Any]]:
    """The records of a .jsonl or .csv file: ids with true labels, or with costs by label.

    A line of JSON has "id" and "label" or "costs"; a table has the columns id and label, or id and one column
    cost:LABEL per label, where an empty cell is unknown.
    """
    if not path.is_file() and not is_saved_dataset(path):
        raise FileFormatError(f"There is no file {path}. Check the path of the known costs.")
    lines: Iterable[Mapping[str, Any]]
    if path.suffix == ".json":
        id, label, lines = "id", "label", task_costs(read_tasks(path))
    elif path.suffix == ".jsonl":
        lines = json_records(path)
    elif path.suffix == ".parquet" or path.is_dir():
        lines = map(_with_costs, dataset_records(path))
    elif path.suffix == ".csv":
        lines = _table(path)
    else:
        raise InputError(
            f"Known costs must be in a .jsonl, .csv or .parquet file or Label Studio's .json, got {path}. Convert it."
        )
    found = [one for line in _in_utf8(path, lines) if (one := _record(line, id, label)) is not None]
    if not found:
        raise FileFormatError(f"{path} must hold labels or costs of examples, got none. Check its columns.")
    return found


def _record(line: Mapping[str, Any], id: str, label: str) -> dict[str, Any] | None:
    """What a line says, None if it has no cost."""
    costs = line.get("costs") or {}
    if isinstance(costs, Mapping) and all(cost is None for cost in costs.values()):
        costs = {}  # known to be unknown
    if costs:
        return {"id": line.get(id), "costs": costs}
    return None if line.get(label) in (None, "") else {"id": line.get(id), "label": str(line[label])}


def _with_costs(row: Mapping[str, Any]) -> dict[str, Any]:
    """A row of a table with its columns of costs by label."""
    costs = {title.removeprefix(_COST): cost for title, cost in row.items() if title.startswith(_COST)}
    return {**row, "costs": {label: cost for label, cost in costs.items() if cost is not None} or row.get("costs")}


def _table(path: Path) -> Iterator[dict[str, Any]]:
    for number, record in _csv_cells(path):
        costs = {
            title.removeprefix(_COST): _number(path, number, title, cell)
            for title, cell in record.items()
            if title.startswith(_COST) and cell != ""
        }
        yield {**{title: as_written(cell) for title, cell in record.items()}, "costs": costs}


def _number(path: Path, number: int, title: str, cell: str) -> float:
    try:
        return float(cell)
    except ValueError:
        raise FileFormatError(
            f"{path}, line {number}: {title} must be a number or empty, got {cell!r:.40}. Correct it."
        ) from None

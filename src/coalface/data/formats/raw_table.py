"""Datasets of tables with texts, categories, dates and missing cells: an encoder turns them into rows."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, fields
from inspect import Parameter, signature
from os import PathLike
from pathlib import Path
from typing import Any, TypedDict, TypeVar, Unpack, get_type_hints

import numpy as np
from numpy.typing import ArrayLike, NDArray

from coalface.data.costs import COST_PREFIX
from coalface.data.dataset import CostDataset
from coalface.data.encoding.cells import CellError, as_text, is_missing, numbers_in
from coalface.data.encoding.encoder import ID, Encoder
from coalface.data.encoding.table import Table, is_raw
from coalface.data.formats.cost_matrix import read_cost_matrix
from coalface.data.labels import label_array, label_codes, label_texts, labels_from_text, warn_of_alike
from coalface.errors import FileFormatError, InputError, counted, listed

COST_ADVICE = "Write the limit for a run that timed out; an empty cell means that the cost is not known."
_SHOWN = 20  # columns named in a message


class NotANumberError(FileFormatError):
    """A cell of a feature is not a finite number."""


class TableKeywords(TypedDict, total=False):
    """The keywords of ``read_csv``, ``read_jsonl`` and ``read_parquet``; ``read_csv`` says what they mean."""

    label: str | None
    cost_matrix: ArrayLike | str | PathLike[str] | None
    classes: ArrayLike | None
    ignore: Sequence[str]
    text: Sequence[str]
    id: str | None
    encoder: Encoder | None
    embed: str | None
    name: str | None


class CsvKeywords(TableKeywords, total=False):
    """The keywords of ``read_csv``."""

    separator: str | None
    decimal: str | None
    encoding: str | None


@dataclass(frozen=True)
class TableOptions:
    """The options of a reader of tables, as users pass them."""

    label: str | None = None
    cost_matrix: Any = None
    classes: ArrayLike | None = None
    ignore: Sequence[str] = ()
    text: Sequence[str] = ()
    id: str | None = None
    encoder: Encoder | None = None
    embed: str | None = None  # what makes vectors of texts, if no encoder is given
    name: str | None = None

    def __post_init__(self) -> None:
        if not (self.encoder is None or isinstance(self.encoder, Encoder)):
            raise InputError(f"encoder must be an Encoder, got {self.encoder!r}. Leave it out to have one made.")
        if self.cost_matrix is not None and self.label is None:
            raise InputError(
                "cost_matrix needs label, the column of the true label, got none. Pass label=, or leave it out.",
                remedy={"label": None},
            )

    @property
    def as_written(self) -> set[str]:
        """The columns that are never numbers."""
        return {*self.ignore, *self.text, *(name for name in (self.label, self.id) if name)}

    @property
    def asks_for_encoder(self) -> bool:
        """Whether the table is encoded, also if it has only numbers."""
        return self.encoder is not None or bool(self.text) or self.embed is not None


Reader = TypeVar("Reader", bound=Callable[..., CostDataset])


def table_reader(reader: Reader) -> Reader:
    """The reader, whose signature names every keyword: ``help`` shows it, and unknown options are found by it.

    >>> @table_reader
    ... def read(path, **options): ...
    >>> list(signature(read).parameters)[:4]
    ['path', 'label', 'cost_matrix', 'classes']
    """
    own, types = signature(reader), get_type_hints(CsvKeywords)
    path = next(iter(own.parameters.values()))
    defaults = {field.name: field.default for field in fields(TableOptions)}
    if own.parameters["options"].annotation == Unpack[CsvKeywords]:
        defaults |= {name: None for name in types if name not in defaults}
    keywords = [
        Parameter(name, Parameter.KEYWORD_ONLY, default=default, annotation=types[name])
        for name, default in defaults.items()
    ]
    vars(reader)["__signature__"] = own.replace(parameters=[path, *keywords])
    return reader


def dataset_of_table(source: Path, table: Table, options: TableOptions) -> CostDataset:
    """The dataset of a table; numbers without gaps stay as they are, everything else goes through an encoder.

    >>> table = Table({"text": ["my parcel", "my money"], "team": ["a", "b"]}, 2)
    >>> dataset = dataset_of_table(Path("calls.jsonl"), table, TableOptions(label="team", text=["text"]))
    >>> dataset, dataset.encoder.groups
    (CostDataset('calls', 2 examples, 262,144 features, 2 labels), {'text': (0, 262144)})
    """
    if not table.n_rows:
        raise FileFormatError(f"{source} must hold at least one example, got none. Check the file.")
    _refuse_absent(source, table, options)
    costs = [name for name in table.columns if name.startswith(COST_PREFIX) and name not in options.ignore]
    check_costs_or_label(source, list(table.columns), costs, options)
    id_column = id_column_of(table, options)
    left = {*options.ignore, *costs} | ({options.label} if options.label else set())
    raw = {name: cells for name, cells in table.columns.items() if name not in left}
    features = table._replace(columns={name: cells for name, cells in raw.items() if name != id_column})
    about = _costs_and_labels(source, table, costs, options)
    about["name"] = source.name.split(".")[0] if options.name is None else options.name
    about["ids"] = None if id_column is None else np.array(_ids(source, table, id_column))
    if options.encoder is None and not costs and options.label is None:
        _refuse_labels(source, features, about["classes"])
    if not options.asks_for_encoder and not is_raw(features):
        X = np.column_stack([numbers_in(cells, name) for name, cells in features.columns.items()])
        return CostDataset(X, feature_names=list(features.columns), **about)
    return _encoded(source, features, sorted(left), id_column, options, about)


def _encoded(
    source: Path, table: Table, left: list[str], id_column: str | None, options: TableOptions, about: dict[str, Any]
) -> CostDataset:
    encoder = options.encoder
    try:
        if encoder is None or not encoder.is_fitted:
            encoder = (encoder or Encoder(text=options.text, ignore=left, id=id_column, embed=options.embed)).fit(table)
        X = encoder.transform(table)
    except CellError as problem:
        where = f"{source}, {table.place(problem.row)}"
        raise FileFormatError(problem.at(where), remedy=problem.remedy) from None
    except InputError as problem:
        raise FileFormatError(f"{source}: {problem}", remedy=problem.remedy) from None
    used = [name for name in table.columns if name in encoder.groups]
    cells = zip(*(map(_json_value, table.columns[name]) for name in used), strict=True)
    records = np.empty(table.n_rows, object)
    records[:] = [dict(zip(used, row, strict=True)) for row in cells]
    return CostDataset(X, encoder=encoder, records=records, **about)


def id_column_of(table: Table, options: TableOptions) -> str | None:
    """The column of the ids: the one that was named, that of the encoder, or "id"."""
    named = options.id or (options.encoder.id if options.encoder is not None else None)
    return named if named in table.columns else next((name for name in table.columns if name.lower() == ID), None)


def check_costs_or_label(source: Path, header: list[str], costs: list[str], options: TableOptions) -> None:
    """Raise a FileFormatError unless there are either columns of costs or a label column."""
    label = options.label
    if bool(costs) != (label is not None) or not (costs or options.classes is None):
        return
    both = f"both {costs[0]!r} and label={label!r}. Leave one of them out" if costs else ""
    neither = f"{listed(header, _SHOWN)}. Pass label= to name the column of the true label"
    raise FileFormatError(
        f"{source} must have either columns named '{COST_PREFIX}LABEL' or a label column, got {both or neither}.",
        remedy={} if costs else {"label": None},
    )


def _cost_order(source: Path, found: list[str], classes: ArrayLike | None) -> list[int]:
    """The position of each label's cost column."""
    if classes is None:
        return list(range(len(found)))
    wanted = label_texts(label_array(classes))
    if sorted(wanted) != sorted(found):
        raise FileFormatError(
            f"{source} must have one cost column for each of {wanted[:20]}, got {found[:20]}. Check classes."
        )
    column = {text: place for place, text in enumerate(found)}
    return [column[text] for text in wanted]


def costs_by_label(texts: Sequence[str], options: TableOptions) -> dict[str, Any]:
    """The fields of a dataset with true labels."""
    classes = options.classes
    known = np.unique(labels_from_text(sorted(set(texts)))) if classes is None else label_array(classes)
    if classes is None:
        warn_of_alike(known, f"Column {options.label!r}")
    given = options.cost_matrix
    matrix = 1.0 - np.eye(len(known)) if given is None else read_cost_matrix(given, known)
    return {"classes": known, "truth": label_codes(texts, np.array(label_texts(known))), "cost_matrix": matrix}


def costs_by_column(
    source: Path, found: list[str], cost: NDArray[Any], n_rows: int, classes: ArrayLike | None
) -> dict[str, Any]:
    """The fields of a dataset with a column of costs per label, or, with ``classes``, none at all."""
    known = labels_from_text(found) if classes is None else label_array(classes)
    if not found:
        return {"cost": np.full((n_rows, len(known)), np.nan), "classes": known}
    return {"cost": cost[:, _cost_order(source, found, classes)], "classes": known}


def _costs_and_labels(source: Path, table: Table, costs: list[str], options: TableOptions) -> dict[str, Any]:
    if options.label is not None:
        cells = table.columns[options.label]
        empty = [row for row, cell in enumerate(cells) if is_missing(cell)]
        if empty:
            raise missing_labels(source, table.place(empty[0]), options.label, len(empty), table.n_rows)
        return costs_by_label([as_text(cell) for cell in cells], options)
    found = [name.removeprefix(COST_PREFIX) for name in costs]
    numbers = [_costs_in(source, table, name) for name in costs]
    cost = np.column_stack(numbers) if numbers else np.zeros((table.n_rows, 0))
    return costs_by_column(source, found, cost, table.n_rows, options.classes)


def _costs_in(source: Path, table: Table, name: str) -> NDArray[np.float64]:
    """A column of costs, NaN where one is not known."""
    cells = table.columns[name]
    try:
        return numbers_in(cells, name)
    except CellError as problem:
        raise bad_cost(f"{source}, {table.place(problem.row)}", name, cells[problem.row]) from None


def bad_cost(where: str, column: str, cell: Any) -> FileFormatError:
    """The error of a cost that is not a number."""
    advice, remedy = COST_ADVICE, {}
    if isinstance(cell, str) and "," in cell:
        advice = "Write it with a point, or read CSV with decimal=',' if the comma is the decimal mark."
        remedy = {"decimal": ","}
    return FileFormatError(
        f"{where}, column {column!r}: a cost must be a finite number, got {cell!r:.40}. {advice}", remedy=remedy
    )


def missing_labels(source: Path, first: str, column: str, n_missing: int, n_rows: int) -> FileFormatError:
    """The error of rows without a true label; ``first`` is the place of the first one."""
    have = "has" if n_missing == 1 else "have"
    return FileFormatError(
        f"{source}, {first}: the label, in column {column!r}, is missing; {n_missing:,} of {counted(n_rows, 'row')} "
        f"{have} none. Add the labels, or move these rows to a file for predict or ask, which need no labels."
    )


def _refuse_absent(source: Path, table: Table, options: TableOptions) -> None:
    wanted = [*options.ignore, *options.text, *([options.label] if options.label else [])]
    for name in [*wanted, *([options.id] if options.id else [])]:
        if name not in table.columns:
            raise absent(source, name, table.columns)


def absent(source: Path, name: str, header: Iterable[str]) -> FileFormatError:
    """The error of a column that an option names and the table does not have."""
    return FileFormatError(
        f"{source} has no column {name!r}. Its columns are {listed(header, _SHOWN)}. Name one of them."
    )


def _refuse_labels(source: Path, table: Table, classes: NDArray[Any]) -> None:
    """Raise a FileFormatError if a column has labels only: it would be learned as a feature."""
    known = set(label_texts(classes))
    for name, cells in table.columns.items():
        values = {cell for cell in cells if isinstance(cell, str)}
        if values and values <= known:
            raise FileFormatError(
                f"{source}: column {name!r} has labels only. Pass label={name!r} if it is the true label, or "
                f"ignore=[{name!r}] to leave it out.",
                remedy={"label": name, "ignore": name},
            )


def _ids(source: Path, table: Table, column: str) -> list[str]:
    cells = table.columns[column]
    for row in (row for row, cell in enumerate(cells) if is_missing(cell)):
        raise FileFormatError(f"{source}, {table.place(row)}: the id, in column {column!r}, is missing. Add it.")
    return [as_text(cell) for cell in cells]


def _json_value(cell: Any) -> Any:
    """The cell as ``coalface ask`` writes it."""
    if is_missing(cell):
        return None
    return cell if isinstance(cell, str | bool | int | float) else as_text(cell)

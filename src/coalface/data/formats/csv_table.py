"""CSV tables with a header: features are columns of any kind, costs are columns named ``cost:LABEL``.

Instead of cost columns there may be one column with the true label, named by ``label=``. An empty cell in a cost column
is an unknown cost. A table of numbers without gaps is read as it is; all others go through an ``Encoder``.
"""

import csv
import io
import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from typing import Any, Unpack

import numpy as np
from numpy.typing import NDArray

from coalface.data.costs import COST_PREFIX
from coalface.data.dataset import CostDataset
from coalface.data.encoding.cells import says_missing
from coalface.data.encoding.table import Table, table_of
from coalface.data.formats.compression import packed_write
from coalface.data.formats.csv_form import CsvForm, CsvRows, formed_rows, rows_again, rows_of_lines
from coalface.data.formats.raw_table import (
    CsvKeywords,
    NotANumberError,
    TableOptions,
    absent,
    bad_cost,
    check_costs_or_label,
    costs_by_column,
    costs_by_label,
    dataset_of_table,
    missing_labels,
    table_reader,
)
from coalface.data.formats.text_lines import spells_number
from coalface.data.labels import label_texts
from coalface.data.streams.contract import Row, TableBlocks
from coalface.data.streams.line_source import LineSource, Position
from coalface.errors import FileFormatError, InputError
from coalface.kernels.words import LARGEST

_BLOCK = 1024  # rows converted to arrays at a time


@dataclass(frozen=True)
class _Layout:
    """The header of a table, and which columns are features, costs and the true label."""

    header: list[str]
    features: list[int]
    costs: list[int]
    label: int | None
    id: int | None


@table_reader
def read_csv(path: str | os.PathLike[str], **options: Unpack[CsvKeywords]) -> CostDataset:
    r"""The dataset of a CSV file, plain, gzip or zstd.

    With ``label``, costs are 0/1 or come from ``cost_matrix``. Its rows and columns are the labels in ascending order
    (or in the order of ``classes``), unless it is a ``.csv`` file with names. Columns in ``ignore`` are skipped. With
    ``classes``, a table may consist of features only; then all costs are unknown.

    If a column has texts or empty cells, or ``text`` names columns of texts, an ``Encoder`` makes the features from all
    columns, and the dataset has it as ``encoder``. A fitted ``encoder`` may be given. ``id`` names the column of ids.
    ``embed="minilm"`` makes vectors of texts, as ``Encoder(embed="minilm")`` does.

    The first lines show the separator, the decimal mark and the encoding, unless ``separator``, ``decimal`` ("." or
    ",") and ``encoding`` say them. The logger "coalface.work" says what was found, if it is unusual.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "calls.csv")
    ...     _ = path.write_text("length,loud,cost:refund,cost:apologise\n3.5,1,0.25,\n1,0,1,0.5\n")
    ...     dataset = read_csv(path)
    >>> dataset.feature_names, dataset.cost.tolist()
    (('length', 'loud'), [[0.25, nan], [1.0, 0.5]])
    """
    form, others = CsvForm.taken(options)
    source, about = Path(path), TableOptions(**others)
    return _csv_dataset(source, rows_again(source, form, about.as_written), about)


def _csv_dataset(
    source: Path, rows: Callable[[], CsvRows], options: TableOptions, *, numbers: bool = False, first: int = 0
) -> CostDataset:
    """The dataset of the rows of a table, the header first; they are read again if they are not all numbers.

    With ``numbers``, a text or an empty cell is an error instead. ``first`` is the number of the first row.
    """
    if not options.asks_for_encoder:
        try:
            return _of_numbers(source, rows(), options)
        except NotANumberError:  # the table has texts or empty cells
            if numbers:
                raise
    return dataset_of_table(source, _raw_table(source, rows())._replace(first=first), options)


def _of_numbers(source: Path, rows: CsvRows, options: TableOptions) -> CostDataset:
    layout, table, texts, ids = _read_table(source, rows, options)
    n_features = len(layout.features)
    X, cost = table[:, :n_features], table[:, n_features:]
    found = [layout.header[place].removeprefix(COST_PREFIX) for place in layout.costs]
    by_column = options.label is None
    return CostDataset(
        X,
        **(
            costs_by_column(source, found, cost, len(X), options.classes)
            if by_column
            else costs_by_label(texts, options)
        ),
        feature_names=[layout.header[place] for place in layout.features],
        ids=ids or None,
        name=source.name.split(".")[0] if options.name is None else options.name,
    )


def _raw_table(source: Path, rows: CsvRows) -> Table:
    """All cells as texts, by column."""
    header = next(rows, (1, []))[1]
    check_header(source, header)
    found = list(rows)
    columns = zip(*(cells for _, cells in found), strict=True) if found else [[] for _ in header]
    return table_of(dict(zip(header, columns, strict=True)))._replace(lines=[line for line, _ in found])


def _read_table(
    source: Path, rows: CsvRows, options: TableOptions
) -> tuple[_Layout, NDArray[np.float32], list[str], list[str]]:
    """Features and costs side by side, the text of each true label, and the ids."""
    texts: list[str] = []
    ids: list[str] = []
    unlabelled: list[int] = []
    blocks: list[NDArray[np.float32]] = []
    numbers: list[list[float]] = []
    layout = _layout(source, next(rows, (1, []))[1], options)
    for line, cells in rows:
        numbers.append(_numbers(source, line, cells, layout))
        if layout.label is not None:
            texts.append(cells[layout.label])
            unlabelled += [line] * (not texts[-1].strip())
        if layout.id is not None:
            ids.append(cells[layout.id])
        if len(numbers) == _BLOCK:
            blocks.append(np.array(numbers, dtype=np.float32))
            numbers = []
    width = len(layout.features) + len(layout.costs)
    blocks.append(np.array(numbers, dtype=np.float32).reshape(len(numbers), width))
    table = np.concatenate(blocks)
    if len(table) == 0:
        raise FileFormatError(f"{source} must hold at least one example, got none. Check the file.")
    if unlabelled:
        title = layout.header[layout.label or 0]
        raise missing_labels(source, f"line {unlabelled[0]}", title, len(unlabelled), len(table))
    return layout, table, texts, ids


def check_header(source: Path, header: list[str]) -> None:
    """Raise a FileFormatError unless all columns have distinct names."""
    if not header:
        raise FileFormatError(f"{source} must begin with a line of column names, got an empty file. Check the file.")
    titles = set(header)
    if len(titles) < len(header) or "" in titles:
        repeated = "" if "" in titles else Counter(header).most_common(1)[0][0]
        raise FileFormatError(
            f"{source}, line 1: columns must have distinct names, got {repeated!r}. Rename the column."
        )


def _layout(source: Path, header: list[str], options: TableOptions) -> _Layout:
    label, id, ignored = options.label, options.id, set(options.ignore)
    for title in [*options.ignore, *(title for title in (label, id) if title)] if header else []:
        if title not in header:
            raise absent(source, title, header)
    check_header(source, header)
    costs = [place for place, title in enumerate(header) if title.startswith(COST_PREFIX) and title not in ignored]
    check_costs_or_label(source, header, [header[place] for place in costs], options)
    others = {*ignored, label, id, *(header[place] for place in costs)}
    features = [place for place, title in enumerate(header) if title not in others]
    return _Layout(header, features, costs, header.index(label) if label else None, header.index(id) if id else None)


def _numbers(source: Path, line: int, cells: list[str], layout: _Layout) -> list[float]:
    """The features, then the costs, of one line."""
    numbers = []
    for rank, place in enumerate([*layout.features, *layout.costs]):
        cell = cells[place]
        is_cost = rank >= len(layout.features)
        if is_cost and says_missing(cell):
            numbers.append(np.nan)
            continue
        try:
            number = float(cell)
        except ValueError:
            number = np.nan
        if not abs(number) <= LARGEST:
            title, where = layout.header[place], f"{source}, line {line}"
            if is_cost:
                raise bad_cost(where, title, cell)
            remedy = _remedy(title, layout)
            rule = f"{where}, column {title!r}: a cell must be a finite number, got {cell[:40]!r}"
            kind = NotANumberError if np.isnan(number) else FileFormatError
            raise kind(f"{rule}. {_advice(title, cell, remedy)}.", remedy=remedy)
        numbers.append(number)
    return numbers


def _remedy(title: str, layout: _Layout) -> dict[str, str]:
    """The options that a column of text needs: it may be the label if no other column is."""
    return {"ignore": title} if layout.label is not None or layout.costs else {"label": title, "ignore": title}


def _advice(title: str, cell: str, remedy: dict[str, str]) -> str:
    words = ", write words as VW text or turn them into numbers in Python"
    first = f"Correct it{'' if spells_number(cell or '0') else words}"
    if "label" not in remedy:
        return f"{first}, or pass ignore=[{title!r}] to leave the column out"
    return f"{first}, or pass label={title!r} if it is the true label, or ignore=[{title!r}] to leave it out"


class CsvBlocks(TableBlocks):
    """The blocks of a CSV table."""

    def __init__(self, lines: LineSource, rows: int, options: dict[str, Any], after: Position | None = None) -> None:
        self._form, others = CsvForm.taken(options)
        super().__init__(lines.path, rows, others, lines, after)
        self._lines = lines
        self._rows: CsvRows = iter(())
        if after is not None:
            form = after.decided["form"]
            self._form = CsvForm(form["separator"], form["decimal"])
            lines.take_as(form["encoding"])
            self._rows = rows_of_lines(
                lines.path, lines.texts(), self._form, self.columns, lines.n_lines, self.options.as_written
            )

    def next_rows(self) -> Iterator[Row]:
        """The next lines; the header before them is read once."""
        if not self.columns:
            self._rows, self._form = formed_rows(
                self._lines, self._form, rows=self.rows, as_written=self.options.as_written
            )
            self.columns = next(self._rows, (1, []))[1]
        return (Row(*row) for row in islice(self._rows, self.rows))

    def decided(self) -> dict[str, Any]:
        """What the first rows decided, as JSON values."""
        form = {"separator": self._form.separator, "decimal": self._form.decimal, "encoding": self._lines.encoding}
        return {**super().decided(), "form": form}

    def dataset_of(self, rows: Iterable[Row], *, numbers: bool) -> CostDataset:
        """The dataset of these lines."""
        return _csv_dataset(
            self.source, lambda: chain([(1, self.columns)], rows), self.options, numbers=numbers, first=self.n_rows
        )

    def cell(self, row: Row, column: str) -> Any:
        """A cell of a line."""
        return row.content[self.columns.index(column)]

    def read(self) -> CostDataset | None:
        """The next block; an error if a table has no rows at all."""
        block = super().read()
        if block is None and not self.n_rows:
            _csv_dataset(self.source, lambda: iter([(1, self.columns)][: len(self.columns)]), self.options)  # says why
        return block


def write_csv(dataset: CostDataset, path: str | os.PathLike[str]) -> None:
    """Write features and costs as a table, compressed if the name ends in ``.gz``; unknown costs are empty cells.

    >>> from tempfile import TemporaryDirectory
    >>> dataset = CostDataset([[1.0, 0.5]], [[0.0, np.nan]], ["cat", "dog"])
    >>> with TemporaryDirectory() as folder:
    ...     write_csv(dataset, Path(folder, "pets.csv"))
    ...     Path(folder, "pets.csv").read_text().splitlines()
    ['x0,x1,cost:cat,cost:dog', '1.0,0.5,0.0,']
    """
    if dataset.candidates is not None:
        raise InputError("A CSV table cannot hold candidates. Write a dataset folder or VW text instead.")
    names = dataset.feature_names or [f"x{column}" for column in range(dataset.X.shape[1])]
    for feature in names:
        if feature.startswith(COST_PREFIX):
            raise InputError(f"The name of a feature must not start with {COST_PREFIX!r}, got {feature!r}. Rename it.")
    with packed_write(path) as file:
        text = io.TextIOWrapper(file, encoding="utf-8", newline="")
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow([*names, *(COST_PREFIX + label for label in label_texts(dataset.classes))])
        for start in range(0, len(dataset), _BLOCK):
            block = dataset.subset(slice(start, start + _BLOCK))
            cells = np.hstack([block.X.toarray(), block.cost]).astype(str)
            cells[:, len(names) :][np.isnan(block.cost)] = ""
            writer.writerows(cells.tolist())
        text.flush()
        text.detach()  # packed_write closes the file

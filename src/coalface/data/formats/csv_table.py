"""CSV tables with a header: features are columns of numbers, costs are columns named ``cost:LABEL``.

Instead of cost columns there may be one column with the true label, named by ``label=``. An empty cell in a cost column
is an unknown cost; an empty cell in any other column is an error.
"""

import csv
import gzip
import io
import os
import zlib
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from coalface.data.dataset import CostDataset
from coalface.data.formats.cost_matrix import read_cost_matrix
from coalface.data.formats.text_lines import is_number
from coalface.data.labels import label_array, label_codes, label_texts, labels_from_text
from coalface.errors import FileFormatError, InputError
from coalface.files.atomic import atomic_write
from coalface.kernels.words import LARGEST

COST_PREFIX = "cost:"
_BLOCK = 1024  # rows converted to arrays at a time


@dataclass(frozen=True)
class _Layout:
    """The header of a table, and which columns are features, costs and the true label."""

    header: list[str]
    features: list[int]
    costs: list[int]
    label: int | None


def read_csv(
    path: str | os.PathLike[str],
    *,
    label: str | None = None,
    cost_matrix: ArrayLike | str | os.PathLike[str] | None = None,
    classes: ArrayLike | None = None,
    ignore: Sequence[str] = (),
    name: str | None = None,
) -> CostDataset:
    r"""The dataset of a CSV file, plain or ``.gz``.

    With ``label``, costs are 0/1 or come from ``cost_matrix``. Its rows and columns are the labels in ascending order
    (or in the order of ``classes``), unless it is a ``.csv`` file with names. Columns in ``ignore`` are skipped. With
    ``classes``, a table may consist of features only; then all costs are unknown.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "calls.csv")
    ...     _ = path.write_text("length,loud,cost:refund,cost:apologise\n3.5,1,0.25,\n1,0,1,0.5\n")
    ...     dataset = read_csv(path)
    >>> dataset.feature_names, dataset.cost.tolist()
    (('length', 'loud'), [[0.25, nan], [1.0, 0.5]])
    """
    source = Path(path)
    layout, table, texts = _read_table(source, label, ignore, costs_needed=classes is None)
    n_features = len(layout.features)
    X, cost = table[:, :n_features], table[:, n_features:]
    common: dict[str, Any] = {
        "feature_names": [layout.header[place] for place in layout.features],
        "name": source.name.split(".")[0] if name is None else name,
    }
    if label is None:
        found = [layout.header[place].removeprefix(COST_PREFIX) for place in layout.costs]
        known = labels_from_text(found) if classes is None else label_array(classes)
        if not found:
            return CostDataset(X, np.full((len(X), len(known)), np.nan), known, **common)
        return CostDataset(X, cost[:, _cost_order(source, found, classes)], known, **common)
    known = np.unique(labels_from_text(sorted(set(texts)))) if classes is None else label_array(classes)
    truth = label_codes(texts, np.array(label_texts(known)))
    matrix = 1.0 - np.eye(len(known)) if cost_matrix is None else read_cost_matrix(cost_matrix, known)
    return CostDataset(X, classes=known, truth=truth, cost_matrix=matrix, **common)


def _read_table(
    source: Path, label: str | None, ignore: Sequence[str], *, costs_needed: bool
) -> tuple[_Layout, NDArray[np.float32], list[str]]:
    """Features and costs side by side, and the text of each true label."""
    texts: list[str] = []
    blocks: list[NDArray[np.float32]] = []
    numbers: list[list[float]] = []
    rows = csv_rows(source)
    layout = _layout(source, next(rows, (1, []))[1], label, ignore, costs_needed=costs_needed)
    for line, cells in rows:
        numbers.append(_numbers(source, line, cells, layout))
        if layout.label is not None:
            texts.append(cells[layout.label])
        if len(numbers) == _BLOCK:
            blocks.append(np.array(numbers, dtype=np.float32))
            numbers = []
    width = len(layout.features) + len(layout.costs)
    blocks.append(np.array(numbers, dtype=np.float32).reshape(len(numbers), width))
    table = np.concatenate(blocks)
    if len(table) == 0:
        raise FileFormatError(f"{source} must hold at least one example, got none. Check the file.")
    return layout, table, texts


def csv_rows(source: Path) -> Iterator[tuple[int, list[str]]]:
    r"""The cells of every non-empty line of a file, plain or ``.gz``, with its line number.

    All lines have as many cells as the first one, the header.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     _ = Path(folder, "pets.csv").write_text("weight,kind\n\n4,cat\n")
    ...     list(csv_rows(Path(folder, "pets.csv")))
    [(1, ['weight', 'kind']), (3, ['4', 'cat'])]
    """
    if not source.is_file():
        raise FileFormatError(f"There is no file {source}. Check the path.")
    width = None
    with _open_text(source) as file:
        for line, cells in _rows(source, file):
            width = len(cells) if width is None else width
            if len(cells) != width:
                raise FileFormatError(
                    f"{source}, line {line}: every line must have {width} cells like the header, "
                    f"got {len(cells)}. Look for a missing comma or a broken line."
                )
            yield line, cells


def _open_text(source: Path) -> IO[str]:
    with source.open("rb") as file:
        packed = file.read(2) == b"\x1f\x8b"
    if packed:
        return cast("IO[str]", gzip.open(source, "rt", newline="", encoding="utf-8-sig"))
    return source.open(newline="", encoding="utf-8-sig")


def _rows(source: Path, file: IO[str]) -> Iterator[tuple[int, list[str]]]:
    """The cells of every non-empty line of an open file, with its line number."""
    reader = csv.reader(file)
    try:
        for cells in reader:
            if cells:
                yield reader.line_num, cells
    except (csv.Error, UnicodeDecodeError, EOFError, OSError, zlib.error) as error:
        raise FileFormatError(
            f"{source}, line {reader.line_num}: the text is truncated or not CSV in UTF-8 ({error}). "
            "Write the file again."
        ) from None


def _layout(
    source: Path, header: list[str], label: str | None, ignore: Sequence[str], *, costs_needed: bool
) -> _Layout:
    if not header:
        raise FileFormatError(f"{source} must begin with a line of column names, got an empty file. Check the file.")
    shown, titles, ignored = ", ".join(repr(title) for title in header[:20]), set(header), set(ignore)
    for title in [*ignore, *([label] if label else [])]:
        if title not in titles:
            raise FileFormatError(f"{source} has no column {title!r}. Its columns are {shown}.")
    if len(titles) < len(header) or "" in titles:
        repeated = "" if "" in titles else Counter(header).most_common(1)[0][0]
        raise FileFormatError(
            f"{source}, line 1: columns must have distinct names, got {repeated!r}. Rename the column."
        )
    costs = [place for place, title in enumerate(header) if title.startswith(COST_PREFIX) and title not in ignored]
    if bool(costs) == (label is not None) and (costs or costs_needed):
        both = f"both {header[costs[0]]!r} and label={label!r}. Leave one of them out" if costs else ""
        neither = f"{shown}. Pass label= to name the column of the true label"
        raise FileFormatError(
            f"{source} must have either columns named '{COST_PREFIX}LABEL' or a label column, got {both or neither}.",
            remedy={} if costs else {"label": None},
        )
    others = {*ignored, label, *(header[place] for place in costs)}
    features = [place for place, title in enumerate(header) if title not in others]
    return _Layout(header, features, costs, header.index(label) if label else None)


def _numbers(source: Path, line: int, cells: list[str], layout: _Layout) -> list[float]:
    """The features, then the costs, of one line."""
    numbers = []
    for rank, place in enumerate([*layout.features, *layout.costs]):
        cell = cells[place]
        is_cost = rank >= len(layout.features)
        if is_cost and not cell.strip():
            numbers.append(np.nan)
            continue
        try:
            number = float(cell)
        except ValueError:
            number = np.nan
        if not abs(number) <= LARGEST:
            title = layout.header[place]
            remedy = {} if is_cost else _remedy(title, layout)
            advice = "Leave it empty if it is unknown" if is_cost else _advice(title, cell, remedy)
            where = f"{source}, line {line}, column {title!r}"
            raise FileFormatError(
                f"{where}: a cell must be a finite number, got {cell[:40]!r}. {advice}.",
                remedy=remedy,
            )
        numbers.append(number)
    return numbers


def _remedy(title: str, layout: _Layout) -> dict[str, str]:
    """The options that a column of text needs: it may be the label if no other column is."""
    return {"ignore": title} if layout.label is not None or layout.costs else {"label": title, "ignore": title}


def _advice(title: str, cell: str, remedy: dict[str, str]) -> str:
    words = ", write words as VW text or turn them into numbers in Python"
    first = f"Correct it{'' if is_number(cell or '0') else words}"
    if "label" not in remedy:
        return f"{first}, or pass ignore=[{title!r}] to leave the column out"
    return f"{first}, or pass label={title!r} if it is the true label, or ignore=[{title!r}] to leave it out"


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
    with atomic_write(path) as file, ExitStack() as stack:
        packed = str(path).endswith(".gz")
        target = stack.enter_context(gzip.GzipFile("", "wb", fileobj=file, mtime=0)) if packed else file
        text = io.TextIOWrapper(cast("Any", target), encoding="utf-8", newline="")
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow([*names, *(COST_PREFIX + label for label in label_texts(dataset.classes))])
        for start in range(0, len(dataset), _BLOCK):
            block = dataset.subset(slice(start, start + _BLOCK))
            cells = np.hstack([block.X.toarray(), block.cost]).astype(str)
            cells[:, len(names) :][np.isnan(block.cost)] = ""
            writer.writerows(cells.tolist())
        text.flush()
        text.detach()  # atomic_write closes the file

"""Cost matrices in files (row = truth): ``.npy``, or ``.csv`` with or without label names.

In a ``.csv``, names are in the first line and the first column, in any order; the corner cell is ignored. Without
names, the rows and columns are in the order of the labels.
"""

import os
from collections.abc import Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from coalface.data.costs import check_cost_matrix
from coalface.data.formats.csv_form import csv_rows
from coalface.data.formats.text_lines import spells_number
from coalface.data.labels import label_texts
from coalface.errors import FileFormatError, InputError, listed

_SHOWN = 20  # labels listed in a message


class _Line(NamedTuple):
    number: int
    cells: list[str]


def read_cost_matrix(source: ArrayLike | str | os.PathLike[str], classes: NDArray[Any]) -> NDArray[np.float64]:
    r"""The (K, K) costs of these labels, in their order, from an array or a file.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "costs.csv")
    ...     _ = path.write_text("truth,dog,cat\ndog,0,5\ncat,1,0\n")
    ...     read_cost_matrix(path, np.array(["cat", "dog"]))
    array([[0., 1.],
           [5., 0.]])
    """
    if isinstance(source, str | os.PathLike):
        path = Path(source)
        matrix: ArrayLike = _read_file(path, label_texts(classes))
        name = str(path)
    else:
        matrix, name = source, "cost_matrix"
    return check_cost_matrix(matrix, classes, name)


def _read_file(path: Path, labels: list[str]) -> NDArray[np.float64]:
    if not path.is_file():
        raise FileFormatError(f"There is no file {path}. Check the path of the cost matrix.")
    if path.suffix == ".npy":
        try:
            return np.asarray(np.load(path, allow_pickle=False), dtype=np.float64)
        except (ValueError, EOFError, OSError) as error:
            raise FileFormatError(f"{path} must be an array of numbers ({error}). Write it again.") from None
    if path.suffix != ".csv":
        raise InputError(f"A cost matrix must be in a .npy or .csv file, got {path}. Rename or convert it.")
    lines = [_Line(*row) for row in csv_rows(path)]
    if not lines:
        raise FileFormatError(f"{path} must hold a cost matrix, got an empty file. Check the file.")
    if spells_number(lines[0].cells[0]):
        return _numbers(path, lines)
    return _by_name(path, lines, labels)


def _by_name(path: Path, lines: list[_Line], labels: list[str]) -> NDArray[np.float64]:
    """The costs in the order of the labels; a file with names on one side only is ambiguous and refused."""
    corner, *columns = lines[0].cells
    if _as_label(corner, labels) in labels and corner not in columns:
        raise FileFormatError(
            f"{path}, line 1: a cost matrix must have names in its first line, after an empty cell, and in its first "
            f"column, or no names at all, got {_shown(lines[0])}. Add the other names."
        )
    order = np.ix_(
        _order(path, "row", [line.cells[0] for line in lines[1:]], labels),
        _order(path, "column", columns, labels),
    )
    return _numbers(path, [_Line(line.number, line.cells[1:]) for line in lines[1:]])[order]


def _order(path: Path, side: str, names: Sequence[str], labels: list[str]) -> list[int]:
    """The row or column of each label."""
    place: dict[str, int] = {}
    for name in (_as_label(name, labels) for name in names):
        if name not in labels:
            close = get_close_matches(name, labels, n=1)
            hint = f"Did you mean {close[0]!r}? " if close else ""
            raise FileFormatError(
                f"{path} has a {side} named {name!r}, which is not a label. {hint}The labels are "
                f"{listed(labels, _SHOWN)}; pass classes=[...] if there are other labels.",
                remedy={"classes": None},
            )
        if name in place:
            raise FileFormatError(f"{path} must have one {side} for each label, got {name!r} twice. Remove one.")
        place[name] = len(place)
    missing = [label for label in labels if label not in place]
    if missing:
        raise FileFormatError(
            f"{path} must have a {side} for each label, got none for {listed(missing, _SHOWN)}. Add it."
        )
    return [place[label] for label in labels]


def _as_label(name: str, labels: list[str]) -> str:
    """A name without surrounding blanks, unless a label has them too."""
    return name if name in labels else name.strip()


def _numbers(path: Path, lines: list[_Line]) -> NDArray[np.float64]:
    for line in lines:
        if not all(map(spells_number, line.cells)):
            raise FileFormatError(
                f"{path}, line {line.number}: a cost must be a number, got {_shown(line)}. Correct it; names go into "
                "the first line, after an empty cell, and into the first column."
            )
    rows = [[float(cell) for cell in line.cells] for line in lines]
    return np.array(rows, dtype=np.float64).reshape(len(rows), -1)


def _shown(line: _Line) -> str:
    return repr(",".join(line.cells)[:60])

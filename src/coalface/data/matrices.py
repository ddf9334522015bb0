"""Cost matrices in files: ``.npy`` as NumPy writes it, or ``.csv`` of numbers, row = truth."""

import csv
import os
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike, NDArray

from coalface.data.costs import check_cost_matrix
from coalface.errors import FileFormatError, InputError


def read_cost_matrix(source: ArrayLike | str | os.PathLike[str], n_labels: int) -> NDArray[np.float64]:
    """A (K, K) matrix given as an array or as the name of a file.

    >>> read_cost_matrix([[0, 1], [5, 0]], 2)
    array([[0., 1.],
           [5., 0.]])
    """
    if isinstance(source, str | os.PathLike):
        path = Path(source)
        matrix: ArrayLike = _read_file(path)
        name = str(path)
    else:
        matrix, name = source, "cost_matrix"
    return check_cost_matrix(matrix, n_labels, name)


def _read_file(path: Path) -> NDArray[np.float64]:
    if not path.is_file():
        raise FileFormatError(f"There is no file {path}. Check the path of the cost matrix.")
    if path.suffix == ".npy":
        try:
            return np.asarray(np.load(path, allow_pickle=False), dtype=np.float64)
        except (ValueError, EOFError, OSError) as error:
            raise FileFormatError(f"{path} must be an array of numbers ({error}). Write it again.") from None
    if path.suffix != ".csv":
        raise InputError(f"A cost matrix must be in a .npy or .csv file, got {path}. Rename or convert it.")
    rows = []
    with path.open(newline="", encoding="utf-8-sig") as file:
        for number, cells in enumerate(csv.reader(file), start=1):
            try:
                rows.append([float(cell) for cell in cells])
            except ValueError:
                raise FileFormatError(
                    f"{path}, line {number}: a cost matrix must hold numbers only, "
                    f"got {','.join(cells)[:60]!r}. Remove headers and names."
                ) from None
            if len(cells) != len(rows[0]):
                raise FileFormatError(
                    f"{path}, line {number}: every line must have {len(rows[0])} cells, got {len(cells)}. "
                    "Look for a missing comma."
                )
    return np.array(rows, dtype=np.float64).reshape(len(rows), -1)

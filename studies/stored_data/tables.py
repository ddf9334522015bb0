"""Tables under $COALFACE_DATA/tabular: CSV files as users have them, with categories as text and empty cells.

The column ``label`` holds the true label, and costs are 0/1. A column of numbers is standardised by the training rows;
an empty cell becomes their median. Any other column has one 0/1 feature per category of the training rows; an empty
cell has none of them. One row in five is test data. A fixed seed chooses these rows, so that every permutation of a
study has the same test data.
"""

import os
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from coalface.data.dataset import CostDataset, TrainTest
from coalface.data.formats.aslib import standardised
from coalface.data.formats.csv_form import csv_rows
from coalface.data.formats.text_lines import spells_number
from coalface.data.labels import label_codes, label_texts, labels_from_text
from coalface.errors import FileFormatError, InputError
from coalface.kernels.words import LARGEST

LABEL = "label"
SUFFIXES = (".csv", ".csv.gz")
_SEED = 0  # of the split


def read_table(path: str | os.PathLike[str], *, name: str | None = None) -> TrainTest:
    r"""The training and test data of a CSV file, plain or ``.gz``.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "pets.csv")
    ...     _ = path.write_text("weight,coat,label\n" + "4,short,cat\n20,long,dog\n,long,dog\n" * 5)
    ...     train, test = read_table(path)
    >>> train, len(test), train.feature_names
    (CostDataset('tabular/pets', 12 examples, 3 features, 2 labels), 3, ('weight', 'coat=long', 'coat=short'))
    """
    source = Path(path)
    columns, labels = _read_columns(source)
    train, test = _split(len(labels))
    classes = np.unique(labels_from_text(sorted(set(labels))))
    try:
        parts = [_encoded(title, texts, train) for title, texts in columns.items()]
        whole = CostDataset(
            np.hstack([np.empty((len(labels), 0)), *(values for _, values in parts)]),
            classes=classes,
            truth=label_codes(labels, np.array(label_texts(classes))),
            cost_matrix=1.0 - np.eye(len(classes)),
            feature_names=[feature for features, _ in parts for feature in features],
            name=f"tabular/{_stem(source)}" if name is None else name,
        )
    except InputError as error:
        raise FileFormatError(f"{source}: {error}") from None
    return TrainTest(whole.subset(train), whole.subset(test))


def _read_columns(source: Path) -> tuple[dict[str, Sequence[str]], Sequence[str]]:
    """The cells of every column but ``label`` by its name, and those of ``label``."""
    lines = csv_rows(source)
    header = next(lines, (1, []))[1]
    rows = [cells for _, cells in lines]
    if LABEL not in header or len(set(header)) < len(header):
        raise FileFormatError(
            f"{source}, line 1: columns must have distinct names, one of them {LABEL!r}, got {header[:20]}. "
            "Rename the columns."
        )
    columns: dict[str, Sequence[str]] = dict(zip(header, zip(*rows, strict=True), strict=bool(rows)))
    labels = columns.pop(LABEL, ())
    if len(set(labels)) < 2 or not all(labels):
        found = sorted(set(labels))[:5]
        raise FileFormatError(f"{source}: every row must have one of at least two labels, got {found}. Check the file.")
    return columns, labels


def _split(n_rows: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Training and test rows in a random order, which is the same in every run."""
    order = np.random.default_rng(_SEED).permutation(n_rows)
    n_test = max(1, round(0.2 * n_rows))
    return order[n_test:], order[:n_test]


def _encoded(title: str, texts: Sequence[str], train: NDArray[np.int64]) -> tuple[list[str], NDArray[np.float64]]:
    """The features of a column, by name and as numbers (n, features)."""
    if all(spells_number(text) for text in texts if text):
        numbers = np.array([float(text or "nan") for text in texts])
        if (too_large := numbers[np.abs(numbers) > LARGEST]).size:
            raise InputError(
                f"The column {title!r} must hold finite numbers of float32, got {too_large[0]}. Correct the cell."
            )
        return [title], standardised(numbers[:, None], train)
    cells = np.array(texts)
    categories = np.unique(cells[train])
    categories = categories[categories != ""]
    return [f"{title}={category}" for category in categories], (cells[:, None] == categories).astype(np.float64)


def _stem(path: Path) -> str:
    return path.name.split(".")[0]

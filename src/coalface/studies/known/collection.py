"""Collections: folders under $COALFACE_DATA with many datasets of one kind, each named ``COLLECTION/NAME``."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from coalface.data.dataset import TrainTest
from coalface.data.formats.aslib import TEST_FOLDS, is_aslib_folder
from coalface.data.formats.npz import read_arrays
from coalface.data.formats.readers import read_train_test
from coalface.studies.known.tables import SUFFIXES, find_tables, read_table, table_sizes

Sizes = tuple[int, int, int] | tuple[None, None, None]


@dataclass(frozen=True)
class Collection:
    """The datasets of one folder.

    ``example`` stands for the name of a dataset where there is none. ``find`` gives the datasets of the folder by name,
    ``sizes`` training rows, test rows and labels, and ``suffixes`` are those of the files.
    """

    name: str
    example: str
    title: str
    suffixes: tuple[str, ...]
    find: Callable[[Path], dict[str, Path]]
    sizes: Callable[[Path], Sizes]
    read: Callable[[Path], TrainTest]

    def found(self, root: Path | None) -> dict[str, Path]:
        """The datasets in the folder of this collection by their full names, in their order; none without a folder."""
        folder = None if root is None else root / self.name
        if folder is None or not folder.is_dir():
            return {}
        return {f"{self.name}/{name}": path for name, path in sorted(self.find(folder).items())}

    def place(self, root: Path, name: str) -> Path | None:
        """Where the dataset of a full name lies; None if it is missing."""
        places = [root / f"{name}{suffix}" for suffix in self.suffixes]
        return next((place for place in places if place.exists()), None)


def _find_scenarios(folder: Path) -> dict[str, Path]:
    packed = {path.stem: path for path in folder.glob("*.npz")}
    return packed | {path.name: path for path in folder.iterdir() if is_aslib_folder(path)}


def _scenario_sizes(path: Path) -> Sizes:
    """The numbers of training rows, test rows and solvers, without reading features or runs."""
    if path.is_dir():
        return None, None, None
    fold, solvers = read_arrays(path, "fold", "algorithms").values()
    n_test = int(np.isin(fold, TEST_FOLDS).sum())
    return len(fold) - n_test, n_test, len(solvers)


_ASLIB = Collection(
    name="aslib",
    example="aslib/SCENARIO",
    title="which solver to run",
    suffixes=("", ".npz"),
    find=_find_scenarios,
    sizes=_scenario_sizes,
    read=read_train_test,
)
_TABULAR = Collection(
    name="tabular",
    example="tabular/TABLE",
    title="rows of a table, 0/1 costs",
    suffixes=SUFFIXES,
    find=find_tables,
    sizes=table_sizes,
    read=read_table,
)
COLLECTIONS = (_ASLIB, _TABULAR)


def collection_of(name: str) -> Collection | None:
    """The collection that a full name belongs to, whether its dataset exists or not.

    >>> collection_of("tabular/segment").title, collection_of("digits")
    ('rows of a table, 0/1 costs', None)
    """
    return next((collection for collection in COLLECTIONS if name.startswith(f"{collection.name}/")), None)

"""Reading files and folders that hold both training and test data."""

import os
import zipfile
from pathlib import Path

from coalface.data.dataset import TrainTest
from coalface.data.known.aslib import read_aslib_npz
from coalface.data.known.aslib_folder import is_aslib_folder, read_aslib_folder
from coalface.data.known.fetching import is_fetched, open_fetched
from coalface.data.known.hierarchy_folder import TREE_FILE, read_hierarchy_folder
from coalface.errors import FileFormatError


def holds_train_test(path: str | os.PathLike[str]) -> bool:
    """Whether ``read_train_test`` reads this path.

    >>> holds_train_test("no such folder")
    False
    """
    source = Path(path)
    return (source / TREE_FILE).is_file() or is_aslib_folder(source) or is_fetched(source) or _is_aslib_npz(source)


def read_train_test(path: str | os.PathLike[str]) -> TrainTest:
    """The training and test data of a path.

    The path is an ASlib scenario (a published folder or an archive), a folder with a label tree and matrices, or a
    folder with the dataset folders ``train`` and ``test``.
    """
    source = Path(path)
    if is_fetched(source):
        return open_fetched(source)
    if (source / TREE_FILE).is_file():
        return read_hierarchy_folder(source)
    if is_aslib_folder(source):
        return read_aslib_folder(source)
    if _is_aslib_npz(source):
        return read_aslib_npz(source)
    raise FileFormatError(
        f"{source} must hold training and test data: an ASlib scenario, a folder with {TREE_FILE}, or a folder with "
        "the dataset folders train and test. Check the path."
    )


def _is_aslib_npz(source: Path) -> bool:
    if source.suffix != ".npz" or not zipfile.is_zipfile(source):
        return False
    with zipfile.ZipFile(source) as archive:
        return {"cost01.npy", "fold.npy"} <= set(archive.namelist())

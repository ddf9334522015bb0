"""Reading and writing datasets in any format, and training with test data; the suffix of a path selects the format."""

import os
import zipfile
from collections.abc import Callable
from difflib import get_close_matches
from inspect import signature
from pathlib import Path
from typing import Any

from coalface.data.dataset import CostDataset, TrainTest
from coalface.data.formats.array_folder import is_dataset_folder
from coalface.data.formats.aslib import is_aslib_folder, read_aslib_folder, read_aslib_npz
from coalface.data.formats.compression import without_packing
from coalface.data.formats.conll import read_conll
from coalface.data.formats.csv_table import read_csv, write_csv
from coalface.data.formats.hierarchy_folder import TREE_FILE, read_hierarchy_folder
from coalface.data.formats.npz import read_npz, write_npz
from coalface.data.formats.records import read_jsonl, read_parquet
from coalface.data.formats.svmlight import read_svmlight
from coalface.data.formats.vw_text import read_vw_text
from coalface.data.formats.vw_writer import write_vw_text
from coalface.errors import FileFormatError, InputError
from coalface.long_work import LongWork

_SUFFIXES = {
    ".vw": "vw",
    ".txt": "vw",
    ".dat": "vw",
    ".svm": "svmlight",
    ".svmlight": "svmlight",
    ".libsvm": "svmlight",
    ".csv": "csv",
    ".tsv": "csv",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".parquet": "parquet",
    ".conll": "conll",
    ".conllu": "conll",
    ".npz": "npz",
}
_READERS: dict[str, Callable[..., CostDataset]] = {
    "vw": read_vw_text,
    "svmlight": read_svmlight,
    "csv": read_csv,
    "jsonl": read_jsonl,
    "parquet": read_parquet,
    "conll": read_conll,
    "npz": read_npz,
    "folder": CostDataset.open,
}
PARTS = ("train", "test")  # the folders of training and test data
TABLES = ("csv", "jsonl", "parquet")  # formats of named columns, which may need an encoder
_LISTS = ("ignore", "keep", "text", "classes", "feature_names")
_WRITERS: dict[str, Callable[[CostDataset, Path], None]] = {
    "vw": write_vw_text,
    "csv": write_csv,
    "npz": write_npz,
    "folder": CostDataset.save,
}


def read_dataset(path: str | os.PathLike[str], format: str = "auto", **options: Any) -> CostDataset:
    r"""The dataset of a file or folder; ``options`` go to the reader of its format.

    Suffixes: ``.vw``, ``.txt``, ``.dat`` (VW), ``.svm``, ``.svmlight``, ``.libsvm``, ``.csv``, ``.tsv``, ``.jsonl``,
    ``.ndjson``, ``.conll``, ``.conllu``, ``.npz``, ``.parquet``. All but the last two may be followed by ``.gz``, and
    all but these and svmlight by ``.zst``. A folder must be one that ``CostDataset.save`` wrote. Use
    ``read_train_test`` for paths that hold both training and test data, and ``read_blocks`` for files that do not fit
    into memory.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     _ = Path(folder, "pets.csv").write_text("weight,kind\n4,cat\n20,dog\n")
    ...     read_dataset(Path(folder, "pets.csv"), label="kind")
    CostDataset('pets', 2 examples, 1 feature, 2 labels)
    """
    source = Path(path)
    chosen = readable_format(source, format, options)
    with LongWork(f"reading {source}", after=3.0):
        return _READERS[chosen](source, **options)


def readable_format(source: Path, format: str, options: dict[str, Any]) -> str:
    """The format of a file or folder; an error if there is none, or if its reader lacks one of the options."""
    if not source.exists():
        raise FileFormatError(f"There is no file or folder {source}. Check the path.")
    if format == "auto" and holds_train_test(source):
        raise InputError(
            f"{source} holds training and test data instead of one dataset. Read it with read_train_test, or "
            "write both with `coalface data convert`."
        )
    chosen = _format(source, _READERS, format)
    check_options(chosen, options)
    return chosen


def format_of(path: str | os.PathLike[str], format: str = "auto") -> str:
    """The format in which ``read_dataset`` reads a path.

    >>> format_of("calls.csv.gz"), format_of("calls")
    ('csv', 'folder')
    """
    return _format(Path(path), _READERS, format)


def write_dataset(dataset: CostDataset, path: str | os.PathLike[str], format: str = "auto") -> None:
    """Write a dataset in the format of the suffix; a name without a suffix becomes a dataset folder.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     write_dataset(CostDataset([[1.0]], [[0.0, 1.0]]), Path(folder, "tiny"))
    ...     read_dataset(Path(folder, "tiny"))
    CostDataset(1 example, 1 feature, 2 labels)
    """
    target = Path(path)
    _WRITERS[_format(target, _WRITERS, format)](dataset, target)


def check_options(chosen: str, options: dict[str, Any]) -> None:
    """Refuse unknown options, and a text where the reader expects a list (it would split it into letters)."""
    possible = list(signature(_READERS[chosen]).parameters)[1:]  # the first parameter is the path
    for option, value in options.items():
        if option not in possible:
            close = get_close_matches(option, possible, n=1)
            hint = f"Did you mean {close[0]!r}? " if close else ""
            raise InputError(
                f"The {chosen} format has no option {option!r}. {hint}The options are {', '.join(possible)}."
            )
        if option in _LISTS and isinstance(value, str):
            items = [item.strip() for item in value.split(",")]
            raise InputError(f"The option {option} must be a list, got the text {value!r}. Pass {option}={items!r}.")


def _format(path: Path, known: dict[str, Any], wanted: str) -> str:
    if wanted == "auto":
        _refuse_hugging_face(path)
        if path.is_dir() or not path.suffix:
            return "folder"
        suffix = without_packing(path).suffix
        wanted = _SUFFIXES.get(suffix.lower(), suffix)
    if wanted not in known:
        listed = ", ".join(suffix for suffix, name in _SUFFIXES.items() if name in known)
        raise InputError(
            f"The format of {path} must be one of {', '.join(known)} (suffixes {listed}), got {wanted!r}. "
            "Pass format= or rename the file.",
            remedy={"format": None},
        )
    return wanted


def _refuse_hugging_face(path: Path) -> None:
    """Raise an InputError for what ``Dataset.save_to_disk`` wrote, and for its Arrow files."""
    part = "['train']" if (path / "dataset_dict.json").is_file() else ""
    if path.suffix == ".arrow":
        load = "Dataset.from_file"
    elif part or (path / "state.json").is_file():
        load = "load_from_disk"
    else:
        return
    raise InputError(
        f"{path} is a dataset of Hugging Face. Write it as Parquet: "
        f"datasets.{load}({path.name!r}){part}.to_parquet('{path.stem}.parquet')."
    )


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

    >>> from tempfile import TemporaryDirectory
    >>> from coalface.data import CostDataset, write_dataset
    >>> with TemporaryDirectory() as folder:
    ...     for part, rows in (("train", [[1.0], [2.0]]), ("test", [[3.0]])):
    ...         write_dataset(CostDataset(rows, [[0.0, 1.0]] * len(rows)), Path(folder, part))
    ...     train, test = read_train_test(folder)
    >>> train.X.shape, test.X.shape
    ((2, 1), (1, 1))
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


def is_fetched(home: Path) -> bool:
    """Whether a folder holds both parts of fetched data."""
    return all(is_dataset_folder(home / part) for part in PARTS)


def open_fetched(home: Path) -> TrainTest:
    """Training and test data, memory-mapped."""
    return TrainTest(*(CostDataset.open(home / part) for part in PARTS))


def _is_aslib_npz(source: Path) -> bool:
    if source.suffix != ".npz" or not zipfile.is_zipfile(source):
        return False
    with zipfile.ZipFile(source) as archive:
        return {"cost01.npy", "fold.npy"} <= set(archive.namelist())

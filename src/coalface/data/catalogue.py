"""Data known by name: bundled with scikit-learn, under the folder $COALFACE_DATA, or fetched into it."""

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path

from coalface.data.aslib import aslib_sizes, read_aslib_npz
from coalface.data.bundled import load_digits, load_table
from coalface.data.dataset import CostDataset, TrainTest
from coalface.data.folders import is_dataset_folder
from coalface.data.hierarchies import read_hierarchy_folder
from coalface.data.images import read_mnist, read_tiny_images
from coalface.errors import InputError

VARIABLE = "COALFACE_DATA"
_ASLIB = "aslib"
_SCENARIO = f"{_ASLIB}/SCENARIO"


@dataclass(frozen=True)
class KnownData:
    """One line of the catalogue; sizes are None where only the data itself could tell them.

    ``origin`` is "bundled", "$COALFACE_DATA" or "fetched"; ``remedy`` says how to get what is not there.
    """

    name: str
    title: str
    origin: str
    there: bool
    n_train: int | None
    n_test: int | None
    n_labels: int | None
    remedy: str = ""


@dataclass(frozen=True)
class _Stored:
    """What a name stands for under $COALFACE_DATA: a folder there, and who reads it."""

    title: str
    folder: str
    sizes: tuple[int, int, int]
    read: Callable[[Path], TrainTest]


@dataclass(frozen=True)
class _Bundled:
    title: str
    sizes: tuple[int, int, int]
    load: Callable[[str], TrainTest]


_BUNDLED = {
    "digits": _Bundled("handwritten digits, 8 x 8 pixels, 0/1 costs", (1297, 500, 10), load_digits),
    "digits-distance": _Bundled("the same with costs |i-j|/9", (1297, 500, 10), load_digits),
    "wine": _Bundled("wines by 13 measurements, 0/1 costs", (125, 53, 3), load_table),
    "breast-cancer": _Bundled("tumours by 30 measurements, 0/1 costs", (398, 171, 2), load_table),
    "iris": _Bundled("flowers by 4 measurements, 0/1 costs", (105, 45, 3), load_table),
}
_STORED = {
    "in20": _Stored(
        "20 classes of images, WordNet costs",
        "tinyimagenet",
        (10_000, 1_000, 20),
        lambda folder: read_tiny_images(folder, "in20", "in20"),
    ),
    "in40": _Stored(
        "40 classes of images, WordNet costs",
        "tinyimagenet",
        (20_000, 2_000, 40),
        lambda folder: read_tiny_images(folder, "in40", "in40"),
    ),
    "tiny200": _Stored(
        "200 classes of images, WordNet costs",
        "tinyimagenet",
        (100_000, 10_000, 200),
        lambda folder: read_tiny_images(folder, "all200", "tiny200"),
    ),
    "rcv1": _Stored(
        "news by topic, costs in the topic tree",
        "rcv1v2_subset",
        (22_155, 5_540, 102),
        lambda folder: read_hierarchy_folder(folder, name="rcv1"),
    ),
    "newsgroups20": _Stored(
        "postings by newsgroup, costs in the tree of names",
        "newsgroups20",
        (11_314, 7_532, 20),
        read_hierarchy_folder,
    ),
    "clinc150": _Stored("requests by intent, costs by domain", "clinc150", (18_000, 4_500, 150), read_hierarchy_folder),
    "mnist": _Stored("handwritten digits, 28 x 28 pixels, 0/1 costs", "mnist", (60_000, 10_000, 10), read_mnist),
}


def load_known(name: str) -> TrainTest:
    """The training and test data of a name in the catalogue; unknown and absent names are one clear line.

    >>> load_known("iris").train
    CostDataset('iris', 105 examples, 4 features, 3 labels)
    >>> load_known("digit")
    Traceback (most recent call last):
    coalface.errors.InputError: There is no data named 'digit'. Did you mean 'digits'?
    """
    if name in _BUNDLED:
        return _BUNDLED[name].load(name)
    _check_known(name)
    root = data_root()
    if root is None:
        raise InputError(f"The data {name!r} is read from the folder ${VARIABLE}, which is not set. {_remedy()}.")
    if _fetched(root, name):
        return TrainTest(*(CostDataset.open(root / name / part) for part in ("train", "test")))
    if not _path(root, name).exists():
        raise InputError(f"The data {name!r} must be at {_path(root, name)}, but is not. {_remedy()}.")
    return _STORED[name].read(_path(root, name)) if name in _STORED else read_aslib_npz(_path(root, name))


def known_data() -> list[KnownData]:
    """All data with a name, whether it is here or not.

    >>> [known.name for known in known_data() if known.origin == "bundled"]
    ['digits', 'digits-distance', 'wine', 'breast-cancer', 'iris']
    """
    bundled = [KnownData(name, entry.title, "bundled", True, *entry.sizes) for name, entry in _BUNDLED.items()]
    root = data_root()
    return [*bundled, *(_stored_line(root, name) for name in _STORED), *_scenario_lines(root)]


def data_root() -> Path | None:
    """The folder that $COALFACE_DATA names; None if it is not set."""
    folder = os.environ.get(VARIABLE)
    return Path(folder) if folder else None


def _check_known(name: str) -> None:
    if name in _STORED or (name.startswith(f"{_ASLIB}/") and name != _SCENARIO and "/" not in name[6:]):
        return
    names = [known.name for known in known_data()]
    close = get_close_matches(name, names, n=3)
    hint = f"Did you mean {', '.join(map(repr, close))}?" if close else "`coalface data list` shows all names."
    raise InputError(f"There is no data named {name!r}. {hint}")


def _path(root: Path, name: str) -> Path:
    return root / (_STORED[name].folder if name in _STORED else f"{name}.npz")


def _fetched(root: Path, name: str) -> bool:
    return all(is_dataset_folder(root / name / part) for part in ("train", "test"))


def _remedy() -> str:
    return f"Set {VARIABLE} to a folder that holds it"


def _stored_line(root: Path | None, name: str) -> KnownData:
    entry = _STORED[name]
    there = root is not None and (_path(root, name).exists() or _fetched(root, name))
    return KnownData(name, entry.title, f"${VARIABLE}", there, *entry.sizes, remedy="" if there else _remedy())


def _scenario_lines(root: Path | None) -> Iterator[KnownData]:
    title, origin = "which solver to run", f"${VARIABLE}"
    files = [] if root is None else sorted((root / _ASLIB).glob("*.npz"))
    for path in files:
        yield KnownData(f"{_ASLIB}/{path.stem}", title, origin, True, *aslib_sizes(path))
    if not files:
        yield KnownData(_SCENARIO, title, origin, False, None, None, None, _remedy())

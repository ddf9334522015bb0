"""The catalogue of named datasets: ``load_known`` loads one by its name, ``known_data`` lists them all."""

import os
import shutil
import warnings
from collections.abc import Callable, Mapping
from contextlib import redirect_stdout
from dataclasses import dataclass
from difflib import get_close_matches
from http.client import HTTPException
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coalface.data import (
    PARTS,
    CostDataset,
    TrainTest,
    holds_train_test,
    is_dataset_folder,
    is_fetched,
    open_fetched,
    read_train_test,
    standardised,
)
from coalface.errors import CoalfaceError, InputError, in_one_line
from coalface.studies.known.downloads import FETCHERS

VARIABLE = "COALFACE_DATA"


def _load_digits(name: str = "digits") -> TrainTest:
    """8 x 8 handwritten digits, brightness between 0 and 1; costs are 0/1, or ``|i-j|/9`` for "digits-distance".

    >>> _load_digits().test
    CostDataset('digits', 500 examples, 64 features, 10 labels)
    >>> _load_digits("digits-distance").train.cost_matrix[9, [0, 9]]
    array([1., 0.], dtype=float32)
    """
    from sklearn import datasets  # slow to import

    pixels, digit = datasets.load_digits(return_X_y=True)
    numbers = np.arange(10)
    distance = np.abs(np.subtract.outer(numbers, numbers)) / 9 if name == "digits-distance" else 1.0 - np.eye(10)
    return _split(name, pixels / 16, digit, numbers, distance, n_test=500)


def _load_table(name: str) -> TrainTest:
    """Standardised features of "wine", "breast-cancer" or "iris", with 0/1 costs; 3 in 10 rows are test data.

    >>> _load_table("iris").train.classes
    array(['setosa', 'versicolor', 'virginica'], dtype='<U10')
    """
    from sklearn import datasets

    found = getattr(datasets, "load_" + name.replace("-", "_"))()
    classes = np.array([str(label) for label in found.target_names])
    names = [str(feature).replace(" ", "_") for feature in found.feature_names]
    n_test = round(0.3 * len(found.target))
    return _split(name, found.data, found.target, classes, 1.0 - np.eye(len(classes)), n_test, names)


def _split(
    name: str,
    X: NDArray[np.float64],
    truth: NDArray[Any],
    classes: NDArray[Any],
    cost_matrix: NDArray[np.float64],
    n_test: int,
    feature_names: list[str] | None = None,
) -> TrainTest:
    """Rows in a fixed random order, the first ``n_test`` as test data; named features are standardised."""
    order = np.random.default_rng(0).permutation(len(truth))
    test, train = order[:n_test], order[n_test:]
    scaled = X if feature_names is None else standardised(X, train)
    whole = CostDataset(
        scaled, classes=classes, truth=truth, cost_matrix=cost_matrix, feature_names=feature_names, name=name
    )
    return TrainTest(whole.subset(train), whole.subset(test))


@dataclass(frozen=True)
class KnownData:
    """One line of the catalogue.

    ``origin`` is "bundled" or "fetched"; ``remedy`` says how to get missing data.

    >>> iris = next(known for known in known_data() if known.name == "iris")
    >>> iris.there, iris.n_train + iris.n_test, iris.n_labels
    (True, 150, 3)
    """

    name: str
    title: str
    origin: str
    there: bool
    n_train: int
    n_test: int
    n_labels: int
    remedy: str = ""


@dataclass(frozen=True)
class _Bundled:
    title: str
    sizes: tuple[int, int, int]
    load: Callable[[str], TrainTest]


_BUNDLED = {
    "digits": _Bundled("handwritten digits, 0/1 costs", (1297, 500, 10), _load_digits),
    "digits-distance": _Bundled("handwritten digits, costs |i-j|/9", (1297, 500, 10), _load_digits),
    "wine": _Bundled("wines, 0/1 costs", (125, 53, 3), _load_table),
    "breast-cancer": _Bundled("tumours, 0/1 costs", (398, 171, 2), _load_table),
    "iris": _Bundled("flowers, 0/1 costs", (105, 45, 3), _load_table),
}


def load_known(name: str) -> TrainTest:
    """The training and test data of a name in the catalogue.

    >>> load_known("iris").train
    CostDataset('iris', 105 examples, 4 features, 3 labels)
    >>> load_known("digit")
    Traceback (most recent call last):
    coalface.errors.InputError: There is no data named 'digit'. Did you mean 'digits'? `coalface ...
    """
    if name in _BUNDLED:
        return _BUNDLED[name].load(name)
    check_known(name)
    root = data_root()
    if root is None or not is_fetched(root / name):
        where = f"the folder that ${VARIABLE} names" if root is None else str(root)
        raise InputError(f"The data {name!r} is not in {where}. Run `{_fetch_command(root, name)}`.")
    return open_fetched(root / name)


def find_train_test(source: Path, format: str = "auto", options: Mapping[str, Any] | None = None) -> TrainTest | None:
    """The training and test data of a known name, or of a path that holds both; None where there is one dataset.

    A path that exists comes before a known name. ``options`` are those of a reader, which neither takes.

    >>> find_train_test(Path("iris")).test
    CostDataset('iris', 45 examples, 4 features, 3 labels)
    """
    known = not source.exists() and not source.suffix
    if format != "auto" or not (known or holds_train_test(source)):
        return None
    if options:
        raise InputError(f"{source} has a format of its own and takes no reader options, got {next(iter(options))}.")
    return load_known(source.as_posix()) if known else read_train_test(source)


def known_data() -> list[KnownData]:
    """All data with a name, whether it is available or not.

    >>> [known.name for known in known_data() if known.origin == "bundled"]
    ['digits', 'digits-distance', 'wine', 'breast-cancer', 'iris']
    """
    bundled = [KnownData(name, entry.title, "bundled", True, *entry.sizes) for name, entry in _BUNDLED.items()]
    return [*bundled, *map(_fetched, FETCHERS)]


def check_known(name: str) -> None:
    """Raise an InputError that suggests similar names unless the name is in the catalogue."""
    if name not in _BUNDLED and name not in FETCHERS:
        close = get_close_matches(name, [*_BUNDLED, *FETCHERS], n=3)
        hint = f"Did you mean {', '.join(map(repr, close))}? " if close else ""
        raise InputError(f"There is no data named {name!r}. {hint}`coalface data list` shows all names.")


def check_fetchable(name: str) -> None:
    """Raise an InputError that says what to do instead unless the data can be fetched.

    >>> check_fetchable("digits")
    Traceback (most recent call last):
    coalface.errors.InputError: The data 'digits' is bundled and needs no fetching. Use it by its name.
    """
    check_known(name)
    if name in _BUNDLED:
        raise InputError(f"The data {name!r} is bundled and needs no fetching. Use it by its name.")


def data_root() -> Path | None:
    """The folder that $COALFACE_DATA names; None if it is not set."""
    folder = os.environ.get(VARIABLE)
    return Path(folder) if folder else None


def _fetch_command(root: Path | None, name: str) -> str:
    """The command that downloads this data; without $COALFACE_DATA it needs a folder."""
    return f"coalface data fetch {name}" + (" --into DIR" if root is None else "")


def _fetched(name: str) -> KnownData:
    """The line of data that is fetched or missing."""
    root, fetcher = data_root(), FETCHERS[name]
    if root is not None and is_fetched(root / name):
        train, test = open_fetched(root / name)
        return KnownData(name, fetcher.title, "fetched", True, len(train), len(test), len(train.classes))
    return KnownData(name, fetcher.title, "fetched", False, *fetcher.sizes, remedy=_fetch_command(root, name))


class FetchError(CoalfaceError, OSError):
    """Data could not be downloaded; nothing was written."""


def fetch(name: str, into: str | os.PathLike[str]) -> TrainTest:
    """Download data and write the dataset folders ``into/name/train`` and ``into/name/test``, or neither.

    >>> fetch("iris", "data")
    Traceback (most recent call last):
    coalface.errors.InputError: The data 'iris' is bundled and needs no fetching. Use it by its name.
    """
    check_fetch(name, into)
    home = Path(into) / name
    found = _downloaded(name)
    try:
        for part, dataset in zip(PARTS, found, strict=True):
            dataset.save(home / part)
    except BaseException:
        for part in PARTS:
            shutil.rmtree(home / part, ignore_errors=True)
        raise
    return open_fetched(home)


def check_fetch(name: str, into: str | os.PathLike[str]) -> None:
    """Raise an InputError before the download if the name cannot be fetched or the folder cannot be written."""
    check_fetchable(name)
    home = Path(into) / name
    if is_fetched(home):
        raise InputError(f"{home} already holds the data. Remove that folder to fetch it again.")
    for part in PARTS:
        if (home / part).exists() and not is_dataset_folder(home / part):
            raise InputError(f"{home / part} is not a dataset, so it was not replaced. Choose another folder.")
    nearest = next(folder for folder in (home, *home.absolute().parents) if folder.exists())
    if not (nearest.is_dir() and os.access(nearest, os.W_OK)):
        raise InputError(f"{home} cannot be created: {nearest} is not a writable folder. Choose another folder.")


def _downloaded(name: str) -> TrainTest:
    try:
        with warnings.catch_warnings(), redirect_stdout(StringIO()):  # scikit-learn prints where it downloads from
            warnings.simplefilter("ignore", UserWarning)  # and warns when it tries again
            return FETCHERS[name].load()
    except (OSError, HTTPException, EOFError) as error:
        reason = in_one_line(error) or type(error).__name__
        raise FetchError(
            f"{name} could not be downloaded ({reason}), and nothing was written. Check the network and try again."
        ) from None

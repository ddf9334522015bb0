"""The catalogue of named datasets: ``load_known`` loads one by its name, ``known_data`` lists them all."""

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from coalface.data.dataset import TrainTest
from coalface.data.formats.readers import holds_train_test, is_fetched, open_fetched, read_train_test
from coalface.errors import InputError
from coalface.studies.known.sklearn_bundled import load_digits, load_table
from coalface.studies.known.sklearn_downloads import FETCHERS

VARIABLE = "COALFACE_DATA"


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
    "digits": _Bundled("handwritten digits, 0/1 costs", (1297, 500, 10), load_digits),
    "digits-distance": _Bundled("handwritten digits, costs |i-j|/9", (1297, 500, 10), load_digits),
    "wine": _Bundled("wines, 0/1 costs", (125, 53, 3), load_table),
    "breast-cancer": _Bundled("tumours, 0/1 costs", (398, 171, 2), load_table),
    "iris": _Bundled("flowers, 0/1 costs", (105, 45, 3), load_table),
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

"""The catalogue of named datasets: ``load_known`` loads one by its name, ``known_data`` lists them all."""

import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from scipy.sparse import csr_array

from coalface.data.dataset import CostDataset, TrainTest
from coalface.data.formats.conll import read_conll_parts
from coalface.data.formats.hierarchy_folder import read_hierarchy_folder
from coalface.data.formats.readers import holds_train_test, is_fetched, open_fetched, read_train_test
from coalface.errors import InputError
from coalface.studies.known.collection import COLLECTIONS, Collection, collection_of
from coalface.studies.known.images import read_mnist, read_tiny_images
from coalface.studies.known.sklearn_bundled import load_digits, load_table
from coalface.studies.known.sklearn_downloads import FETCHERS

VARIABLE = "COALFACE_DATA"
_SET = f"set {VARIABLE} to a folder that holds it"


@dataclass(frozen=True)
class KnownData:
    """One line of the catalogue; sizes are None if they are unknown without reading the data.

    ``origin`` is "bundled", "$COALFACE_DATA" or "fetched"; ``remedy`` says how to get missing data.

    >>> iris = next(known for known in known_data() if known.name == "iris")
    >>> iris.there, iris.n_train + iris.n_test, iris.n_labels
    (True, 150, 3)
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
    """Data under $COALFACE_DATA: its folder, its size (training rows, test rows, labels) and its reader."""

    title: str
    folder: str
    sizes: tuple[int, int, int]
    read: Callable[[Path], TrainTest]


@dataclass(frozen=True)
class _Bundled:
    title: str
    sizes: tuple[int, int, int]
    load: Callable[[str], TrainTest]


def _images(name: str, subset: str, n_labels: int, held: str, title: str) -> _Stored:
    """Images of Tiny ImageNet: 500 to train with and 50 to test with per label."""
    sizes = (500 * n_labels, 50 * n_labels, n_labels)
    return _Stored(title, "tinyimagenet", sizes, lambda folder: read_tiny_images(folder, subset, name, held=held))


def _words(
    name: str, title: str, folder: str, sizes: tuple[int, int, int], files: str = "{}", tag: int | None = None
) -> _Stored:
    """Words of tagged sentences, in one file to train with and one to test with."""
    train, test = (f"{files.format(part)}.conll.gz" for part in ("train", "test"))
    return _Stored(
        title, folder, sizes, lambda place: read_conll_parts(place / train, place / test, tag=tag, name=name)
    )


def _reduced(problem: TrainTest, n_features: int) -> TrainTest:
    """The same examples in the leading directions of the training rows (truncated SVD, without centring)."""
    from sklearn.decomposition import TruncatedSVD

    directions = TruncatedSVD(n_features, random_state=0).fit(problem.train.X)
    return TrainTest(*(_projected(part, directions.transform(part.X)) for part in problem))


def _projected(part: CostDataset, X: Any) -> CostDataset:
    name = f"{part.name}-{X.shape[1]}" if part.name else ""
    return part.with_fields(X=csr_array(X.astype("float32")), feature_names=None, name=name)


_BUNDLED = {
    "digits": _Bundled("handwritten digits, 0/1 costs", (1297, 500, 10), load_digits),
    "digits-distance": _Bundled("handwritten digits, costs |i-j|/9", (1297, 500, 10), load_digits),
    "wine": _Bundled("wines, 0/1 costs", (125, 53, 3), load_table),
    "breast-cancer": _Bundled("tumours, 0/1 costs", (398, 171, 2), load_table),
    "iris": _Bundled("flowers, 0/1 costs", (105, 45, 3), load_table),
}
_TREE, _POOLED = "images, costs in the WordNet tree", "images, pooled to 1,280 features"
_NAMES = "words by kind of name, 0/1 costs"
_PENN_TAGS = 1  # a column; the universal tags are in the last one
_STORED = {
    "in20": _images("in20", "in20", 20, "in40", _TREE),
    "in40": _images("in40", "in40", 40, "in40", _TREE),
    "in20-1280": _images("in20-1280", "in20", 20, "all200", _POOLED),
    "in40-1280": _images("in40-1280", "in40", 40, "all200", _POOLED),
    "tiny200": _images("tiny200", "all200", 200, "all200", _TREE),
    "rcv1": _Stored(
        "news by topic, tree costs",
        "rcv1v2_subset",
        (22_155, 5_540, 102),
        lambda folder: read_hierarchy_folder(folder, name="rcv1"),
    ),
    "newsgroups20": _Stored(
        "postings by newsgroup, tree costs", "newsgroups20", (11_314, 7_532, 20), read_hierarchy_folder
    ),
    "clinc150": _Stored("requests by intent, tree costs", "clinc150", (18_000, 4_500, 150), read_hierarchy_folder),
    "clinc150-256": _Stored(
        "requests, reduced to 256 features",
        "clinc150",
        (18_000, 4_500, 150),
        lambda folder: _reduced(read_hierarchy_folder(folder), 256),
    ),
    "mnist": _Stored("handwritten digits, 0/1 costs", "mnist", (60_000, 10_000, 10), read_mnist),
    "conll2003": _words("conll2003", _NAMES, "conll2003_ner", (203_621, 46_435, 9)),
    "wikineural": _words("wikineural", _NAMES, "wikineural_en_ner", (480_589, 54_405, 9)),
    "ud-ewt": _words(
        "ud-ewt",
        "words by part of speech, 0/1 costs",
        "ud_english_pos",
        (204_577, 25_094, 49),
        files="ewt-{}",
        tag=_PENN_TAGS,
    ),
}


def load_known(name: str) -> TrainTest:
    """The training and test data of a name in the catalogue.

    Fetched data takes precedence over other data of the same name in $COALFACE_DATA.

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
    if root is None:
        raise InputError(f"The data {name!r} is read from the folder ${VARIABLE}, which is not set. {_remedy(name)}")
    if is_fetched(root / name):
        return open_fetched(root / name)
    place = _place(root, name)
    if place is None:
        raise _absent(root, name)
    collection = collection_of(name)
    return _STORED[name].read(place) if collection is None else collection.read(place)


def find_train_test(source: Path, format: str = "auto", options: Mapping[str, Any] | None = None) -> TrainTest | None:
    """The training and test data of a known name, or of a path that holds both; None where there is one dataset.

    A path that exists comes before a known name. ``options`` are those of a reader, which neither takes.

    >>> find_train_test(Path("iris")).test
    CostDataset('iris', 45 examples, 4 features, 3 labels)
    """
    known = not source.exists() and (_is_known(source.as_posix()) or not source.suffix)
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
    root = data_root()
    collected = [known for collection in COLLECTIONS for known in _members(root, collection)]
    return [*bundled, *(_line(root, name) for name in {**_STORED, **FETCHERS}), *collected]


def _is_known(name: str) -> bool:
    """Whether a name is in the catalogue; every name that begins with ``aslib/`` or ``tabular/`` is.

    >>> _is_known("rcv1"), _is_known("calls.csv")
    (True, False)
    """
    return name in _BUNDLED or name in _STORED or name in FETCHERS or collection_of(name) is not None


def check_known(name: str) -> None:
    """Raise an InputError that suggests similar names unless the name is in the catalogue."""
    if not _is_known(name):
        raise _unknown(name)


def check_fetchable(name: str) -> None:
    """Raise an InputError that says what to do instead unless the data can be fetched.

    >>> check_fetchable("digits")
    Traceback (most recent call last):
    coalface.errors.InputError: The data 'digits' is bundled and needs no fetching. Use it by its name.
    """
    if name in FETCHERS:
        return
    check_known(name)
    if name in _BUNDLED:
        raise InputError(f"The data {name!r} is bundled and needs no fetching. Use it by its name.")
    raise InputError(f"Only {', '.join(FETCHERS)} can be fetched, got {name!r}. {_remedy(name)}")


def data_root() -> Path | None:
    """The folder that $COALFACE_DATA names; None if it is not set."""
    folder = os.environ.get(VARIABLE)
    return Path(folder) if folder else None


def _absent(root: Path, name: str) -> InputError:
    collection = collection_of(name)
    if collection is not None and (root / collection.name).is_dir():
        return _unknown(name)  # others of its kind are there, so the name is probably misspelled
    return InputError(f"The data {name!r} is not in the folder {root} that ${VARIABLE} names. {_remedy(name)}")


def _unknown(name: str) -> InputError:
    close = get_close_matches(name, [known.name for known in known_data()], n=3)
    hint = f"Did you mean {', '.join(map(repr, close))}? " if close else ""
    return InputError(f"There is no data named {name!r}. {hint}`coalface data list` shows all names.")


def _place(root: Path, name: str) -> Path | None:
    """Where data lies that was not fetched; None if it is missing."""
    collection = collection_of(name)
    if collection is not None:
        return collection.place(root, name)
    folder = root / _STORED[name].folder if name in _STORED else None
    return folder if folder is not None and folder.exists() else None


def _remedy(name: str) -> str:
    fetch = f", or run `{_fetch_command(data_root(), name)}`" if name in FETCHERS else ""
    return f"S{_SET[1:]}{fetch}."


def _fetch_command(root: Path | None, name: str) -> str:
    """The command that downloads this data; without $COALFACE_DATA it needs a folder."""
    return f"coalface data fetch {name}" + (" --into DIR" if root is None else "")


def _line(root: Path | None, name: str) -> KnownData:
    """The line of data that is stored, fetched or missing."""
    if root is not None and is_fetched(root / name):
        train, test = open_fetched(root / name)
        return KnownData(name, FETCHERS[name].title, "fetched", True, len(train), len(test), len(train.classes))
    if root is not None and _place(root, name) is not None:
        return KnownData(name, _STORED[name].title, f"${VARIABLE}", True, *_STORED[name].sizes)
    if name in FETCHERS:
        fetcher = FETCHERS[name]
        return KnownData(name, fetcher.title, "fetched", False, *fetcher.sizes, remedy=_fetch_command(root, name))
    return KnownData(name, _STORED[name].title, f"${VARIABLE}", False, *_STORED[name].sizes, remedy=_SET)


def _members(root: Path | None, collection: Collection) -> Iterator[KnownData]:
    """One line per dataset of a collection, or one line for all of them if there is none."""
    origin, found = f"${VARIABLE}", collection.found(root)
    for name, path in found.items():
        yield KnownData(name, collection.title, origin, True, *collection.sizes(path))
    if not found:
        yield KnownData(collection.example, collection.title, origin, False, None, None, None, remedy=_SET)

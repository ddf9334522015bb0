"""The pool: the examples of a project in memory-mapped files, so that a million of them take little memory."""

import json
import shutil
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, vstack

from coalface.data import Encoder, Examples, checked_examples
from coalface.desk.log.events import ADDED
from coalface.desk.project.features import Content, encoded, thumbnails
from coalface.desk.project.pool_files import ARRAYS, DTYPES, GROWING, IMAGES, LINES, Sizes, append, hash_of, line_of
from coalface.desk.project.sources import ColumnRoles, GivenExample, content_of
from coalface.errors import FileFormatError, InputError, UnknownIdError, in_one_line, listed, shortened
from coalface.rounds import Event, EventLog

_FIRST = 1000  # examples whose fields stand for those of the pool
_NOTHING = Sizes(0, 0, 0)
_ADDED = 0xADD  # of random numbers: the order of added examples


class ExampleFiles:
    """The examples in a folder whose files have this prefix, up to these sizes."""

    def __init__(self, folder: Path, sizes: Sizes, prefix: str = "") -> None:
        self._folder, self._prefix, self.sizes = folder, prefix, sizes
        kept = ARRAYS if prefix else DTYPES
        self.arrays = {name: self._array(name, np.dtype(dtype)) for name, dtype in kept.items()}
        lines = self._path(LINES, sizes.bytes)
        self.lines = np.memmap(lines, np.uint8, "r", shape=(sizes.bytes,)) if sizes.bytes else np.zeros(0, np.uint8)

    def __len__(self) -> int:
        return self.sizes.examples

    def text(self, place: int) -> bytes:
        """The line of an example, as it is in the file."""
        starts = self.arrays["starts"]
        return self.lines[starts[place] : starts[place + 1]].tobytes()

    def rows(self, places: NDArray[np.int64], width: int) -> Examples:
        """The features of these examples."""
        indptr = self.arrays["indptr"]
        starts, lengths = indptr[places], indptr[places + 1] - indptr[places]
        ends = np.concatenate([[0], np.cumsum(lengths)])
        cells = np.repeat(starts - ends[:-1], lengths) + np.arange(ends[-1])
        X: Examples = csr_array(
            (self.arrays["values"][cells], self.arrays["columns"][cells], ends), shape=(len(places), width)
        )
        return X

    def _array(self, name: str, dtype: np.dtype[Any]) -> NDArray[Any]:
        n = self.sizes.numbers_in(name)
        file = self._path(f"{name}.bin", n * dtype.itemsize)
        return np.memmap(file, dtype, "r", shape=(n,)).view(np.ndarray) if n else np.zeros(0, dtype)

    def _path(self, name: str, n_bytes: int) -> Path:
        """The path of a file; files that grow may be longer than what counts, but no file may be shorter."""
        path = self._folder / f"{self._prefix}{name}"
        found = path.stat().st_size if path.exists() else 0
        if found < n_bytes or (found > n_bytes and not self._prefix):
            raise FileFormatError(f"{path} must have {n_bytes:,} bytes, it has {found:,}. Restore it from a copy.")
        return path


class Pool:
    """The pool in a folder; the ``place`` of an example is its number, counted from 0.

    >>> from coalface.desk.project.pool_files import write_pool
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     write_pool(Path(folder), [GivenExample("a", {"kind": "text", "text": "hello"})], None, seed=0)
    ...     pool = Pool(Path(folder))
    ...     len(pool), pool.example_id(0), pool.place("a"), pool.content(0)["text"]
    (1, 'a', 0, 'hello')
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        try:
            meta = json.loads((folder / "pool.json").read_text(encoding="utf-8"))
            self.width, self.kind, self.given_vectors = int(meta["width"]), str(meta["kind"]), bool(meta["vectors"])
            self.encoder = None if meta.get("encoder") is None else Encoder.from_plain(meta["encoder"])
            self.columns = ColumnRoles.from_plain(meta.get("columns", {}))
            self._first = ExampleFiles(folder, Sizes.of(meta))
        except FileFormatError:
            raise
        except InputError as problem:  # such as weights that are not on this machine
            raise FileFormatError(f"{folder} cannot be opened: {in_one_line(problem)}.") from None
        except (OSError, ValueError, KeyError, TypeError) as problem:
            raise FileFormatError(f"{folder} must be the pool of a project ({problem}). Restore it.") from None
        self.index = self._first.arrays
        self.order: NDArray[Any] = self.index["order"]
        self._added: ExampleFiles | None = None
        self._added_ids: dict[str, int] = {}

    def __len__(self) -> int:
        return len(self._first) + self.added.examples

    def rows(self, places: NDArray[np.int64]) -> Examples:
        """The features of these examples."""
        n, old = len(self._first), places < len(self._first)
        if self._added is None or old.all():
            return self._first.rows(places, self.width)
        new = self._added.rows(places[~old] - n, self.width)
        return _in_order(old, self._first.rows(places[old], self.width), new)

    @property
    def parts(self) -> list[ExampleFiles]:
        """The files that ``init`` wrote and, if there are some, those that grow."""
        return [self._first] if self._added is None else [self._first, self._added]

    # -- examples that are added later -----------------------------------------------------------

    @property
    def added(self) -> Sizes:
        """The sizes of the files that grow."""
        return _NOTHING if self._added is None else self._added.sizes

    def append(self, examples: Sequence[GivenExample], X: Any) -> Sizes:
        """Write examples to the files that grow; they do not count before ``grow``. The sizes with them."""
        for place, given in enumerate(examples, len(self)):
            if given.file is not None:
                (self.folder / IMAGES).mkdir(exist_ok=True)
                given.content["file"] = f"{place:07d}{given.file.suffix.lower()}"
                shutil.copyfile(given.file, self.folder / IMAGES / given.content["file"])
        X.sum_duplicates()
        return append(self.folder, self.added, [line_of(given) for given in examples], X)

    def grow(self, event: Mapping[str, Any]) -> None:
        """Count the examples that an "added" event names; one that is known already changes nothing."""
        try:
            sizes, n, after, first = Sizes.of(event), int(event["n"]), int(event["after"]), len(self)
        except (KeyError, TypeError, ValueError) as problem:
            raise FileFormatError(f"The log says wrongly how {self.folder} grew ({problem!r}). Restore it.") from None
        if sizes.examples <= self.added.examples:
            return
        if sizes.examples != self.added.examples + n or min(sizes) < 0 or not 0 <= after <= first:
            raise FileFormatError(f"The log says wrongly how {self.folder} grew ({dict(event)!r:.80}). Restore it.")
        grown, new = ExampleFiles(self.folder, sizes, prefix=GROWING), np.arange(first, first + n)
        if not event.get("in_order"):
            new = np.random.default_rng([int(event["seed"]), _ADDED, first]).permutation(new)
        names = (json.loads(grown.text(place))["id"] for place in range(sizes.examples - n, sizes.examples))
        self._added_ids |= {str(name): place for place, name in enumerate(names, first)}
        self._added = grown
        self.order = np.concatenate([self.order[:after], new, self.order[after:]])
        self.__dict__.pop("_turns", None)

    def follow(self, events: Iterable[Event]) -> None:
        """Count the examples that these events of the log add, most of which add none."""
        for event in events:
            if event.kind == ADDED:
                self.grow(event.body)

    def grown(self, log: EventLog) -> "Pool":
        """The pool with all examples that the log has."""
        self.follow(log.read(kinds=[ADDED]))
        return self

    def rows_like(self, contents: Sequence[Content]) -> Examples:
        """The features of new examples, made as those of the pool; an InputError if an example has other fields."""
        for content in contents:
            unknown = () if self.fields is None else content.get("cells", {}).keys() - self.fields
            if content["kind"] != self.kind or unknown:
                have = [(*self.columns.text, self.kind)[0]] * (self.kind != "table") + sorted(self.fields or ())
                raise InputError(
                    f"An example must have the fields of the project's examples, {listed(have)}, got "
                    f"{shortened({name: value for name, value in content.items() if name != 'kind'})}. Correct its "
                    "keys."
                )
        if self.kind == "image":
            return thumbnails(contents, self.folder / IMAGES)
        return encoded(self.encoder, contents, self.columns)

    def rows_of(self, examples: Sequence[Mapping[str, Any]]) -> Examples:
        """The features of examples: of the pool, given by "id" alone, or new ones as ``init`` reads them."""
        of_pool = np.array([isinstance(example, Mapping) and set(example) == {"id"} for example in examples], np.bool_)
        ids = [str(example["id"]) for example, old in zip(examples, of_pool, strict=True) if old]
        known = self.rows(np.array([self.place(name) for name in ids], np.int64))
        if of_pool.all():
            return known
        others = [example for example, old in zip(examples, of_pool, strict=True) if not old]
        if self.given_vectors or self.kind == "image":
            return _in_order(of_pool, known, self._given_rows(others))
        return _in_order(of_pool, known, self.rows_like([content_of(one, self.columns)[1] for one in others]))

    def _given_rows(self, examples: Sequence[Mapping[str, Any]]) -> Examples:
        """Examples that come with their features."""
        for example in examples:
            if not isinstance(example, Mapping) or not {"features"} <= set(example) <= {"id", "features"}:
                raise InputError(
                    f'Each example must have "features", a list of numbers, or only an "id" of the pool, got '
                    f"{shortened(example)}. Correct it."
                )
        try:
            X = checked_examples([example["features"] for example in examples])
        except TypeError:
            raise InputError('"features" must be a list of numbers. Correct it.') from None
        if X.shape[1] != self.width:
            raise InputError(f'"features" must have {self.width} numbers, got {X.shape[1]}. Send that many.')
        return X

    # -- single examples -------------------------------------------------------------------------

    def example_id(self, place: int) -> str:
        """The id that the user gave an example."""
        return str(self._line(place)["id"])

    def content(self, place: int) -> dict[str, Any]:
        """The content of an example, as annotators see it."""
        return dict(self._line(place)["content"])

    def turn(self, place: int) -> int:
        """The place of an example in the order of decisions, counted from 1."""
        return int(self._turns[place]) + 1

    @cached_property
    def _turns(self) -> NDArray[np.int64]:
        turns = np.empty(len(self.order), np.int64)
        turns[self.order] = np.arange(len(self.order))
        return turns

    @cached_property
    def fields(self) -> frozenset[str] | None:
        """The columns of the examples; None if the first of them do not all have the same."""
        found = {frozenset(self.content(place).get("cells", ())) for place in range(min(len(self), _FIRST))}
        return next(iter(found)) if len(found) == 1 else None

    def place(self, example_id: str) -> int:
        """The place of the example with this id."""
        found = self._find(example_id)
        if found is None:
            raise UnknownIdError(f"There is no example {example_id!r} in the pool. Check the id, or add the example.")
        return found

    def has(self, example_id: str) -> bool:
        """Whether the pool has an example with this id."""
        return self._find(example_id) is not None

    def _find(self, example_id: str) -> int | None:
        hashes, key = self.index["id_hashes"], hash_of(example_id)
        first, end = np.searchsorted(hashes, key), np.searchsorted(hashes, key, "right")
        alike: list[int] = self.index["id_places"][first:end].tolist()
        return next((place for place in alike if self.example_id(place) == example_id), self._added_ids.get(example_id))

    def text(self, place: int) -> bytes:
        """The line of an example, id and content, as it is in the file."""
        n = len(self._first)
        return self._first.text(place) if place < n or self._added is None else self._added.text(place - n)

    def image(self, place: int) -> Path:
        """The file of an image."""
        return self.folder / IMAGES / Path(self.content(place)["file"]).name

    def _line(self, place: int) -> Any:
        return json.loads(self.text(place))


def _in_order(old: NDArray[np.bool_], known: Examples, new: Examples) -> Examples:
    """The known rows where ``old`` is true, the new ones elsewhere."""
    order = np.empty(len(old), np.int64)
    order[old], order[~old] = np.arange(old.sum()), np.arange(old.sum(), len(old))
    X: Examples = vstack([known, new], format="csr")[order]
    return X

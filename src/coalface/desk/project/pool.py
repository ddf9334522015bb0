"""The pool: the examples of a project in memory-mapped files, so that a million of them take little memory.

``examples.jsonl`` has a line per example. The other files are arrays: the starts of the lines, the features, the order
in which the examples are decided, and the ids by their hashes. Examples that are added later are in files of their own,
which grow; the log says how far they count.
"""

import json
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from hashlib import blake2b
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import vstack

from coalface.data.embedding.embedder import SentenceEmbedder
from coalface.data.encoding.encoder import Encoder
from coalface.data.rows import Examples
from coalface.desk.log.events import ADDED
from coalface.desk.project.columns import ColumnRoles
from coalface.desk.project.example_files import DTYPES, GROWING, LINES, ExampleFiles, Sizes, append
from coalface.desk.project.features import SAMPLE, SIDE, Content, encoded, new_encoder, thumbnails
from coalface.desk.project.sources import GivenExample
from coalface.errors import FileFormatError, InputError, UnknownIdError, in_one_line, listed, shortened
from coalface.rounds.event_log import Event, EventLog

_USUAL = ColumnRoles()
IMAGES = "images"  # the folder of the files of images
_BLOCK = 2000  # examples turned into features at a time
_FIRST = 1000  # examples whose fields stand for those of the pool
_INDEX = {"order": "<i4", "id_hashes": "<u8", "id_places": "<i4"}
_ARRAYS = DTYPES | _INDEX
_NOTHING = Sizes(0, 0, 0)
_ADDED = 0xADD  # of random numbers: the order of added examples


class Pool:
    """The pool in a folder; the ``place`` of an example is its number, counted from 0.

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
            self.index = {name: _mapped(folder / name, dtype) for name, dtype in _INDEX.items()}
            self._first = ExampleFiles(folder, Sizes.of(meta))
        except FileFormatError:
            raise
        except InputError as problem:  # such as weights that are not on this machine
            raise FileFormatError(f"{folder} cannot be opened: {in_one_line(problem)}.") from None
        except (OSError, ValueError, KeyError, TypeError) as problem:
            raise FileFormatError(f"{folder} must be the pool of a project ({problem}). Restore it.") from None
        for name, found in self.index.items():
            _refuse_size(folder / f"{name}.bin", len(self._first) * found.itemsize)
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
        parts = [self._first.rows(places[old], self.width), self._added.rows(places[~old] - n, self.width)]
        order = np.empty(len(places), np.int64)
        order[old], order[~old] = np.arange(old.sum()), np.arange(old.sum(), len(places))
        X: Examples = vstack(parts, format="csr")[order]
        return X

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
        return append(self.folder, self.added, [_line(given) for given in examples], X)

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
        self._added_ids |= {str(grown.line(place - len(self._first))["id"]): place for place in range(first, first + n)}
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
        hashes = self.index["id_hashes"]
        first = int(np.searchsorted(hashes, key := _hash(example_id)))
        while first < len(hashes) and hashes[first] == key:
            place = int(self.index["id_places"][first])
            if self.example_id(place) == example_id:
                return place
            first += 1
        if example_id in self._added_ids:
            return self._added_ids[example_id]
        raise UnknownIdError(f"There is no example {example_id!r} in the pool. Check the id, or add the example.")

    def text(self, place: int) -> bytes:
        """The line of an example, id and content, as it is in the file."""
        return self._files(place).text(place - self._start(place))

    def has(self, example_id: str) -> bool:
        """Whether the pool has an example with this id."""
        try:
            self.place(example_id)
        except UnknownIdError:
            return False
        return True

    def image(self, place: int) -> Path:
        """The file of an image."""
        return self.folder / IMAGES / Path(self.content(place)["file"]).name

    def _line(self, place: int) -> Any:
        return self._files(place).line(place - self._start(place))

    def _files(self, place: int) -> ExampleFiles:
        return self._first if place < len(self._first) or self._added is None else self._added

    def _start(self, place: int) -> int:
        return 0 if place < len(self._first) else len(self._first)


def _mapped(path: Path, dtype: str) -> NDArray[Any]:
    file, number = path.with_suffix(".bin"), np.dtype(dtype)
    n = file.stat().st_size // number.itemsize
    return np.memmap(file, number, "r", shape=(n,)).view(np.ndarray) if n else np.zeros(0, number)


def _line(given: GivenExample) -> bytes:
    plain = {"id": given.id, "content": given.content}
    return json.dumps(plain, ensure_ascii=False).encode("utf-8", "surrogatepass") + b"\n"


def _refuse_size(path: Path, wanted: int) -> None:
    found = path.stat().st_size
    if found != wanted:
        raise FileFormatError(f"{path} must have {wanted:,} bytes, it has {found:,}. Restore it from a copy.")


def _hash(example_id: str) -> np.uint64:
    return np.uint64(
        int.from_bytes(blake2b(example_id.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "little")
    )


def write_pool(
    folder: Path,
    examples: Iterable[GivenExample],
    vectors: "Examples | None",
    seed: int,
    embed: SentenceEmbedder | None = None,
    *,
    columns: ColumnRoles = _USUAL,
    in_order: bool = False,
) -> None:
    """Write the examples and their features, computed from their content unless ``vectors`` are given.

    ``embed`` turns texts into vectors; ``columns`` are the roles with which the examples were read. Examples are
    decided in random order or, if ``in_order``, in the order given.
    """
    folder.mkdir(parents=True, exist_ok=True)
    writer = _Writer(folder, vectors, embed, columns)
    try:
        for block in _blocks(examples):
            writer.add(block)
        writer.finish(seed, in_order=in_order)
    finally:
        writer.close()


class _Writer:
    def __init__(
        self, folder: Path, vectors: "Examples | None", embed: SentenceEmbedder | None, columns: ColumnRoles
    ) -> None:
        self.folder, self.vectors, self.embed, self.columns = folder, vectors, embed, columns
        self.kind: str | None = None
        self.n = self.filled = self.bytes = 0
        self.hashes: list[NDArray[np.uint64]] = []
        self.files: dict[str, BinaryIO] = {
            name: (folder / f"{name}.bin").open("wb") for name in ("starts", "indptr", "columns", "values")
        }
        self.lines = (folder / LINES).open("w+b")
        self.starts = [0]
        self.encoder: Encoder | None = None
        self._put("starts", [0])
        self._put("indptr", [0])

    def add(self, block: list[GivenExample]) -> None:
        self._check_kind(block)
        for given in block:
            if given.file is not None:
                (self.folder / IMAGES).mkdir(exist_ok=True)
                shutil.copyfile(given.file, self.folder / IMAGES / given.content["file"])
        ends = []
        for given in block:
            self.bytes += self.lines.write(_line(given))
            ends.append(self.bytes)
        self._put("starts", ends)
        self.starts += ends
        self.hashes.append(np.array([_hash(given.id) for given in block], np.uint64))
        if self.vectors is not None or self.kind == "image":
            self._put_rows(self._vectors_of(block))
        self.n += len(block)

    def _vectors_of(self, block: list[GivenExample]) -> Any:
        if self.vectors is None:
            return thumbnails([given.content for given in block], self.folder / IMAGES, [given.file for given in block])
        X = self.vectors[self.n : self.n + len(block)]
        if X.shape[0] < len(block):
            raise InputError(
                f"features must have a row per example, got {self.vectors.shape[0]} rows for more examples. "
                "Add the missing rows."
            )
        return X

    def _put_rows(self, X: Any) -> None:
        X.sum_duplicates()
        if not np.isfinite(X.data).all():
            raise InputError("features must be finite 32-bit numbers. Impute or drop missing values first.")
        self._put("indptr", X.indptr[1:].astype(np.int64) + self.filled)
        self._put("columns", X.indices)
        self._put("values", X.data)
        self.filled += X.nnz

    def _encode(self, shuffled: NDArray[np.int64]) -> None:
        """Encode all contents; the first of the shuffled ones decide how, because they are a random sample."""
        sample = [self._content(place) for place in shuffled[:SAMPLE].tolist()]
        self.encoder = new_encoder(sample, self.embed, self.columns)
        for start in range(0, self.n, _BLOCK):
            contents = [self._content(place) for place in range(start, min(start + _BLOCK, self.n))]
            self._put_rows(encoded(self.encoder, contents, self.columns))

    def _content(self, place: int) -> dict[str, Any]:
        self.lines.seek(self.starts[place])
        return dict(json.loads(self.lines.read(self.starts[place + 1] - self.starts[place]))["content"])

    def _check_kind(self, block: list[GivenExample]) -> None:
        for given in block:
            kind = given.content["kind"]
            self.kind = self.kind or kind
            if kind != self.kind:
                raise InputError(
                    f"All examples must be of one kind, {self.kind}, got {given.id!r} of kind {kind}. Leave it out."
                )

    def finish(self, seed: int, *, in_order: bool) -> None:
        if not self.n:
            raise InputError("There must be at least one example, got none. Check the file of the examples.")
        if self.vectors is not None and self.vectors.shape[0] != self.n:
            raise InputError(
                f"features must have a row per example, {self.n}, got {self.vectors.shape[0]}. "
                "Leave out the other rows."
            )
        hashes = np.concatenate(self.hashes)
        places = np.argsort(hashes, kind="stable")
        shuffled = np.random.Generator(np.random.PCG64(seed)).permutation(self.n)
        order = np.arange(self.n) if in_order else shuffled
        if self.vectors is None and self.kind != "image":
            self._encode(shuffled)
        self._refuse_repeated(hashes[places], places)
        for name, array in (("id_hashes", hashes[places]), ("id_places", places), ("order", order)):
            (self.folder / f"{name}.bin").write_bytes(np.ascontiguousarray(array, _ARRAYS[name]).tobytes())
        sizes = {"examples": self.n, "cells": self.filled, "bytes": self.bytes}
        meta: dict[str, Any] = {"width": self._width(), "kind": self.kind, "vectors": self.vectors is not None, **sizes}
        if self.columns != _USUAL:
            meta["columns"] = self.columns.plain()
        if self.encoder is not None:
            meta["encoder"] = self.encoder.plain()
        (self.folder / "pool.json").write_text(json.dumps(meta), encoding="utf-8")

    def _width(self) -> int:
        if self.vectors is not None:
            return int(self.vectors.shape[1])
        if self.kind == "image":
            return SIDE * SIDE * 3
        return 1 if self.encoder is None else self.encoder.width

    def _refuse_repeated(self, hashes: NDArray[np.uint64], places: NDArray[np.int64]) -> None:
        self.close()
        for first in np.flatnonzero(hashes[1:] == hashes[:-1]).tolist():
            names = [self._name(int(places[first + k])) for k in (0, 1)]
            if names[0] == names[1]:
                raise InputError(f"Ids must be distinct, got {names[0]!r} twice. Remove or rename one of the examples.")

    def _name(self, place: int) -> Any:
        with (self.folder / LINES).open("rb") as file:
            return json.loads(next(islice(file, place, None)))["id"]

    def _put(self, name: str, numbers: Any) -> None:
        self.files[name].write(np.ascontiguousarray(numbers, _ARRAYS[name]).tobytes())

    def close(self) -> None:
        for file in (self.lines, *self.files.values()):
            file.close()


def _blocks(examples: Iterable[GivenExample]) -> Iterator[list[GivenExample]]:
    remaining = iter(examples)
    while block := list(islice(remaining, _BLOCK)):
        yield block

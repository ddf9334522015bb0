"""The pool: the examples of a project in memory-mapped files, so that a million of them take little memory.

``examples.jsonl`` has a line per example. The other files are arrays: the starts of the lines, the features, the order
in which the examples are decided, and the ids by their hashes.
"""

import json
import shutil
from collections.abc import Iterable, Iterator
from functools import cached_property
from hashlib import blake2b
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from coalface.data.dataset_fields import Examples
from coalface.data.embedding.embedder import SentenceEmbedder
from coalface.data.encoding.encoder import Encoder
from coalface.errors import FileFormatError, InputError, UnknownIdError, in_one_line
from coalface.service.project.columns import Columns
from coalface.service.project.content_encoder import SAMPLE, encoded, new_encoder
from coalface.service.project.features import featurize, width_of
from coalface.service.project.sources import Given

_USUAL = Columns()
_BLOCK = 2000  # examples turned into features at a time
_FIRST = 1000  # examples whose fields stand for those of the pool
_ARRAYS = {
    "starts": "<i8",
    "indptr": "<i8",
    "columns": "<i4",
    "values": "<f4",
    "order": "<i4",
    "id_hashes": "<u8",
    "id_places": "<i4",
}


class Pool:
    """The pool in a folder; the ``place`` of an example is its number, counted from 0.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     write_pool(Path(folder), [Given("a", {"kind": "text", "text": "hello"})], None, seed=0)
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
            self.columns = Columns.from_plain(meta.get("columns", {}))
            self._arrays = {name: _mapped(folder / name, dtype) for name, dtype in _ARRAYS.items()}
            self._lines = np.memmap(folder / "examples.jsonl", np.uint8, "r")
        except InputError as problem:  # such as weights that are not on this machine
            raise FileFormatError(f"{folder} cannot be opened: {in_one_line(problem)}.") from None
        except (OSError, ValueError, KeyError, TypeError) as problem:
            raise FileFormatError(f"{folder} must be the pool of a project ({problem}). Restore it.") from None
        self._refuse_cut_short(meta)
        self.order = self._arrays["order"]

    def __len__(self) -> int:
        return len(self.order)

    def rows(self, places: NDArray[np.int64]) -> Examples:
        """The features of these examples."""
        indptr = self._arrays["indptr"]
        starts, lengths = indptr[places], indptr[places + 1] - indptr[places]
        ends = np.concatenate([[0], np.cumsum(lengths)])
        cells = np.repeat(starts - ends[:-1], lengths) + np.arange(ends[-1])
        X: Examples = csr_array(
            (self._arrays["values"][cells], self._arrays["columns"][cells], ends), shape=(len(places), self.width)
        )
        return X

    def example_id(self, place: int) -> str:
        """The id that the user gave an example."""
        return str(self._line(place)["id"])

    def content(self, place: int) -> dict[str, Any]:
        """The content of an example, as annotators see it."""
        return dict(self._line(place)["content"])

    @cached_property
    def fields(self) -> frozenset[str] | None:
        """The columns of the examples; None if the first of them do not all have the same."""
        found = {frozenset(self.content(place).get("cells", ())) for place in range(min(len(self), _FIRST))}
        return next(iter(found)) if len(found) == 1 else None

    def place(self, example_id: str) -> int:
        """The place of the example with this id."""
        hashes = self._arrays["id_hashes"]
        first = int(np.searchsorted(hashes, key := _hash(example_id)))
        while first < len(hashes) and hashes[first] == key:
            place = int(self._arrays["id_places"][first])
            if self.example_id(place) == example_id:
                return place
            first += 1
        raise UnknownIdError(f"There is no example {example_id!r} in the pool.")

    def _refuse_cut_short(self, meta: dict[str, Any]) -> None:
        """Refuse truncated files; those of older versions, which do not record sizes, must fit each other."""
        starts, indptr = self._arrays["starts"], self._arrays["indptr"]
        n = int(meta.get("examples", len(starts) - 1))
        cells = int(meta["cells"] if "cells" in meta else indptr[-1] if len(indptr) else 0)
        size = int(meta["bytes"] if "bytes" in meta else starts[-1] if len(starts) else 0)
        wanted = {"starts": n + 1, "indptr": n + 1, "columns": cells, "values": cells}
        for name, found in self._arrays.items():
            _refuse_size(self.folder / f"{name}.bin", wanted.get(name, n) * found.itemsize)
        _refuse_size(self.folder / "examples.jsonl", size)

    def _line(self, place: int) -> Any:
        starts = self._arrays["starts"]
        return json.loads(self._lines[starts[place] : starts[place + 1]].tobytes())


def _mapped(path: Path, dtype: str) -> NDArray[Any]:
    file, number = path.with_suffix(".bin"), np.dtype(dtype)
    n = file.stat().st_size // number.itemsize
    return np.memmap(file, number, "r", shape=(n,)).view(np.ndarray) if n else np.zeros(0, number)


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
    examples: Iterable[Given],
    vectors: "Examples | None",
    seed: int,
    embed: SentenceEmbedder | None = None,
    *,
    columns: Columns = _USUAL,
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
        self, folder: Path, vectors: "Examples | None", embed: SentenceEmbedder | None, columns: Columns
    ) -> None:
        self.folder, self.vectors, self.embed, self.columns = folder, vectors, embed, columns
        self.kind: str | None = None
        self.n = self.filled = self.bytes = 0
        self.hashes: list[NDArray[np.uint64]] = []
        self.files: dict[str, BinaryIO] = {
            name: (folder / f"{name}.bin").open("wb") for name in ("starts", "indptr", "columns", "values")
        }
        self.lines = (folder / "examples.jsonl").open("w+b")
        self.starts = [0]
        self.encoder: Encoder | None = None
        self._put("starts", [0])
        self._put("indptr", [0])

    def add(self, block: list[Given]) -> None:
        self._check_kind(block)
        for given in block:
            if given.file is not None:
                (self.folder / "images").mkdir(exist_ok=True)
                shutil.copyfile(given.file, self.folder / "images" / given.content["file"])
        ends = []
        for given in block:
            line = json.dumps({"id": given.id, "content": given.content}, ensure_ascii=False).encode(
                "utf-8", "surrogatepass"
            )
            self.bytes += self.lines.write(line + b"\n")
            ends.append(self.bytes)
        self._put("starts", ends)
        self.starts += ends
        self.hashes.append(np.array([_hash(given.id) for given in block], np.uint64))
        if self.vectors is not None or self.kind == "image":
            self._put_rows(self._vectors_of(block))
        self.n += len(block)

    def _vectors_of(self, block: list[Given]) -> Any:
        if self.vectors is None:
            return featurize([given.content for given in block], self.folder / "images")
        X = self.vectors[self.n : self.n + len(block)]
        if X.shape[0] < len(block):
            raise InputError(
                f"features must have a row per example, got {self.vectors.shape[0]} rows for more examples."
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
            encoder, roles = self.encoder, self.columns
            self._put_rows(featurize(contents, self.folder) if encoder is None else encoded(encoder, contents, roles))

    def _content(self, place: int) -> dict[str, Any]:
        self.lines.seek(self.starts[place])
        return dict(json.loads(self.lines.read(self.starts[place + 1] - self.starts[place]))["content"])

    def _check_kind(self, block: list[Given]) -> None:
        for given in block:
            kind = given.content["kind"]
            self.kind = self.kind or kind
            if kind != self.kind:
                raise InputError(f"All examples must be of one kind, {self.kind}, got {given.id!r} of kind {kind}.")

    def finish(self, seed: int, *, in_order: bool) -> None:
        if not self.n:
            raise InputError("There must be at least one example, got none. Check the file of the examples.")
        if self.vectors is not None and self.vectors.shape[0] != self.n:
            raise InputError(f"features must have a row per example, {self.n}, got {self.vectors.shape[0]}.")
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
        return width_of(self.kind or "text") if self.encoder is None else self.encoder.width

    def _refuse_repeated(self, hashes: NDArray[np.uint64], places: NDArray[np.int64]) -> None:
        self.close()
        for first in np.flatnonzero(hashes[1:] == hashes[:-1]).tolist():
            names = [self._name(int(places[first + k])) for k in (0, 1)]
            if names[0] == names[1]:
                raise InputError(f"Ids must be distinct, got {names[0]!r} twice. Remove or rename one of the examples.")

    def _name(self, place: int) -> Any:
        with (self.folder / "examples.jsonl").open("rb") as file:
            return json.loads(next(islice(file, place, None)))["id"]

    def _put(self, name: str, numbers: Any) -> None:
        self.files[name].write(np.ascontiguousarray(numbers, _ARRAYS[name]).tobytes())

    def close(self) -> None:
        for file in (self.lines, *self.files.values()):
            file.close()


def _blocks(examples: Iterable[Given]) -> Iterator[list[Given]]:
    remaining = iter(examples)
    while block := list(islice(remaining, _BLOCK)):
        yield block

"""The files of a pool, and how they are written: the first ones by ``init``, those that grow by additions.

``examples.jsonl`` has a line per example. The other files are arrays: the starts of the lines, the features, the order
in which the examples are decided, and the ids by their hashes. Examples that are added later are in files of their own,
which grow; the log says how far they count. What lies after that was written by a process that ended before its commit;
the next writer cuts it off.
"""

import json
import os
import shutil
from collections.abc import Iterable, Sequence
from hashlib import blake2b
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import numpy as np
from numpy.typing import NDArray

from coalface.data import Encoder, Examples, SentenceEmbedder
from coalface.desk.project.features import SAMPLE, SIDE, encoded, new_encoder, thumbnails
from coalface.desk.project.sources import ColumnRoles, GivenExample
from coalface.errors import InputError
from coalface.files import sync_folder

LINES = "examples.jsonl"
IMAGES = "images"  # the folder of the files of images
GROWING = "added_"  # the prefix of the files that grow
ARRAYS = {"starts": "<i8", "indptr": "<i8", "columns": "<i4", "values": "<f4"}
DTYPES = ARRAYS | {"order": "<i4", "id_hashes": "<u8", "id_places": "<i4"}
_ENDS = ("starts", "indptr")  # these begin with a 0
_USUAL = ColumnRoles()
_BLOCK = 2000  # examples turned into features at a time


class Sizes(NamedTuple):
    """How much of the files counts: so many examples, cells of features, and bytes of lines.

    >>> Sizes.of({"examples": 2, "cells": 9, "bytes": 80}).numbers_in("indptr")
    3
    """

    examples: int
    cells: int
    bytes: int

    @classmethod
    def of(cls, plain: Any) -> "Sizes":
        """The sizes among the values of a JSON object."""
        return cls(int(plain["examples"]), int(plain["cells"]), int(plain["bytes"]))

    def numbers_in(self, name: str) -> int:
        """How many numbers of an array count."""
        return self.cells if name in ("columns", "values") else self.examples + (name in _ENDS)


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
        remaining = iter(examples)
        while block := list(islice(remaining, _BLOCK)):
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
        self.files: dict[str, BinaryIO] = {name: (folder / f"{name}.bin").open("wb") for name in ARRAYS}
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
            self.bytes += self.lines.write(line_of(given))
            ends.append(self.bytes)
        self._put("starts", ends)
        self.starts += ends
        self.hashes.append(np.array([hash_of(given.id) for given in block], np.uint64))
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
            (self.folder / f"{name}.bin").write_bytes(np.ascontiguousarray(array, DTYPES[name]).tobytes())
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
        self.files[name].write(np.ascontiguousarray(numbers, DTYPES[name]).tobytes())

    def close(self) -> None:
        for file in (self.lines, *self.files.values()):
            file.close()


def append(folder: Path, sizes: Sizes, lines: Sequence[bytes], X: Any) -> Sizes:
    """Write examples after what counts, which survives a power cut when this returns; the sizes with them."""
    ends = np.cumsum([len(line) for line in lines], dtype=np.int64) + sizes.bytes
    first = [0] if not sizes.examples else []  # the arrays of ends begin with a 0
    new = {
        "starts": np.concatenate([np.array(first, np.int64), ends]),
        "indptr": np.concatenate([np.array(first, np.int64), X.indptr[1:].astype(np.int64) + sizes.cells]),
        "columns": X.indices,
        "values": X.data,
    }
    for name, numbers in new.items():
        before = sizes.numbers_in(name) if sizes.examples or name in ("columns", "values") else 0
        dtype = np.dtype(ARRAYS[name])
        _write_at(
            folder / f"{GROWING}{name}.bin", before * dtype.itemsize, np.ascontiguousarray(numbers, dtype).tobytes()
        )
    _write_at(folder / f"{GROWING}{LINES}", sizes.bytes, b"".join(lines))
    sync_folder(folder)
    return Sizes(sizes.examples + len(lines), sizes.cells + int(X.nnz), int(ends[-1]) if len(ends) else sizes.bytes)


def _write_at(path: Path, place: int, data: bytes) -> None:
    handle = os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_BINARY", 0), 0o666)
    with os.fdopen(handle, "r+b") as file:
        file.truncate(place)
        file.seek(place)
        file.write(data)
        file.flush()
        os.fsync(file.fileno())


def line_of(given: GivenExample) -> bytes:
    """The line of an example."""
    plain = {"id": given.id, "content": given.content}
    return json.dumps(plain, ensure_ascii=False).encode("utf-8", "surrogatepass") + b"\n"


def hash_of(example_id: str) -> np.uint64:
    """The hash by which the place of an id is found."""
    return np.uint64(
        int.from_bytes(blake2b(example_id.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "little")
    )

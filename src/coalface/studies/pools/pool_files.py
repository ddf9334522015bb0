"""The files of a pool, found by patterns, with a place for the result of each; and rankings in files."""

import json
import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from glob import glob, has_magic
from hashlib import blake2b
from pathlib import Path
from typing import Any

from coalface.data import TABLES, format_of, json_records, parquet_records
from coalface.errors import FileFormatError, InputError

PREDICTIONS = ".predictions.parquet"
_ENDS = 2**16  # bytes at the start and the end of a file that its fingerprint covers
PREFIX = "rank:"
NOTES = b"coalface"  # the key of our notes in the metadata of a Parquet file
SUFFIXES = (".parquet", ".jsonl")


@dataclass(frozen=True)
class Partition:
    """A file of a pool; ``name`` is its path within the pool."""

    path: Path
    name: str
    fingerprint: str

    @property
    def stem(self) -> str:
        """The file name without the suffix of its format.

        >>> Partition(Path("pool/part-0.csv.gz"), "part-0.csv.gz", "").stem
        'part-0'
        """
        return Path(self.path.name.removesuffix(".gz")).stem


def find_partitions(patterns: Iterable[str | os.PathLike[str]]) -> list[Partition]:
    """The files that match the patterns, in the order of the patterns, then of their names; earlier results are not.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     for name in ("b.csv", "a.csv", "a.predictions.parquet"):
    ...         _ = Path(folder, name).write_text("size")
    ...     [partition.name for partition in find_partitions([f"{folder}/*"])]
    ['a.csv', 'b.csv']
    """
    paths = list(dict.fromkeys(path.resolve() for pattern in patterns for path in _matches(str(pattern))))
    if not paths:
        raise InputError("The pool must have at least one file of examples, got none. Check the pattern.")
    for path in paths:
        if format_of(path) not in TABLES:
            raise InputError(f"The files of a pool must be .parquet, .csv or .jsonl, got {path}. Convert it first.")
    top = Path(os.path.commonpath([path.parent for path in paths]))
    return [Partition(path, path.relative_to(top).as_posix(), _fingerprint_of(path)) for path in paths]


def _matches(pattern: str) -> list[Path]:
    if not has_magic(pattern):
        if not Path(pattern).is_file():
            raise FileFormatError(f"There is no file {pattern}. Check the path.")
        return [Path(pattern)] if not pattern.endswith(PREDICTIONS) else []
    names = sorted(glob(pattern, recursive=True))  # noqa: PTH207 (patterns may start anywhere)
    found = [Path(name) for name in names if not name.endswith(PREDICTIONS)]
    files = [path for path in found if path.is_file()]
    if not files:
        raise FileFormatError(f"No file matches {pattern!r}. Check the pattern, and put it in quotes.")
    return files


def _fingerprint_of(path: Path) -> str:
    """A text that changes with the file: a hash of its size, its time of change, and the bytes at both ends."""
    facts = path.stat()
    digest = blake2b(f"{facts.st_size} {facts.st_mtime_ns}".encode(), digest_size=16)
    with path.open("rb") as file:
        digest.update(file.read(_ENDS))
        file.seek(max(facts.st_size - _ENDS, 0))
        digest.update(file.read(_ENDS))
    return digest.hexdigest()


PLACE, SAVING, LABEL, FILE, ROW = (f"{PREFIX}{name}" for name in ("place", "saving", "label", "file", "row"))


@dataclass(frozen=True)
class Ranking:
    """A ranking in a file; ``labels`` and ``cost_bounds`` are those of the model, None if the file does not say."""

    path: Path
    labels: list[str] | None = None
    cost_bounds: tuple[float, float] | None = None

    @classmethod
    def open(cls, path: Path) -> "Ranking":
        """The ranking in a .parquet or .jsonl file."""
        if not path.is_file():
            raise FileFormatError(f"There is no ranking {path}. Make one with: coalface rank MODEL POOL --out {path}")
        if check_suffix(path) == ".jsonl":
            return cls(path)
        notes = parquet_notes(path)
        if "labels" not in notes:
            raise FileFormatError(f"{path} must be a ranking that `coalface rank` wrote. Pass other files as examples.")
        low, high = notes["cost_bounds"]
        return cls(path, [str(label) for label in notes["labels"]], (float(low), float(high)))

    def examples(self) -> Iterator[Mapping[str, Any]]:
        """The examples, the best one first, without the columns about their rank."""
        records = json_records(self.path) if self.path.suffix == ".jsonl" else parquet_records(self.path)
        for number, record in enumerate(records, start=1):
            if PLACE not in record:
                raise FileFormatError(f"{self.path}, example {number}: must have {PLACE!r}, as `coalface rank` writes.")
            yield {name: value for name, value in record.items() if not name.startswith(PREFIX)}


def check_suffix(path: Path) -> str:
    """The suffix of a ranking; an InputError if it is another one.

    >>> check_suffix(Path("ranking.jsonl"))
    '.jsonl'
    """
    if path.suffix not in SUFFIXES:
        raise InputError(f"A ranking must be a .parquet or .jsonl file, got {str(path)!r}. Choose another name.")
    return path.suffix


def parquet_notes(path: Path) -> dict[str, Any]:
    """Our notes in a Parquet file; empty if there are none, or if it is not a complete file."""
    from pyarrow.lib import ArrowException
    from pyarrow.parquet import read_metadata

    try:
        found = (read_metadata(path).metadata or {}).get(NOTES)
    except (ArrowException, OSError):
        return {}
    notes: dict[str, Any] = {} if found is None else json.loads(found)
    return notes

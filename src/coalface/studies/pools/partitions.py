"""The files of a pool: found by patterns, with a name, a fingerprint and a place for the result of each."""

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from glob import glob, has_magic
from hashlib import blake2b
from pathlib import Path

from coalface.data.formats.readers import TABLES, format_of
from coalface.errors import FileFormatError, InputError

PREDICTIONS = ".predictions.parquet"
_ENDS = 2**16  # bytes at the start and the end of a file that its fingerprint covers


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
    return [Partition(path, path.relative_to(top).as_posix(), fingerprint_of(path)) for path in paths]


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


def fingerprint_of(path: Path) -> str:
    """A text that changes with the file: a hash of its size, its time of change, and the bytes at both ends."""
    facts = path.stat()
    digest = blake2b(f"{facts.st_size} {facts.st_mtime_ns}".encode(), digest_size=16)
    with path.open("rb") as file:
        digest.update(file.read(_ENDS))
        file.seek(max(facts.st_size - _ENDS, 0))
        digest.update(file.read(_ENDS))
    return digest.hexdigest()


def targets_of(partitions: Sequence[Partition], suffix: str, folder: Path | None) -> list[Path]:
    """The file for the result of each partition, beside it or in ``folder``; an InputError if two are the same.

    >>> part = Partition(Path("pool/part-0.csv"), "part-0.csv", "")
    >>> targets_of([part], ".predictions.parquet", Path("out"))[0].as_posix()
    'out/part-0.predictions.parquet'
    """
    targets = [
        (partition.path.parent if folder is None else folder) / (partition.stem + suffix) for partition in partitions
    ]
    first: dict[Path, Partition] = {}
    for partition, target in zip(partitions, targets, strict=True):
        other = first.setdefault(target, partition)
        if other is not partition:
            raise InputError(
                f"{other.path} and {partition.path} would both be written to {target}. Rename one of them."
            )
    return targets

"""Rankings: examples of a pool in the order in which asking about them is worth most, as a file.

``coalface rank`` writes them, and ``coalface init --from-ranking`` makes a labelling project of them. A ranking has the
column ``id``, columns about the rank, which start with ``rank:``, and the raw columns of the pool. A Parquet file also
has the labels and the bounds of costs.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from coalface.data.formats.records import json_records, parquet_records
from coalface.errors import FileFormatError, InputError

PREFIX = "rank:"
PLACE, SAVING, LABEL, FILE, ROW = (f"{PREFIX}{name}" for name in ("place", "saving", "label", "file", "row"))
NOTES = b"coalface"  # the key of our notes in the metadata of a Parquet file
SUFFIXES = (".parquet", ".jsonl")


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

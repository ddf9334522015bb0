"""What a scenario of ASlib says about itself in ``description.txt``."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from coalface.errors import FileFormatError

_TRUE = ("true", "yes")


@dataclass(frozen=True)
class Description:
    """What the numbers of a scenario measure; of several measures the first counts."""

    scenario: str
    measure: str
    by_time: bool
    maximize: bool
    cutoff: float


def read_description(path: Path) -> Description:
    r"""The few entries of a ``description.txt`` that matter here; it is YAML, of which only lists are understood.

    >>> from tempfile import TemporaryDirectory
    >>> text = "scenario_id: TOY\nperformance_measures:\n- runtime\nmaximize: [false]\nperformance_type: runtime\n"
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "description.txt")
    ...     _ = path.write_text(text + "algorithm_cutoff_time: 1.0e+03\n")
    ...     read_description(path)
    Description(scenario='TOY', measure='runtime', by_time=True, maximize=False, cutoff=1000.0)
    """
    entries = _entries(path)

    def first(key: str) -> str:
        if not entries.get(key):
            raise FileFormatError(f"{path} must have the entry {key}. Add it.")
        return entries[key][0]

    kind = first("performance_type")
    if kind not in ("runtime", "solution_quality"):
        raise FileFormatError(f"{path}: performance_type must be runtime or solution_quality, got {kind!r}. Check it.")
    maximize = first("maximize").lower() in _TRUE
    by_time = kind == "runtime"
    if by_time and maximize:
        raise FileFormatError(f"{path}: maximize must be false where performance_type is runtime, got true. Check it.")
    cutoff = _cutoff(path, first("algorithm_cutoff_time")) if by_time else 0.0
    return Description(first("scenario_id"), first("performance_measures"), by_time, maximize, cutoff)


def _entries(path: Path) -> dict[str, list[str]]:
    """The top-level entries as lists of texts; what is nested deeper is left out."""
    if not path.is_file():
        raise FileFormatError(f"There is no file {path}. Check the folder.")
    found: dict[str, list[str]] = {}
    key = ""
    for line in path.read_text(encoding="utf-8-sig", errors="replace").splitlines():
        text = line.split(" #")[0].strip()
        if text.startswith("- "):
            found.setdefault(key, []).append(_plain(text[2:]))
        elif text and not text.startswith("#") and line[0] not in " \t":
            key, _, value = text.partition(":")
            several = value.strip().startswith("[")
            parts = value.strip().strip("[]").split(",") if several else [value]
            found[key] = [_plain(part) for part in parts if part.strip()]
        elif text:
            key = ""  # a nested entry, whose list is not ours
    return found


def _plain(text: str) -> str:
    return text.strip().strip("'\"")


def _cutoff(path: Path, text: str) -> float:
    try:
        cutoff = float(text)
    except ValueError:
        cutoff = np.nan
    if not 0 < cutoff < np.inf:
        raise FileFormatError(f"{path}: algorithm_cutoff_time must be a number above 0, got {text!r}. Correct it.")
    return cutoff

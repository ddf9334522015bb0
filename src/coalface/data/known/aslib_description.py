"""The ``description.txt`` of an ASlib scenario: what its runs measure, and the cut-off time."""

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from coalface.errors import FileFormatError, in_one_line


@dataclass(frozen=True)
class Description:
    """What the numbers of a scenario measure; of several measures the first one counts."""

    scenario: str
    measure: str
    by_time: bool
    maximize: bool
    cutoff: float


def read_description(path: Path) -> Description:
    r"""The entries of a ``description.txt`` that define the costs; the file is YAML.

    >>> from tempfile import TemporaryDirectory
    >>> text = "scenario_id: TOY\nperformance_measures:\n- runtime\nmaximize: [false]\nperformance_type: runtime\n"
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "description.txt")
    ...     _ = path.write_text(text + "algorithm_cutoff_time: 1.0e+03\n")
    ...     read_description(path)
    Description(scenario='TOY', measure='runtime', by_time=True, maximize=False, cutoff=1000.0)
    """
    entries = _read_yaml(path)

    def first(key: str) -> str:
        value = entries.get(key)
        value = value[0] if isinstance(value, list) and value else value
        if value is None or value in ("", []):
            raise FileFormatError(f"{path} must have the entry {key}. Add it.")
        return str(value)

    kind = first("performance_type")
    if kind not in ("runtime", "solution_quality"):
        raise FileFormatError(f"{path}: performance_type must be runtime or solution_quality, got {kind!r}. Check it.")
    maximize = first("maximize").lower() in ("true", "yes")
    by_time = kind == "runtime"
    if by_time and maximize:
        raise FileFormatError(f"{path}: maximize must be false where performance_type is runtime, got true. Check it.")
    cutoff = _cutoff(path, first("algorithm_cutoff_time")) if by_time else 0.0
    return Description(first("scenario_id"), first("performance_measures"), by_time, maximize, cutoff)


def _read_yaml(path: Path) -> dict[Any, Any]:
    import yaml  # slow to import

    if not path.is_file():
        raise FileFormatError(f"There is no file {path}. Check the folder.")
    try:
        entries = yaml.safe_load(path.read_text(encoding="utf-8-sig", errors="replace"))
    except (yaml.YAMLError, ValueError) as error:  # ValueError: a date such as 2015-99-99
        raise FileFormatError(f"{path} must be YAML: {in_one_line(error)}. Correct the file.") from None
    if not isinstance(entries, dict):
        raise FileFormatError(f"{path} must consist of lines such as `scenario_id: NAME`, got {entries!r:.60}.")
    return entries


def _cutoff(path: Path, text: str) -> float:
    try:
        cutoff = float(text)
    except ValueError:
        cutoff = math.nan
    if not 0 < cutoff < math.inf:
        raise FileFormatError(f"{path}: algorithm_cutoff_time must be a number above 0, got {text!r}. Correct it.")
    return cutoff

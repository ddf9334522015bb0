"""Files of labels and costs that exist already, also those that ``export`` wrote; their texts are no formulas."""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from coalface.data import as_written, json_records
from coalface.desk.project.hugging_face import dataset_records, is_saved_dataset
from coalface.desk.project.label_studio import read_tasks, task_costs
from coalface.desk.project.sources import csv_cells, in_utf8
from coalface.errors import FileFormatError, InputError

_COST = "cost:"  # begins the title of a column of costs


def read_costs(path: Path, id: str = "id", label: str = "label") -> list[dict[str, Any]]:
    """The records of a .jsonl or .csv file: ids with true labels, or with costs by label.

    A line of JSON has "id" and "label" or "costs"; a table has the columns id and label, or id and one column
    cost:LABEL per label, where an empty cell is unknown.
    """
    if not path.is_file() and not is_saved_dataset(path):
        raise FileFormatError(f"There is no file {path}. Check the path of the known costs.")
    lines: Iterable[Mapping[str, Any]]
    if path.suffix == ".json":
        id, label, lines = "id", "label", task_costs(read_tasks(path))
    elif path.suffix == ".jsonl":
        lines = json_records(path)
    elif path.suffix == ".parquet" or path.is_dir():
        lines = map(_with_costs, dataset_records(path))
    elif path.suffix == ".csv":
        lines = _table(path)
    else:
        raise InputError(
            f"Known costs must be in a .jsonl, .csv or .parquet file or Label Studio's .json, got {path}. Convert it."
        )
    found = [one for line in in_utf8(path, lines) if (one := _record(line, id, label)) is not None]
    if not found:
        raise FileFormatError(f"{path} must hold labels or costs of examples, got none. Check its columns.")
    return found


def _record(line: Mapping[str, Any], id: str, label: str) -> dict[str, Any] | None:
    """What a line says, None if it has no cost."""
    costs = line.get("costs") or {}
    if isinstance(costs, Mapping) and all(cost is None for cost in costs.values()):
        costs = {}  # known to be unknown
    if costs:
        return {"id": line.get(id), "costs": costs}
    return None if line.get(label) in (None, "") else {"id": line.get(id), "label": str(line[label])}


def _with_costs(row: Mapping[str, Any]) -> dict[str, Any]:
    """A row of a table with its columns of costs by label."""
    costs = {title.removeprefix(_COST): cost for title, cost in row.items() if title.startswith(_COST)}
    return {**row, "costs": {label: cost for label, cost in costs.items() if cost is not None} or row.get("costs")}


def _table(path: Path) -> Iterator[dict[str, Any]]:
    for number, record in csv_cells(path):
        costs = {
            title.removeprefix(_COST): _number(path, number, title, cell)
            for title, cell in record.items()
            if title.startswith(_COST) and cell != ""
        }
        yield {**{title: as_written(cell) for title, cell in record.items()}, "costs": costs}


def _number(path: Path, number: int, title: str, cell: str) -> float:
    try:
        return float(cell)
    except ValueError:
        raise FileFormatError(
            f"{path}, line {number}: {title} must be a number or empty, got {cell!r:.40}. Correct it."
        ) from None

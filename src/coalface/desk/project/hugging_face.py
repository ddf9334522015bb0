"""Hugging Face datasets: Parquet files and folders of ``save_to_disk``, whose class labels are numbers with names."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from coalface.data import parquet_records
from coalface.errors import FileFormatError, InputError

_KEY = b"huggingface"  # of the features in the metadata of a file
_INFO, _STATE, _SPLITS = "dataset_info.json", "state.json", "dataset_dict.json"  # the files beside the rows
_TEXT, _NUMBER = {"dtype": "string", "_type": "Value"}, {"dtype": "float64", "_type": "Value"}


def is_saved_dataset(path: Path) -> bool:
    """Whether a folder was written by ``save_to_disk``, though files of it may be missing."""
    return any((path / name).is_file() for name in (_INFO, _SPLITS)) or any(path.glob("*.arrow"))


def dataset_records(path: Path) -> Iterator[Mapping[str, Any]]:
    """The rows of a Parquet file or a saved dataset; class labels have their names."""
    if path.is_dir():
        _check_complete(path)
        yield from _named(_arrow_rows(path), _class_names(_json_in(path / _INFO)))
        return
    yield from _named(parquet_records(path), _class_names(_info_in(path)))


def write_dataset(path: Path, lines: Iterator[dict[str, Any]], labels: list[str]) -> None:
    """Write examples with the column "label" as a Parquet file that ``load_dataset`` reads with its class labels."""
    pa, parquet = _arrow()
    rows = list(lines)
    names = list(dict.fromkeys(name for row in rows for name in row))
    code = {label: number for number, label in enumerate(labels)}
    columns: dict[str, Any] = {}
    features: dict[str, Any] = {}
    for name in names:
        cells = [row.get(name) for row in rows]
        if name in ("label", "predicted"):
            cells, kind = [None if cell is None else code[cell] for cell in cells], pa.int64()
            features[name] = {"names": labels, "_type": "ClassLabel"}
        elif all(cell is None or isinstance(cell, int | float) for cell in cells):
            cells, kind, features[name] = [None if c is None else float(c) for c in cells], pa.float64(), _NUMBER
        else:
            cells, kind, features[name] = [None if c is None else str(c) for c in cells], pa.string(), _TEXT
        columns[name] = pa.array(cells, kind)
    table = pa.table(columns).replace_schema_metadata({_KEY: json.dumps({"info": {"features": features}})})
    parquet.write_table(table, path)


def _check_complete(folder: Path) -> None:
    """Raise an error that says which file of a saved dataset is missing."""
    if (folder / _SPLITS).is_file() and not (folder / _INFO).is_file():
        splits = _json_in(folder / _SPLITS).get("splits")
        named = f" ({', '.join(map(str, splits))})" if isinstance(splits, list) and splits else ""
        raise FileFormatError(f"{folder} must be one split of a dataset, got all of them{named}. Name a folder in it.")
    if not (folder / _INFO).is_file():
        raise FileFormatError(f"{folder} must hold {_INFO} beside its .arrow files. Save the dataset again.")
    if not any(folder.glob("*.arrow")):
        raise FileFormatError(f"{folder} must hold .arrow files beside {_INFO}, got none. Save the dataset again.")
    for name in _row_files(folder / _STATE):
        if not (folder / name).is_file():
            raise FileFormatError(f"{folder} must hold {name}, which its {_STATE} lists. Save the dataset again.")


def _row_files(state: Path) -> list[str]:
    """The files of rows that a saved dataset lists; none if it has no list."""
    listed = _json_in(state).get("_data_files") if state.is_file() else None
    return [str(one["filename"]) for one in listed or () if isinstance(one, dict) and "filename" in one]


def _json_in(path: Path) -> dict[str, Any]:
    try:
        found = json.loads(path.read_bytes())
    except ValueError as problem:
        raise FileFormatError(f"{path} must be JSON ({problem}). Save the dataset again.") from None
    if not isinstance(found, dict):
        raise FileFormatError(f"{path} must be a JSON object, got {found!r:.60}. Save the dataset again.")
    return found


def _info_in(path: Path) -> Mapping[str, Any]:
    _, parquet = _arrow()
    try:
        found = (parquet.read_schema(path).metadata or {}).get(_KEY)
        return {} if found is None else dict(json.loads(found).get("info", {}))
    except Exception as problem:
        raise FileFormatError(f"{path} must be a Parquet file ({problem}). Write it again.") from None


def _class_names(info: Mapping[str, Any]) -> dict[str, list[str]]:
    features = info.get("features") or {}
    return {
        name: [str(one) for one in feature["names"]]
        for name, feature in features.items()
        if isinstance(feature, dict) and feature.get("_type") == "ClassLabel" and isinstance(feature.get("names"), list)
    }


def _named(rows: Iterator[Mapping[str, Any]], names: Mapping[str, list[str]]) -> Iterator[Mapping[str, Any]]:
    """The rows with the names of class labels; -1 is no label."""
    for row in rows:
        known = {
            name: labels[row[name]] if isinstance(row.get(name), int) and 0 <= row[name] < len(labels) else None
            for name, labels in names.items()
        }
        yield {**row, **known} if known else row


def _arrow_rows(folder: Path) -> Iterator[Mapping[str, Any]]:
    pa, _ = _arrow()
    for path in sorted(folder.glob("*.arrow")):
        try:
            with pa.memory_map(str(path)) as file, pa.ipc.open_stream(file) as stream:
                for batch in stream:
                    yield from batch.to_pylist()
        except pa.ArrowException as problem:
            raise FileFormatError(f"{path} must be an Arrow file ({problem}). Save the dataset again.") from None


def _arrow() -> tuple[Any, Any]:
    try:
        import pyarrow as pa
        from pyarrow import parquet
    except ModuleNotFoundError:
        raise InputError("Hugging Face datasets need pyarrow. Run: pip install 'coalface[parquet]'") from None
    return pa, parquet

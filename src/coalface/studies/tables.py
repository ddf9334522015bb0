"""Write the findings of a sweep as JSON and CSV files, and read them again.

::

    sweep.json     the study, its settings, versions, failures, and how many rows the tables have
    data.csv       the size of every dataset
    runs.csv       the end of every run
    curves.csv     every checkpoint of the runs at the chosen learning rates
    timings.csv    the seconds of every run         (these two depend on the machine and may be missing; the
    timings.json   the times of the whole sweep      others are the same bytes for the same findings)

A table may be kept packed, as ``runs.csv.gz``.

Numbers are written in full, rows end with one line feed, and names are quoted only where necessary: the same bytes
for the same values. Errors name the damaged line.
"""

import csv
import gzip
import io
import json
import os
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import fields, replace
from operator import attrgetter
from pathlib import Path
from typing import Any

import numpy as np

from coalface.errors import FileFormatError, InputError
from coalface.files import atomic_write
from coalface.studies.findings import DataFacts, Findings, FinishedRun, Points
from coalface.studies.learners import Rate, as_rate, by_size
from coalface.studies.results import FILE as RESULTS
from coalface.studies.selection import choose_rates

Parser = Callable[[str], Any]
_KINDS: dict[Parser, str] = {int: "a whole number", float: "a number"}
REMEDY = "Write the tables of the sweep again or restore them from a copy"
FORMAT = 1
_FILES = ("sweep.json", "data.csv", "runs.csv", "curves.csv", "timings.csv", "timings.json")
_BEGIN = "Create one with `coalface sweep STUDY.toml --out FOLDER`"
_NEW_RUN_COLUMNS: dict[str, Parser] = {"auc_published": float}  # missing in tables of earlier versions
_POINT_COLUMNS = {"costs_queried": int, "examples_queried": int, "test_cost": float, "spent": float}
_MAPPINGS = ("settings", "versions")
_LISTS = ("lines", "failures")
_ASKS = ("costs", "labels")


def write_csv(path: Path, headings: Sequence[str], rows: Iterable[Sequence[Any]]) -> int:
    r"""Write the rows and return their number.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     write_csv(Path(folder, "t.csv"), ["name", "share"], [["a, b", 1 / 3]])
    ...     Path(folder, "t.csv").read_text()
    1
    'name,share\n"a, b",0.3333333333333333\n'
    """
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(headings)
    n = 0
    for row in rows:
        writer.writerow([_plain(value) for value in row])
        n += 1
    with atomic_write(path) as file:
        file.write(text.getvalue().encode())
    return n


def _read_csv(
    path: Path, columns: Mapping[str, Parser], n_rows: int, optional: Mapping[str, Parser] | None = None
) -> Iterator[tuple[int, dict[str, Any]]]:
    """The rows with their line numbers; a FileFormatError names the damaged line.

    The ``optional`` columns may be missing, all together; they follow the others.

    If the file does not exist, ``path.gz``, packed by gzip, is read instead.
    """
    reader = csv.reader(io.StringIO(_text_of(path), newline=""), strict=True)
    n, names = 0, list(columns)
    try:
        found = next(reader, [])
        if optional and found == [*names, *optional]:
            columns = {**columns, **optional}
        elif found != names:
            raise FileFormatError(
                f"{path}, line 1: the columns must be {','.join(names)}, got {','.join(found)}. {REMEDY}."
            )
        for cells in reader:
            n += 1
            yield reader.line_num, _parsed(cells, columns, path, reader.line_num)
    except csv.Error as problem:
        raise FileFormatError(f"{path}, line {reader.line_num}: invalid CSV ({problem}). {REMEDY}.") from None
    if n != n_rows:
        raise FileFormatError(f"{path}: it must have {n_rows} rows, as sweep.json says, got {n}. {REMEDY}.")


def _is_there(path: Path) -> bool:
    """Whether the file exists, packed or not."""
    return path.exists() or _packed(path).exists()


def _packed(path: Path) -> Path:
    return path.with_name(f"{path.name}.gz")


def _text_of(path: Path) -> str:
    packed = _packed(path)
    try:
        if packed.exists() and not path.exists():
            text = gzip.decompress(packed.read_bytes()).decode()
        else:
            text = path.read_bytes().decode()
    except FileNotFoundError:
        raise FileFormatError(f"{path} is missing. {REMEDY}.") from None
    except (EOFError, zlib.error, gzip.BadGzipFile) as problem:
        raise FileFormatError(f"{packed} must be packed by gzip ({problem}). {REMEDY}.") from None
    except UnicodeDecodeError as problem:
        raise FileFormatError(f"{path} must be UTF-8 text: {problem}. {REMEDY}.") from None
    if not text.endswith("\n"):
        raise FileFormatError(
            f"{path}, line {text.count(chr(10)) + 1}: the last line must end with a line feed, it is cut off. {REMEDY}."
        )
    return text


def _parsed(cells: Sequence[str], columns: Mapping[str, Parser], path: Path, line: int) -> dict[str, Any]:
    if len(cells) != len(columns):
        raise FileFormatError(f"{path}, line {line}: a row has {len(columns)} cells, got {len(cells)}. {REMEDY}.")
    values = {}
    for (name, parse), cell in zip(columns.items(), cells, strict=True):
        try:
            values[name] = parse(cell)
        except ValueError:
            kind = _KINDS.get(parse, "a number or auto")
            raise FileFormatError(f"{path}, line {line}: {name} must be {kind}, got {cell!r}. {REMEDY}.") from None
    return values


def _plain(value: Any) -> str:
    """The value in full: a float of any type reads back as the same float."""
    if isinstance(value, str):
        return value
    number = value.item() if hasattr(value, "item") else value
    return repr(number) if isinstance(number, float) else str(number)


_KEY: dict[str, Parser] = {"data": str, "line": str, "learning_rate": as_rate, "permutation": int}
_RUN_COLUMNS: dict[str, Parser] = {
    "data": str,
    "line": str,
    "rule": str,
    "learning_rate": as_rate,
    "permutation": int,
    "asks": str,
    "auc": float,
    "costs_queried": int,
    "examples_queried": int,
    "rounds": int,
    "test_cost": float,
    "spent": float,
}
_DATA_COLUMNS: dict[str, Any] = {field.name: field.type for field in fields(DataFacts)}
_TEXTS = {"name": str, "title": str, "text": str, "baseline": str, "missing": int}
_Key = tuple[str, str, Rate, int]


def write_tables(findings: Findings, folder: str | os.PathLike[str]) -> None:
    """Write the findings into a folder, which is created if necessary; each file appears whole or not at all.

    Rows are sorted by dataset and line (in the order of the study), learning rate and permutation. Checkpoints
    are written for the chosen learning rates only.
    """
    target, runs = Path(folder), _sorted_runs(findings)
    known = not all(np.isnan(run.auc_published) for run in runs)
    columns = [*_RUN_COLUMNS, *(_NEW_RUN_COLUMNS if known else ())]
    target.mkdir(parents=True, exist_ok=True)
    n_rows = {
        "data.csv": write_csv(target / "data.csv", list(_DATA_COLUMNS), map(attrgetter(*_DATA_COLUMNS), findings.data)),
        "runs.csv": write_csv(target / "runs.csv", columns, map(attrgetter(*columns), runs)),
        "curves.csv": write_csv(target / "curves.csv", [*_KEY, *_POINT_COLUMNS], _checkpoint_rows(findings)),
        "timings.csv": write_csv(target / "timings.csv", [*_KEY, "seconds"], ([*_key(r), r.seconds] for r in runs)),
    }
    _write_json(target / "timings.json", findings.timings)
    kept = {name: getattr(findings, name) for name in (*_TEXTS, *_LISTS, *_MAPPINGS)}
    _write_json(target / "sweep.json", {"format": FORMAT, **kept, "rows": n_rows})


def read_tables(folder: str | os.PathLike[str]) -> Findings:
    """The findings that ``write_tables`` wrote; a FileFormatError names the damaged file and line.

    Without the timing files, seconds are NaN and ``timings`` is empty. An InputError says that the folder does not
    exist or holds no sweep.
    """
    source = Path(folder)
    _check_folder(source)
    sweep = _read_sweep(source / "sweep.json")
    rows = sweep["rows"]
    data = tuple(DataFacts(**values) for _, values in _read_csv(source / "data.csv", _DATA_COLUMNS, rows["data.csv"]))
    runs = _read_runs(source / "runs.csv", rows["runs.csv"], {facts.name for facts in data}, set(sweep["lines"]))
    if _is_there(source / "timings.csv"):
        _add_seconds(runs, source / "timings.csv", rows["timings.csv"])
    _add_points(runs, source / "curves.csv", rows["curves.csv"])
    timings = _read_json(source / "timings.json") if (source / "timings.json").exists() else {}
    _check_texts(timings, source / "timings.json")
    kept: dict[str, Any] = {name: sweep[name] for name in (*_TEXTS, *_MAPPINGS)}
    kept |= {name: tuple(sweep[name]) for name in _LISTS}
    return Findings(**kept, data=data, runs=tuple(runs.values()), timings=timings)


def _check_folder(folder: Path) -> None:
    if not folder.is_dir():
        raise InputError(f"{folder} must be a sweep folder, but it does not exist. {_BEGIN}.")
    if not any(_is_there(folder / name) for name in (*_FILES, RESULTS)):
        raise InputError(f"{folder} is not a sweep folder: it has neither results nor tables. {_BEGIN}.")


def _key(run: FinishedRun) -> _Key:
    return run.data, run.line, run.learning_rate, run.permutation


def _sorted_runs(findings: Findings) -> list[FinishedRun]:
    """The runs in the order of the tables; an InputError if one occurs twice or has unknown data or an unknown line."""
    data = {facts.name: place for place, facts in enumerate(findings.data)}
    lines = {line: place for place, line in enumerate(findings.lines)}
    seen: set[_Key] = set()
    for run in findings.runs:
        if run.data not in data or run.line not in lines:
            raise InputError(f"A run must have data and a line of the study, got {run.data!r} and {run.line!r}.")
        if _key(run) in seen:
            raise InputError(f"Every run must occur once, got {_key(run)} twice.")
        seen.add(_key(run))
    return sorted(
        findings.runs,
        key=lambda run: (data[run.data], lines[run.line], by_size(run.learning_rate), run.permutation),
    )


def _checkpoint_rows(findings: Findings) -> Iterator[list[Any]]:
    for choice in choose_rates(findings):
        for run in choice.runs:
            if run.points is not None:
                columns = [getattr(run.points, name) for name in _POINT_COLUMNS]
                yield from ([*_key(run), *values] for values in zip(*columns, strict=True))


def _write_json(path: Path, values: Mapping[str, Any]) -> None:
    with atomic_write(path) as file:
        file.write((json.dumps(values, indent=2, ensure_ascii=False) + "\n").encode())


def _read_json(path: Path) -> dict[str, Any]:
    try:
        values = json.loads(path.read_bytes())
    except FileNotFoundError:
        raise FileFormatError(f"{path} is missing. {REMEDY}.") from None
    except ValueError as problem:
        raise FileFormatError(f"{path} must be JSON: {problem}. {REMEDY}.") from None
    if not isinstance(values, dict):
        raise FileFormatError(f"{path} must hold an object, got {type(values).__name__}. {REMEDY}.")
    return values


def _read_sweep(path: Path) -> dict[str, Any]:
    sweep = _read_json(path)
    if not isinstance(sweep.get("format"), int) or sweep["format"] > FORMAT:
        raise FileFormatError(
            f"{path} must have a format from 1 to {FORMAT}, got {sweep.get('format')!r}. Upgrade coalface."
        )
    kinds = {**_TEXTS, **dict.fromkeys(_LISTS, list), **dict.fromkeys((*_MAPPINGS, "rows"), dict)}
    for name, kind in kinds.items():
        if not isinstance(sweep.get(name), kind):
            found = sweep.get(name, "nothing")
            raise FileFormatError(f"{path}: {name} must be of type {kind.__name__}, got {found!r}. {REMEDY}.")
    for name in _MAPPINGS:
        _check_texts(sweep[name], path)
    for name in ("data.csv", "runs.csv", "curves.csv", "timings.csv"):
        if not isinstance(sweep["rows"].get(name), int):
            raise FileFormatError(f"{path}: rows must give the number of rows of {name}. {REMEDY}.")
    if sweep["baseline"] not in sweep["lines"]:
        raise FileFormatError(f"{path}: baseline must be one of the lines, got {sweep['baseline']!r}. {REMEDY}.")
    return sweep


def _check_texts(values: Mapping[str, Any], path: Path) -> None:
    for name, value in values.items():
        if not isinstance(value, str):
            raise FileFormatError(f"{path}: {name} must be a text, got {value!r}. {REMEDY}.")


def _read_runs(path: Path, n_rows: int, data: set[str], lines: set[str]) -> dict[_Key, FinishedRun]:
    runs: dict[_Key, FinishedRun] = {}
    for line, values in _read_csv(path, _RUN_COLUMNS, n_rows, _NEW_RUN_COLUMNS):
        run = FinishedRun(**values, seconds=float("nan"), points=None)
        for name, known in (("data", data), ("line", lines), ("asks", _ASKS)):
            if (found := values[name]) not in known:
                raise FileFormatError(f"{path}, line {line}: {name} {found!r} is not one of the study's. {REMEDY}.")
        if _key(run) in runs:
            raise FileFormatError(f"{path}, line {line}: this run occurs twice. {REMEDY}.")
        runs[_key(run)] = run
    return runs


def _add_seconds(runs: dict[_Key, FinishedRun], path: Path, n_rows: int) -> None:
    for line, values in _read_csv(path, {**_KEY, "seconds": float}, n_rows):
        seconds = values.pop("seconds")
        key = _known(values, runs, path, line)
        runs[key] = replace(runs[key], seconds=seconds)


def _add_points(runs: dict[_Key, FinishedRun], path: Path, n_rows: int) -> None:
    points: dict[_Key, list[tuple[float, ...]]] = {}
    for line, values in _read_csv(path, {**_KEY, **_POINT_COLUMNS}, n_rows):
        key = _known({name: values[name] for name in _KEY}, runs, path, line)
        points.setdefault(key, []).append(tuple(values[name] for name in _POINT_COLUMNS))
    for key, found in points.items():
        run, last = runs[key], dict(zip(_POINT_COLUMNS, found[-1], strict=True))
        if (last["costs_queried"], last["test_cost"]) != (run.costs_queried, run.test_cost):
            raise FileFormatError(f"{path}: the last checkpoint of {key} must equal its end in runs.csv. {REMEDY}.")
        columns = map(np.array, zip(*found, strict=True))
        runs[key] = replace(run, points=Points(**dict(zip(_POINT_COLUMNS, columns, strict=True))))


def _known(values: Mapping[str, Any], runs: Mapping[_Key, FinishedRun], path: Path, line: int) -> _Key:
    key: _Key = (values["data"], values["line"], values["learning_rate"], values["permutation"])
    if key not in runs:
        raise FileFormatError(f"{path}, line {line}: the run {key} is not in runs.csv. {REMEDY}.")
    return key

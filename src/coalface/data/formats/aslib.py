"""ASlib scenarios: choosing a solver for an instance, where the cost of a label is the run time of a solver.

A scenario of ASlib (Bischl et al., Artificial Intelligence, 2016) holds features of instances and the runs of several
solvers on them. Each solver is a label.

For run times, the cost is run time / cut-off, and 1 for a failed run. The price of asking is the run time, because
asking means running the solver. GRAPHS-2015, whose run times span eight orders of magnitude, uses
log(1 + run time) / log(1 + cut-off). For solution quality, every instance has its own scale: its best solver costs 0,
its worst solver and all failures cost 1, and there are no prices.

A published scenario is a folder with ``description.txt`` and ARFF tables. A run whose status is not ``ok`` counts as
the cut-off time, and repeated runs as their median. If a solver was never run on an instance, that cost is unknown.
"""

import json
import math
import os
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coalface.data.dataset import CostDataset, TrainTest
from coalface.data.formats.arff import ArffTable, read_arff
from coalface.data.formats.npz import read_arrays
from coalface.data.formats.text_lines import read_lines, spells_number
from coalface.errors import FileFormatError, InputError, in_one_line

TEST_FOLDS = (9, 10)  # of the ten official folds
LOG_COSTS = ("GRAPHS-2015",)
SUMMARY = "summary.json"
DESCRIPTION = "description.txt"
RUNS = "algorithm_runs.arff"


@dataclass(frozen=True, eq=False)
class _Scenario:
    """Features (n, d), NaN where missing; costs (n, K), NaN where the solver was not run; folds numbered from 1."""

    name: str
    features: NDArray[Any]
    feature_names: tuple[str, ...]
    solvers: tuple[str, ...]
    cost: NDArray[np.float32]
    price: NDArray[np.float32] | None
    fold: NDArray[Any]

    def train_test(self) -> TrainTest:
        """Training and test data, standardised; the test rows are those of folds 9 and 10 with all costs known."""
        is_test = np.isin(self.fold, TEST_FOLDS)
        train = np.flatnonzero(~is_test)
        test = np.flatnonzero(is_test & ~np.isnan(self.cost).any(axis=1))
        if not (len(train) and len(test)):
            raise InputError(
                f"The scenario {self.name} must have instances in folds 1 to 8 and, with all costs known, in 9 and 10, "
                f"got {len(train)} and {len(test)}. Check its folds."
            )
        whole = CostDataset(
            standardised(self.features, train),
            self.cost,
            np.array(self.solvers),
            price=self.price,
            feature_names=self.feature_names,
            name=self.name,
        )
        return TrainTest(whole.subset(train), whole.subset(test))


def read_aslib_npz(path: str | os.PathLike[str], *, name: str | None = None) -> TrainTest:
    """A scenario stored as one archive; a ``summary.json`` beside it says what its numbers measure.

    Keys: ``X``, ``perf``, ``ok``, ``cost01``, ``cost01_alt`` (logarithmic, or scaled by instance), ``fold``,
    ``algorithms``, ``features``.
    """
    source = Path(path)
    kind = _kind(source)
    keys = ("X", "perf", "ok", "cost01", "cost01_alt", "fold", "algorithms", "features")
    X, perf, ok, linear, other, fold, solvers, features = read_arrays(source, *keys).values()
    by_time = kind == "runtime"
    by_instance = np.where(ok, other, np.float32(1))
    scenario = _Scenario(
        name=f"aslib/{source.stem}" if name is None else name,
        features=X,
        feature_names=tuple(features.tolist()),
        solvers=tuple(solvers.tolist()),
        cost=by_instance if not by_time else other if source.stem in LOG_COSTS else linear,
        price=perf if by_time else None,
        fold=fold,
    )
    try:
        return scenario.train_test()
    except InputError as error:
        raise FileFormatError(f"{source}: {error}") from None


def _kind(source: Path) -> str:
    """What the runs measure, "runtime" or "solution_quality"; only ``summary.json`` says so."""
    summary = source.parent / SUMMARY
    try:
        listed = {entry["scenario"]: entry["ptype"] for entry in json.loads(summary.read_text(encoding="utf-8"))}
        return str(listed[source.stem])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise FileFormatError(
            f"{summary} must name {source.stem} and its ptype, runtime or solution_quality ({error!r}). "
            "Put the summary beside the archive."
        ) from None


@dataclass(frozen=True)
class _Description:
    """What the numbers of a scenario measure; of several measures the first one counts."""

    scenario: str
    measure: str
    by_time: bool
    maximize: bool
    cutoff: float


def read_description(path: Path) -> _Description:
    r"""The entries of a ``description.txt`` that define the costs; the file is YAML.

    >>> from tempfile import TemporaryDirectory
    >>> text = "scenario_id: TOY\nperformance_measures:\n- runtime\nmaximize: [false]\nperformance_type: runtime\n"
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "description.txt")
    ...     _ = path.write_text(text + "algorithm_cutoff_time: 1.0e+03\n")
    ...     read_description(path)
    _Description(scenario='TOY', measure='runtime', by_time=True, maximize=False, cutoff=1000.0)
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
    return _Description(first("scenario_id"), first("performance_measures"), by_time, maximize, cutoff)


def _read_yaml(path: Path) -> dict[Any, Any]:
    import yaml  # slow to import

    text = "\n".join(read_lines(path))
    try:
        entries = yaml.safe_load(text)
    except (yaml.YAMLError, ValueError) as error:  # ValueError: a date such as 2015-99-99
        raise FileFormatError(f"{path} must be YAML: {in_one_line(error)}. Correct the file.") from None
    if not isinstance(entries, dict):
        raise FileFormatError(
            f"{path} must consist of lines such as `scenario_id: NAME`, got {entries!r:.60}. Check the file."
        )
    return entries


def _cutoff(path: Path, text: str) -> float:
    cutoff = float(text) if spells_number(text) else math.nan
    if not 0 < cutoff < math.inf:
        raise FileFormatError(f"{path}: algorithm_cutoff_time must be a number above 0, got {text!r}. Correct it.")
    return cutoff


@dataclass(frozen=True, eq=False)
class _Runs:
    """The measure of every solver (column) on every instance (row), NaN where it was not run.

    ``failed`` marks where at least half of the repetitions failed.
    """

    instances: list[str]
    solvers: list[str]
    value: NDArray[np.float64]
    failed: NDArray[np.bool_]


def is_aslib_folder(folder: Path) -> bool:
    """Whether a folder looks like an ASlib scenario.

    >>> is_aslib_folder(Path("no such folder"))
    False
    """
    return (folder / DESCRIPTION).is_file() and (folder / RUNS).is_file()


def read_aslib_folder(folder: str | os.PathLike[str], *, name: str | None = None) -> TrainTest:
    """Training and test data; the test data are the official folds 9 and 10."""
    source = Path(folder)
    description = read_description(source / DESCRIPTION)
    runs = _read_runs(read_arff(source / RUNS), description)
    features, feature_names = _read_features(read_arff(source / "feature_values.arff"), runs.instances)
    scenario = _Scenario(
        name=f"aslib/{description.scenario}" if name is None else name,
        features=features,
        feature_names=tuple(feature_names),
        solvers=tuple(runs.solvers),
        cost=_costs(runs, description),
        price=np.nan_to_num(runs.value, nan=description.cutoff).astype(np.float32) if description.by_time else None,
        fold=_read_folds(read_arff(source / "cv.arff"), runs.instances),
    )
    try:
        return scenario.train_test()
    except InputError as error:
        raise FileFormatError(f"{source}: {error}") from None


def _read_runs(table: ArffTable, description: _Description) -> _Runs:
    names, solver_names = table.texts("instance_id"), table.texts("algorithm")
    status = np.array(table.texts("runstatus"))
    value = table.numbers(description.measure)
    failed = status != "ok"
    if description.by_time:
        value = np.where(failed, description.cutoff, np.minimum(value, description.cutoff))
        if (value < 0).any():
            raise FileFormatError(f"{table.path}: run times must not be negative, got {np.nanmin(value)}. Correct it.")
    instances, rows = _codes(names)
    solvers, columns = _codes(solver_names)
    shape = (len(instances), len(solvers))
    place = rows * shape[1] + columns
    share = _medians(failed.astype(np.float64), place, shape[0] * shape[1])
    return _Runs(
        instances, solvers, _medians(value, place, shape[0] * shape[1]).reshape(shape), (share >= 0.5).reshape(shape)
    )


def _codes(texts: list[str]) -> tuple[list[str], NDArray[np.int64]]:
    values, codes = np.unique(np.array(texts, dtype=str), return_inverse=True)
    return values.tolist(), codes.astype(np.int64)


def _medians(values: NDArray[np.float64], group: NDArray[np.int64], n_groups: int) -> NDArray[np.float64]:
    """The median of each group's known values, NaN for a group without any."""
    known = ~np.isnan(values)
    order = np.lexsort((values[known], group[known]))
    ordered, counts = values[known][order], np.bincount(group[known], minlength=n_groups)
    start = np.cumsum(counts) - counts
    found = np.full(n_groups, np.nan)
    some = counts > 0
    low, high = (start + (counts - 1) // 2)[some], (start + counts // 2)[some]
    found[some] = (ordered[low] + ordered[high]) / 2
    return found


def _costs(runs: _Runs, description: _Description) -> NDArray[np.float32]:
    if description.by_time and description.scenario in LOG_COSTS:
        cost = np.log1p(runs.value) / np.log1p(description.cutoff)
    elif description.by_time:
        cost = runs.value / description.cutoff
    else:
        scaled = _scaled_by_instance(-runs.value if description.maximize else runs.value)
        cost = np.where(runs.failed, 1.0, scaled)
    return np.asarray(cost, dtype=np.float32)


def _scaled_by_instance(value: NDArray[np.float64]) -> NDArray[np.float64]:
    """Values scaled per instance: 0 for its best solver, 1 for its worst; 0 where all are equal."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # an instance may have no known value
        best, worst = np.nanmin(value, axis=1, keepdims=True), np.nanmax(value, axis=1, keepdims=True)
    return np.asarray((value - best) / np.where(worst > best, worst - best, 1.0))


def _read_features(table: ArffTable, instances: list[str]) -> tuple[NDArray[np.float64], list[str]]:
    """The features of the instances (n, d), NaN where missing or where an instance has no row."""
    names = [name for name in table.names if name not in ("instance_id", "repetition")]
    place = {instance: row for row, instance in enumerate(instances)}
    rows = np.array([place.get(instance, -1) for instance in table.texts("instance_id")])
    kept = rows >= 0
    columns = [_medians(table.numbers(name)[kept], rows[kept], len(instances)) for name in names]
    return np.stack(columns, axis=1) if columns else np.empty((len(instances), 0)), names


def _read_folds(table: ArffTable, instances: list[str]) -> NDArray[np.int64]:
    """The fold of each instance in the first repetition."""
    first = table.numbers("repetition") == 1
    fold = dict(zip(np.array(table.texts("instance_id"))[first].tolist(), table.numbers("fold")[first], strict=True))
    missing = next((instance for instance in instances if instance not in fold), None)
    if missing is not None:
        raise FileFormatError(f"{table.path} must have a fold for every instance, but {missing!r} has none. Add it.")
    return np.array([fold[instance] for instance in instances], dtype=np.int64)


def standardised(X: NDArray[Any], train: NDArray[Any]) -> NDArray[np.float64]:
    """Columns with mean 0 and deviation 1 over the rows ``train``; NaN becomes the median, a constant column 0.

    >>> X = np.array([[1.0, 5.0], [3.0, 5.0], [np.nan, 5.0], [4.0, 6.0]])
    >>> standardised(X, np.arange(3))
    array([[-1.22474487,  0.        ],
           [ 1.22474487,  0.        ],
           [ 0.        ,  0.        ],
           [ 2.44948974,  0.        ]])
    """
    values = np.array(X, dtype=np.float64)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # a column may be NaN in all training rows
        median = np.nan_to_num(np.nanmedian(values[train], axis=0))
    values = np.where(np.isnan(values), median, values)
    values -= values[train].mean(axis=0)
    deviation = values[train].std(axis=0)
    # The computed mean of equal numbers differs by rounding, so the deviation alone cannot show a constant column.
    constant = values[train].max(axis=0) - values[train].min(axis=0) == 0
    scaled: NDArray[np.float64] = np.divide(values, deviation, out=np.zeros_like(values), where=~constant)
    return scaled

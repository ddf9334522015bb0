"""ASlib scenarios: choosing a solver for an instance, where the cost of a label is the run time of a solver.

A scenario of ASlib (Bischl et al., Artificial Intelligence, 2016) holds features of instances and the runs of several
solvers on them. Each solver is a label.

For run times, the cost is run time / cut-off, and 1 for a failed run. The price of asking is the run time, because
asking means running the solver. GRAPHS-2015, whose run times span eight orders of magnitude, uses
log(1 + run time) / log(1 + cut-off). For solution quality, every instance has its own scale: its best solver costs 0,
its worst solver and all failures cost 1, and there are no prices.
"""

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coalface.data.dataset import CostDataset, TrainTest
from coalface.data.encoders import standardised
from coalface.data.formats.npz import read_arrays
from coalface.errors import FileFormatError, InputError

TEST_FOLDS = (9, 10)  # of the ten official folds
LOG_COSTS = ("GRAPHS-2015",)
SUMMARY = "summary.json"


@dataclass(frozen=True, eq=False)
class Scenario:
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
    X, perf, ok, linear, other, fold, solvers, features = read_arrays(source, *keys)
    by_time = kind == "runtime"
    by_instance = np.where(ok, other, np.float32(1))
    scenario = Scenario(
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


def aslib_sizes(path: Path) -> tuple[int, int, int]:
    """The numbers of training rows, test rows and solvers, without reading features or runs."""
    fold, solvers = read_arrays(path, "fold", "algorithms")
    n_test = int(np.isin(fold, TEST_FOLDS).sum())
    return len(fold) - n_test, n_test, len(solvers)


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

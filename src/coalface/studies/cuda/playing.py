"""The runs of a sweep that a GPU can play, and how: the data goes there once, a batch runs side by side."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coalface.data import CostDataset, CostScale, Rows, TrainTest, check_cost, check_rows
from coalface.errors import CoalfaceError, InputError
from coalface.evaluate import Checkpoint, CheckpointRecorder, Checkpoints, Curve, checkpoint_costs, doubling_costs
from coalface.kernels import (
    FIELDS,
    LEVELS,
    MOST_IMPLIED,
    POINTERS,
    PROBLEM,
    SETTINGS,
    Device,
    Settings,
    bytes_per_run,
    lanes_for,
    stride_for,
)
from coalface.learner import settings_of
from coalface.models import OnlineModel
from coalface.studies import learners
from coalface.studies.cells import Cell

MOST_LABELS = 1000
_LINEAR = "coal"
_SHARE_OF_MEMORY = 0.85  # of the free memory, for the models of the runs
_RUNS_PER_BLOCK = 6  # of a batch: results are saved after each batch, and its end leaves some blocks idle
_POLL_SECONDS = 0.02


@dataclass(frozen=True)
class Task:
    """One run for the device: what the kernel reads, and the unit of its costs."""

    settings: Settings
    permutation: int
    checkpoints: Checkpoints
    cost_bounds: tuple[float, float]


def task_of(cell: Cell, problem: TrainTest) -> Task | None:
    """The task of a cell; None if only a CPU can run it.

    A CPU runs other learners and models, batches, prices of questions, true labels as questions, early stopping and
    invalid settings, whose error it reports.
    """
    settings, n_labels = dict(cell.settings), len(problem.train.classes)
    if cell.learner != _LINEAR or settings.get("batch", 1) != 1 or settings.get("stop_saving") is not None:
        return None
    if problem.train.price is not None or not 1 < n_labels <= MOST_LABELS:
        return None
    try:
        learner = learners.new_classifier(cell.learner, settings, problem.train, cell.permutation)
        model = learner.begin().model_
        resolved = model.resolved(settings_of(learner))
    except CoalfaceError:
        return None
    if learner.cost_bounds == learners.AUTO or not isinstance(model, OnlineModel) or model.interactions is not None:
        return None
    if not _fits(resolved, learner):
        return None
    return Task(
        resolved, cell.permutation, cell.checkpoints, (float(learner.cost_bounds[0]), float(learner.cost_bounds[1]))
    )


def _fits(settings: Settings, learner: Any) -> bool:
    """Whether the kernel knows all that these settings ask of it."""
    unpaced = learner.budget is not None and not settings.budget < np.inf
    plain = settings.price_of_truth == np.inf and settings.rounds_before_budget == 0 and not settings.audits_by_loss
    return not unpaced and plain


def _packed(tasks: list[Task]) -> tuple[NDArray[Any], list[int]]:
    """The settings of tasks as the kernel reads them, and the distinct permutations that their orders name."""
    permutations = sorted({task.permutation for task in tasks})
    place = {permutation: number for number, permutation in enumerate(permutations)}
    records = np.zeros(len(tasks), SETTINGS)
    for record, task in zip(records, tasks, strict=True):
        for name in FIELDS:
            record[name] = getattr(task.settings, name)
        record["order"] = place[task.permutation]
    return records, permutations


class DeviceProblem:
    """Training and test data on a device, for runs with costs of one scale."""

    def __init__(self, device: Device, problem: TrainTest, cost_bounds: tuple[float, float]) -> None:
        self.device, self.scale = device, CostScale.of(cost_bounds)
        train, test = problem
        self.n_labels, self.n_rows, self.n_test = len(train.classes), len(train), len(test)
        rows, test_rows = check_rows(train.X).without_zeros(), check_rows(test.X).without_zeros()
        self.n_features, self.longest = max(rows.width, test_rows.width), rows.longest
        places = _places_by_frequency(rows, self.n_features)
        self._data = {
            **_on_device(device, rows, places, self._costs(train), ""),
            **_on_device(device, test_rows, places, self._costs(test), "test_"),
            "candidates": None if train.candidates is None else device.put(train.candidates.astype(np.uint8)),
        }
        self.shape = device.shape_for(self.n_labels, self.longest)

    def _costs(self, data: CostDataset) -> NDArray[np.float32]:
        return check_cost(data.cost, len(data), data.classes, self.scale)

    def implies(self, tasks: list[Task]) -> bool:
        """Whether some of these runs keep what answers imply."""
        return self.n_labels <= MOST_IMPLIED and any(task.settings.in_turn for task in tasks)

    def n_side_by_side(self, tasks: list[Task]) -> int:
        """How many of these runs fit on the device at once."""
        each = bytes_per_run(self.n_labels, self.n_features, self.longest, self.implies(tasks))
        fitting = int(self.device.memory * _SHARE_OF_MEMORY) // each
        if fitting < 1:
            raise InputError(
                f"A run takes {each / 1e9:.1f} GB, and {self.device.name} has {self.device.memory / 1e9:.1f} GB free. "
                "Use another executor."
            )
        return min(self.device.n_blocks(self.shape), fitting, len(tasks))

    def batch_size(self, tasks: list[Task]) -> int:
        """How many runs to play before their results are read."""
        return _RUNS_PER_BLOCK * self.n_side_by_side(tasks)

    def play(self, tasks: list[Task], *, n_traced: int = 0, stop: Callable[[], bool] = lambda: False) -> "_Played":
        """Play the runs, which share their checkpoints, until all have ended or ``stop()`` is true."""
        checkpoints, n_blocks = tasks[0].checkpoints, self.n_side_by_side(tasks)
        wanted = checkpoint_costs(checkpoints, self.n_labels, self.n_rows)
        targets = np.union1d(wanted, doubling_costs(self.n_labels, self.n_rows)).astype(np.int64)
        records, permutations = _packed(tasks)
        orders = np.array([learners.order_of(permutation, self.n_rows) for permutation in permutations], np.int32)
        arrays = {
            **self._data,
            "orders": self.device.put(orders),
            "targets": self.device.put(targets),
            **self._memory(n_blocks, implies=self.implies(tasks)),
            **self._results(len(tasks), len(targets) + 1, n_traced),
        }
        seconds = self._run(arrays, records, n_blocks, len(targets), n_traced, stop)
        found = {name: self.device.get(arrays[name]) for name in ("counts", "test_cost", "n_measured", "n_finished")}
        return _Played(
            checkpoints=checkpoints,
            n_labels=self.n_labels,
            n_rows=self.n_rows,
            n_blocks=n_blocks,
            seconds=seconds,
            complete=int(found["n_finished"][0]) == len(tasks),
            counts=found["counts"],
            test_cost=self.scale.from_unit(found["test_cost"] / self.n_test),
            n_measured=found["n_measured"],
            traced=self.device.get(arrays["traced"]) if n_traced else None,
        )

    def _memory(self, n_blocks: int, *, implies: bool) -> dict[str, Any]:
        """The models of the runs that are played side by side."""
        lanes, slots, longest = lanes_for(self.n_labels), self.n_features + 2, self.longest + 1
        in_shared = self.shape.row_capacity > 1
        return {
            "cells": self.device.empty(n_blocks * slots * stride_for(self.n_labels)),
            "units": self.device.empty(n_blocks * slots),
            "implied": self.device.empty(n_blocks * lanes * LEVELS * lanes * 2) if implies else None,
            "row_slots": None if in_shared else self.device.empty(2 * n_blocks * longest),
            "row_values": None if in_shared else self.device.empty(2 * n_blocks * longest),
        }

    def _results(self, n_runs: int, n_measures: int, n_traced: int) -> dict[str, Any]:
        zeros = self.device.zeros
        return {
            "counts": zeros((n_runs, n_measures, 3), np.int64),
            "test_cost": zeros((n_runs, n_measures), np.float64),
            "n_measured": zeros(n_runs, np.int32),
            "traced": zeros((n_runs, n_traced, self.n_labels), np.uint8) if n_traced else None,
            **{name: zeros(1, np.int32) for name in ("next_run", "stop", "n_finished")},
        }

    def _run(
        self,
        arrays: dict[str, Any],
        settings: NDArray[Any],
        n_blocks: int,
        n_targets: int,
        n_traced: int,
        stop: Callable[[], bool],
    ) -> float:
        """Start the blocks and wait for their end; returns the seconds."""
        device, problem = self.device, np.zeros(1, PROBLEM)
        problem["n_features"], problem["longest"] = self.n_features, self.longest
        problem["n_rows"], problem["n_test"] = self.n_rows, self.n_test
        problem["n_targets"], problem["n_traced"] = n_targets, n_traced
        problem["implies"] = arrays["implied"] is not None
        for name in POINTERS:
            problem[name] = device.address(arrays[name])
        given = device.put(problem.view(np.uint8)), device.put(settings.view(np.uint8))
        began = time.perf_counter()
        device.start(self.shape, n_blocks, *given, len(settings))
        while not device.is_done():
            if stop():
                device.set_flag(arrays["stop"])
            time.sleep(_POLL_SECONDS)
        return time.perf_counter() - began


@dataclass(frozen=True)
class _Played:
    """The results of a batch of runs: see ``state.cuh`` for the arrays."""

    checkpoints: Checkpoints
    n_labels: int
    n_rows: int
    n_blocks: int  # runs that were played side by side
    seconds: float
    complete: bool  # False if the batch was stopped
    counts: NDArray[np.int64]
    test_cost: NDArray[np.float64]
    n_measured: NDArray[np.int32]
    traced: NDArray[np.uint8] | None

    def curve(self, run: int) -> Curve:
        """The curve of a run; the time of the batch is shared out among its runs."""
        points = []
        for measure in range(int(self.n_measured[run])):
            costs, examples, rounds = map(int, self.counts[run, measure])
            points.append(Checkpoint(costs, examples, rounds, float(self.test_cost[run, measure])))
        current = points[0]
        recorder = CheckpointRecorder(self.checkpoints, self.n_labels, self.n_rows, lambda: current)
        for current in points:
            recorder.record(current.costs_queried)
        return recorder.curve(self.seconds / len(self.counts))


def _places_by_frequency(rows: Rows, n_features: int) -> NDArray[np.int32]:
    """New columns for features: frequent ones are neighbours in a model, which needs few pages of memory then."""
    counts = np.bincount(rows.columns, minlength=n_features)
    places = np.empty(n_features, np.int32)
    places[np.argsort(-counts, kind="stable")] = np.arange(n_features, dtype=np.int32)
    return places


def _on_device(
    device: Device, rows: Rows, places: NDArray[np.int32], costs: NDArray[np.float32], prefix: str
) -> dict[str, Any]:
    arrays: dict[str, NDArray[Any]] = {
        "indptr": rows.indptr,
        "columns": places[rows.columns],
        "values": rows.values,
        "costs": costs,
    }
    return {prefix + name: device.put(array) for name, array in arrays.items()}

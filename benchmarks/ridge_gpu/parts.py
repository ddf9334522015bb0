"""Where the time of a batch goes: on the GPU and in the Python process."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.ridge_gpu.speed import BATCHES
from benchmarks.ridge_gpu.ways import costs_for, embeddings, regression, seconds, with_intercept
from coalface import Coal, CoalClassifier, RidgeModel
from coalface.models.ridge.root_regression import told_costs


def parts() -> Iterator[list[Any]]:
    """Where the time of a batch of 256 goes, in milliseconds; each part alone, from the call to the end on the GPU."""
    import cupy

    sizes = ((384, 100), (1280, 200))
    yield ["part", *(f"{d} x {k}, {way}" for d, k in sizes for way in ("fp32", "tf32"))]
    found: dict[str, list[float]] = {}
    for n_features, n_labels in sizes:
        for way in ("fp32", "tf32"):
            for name, work in _parts_of(way, n_features, n_labels, cupy).items():
                found.setdefault(name, []).append(round(1e3 * seconds(work), 3))
    for name, times in found.items():
        yield [name, *times]


def _parts_of(way: str, n_features: int, n_labels: int, cupy: Any) -> dict[str, Callable[[], Any]]:
    state, random = regression(way, n_features, n_labels), np.random.default_rng(0)
    X, costs, none = embeddings(random, 256, n_features), costs_for(random, 256, n_labels), np.zeros((0, 0), np.float32)
    arrays, steps, precision, residuals = state.arrays_used, state._steps, state.precision, np.zeros(n_labels)
    features, slack, noise = cupy.asarray(X), np.ones(256), np.ones(n_labels)
    table = steps.table(features, state.n_columns, 1.0)
    [given] = told_costs(costs, none)
    told = steps.on_device(given)
    flat = state.roots.reshape(-1, state.n_columns)
    inputs, errors = steps.gathered(table, state.weights, told)
    along = arrays.product(inputs, state.roots.swapaxes(1, 2), precision)
    rows = steps.turned(along, errors, told).rows
    changes = arrays.product(rows, state.roots, precision) * np.float32(1e-6)
    long = arrays.product(table, flat.T, precision).reshape(256, n_labels, state.n_columns)
    predicted, spread = state._predicted(table), state.spread(table)
    factors = np.concatenate([slack, noise, np.zeros(256)])
    return {
        "rows to the GPU, scaled": lambda: arrays.scaled(X.ravel(), 1.0, 1e15),
        "table": lambda: steps.table(features, state.n_columns, 1.0),
        "predicted": lambda: state._predicted(table),
        "spread: X R'": lambda: arrays.product(table, flat.T, precision),
        "spread: squares": lambda: arrays.squares(long),
        "ranges": lambda: steps.ranges(predicted, spread, factors),
        "ranges to memory": lambda: arrays.to_host(cupy.empty((3, 256, n_labels), np.float32)),
        "all of ranged": lambda: state.ranged(table, np.zeros(256), slack, noise),
        "costs by label": lambda: told_costs(costs, none),
        "costs to the GPU": lambda: steps.on_device(given),
        "rows gathered": lambda: steps.gathered(table, state.weights, told),
        "F = X R'": lambda: arrays.product(inputs, state.roots.swapaxes(1, 2), precision),
        "B' F": lambda: steps.turned(along, errors, told),
        "B' F R": lambda: arrays.product(rows, state.roots, precision),
        "R - F' B' F R": lambda: arrays.subtract_product(state.roots, along.swapaxes(1, 2), changes[:, :-1], precision),
        "all of learn": lambda: state.learn(table, costs, none, residuals),
    }


def working() -> Iterator[list[Any]]:
    """The spreads of 256 and 1,024 rows by the numbers written at once, TF32, in milliseconds."""
    import cupy

    from coalface.models.ridge import root_regression

    yield ["numbers", *(f"{d} x {k}, {n} rows" for d, k in ((384, 100), (1280, 200)) for n in BATCHES)]
    before, random = root_regression._WORKING, np.random.default_rng(0)
    states = {size: regression("tf32", *size) for size in ((384, 100), (1280, 200))}
    try:
        for power in (24, 25, 26, 27, 28):
            root_regression._WORKING, row = 2**power, []
            for (n_features, _), state in states.items():
                for n_rows in BATCHES:
                    table = with_intercept(embeddings(random, n_rows, n_features), state.n_columns, cupy)
                    row.append(round(1e3 * seconds(lambda s=state, t=table: s.spread(t)), 3))
            yield [f"2^{power}", *row]
    finally:
        root_regression._WORKING = before


def profile() -> Iterator[list[Any]]:
    """Where the time of the learner goes in the Python process: cumulated milliseconds per batch of 256."""
    import cProfile
    import pstats

    yield ["size", "function", "ms"]
    for n_features, n_labels in ((384, 100), (1280, 200)):
        random, n_batches = np.random.default_rng(0), 8
        X = embeddings(random, n_batches * 256, n_features)
        costs = costs_for(random, len(X), n_labels)
        learner = CoalClassifier(
            range(n_labels), model=RidgeModel(device="cuda", precision="tf32"), rule=Coal(warm_up=0)
        )
        watch = cProfile.Profile()
        for number in range(n_batches):
            span = slice(256 * number, 256 * number + 256)
            if number == 3:
                watch.enable()
            learner.ask(X[span])
            learner.tell(X[span], costs[span], asked=~np.isnan(costs[span]))
        watch.disable()
        rows = sorted(pstats.Stats(watch).stats.items(), key=lambda item: -item[1][3])[:30]  # type: ignore[attr-defined]
        for (file, _, name), numbers in rows:
            yield [f"{n_features} x {n_labels}", f"{Path(file).name}:{name}"[:50], round(1e3 * numbers[3] / 5, 3)]

"""How far results of the GPU are from those of the CPU and of 64 bits."""

from collections.abc import Iterator
from functools import lru_cache
from typing import Any

import numpy as np

from benchmarks.ridge_gpu.ways import PENALTY, WAYS, embeddings, regression, turn_of, with_intercept
from coalface import CoalClassifier, RidgeModel


def accuracy() -> Iterator[list[Any]]:
    """Errors against 64-bit arithmetic on 512 new rows, by the costs learned per label."""
    yield ["rows", "d", "costs", "products", "prediction, most", "spread, 99 %", "spread, most", "least spread"]
    lengths = (200, 2000, 20_000)
    for kind, n_features in (("embeddings", 384), ("embeddings", 1280), ("condition 1e6", 384)):
        for n_rows in lengths:
            exact = _exact(kind, n_features, n_rows)
            for way in WAYS:
                yield [kind, n_features, n_rows, way, *_errors(way, kind, n_features, n_rows, exact)]


@lru_cache(maxsize=1)
def _stream(kind: str, n_features: int, n_rows: int) -> tuple[Any, Any, Any]:
    """Twice as many rows as costs per label, of two labels, and rows to test on."""
    random = np.random.default_rng(2)
    X = embeddings(random, 2 * n_rows + 512, n_features)
    if kind != "embeddings":
        X = random.normal(size=X.shape) * np.geomspace(1.0, 1e-3, n_features)
        X = (X @ turn_of(n_features) / np.sqrt((X**2).sum(axis=1).mean())).astype(np.float32)
    truth = 0.5 + X @ embeddings(random, 2, n_features).T
    known = random.random((2 * n_rows, 2)) < 0.5
    costs = np.where(known, truth[: 2 * n_rows] + 0.1 * random.normal(size=known.shape), np.nan).astype(np.float32)
    return X[: 2 * n_rows], costs, X[2 * n_rows :]


def _exact(kind: str, n_features: int, n_rows: int) -> tuple[Any, Any]:
    """Predictions and spreads by the formula, in 64 bits, on the GPU."""
    import cupy

    X, costs, tests = _stream(kind, n_features, n_rows)
    n_columns = -(-(n_features + 1) // 16) * 16
    rows, tests = (with_intercept(each, n_columns, cupy).astype(np.float64) for each in (X, tests))
    predicted, spread = [], []
    for label in range(costs.shape[1]):
        taken = cupy.asarray(np.flatnonzero(~np.isnan(costs[:, label])))
        known, answers = rows[taken], cupy.asarray(costs[:, label].astype(np.float64))[taken]
        solved = cupy.linalg.solve(
            PENALTY * cupy.eye(n_columns) + known.T @ known, cupy.hstack([tests.T, (known.T @ answers)[:, None]])
        )
        predicted.append(tests @ solved[:, -1])
        spread.append((tests.T * solved[:, :-1]).sum(axis=0))
    return cupy.asnumpy(cupy.stack(predicted, axis=1)), cupy.asnumpy(cupy.stack(spread, axis=1))


def _errors(way: str, kind: str, n_features: int, n_rows: int, exact: tuple[Any, Any]) -> list[str]:
    import cupy

    X, costs, tests = _stream(kind, n_features, n_rows)
    state, residuals = regression(way, n_features, costs.shape[1]), np.zeros(costs.shape[1])
    for start in range(0, len(X), 256):
        span = slice(start, start + 256)
        table = with_intercept(X[span], state.n_columns, cupy)
        state.learn(table, costs[span], np.zeros((0, 0), np.float32), residuals)
    table = with_intercept(tests, state.n_columns, cupy)
    predicted, spread = (
        cupy.asnumpy(each).astype(np.float64) for each in (state._predicted(table), state.spread(table))
    )
    relative = np.abs(spread / exact[1] - 1)
    return [
        f"{np.abs(predicted - exact[0]).max():.1e}",
        f"{np.quantile(relative, 0.99):.1e}",
        f"{relative.max():.1e}",
        f"{exact[1].min():.1e}",
    ]


def agreement() -> Iterator[list[Any]]:
    """The learner on the GPU against the CPU: both are told what the CPU asks for; batches of 128, d = 384, K = 40."""
    random, n_labels, batch, n_batches = np.random.default_rng(4), 40, 128, 24
    X = embeddings(random, batch * n_batches, 384)
    truth = X @ embeddings(random, n_labels, 384).T
    costs = np.clip(0.5 + 2 * (truth - truth.mean()) + 0.05 * random.normal(size=truth.shape), 0, 1)
    yield [
        "products",
        "questions of CPU",
        "questions of GPU",
        "decisions that differ",
        "prediction, most",
        "range, most",
    ]
    cpu = CoalClassifier(range(n_labels), model="ridge")
    others = {
        name: CoalClassifier(range(n_labels), model=RidgeModel(device="cuda", precision=name))
        for name in ("single", "tf32")
    }
    sums = {name: np.zeros(5) for name in others}
    for start in range(0, len(X), batch):
        span = slice(start, start + batch)
        asked = cpu.ask(X[span])
        told = np.where(asked.mask, costs[span], np.nan)
        for name, learner in others.items():
            found, most = learner.ask(X[span]), sums[name]
            most[:3] += asked.mask.sum(), found.mask.sum(), (asked.mask != found.mask).sum()
            most[3] = max(most[3], np.abs(found.predicted - asked.predicted).max())
            pairs = ((found.ranges.lowest, asked.ranges.lowest), (found.ranges.highest, asked.ranges.highest))
            most[4] = max(most[4], *(np.abs(one - other).max() for one, other in pairs))
            learner.tell(X[span], told, asked=asked.mask)
        cpu.tell(X[span], told, asked=asked.mask)
    for name, (ours, theirs, differ, predicted, ends) in sums.items():
        yield [name, int(ours), int(theirs), f"{differ / costs.size:.2e}", f"{predicted:.1e}", f"{ends:.1e}"]

"""The default learner on streams that cannot be shuffled, beside each of its members alone.

Rows come in the order of the stream and are told one after another, with all costs. At ten moments of the last half,
each learner predicts held-out rows of the present world: of the labels seen so far, with the labels that are right now.
"stream" is the cost of the predictions that were made for each row before it was told.

    python studies/streams.py --seeds 3      every stream, into studies/streams/streams.csv
"""

import argparse
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sklearn.datasets import load_digits, make_classification

from coalface import CoalClassifier, RidgeModel
from coalface.studies.tables import write_csv

LINES = {"default": "auto", "online": "online", "forest": "forest", "rbf": RidgeModel("light", kernel="rbf")}
MOMENTS, BLOCK = 10, 10


class Stream(NamedTuple):
    """Rows, their labels at the time, and the labels of held-out rows at any moment."""

    X: Any
    y: Any
    X_test: Any
    y_test: Callable[[int], Any]  # the labels of the held-out rows after so many rows


def _digits(seed: int) -> tuple[Any, Any, Any, Any]:
    X, y = load_digits(return_X_y=True)
    order = np.random.default_rng(seed).permutation(len(y))
    X, y = X[order] / 16.0, y[order]
    return X[:1300], y[:1300], X[1300:], y[1300:]


def sorted_digits(seed: int) -> Stream:
    """All examples of a label, then all of the next."""
    X, y, X_test, y_test = _digits(seed)
    order = np.argsort(y, kind="stable")
    return Stream(X[order], y[order], X_test, lambda _: y_test)


def digits_in_runs(seed: int) -> Stream:
    """Thirty examples of a label, then thirty of the next."""
    X, y, X_test, y_test = _digits(seed)
    place = np.empty(len(y), np.int64)
    for label in range(10):
        place[y == label] = np.arange((y == label).sum()) // 30 * 10 + label
    order = np.argsort(place, kind="stable")
    return Stream(X[order], y[order], X_test, lambda _: y_test)


def _noisy(seed: int) -> tuple[Any, Any]:
    X, y = make_classification(2500, 10, n_informative=6, n_classes=3, flip_y=0.2, class_sep=1.2, random_state=seed)
    return X.astype(np.float32), y


def sorted_noise(seed: int) -> Stream:
    """A noisy table of three classes, sorted by class."""
    X, y = _noisy(seed)
    order = np.argsort(y[:1500], kind="stable")
    return Stream(X[order], y[order], X[1500:], lambda _: y[1500:])


def sorted_by_column(seed: int) -> Stream:
    """The same table, sorted by its first column."""
    X, y = _noisy(seed)
    order = np.argsort(X[:1500, 0], kind="stable")
    return Stream(X[order], y[order], X[1500:], lambda _: y[1500:])


def drifting(seed: int) -> Stream:
    """Ten labels whose centres move all the time."""
    random, n = np.random.default_rng(seed), 1500
    start, way = random.normal(size=(10, 8)), random.normal(size=(10, 8))

    def drawn(labels: Any, times: Any) -> Any:
        centres = start[labels] + 2.0 * times[:, None] * way[labels]
        return (centres + 0.5 * random.normal(size=centres.shape)).astype(np.float32)

    y, y_test = random.integers(10, size=n), random.integers(10, size=400)
    X, at = drawn(y, np.arange(n) / n), {}
    for done in moments(n):
        at[done] = drawn(y_test, np.full(400, done / n))
    return Stream(X, y, at, lambda _: y_test)


def switching_back(seed: int) -> Stream:
    """Digits whose labels are moved by one in the second third, and are as before in the last."""
    X, y, X_test, y_test = _digits(seed)
    third = len(y) // 3
    moved = y.copy()
    moved[third : 2 * third] = (y[third : 2 * third] + 1) % 10
    return Stream(X, moved, X_test, lambda done: (y_test + 1) % 10 if third < done <= 2 * third else y_test)


STREAMS: dict[str, Callable[[int], Stream]] = {
    "digits-sorted": sorted_digits,
    "digits-in-runs": digits_in_runs,
    "noise-sorted": sorted_noise,
    "noise-by-column": sorted_by_column,
    "drifting": drifting,
    "switching-back": switching_back,
}


def moments(n_rows: int) -> list[int]:
    """After how many rows the learners are measured: ten times in the last half."""
    return [n_rows // 2 + (n_rows - n_rows // 2) * (k + 1) // MOMENTS for k in range(MOMENTS)]


def run(job: tuple[str, str, int]) -> tuple[Any, ...]:
    """The mean cost on held-out rows, and of the predictions in the stream, both over the last half."""
    name, line, seed = job
    stream, learner = STREAMS[name](seed), CoalClassifier(classes=range(10), model=LINES[line])
    n, held_out, wrong = len(stream.y), [], []
    stops, done = moments(n), 0
    for stop in sorted({*stops, *range(BLOCK, n, BLOCK)}):
        part = slice(done, stop)
        if done >= n // 2:
            wrong += (np.asarray(learner.predict(stream.X[part]), int) != stream.y[part]).tolist()
        learner.tell(stream.X[part], (np.arange(10) != stream.y[part, None]).astype(float))
        done = stop
        if stop in stops:
            X = stream.X_test[stop] if isinstance(stream.X_test, dict) else stream.X_test
            y = np.asarray(stream.y_test(stop))
            seen = np.isin(y, stream.y[:stop])
            held_out.append(float((np.asarray(learner.predict(X[seen]), int) != y[seen]).mean()))
    leaders = " ".join(member.name for member in learner.committee_ if member.leads)
    return name, line, seed, round(float(np.mean(held_out)), 5), round(float(np.mean(wrong)), 5), leaders


def main() -> None:
    """Run every stream and line, and write the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--out", type=Path, default=Path(__file__).with_suffix(""))
    given = parser.parse_args()
    jobs = [(name, line, seed) for name in STREAMS for line in LINES for seed in range(given.seeds)]
    with ProcessPoolExecutor(given.workers) as executor:
        rows = list(executor.map(run, jobs))
    given.out.mkdir(parents=True, exist_ok=True)
    write_csv(given.out / "streams.csv", ("stream", "line", "seed", "held_out", "in_stream", "leader"), rows)
    for row in summary(rows):
        print(*row)


def summary(rows: list[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    """For each stream, the mean costs of the default and of the best member, on held-out rows and in the stream."""
    found = []
    for name in dict.fromkeys(row[0] for row in rows):
        mean = {line: np.mean([row[3:5] for row in rows if row[:2] == (name, line)], axis=0) for line in LINES}
        best = np.min([mean[line] for line in LINES if line != "default"], axis=0)
        found.append((name, *mean["default"].round(4).tolist(), *best.round(4).tolist()))
    return found


if __name__ == "__main__":
    main()

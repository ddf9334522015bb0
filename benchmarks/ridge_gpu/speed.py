"""How fast batches are asked about and told, and pools are scored."""

import time
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Any

import numpy as np

from benchmarks.ridge_gpu.ways import TOLD, costs_for, embeddings, regression, seconds, synchronise, with_intercept
from coalface import Coal, CoalClassifier
from coalface.data.rows import check_rows
from coalface.learner.pool import possible_savings
from coalface.learner.state import settings_of
from coalface.models.device import SINGLE, TF32, CudaArrays
from coalface.models.ridge import RidgeModel

SIZES = ((384, 100), (768, 100), (1280, 100), (1280, 200))
WANTED = {(384, 100, 256): 200_000, (1280, 200, 256): 80_000}  # examples per second
BATCHES = (256, 1024)
_PRODUCT = 8192  # rows and columns of the large matrix product


def machine() -> Iterator[list[Any]]:
    """What the GPU reaches: large matrix products and a copy."""
    import cupy

    arrays, one = CudaArrays(), cupy.ones((_PRODUCT, _PRODUCT), np.float32)
    yield ["what", "measured"]
    name = cupy.cuda.runtime.getDeviceProperties(0)["name"].decode()
    yield ["GPU", name]
    yield ["CuPy, NumPy", f"{cupy.__version__}, {np.__version__}"]
    for label, precision in (("FP32", SINGLE), ("TF32", TF32)):
        taken = seconds(lambda precision=precision: arrays.product(one, one, precision))
        yield [f"{label} product, TFLOP/s", round(2 * _PRODUCT**3 / taken / 1e12, 1)]
    large = cupy.ones(2**28, np.float32)
    yield ["copy, read and written, TB/s", round(2 * large.nbytes / seconds(large.copy) / 1e12, 2)]


def batches() -> Iterator[list[Any]]:
    """Examples per second, 5 % of the costs told: tables on the GPU, rows through the model, through the learner."""
    import cupy

    fastest = {}
    one = cupy.ones((_PRODUCT, _PRODUCT), np.float32)
    for label, precision in (("fp32", SINGLE), ("tf32", TF32)):
        taken = seconds(lambda p=precision: CudaArrays().product(one, one, p))
        fastest[label] = 2 * _PRODUCT**3 / taken
    yield ["d", "K", "batch", "products", "regression /s", "model /s", "learner /s", "TFLOP/s", "of product", "wanted"]
    for n_features, n_labels in SIZES:
        for batch in BATCHES:
            for way in ("fp32", "tf32"):
                yield _speed(n_features, n_labels, batch, way, fastest)


def _speed(n_features: int, n_labels: int, batch: int, way: str, fastest: dict[str, float]) -> list[Any]:
    random, n_batches = np.random.default_rng(0), 23
    X = _rows_of(n_batches * batch, n_features)
    spans = [slice(start, start + batch) for start in range(0, len(X), batch)]
    costs = [costs_for(random, batch, n_labels) for _ in spans]
    alone = _of_regression(way, n_features, n_labels, X, spans, costs)
    precision = "single" if way == "fp32" else "tf32"
    model = _of_model(precision, n_labels, X, spans, costs)
    learner = _of_learner(precision, n_labels, X, spans, costs)
    n_columns = -(-(n_features + 1) // 16) * 16
    operations = 2 * n_columns**2 * n_labels * (1 + 3 * TOLD)  # of an example: the spread, and three products to learn
    share = operations * alone / fastest[way]
    wanted = WANTED.get((n_features, n_labels, batch), "")
    speeds = [round(speed) for speed in (alone, model, learner)]
    return [n_features, n_labels, batch, way, *speeds, round(operations * alone / 1e12, 1), f"{share:.0%}", wanted]


@lru_cache(maxsize=1)
def _rows_of(n_rows: int, n_features: int) -> np.ndarray:
    return embeddings(np.random.default_rng(0), n_rows, n_features)


def _of_regression(way: str, n_features: int, n_labels: int, X: Any, spans: Any, costs: Any) -> float:
    import cupy

    state, residuals = regression(way, n_features, n_labels), np.zeros(n_labels)
    tables = [with_intercept(X[span], state.n_columns, cupy) for span in spans]
    slack, noise = np.ones(len(tables[0])), np.ones(n_labels)

    def step(number: int) -> None:
        state.ranged(tables[number], np.zeros(len(slack)), slack, noise)
        state.learn(tables[number], costs[number], np.zeros((0, 0), np.float32), residuals)

    return _per_second(step, spans)


def _of_model(precision: str, n_labels: int, X: Any, spans: Any, costs: Any) -> float:
    settings = settings_of(CoalClassifier(range(n_labels), model="ridge").begin())
    model = RidgeModel(device="cuda", precision=precision).begin(n_labels, settings)
    rows = [check_rows(X[span]) for span in spans]

    def step(number: int) -> None:
        model.ranges(rows[number], settings, 1 + number)
        model.learn(rows[number], costs[number], settings, 1 + number)

    return _per_second(step, spans)


def _of_learner(precision: str, n_labels: int, X: Any, spans: Any, costs: Any) -> float:
    model = RidgeModel(device="cuda", precision=precision)
    learner = CoalClassifier(range(n_labels), model=model, rule=Coal(warm_up=0))

    def step(number: int) -> None:
        learner.ask(X[spans[number]])
        learner.tell(X[spans[number]], costs[number], asked=~np.isnan(costs[number]))

    return _per_second(step, spans)


def _per_second(step: Callable[[int], None], spans: Any) -> float:
    """Examples per second, without the first three batches, which compile what they need."""
    for number in range(3):
        step(number)
    synchronise()
    began = time.perf_counter()
    for number in range(3, len(spans)):
        step(number)
    synchronise()
    return (len(spans) - 3) * (spans[0].stop - spans[0].start) / (time.perf_counter() - began)


def pools() -> Iterator[list[Any]]:
    """Rows scored per second, d = 384, K = 100, from memory to memory: 2,048 rows on the CPU, 32,768 on the GPU."""
    random, n_labels = np.random.default_rng(5), 100
    X = embeddings(random, 32_768, 384)
    yield ["method", "CPU", "GPU, single", "GPU, tf32"]
    learners = {
        "CPU": CoalClassifier(range(n_labels), model="ridge"),
        "single": CoalClassifier(range(n_labels), model=RidgeModel(device="cuda")),
        "tf32": CoalClassifier(range(n_labels), model=RidgeModel(device="cuda", precision="tf32")),
    }
    costs = costs_for(random, 1024, n_labels, 0.2)
    rows, settings = check_rows(X), settings_of(learners["CPU"].tell(X[:1024], costs))
    small = rows.between(0, 2048)
    speeds: dict[str, list[Any]] = {}
    for name, learner in learners.items():
        if name != "CPU":
            learner.tell(X[:1024], costs)
        x, r = (X[:2048], small) if name == "CPU" else (X, rows)
        work: dict[str, Callable[[], Any]] = {
            "check_rows": lambda x=x: check_rows(x),
            "model.predict": lambda learner=learner, r=r: learner.model_.predict(r),
            "model.ranges": lambda learner=learner, r=r: learner.model_.ranges(r, settings, 1025),
            "predict": lambda learner=learner, x=x: learner.predict(x),
            "predict_cost": lambda learner=learner, x=x: learner.predict_cost(x),
            "cost_range": lambda learner=learner, x=x: learner.cost_range(x),
            "possible_savings (rank)": lambda learner=learner, x=x: possible_savings(learner, x),
        }
        for method, call in work.items():
            call()
            began = time.perf_counter()
            call()
            speeds.setdefault(method, []).append(round(len(x) / (time.perf_counter() - began)))
    for method, found in speeds.items():
        yield [method, *found]

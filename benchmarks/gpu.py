"""Runs on a GPU against the CPU: do they agree, and how fast are they?

    python -m benchmarks.gpu check      decisions in exact mode, costs and test cost in fast mode
    python -m benchmarks.gpu speed      examples per second of many runs side by side
    python -m benchmarks.gpu large      1,000 runs over generated data of the size of the full RCV1-v2
    python -m benchmarks.gpu pool       rows of the shape of RCV1-v2 ranked per second

Needs a CUDA device, the extra ``[cuda]`` and, for real data, COALFACE_DATA. ``check --reference FILE`` compares with
what ``reference FILE`` has written on another machine.
"""

import json
import sys
import time
from pathlib import Path

import numpy as np
import scipy.sparse

from coalface import CoalClassifier
from coalface.data.costs import CostScale, check_cost
from coalface.data.dataset import CostDataset, TrainTest
from coalface.data.rows import check_rows
from coalface.errors import CoalfaceError
from coalface.kernels.cuda.device import CudaDevice
from coalface.kernels.cuda.layout import bytes_per_run
from coalface.kernels.state import NO_ROUNDS, lanes_for
from coalface.learner.intake import Examples
from coalface.learner.play import play, start_run
from coalface.learner.pool import possible_savings
from coalface.learner.state import settings_of
from coalface.models.online_scoring import OnlineScorer
from coalface.studies import learners
from coalface.studies.cells import Cell
from coalface.studies.cuda.playing import DeviceProblem, task_of
from coalface.studies.learners import order_of
from coalface.studies.sources import named_sources

PUBLISHED = {"rule.slack": "published", "rule.in_turn": False, "audits.rate": 0.0, "rule.warm_up": 10}
CHECKED = {
    "published": {**PUBLISHED, "mellowness": 0.01, "learning_rate": 0.3},
    "passive": {**PUBLISHED, "rule": "passive", "learning_rate": 0.3},
    "default": {},
}
MIXED = [
    {**PUBLISHED, "rule": "passive"},
    *({**PUBLISHED, "mellowness": mellowness} for mellowness in (0.1, 0.01, 0.001)),
    {**PUBLISHED, "rule": "all-or-none", "mellowness": 0.01},
    {**PUBLISHED, "rule": "no-domination", "mellowness": 0.001},
    {},
]
RATES = (0.03, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 1.0, 3.0, 10.0)
DATA = ("rcv1", "in40", "clinc150")
N_BLOCKS = 10
TRACED, PERMUTATIONS = 1000, (100, 101)


def tasks_for(problem, settings, permutations):
    cells = (Cell("", "", "", "coal", tuple(sorted(settings.items())), number, "doubling") for number in permutations)
    return [task_of(cell, problem) for cell in cells]


def traced_on_cpu(problem, settings, permutation):
    """The questions at the first positions of a run, (TRACED, K)."""
    train = problem.train
    learner = learners.new_classifier("coal", settings, train, permutation)
    costs = check_cost(train.cost, len(train), train.classes, CostScale.of(learner.cost_bounds))
    order = order_of(permutation, len(train))[:TRACED]
    given = NO_ROUNDS._replace(costs=costs)
    run = start_run(
        learner, Examples(train.X, check_rows(train.X)), train.classes, train.cost, given, order, record=True
    )
    play(learner, run, TRACED)
    return run.arrays.record.mask.copy()


def reference(path):
    """Write what the CPU does."""
    found = {}
    for name in DATA:
        problem = named_sources([name])[0].load()
        for line, settings in CHECKED.items():
            found[f"{name}|{line}|mask"] = np.packbits(traced_on_cpu(problem, settings, PERMUTATIONS[0]))
            for permutation in PERMUTATIONS:
                curve = learners.LEARNERS["coal"].run(settings, problem, permutation, "doubling")
                ends = [curve.costs_queried[-1], curve.test_cost[-1], curve.auc, curve.seconds]
                found[f"{name}|{line}|{permutation}"] = np.array(ends)
                print(name, line, permutation, ends, flush=True)
    np.savez_compressed(path, **found)


def check(path):
    """Compare with the CPU."""
    kept = np.load(path) if path else {}
    print("| data | line | equal decisions, first 1,000 | costs CPU | costs GPU | test cost CPU | test cost GPU |")
    print("|---|---|---|---|---|---|---|")
    exact, fast = CudaDevice(exact=True), CudaDevice()
    for name in DATA:
        problem = named_sources([name])[0].load()
        short = TrainTest(problem.train, problem.test.subset(np.arange(8)))
        for line, settings in CHECKED.items():
            mask = kept.get(f"{name}|{line}|mask")
            if mask is None:
                mask = np.packbits(traced_on_cpu(problem, settings, PERMUTATIONS[0]))
            one = tasks_for(short, settings, PERMUTATIONS[:1])
            traced = DeviceProblem(exact, short, one[0].cost_bounds).play(one, n_traced=TRACED).traced[0]
            questions = np.unpackbits(mask)[: traced.size].reshape(traced.shape)
            same = f"{int((questions == traced).all(axis=1).sum())}"
            tasks = tasks_for(problem, settings, PERMUTATIONS)
            played = DeviceProblem(fast, problem, tasks[0].cost_bounds).play(tasks)
            for number, permutation in enumerate(PERMUTATIONS):
                ends = kept.get(f"{name}|{line}|{permutation}")
                if ends is None:
                    curve = learners.LEARNERS["coal"].run(settings, problem, permutation, "doubling")
                    ends = curve.costs_queried[-1], curve.test_cost[-1]
                curve = played.curve(number)
                shown = (int(ends[0]), int(curve.costs_queried[-1]), float(ends[1]), float(curve.test_cost[-1]))
                print(f"| {name} | {line} | {same} | {shown[0]:,} | {shown[1]:,} | {shown[2]:.5f} | {shown[3]:.5f} |")
                same = ""
            sys.stdout.flush()


def copy_bandwidth(device):
    """Bytes read and written per second by a copy within the device."""
    cupy = device._cupy
    source, target = cupy.zeros(2**30, np.float32), cupy.zeros(2**30, np.float32)
    target[:] = source
    cupy.cuda.Device().synchronize()
    began = time.perf_counter()
    for _ in range(10):
        target[:] = source
    cupy.cuda.Device().synchronize()
    seconds = time.perf_counter() - began
    del source, target
    cupy.get_default_memory_pool().free_all_blocks()
    return 10 * 2 * 2**32 / seconds


def mixed_tasks(problem, n_runs):
    tasks = []
    for permutation in range(100, 100 + -(-n_runs // (len(MIXED) * len(RATES)))):
        for settings in MIXED:
            for rate in RATES:
                tasks += tasks_for(problem, {**settings, "learning_rate": rate}, [permutation])
    return sorted(tasks[:n_runs], key=lambda task: task.settings.rule, reverse=True)


def measured(device, problem, n_runs, bandwidth, what):
    """Print a row: examples per second, and the share of the copy bandwidth that reading the weights alone takes."""
    tasks = mixed_tasks(problem, n_runs)
    on_device = DeviceProblem(device, problem, (0.0, 1.0))
    if len(problem.train) < 100_000:
        on_device.play(tasks[-1:])  # compiles
    played = on_device.play(tasks)
    examples = len(tasks) * len(problem.train)
    nonzeros = problem.train.X.nnz / len(problem.train) + 1
    read = examples * nonzeros * 12 * lanes_for(len(problem.train.classes))
    each = bytes_per_run(len(problem.train.classes), on_device.n_features, on_device.longest, implies=True) / 1e6
    print(
        f"| {what} | {len(tasks):,} | {on_device.shape.n_threads} | {played.n_blocks} | {each:.1f} | "
        f"{played.seconds:.2f} | {examples / played.seconds / 1e6:.2f} | {read / played.seconds / bandwidth:.2f} |",
        flush=True,
    )
    return tasks, played


def speed(names=("rcv1", "in40"), n_runs=2000):
    device = CudaDevice()
    bandwidth = copy_bandwidth(device)
    print(f"{device.name}, copies at {bandwidth / 1e12:.2f} TB/s")
    print(
        "| data | runs | threads | side by side | MB a run | seconds | million examples/s | share of copy bandwidth |"
    )
    print("|---|---|---|---|---|---|---|---|")
    for name in names:
        problem = named_sources([name])[0].load()
        untested = TrainTest(problem.train, problem.test.subset(np.arange(1)))
        measured(device, untested, n_runs, bandwidth, f"{name}, passes alone")
        measured(device, problem, n_runs, bandwidth, f"{name}, with test costs")


def generated(n_rows, n_features=47_236, n_labels=103, nonzeros=76, seed=0):
    """Rows of the shape of RCV1-v2: features by Zipf's law, labels from a random linear model."""
    rng = np.random.default_rng(seed)
    popularity = 1.0 / (np.arange(n_features) + 20.0)
    drawn = rng.choice(n_features, size=(n_rows, nonzeros + 8), p=popularity / popularity.sum()).astype(np.int32)
    drawn.sort(axis=1)
    distinct = np.ones(drawn.shape, bool)
    distinct[:, 1:] = drawn[:, 1:] != drawn[:, :-1]
    indptr = np.concatenate([[0], np.cumsum(distinct.sum(axis=1))])
    values = rng.gamma(2.0, 0.05, size=int(indptr[-1])).astype(np.float32)
    X = scipy.sparse.csr_array((values, drawn[distinct], indptr), shape=(n_rows, n_features))
    weights = rng.standard_normal((n_features, n_labels)).astype(np.float32)
    truth = np.concatenate([(X[i : i + 20_000] @ weights).argmax(axis=1) for i in range(0, n_rows, 20_000)])
    costs = np.minimum(np.abs(np.arange(n_labels)[:, None] % 10 - np.arange(n_labels) % 10) / 10 + 0.1, 1.0)
    np.fill_diagonal(costs, 0.0)
    return X, truth.astype(np.int32), costs.astype(np.float32)


def large(n_rows=781_265, n_test=5_000, n_runs=1000):
    X, truth, costs = generated(n_rows + n_test)
    parts = [slice(0, n_rows), slice(n_rows, None)]
    train, test = (CostDataset(X[part], truth=truth[part], cost_matrix=costs) for part in parts)
    device = CudaDevice()
    bandwidth = copy_bandwidth(device)
    tasks, played = measured(
        device, TrainTest(train, test), n_runs, bandwidth, f"generated, {n_rows:,} x {X.shape[1]:,}"
    )
    lines = {}
    for number, task in enumerate(tasks):
        chosen = task.settings
        lines.setdefault((chosen.rule, chosen.mellowness, chosen.slack, chosen.learning_rate), []).append(number)
    print("| rule | mellowness | slack | rate | median costs | median test cost |\n|---|---|---|---|---|---|")
    for line, numbers in sorted(lines.items()):
        curves = [played.curve(number) for number in numbers]
        costs, test = (
            np.median([getattr(curve, name)[-1] for curve in curves]) for name in ("costs_queried", "test_cost")
        )
        print(f"| {' | '.join(map(str, line))} | {costs:,.0f} | {test:.4f} |")


def seconds_per_row(score, checked):
    score(*checked)  # compiles
    began = time.perf_counter()
    for _ in range(N_BLOCKS):
        score(*checked)
    return (time.perf_counter() - began) / N_BLOCKS / len(checked[0])


def pool(n_rows=100_000_000, at_once=2**20):
    """Rank rows of one generated block over and over: possible savings with the model on the GPU and on the CPU."""
    X, truth, costs = generated(20_000 + at_once)
    learner = CoalClassifier(range(len(costs)), model="online", random_state=0)
    learner.partial_fit(X[:20_000], cost=costs[truth[:20_000]])
    block, model = check_rows(X[20_000:]), learner.model_
    scorer, settings = OnlineScorer(), settings_of(learner)._replace(round_step=0)
    checked = (block, model.state, settings, learner.round_)
    ranges, savings = (seconds_per_row(score, checked) for score in (scorer.ranges, scorer.savings))
    learner.model_.scorer = scorer
    began, done = time.perf_counter(), 0
    while done < n_rows and time.perf_counter() - began < 20.0:
        possible_savings(learner, X[20_000:])
        done += at_once
    ranked = (time.perf_counter() - began) / done
    learner.model_.scorer = None
    began = time.perf_counter()
    possible_savings(learner, X[20_000 : 20_000 + 2**15])
    on_cpu = (time.perf_counter() - began) / 2**15
    print("| what | rows | million rows/s |\n|---|---|---|")
    print(f"| predictions and ranges of checked rows, GPU | {N_BLOCKS * at_once:,} | {1e-6 / ranges:.2f} |")
    print(f"| possible savings of checked rows, GPU | {N_BLOCKS * at_once:,} | {1e-6 / savings:.2f} |")
    print(f"| ranked (possible_savings), GPU | {done:,} | {1e-6 / ranked:.2f} |")
    print(f"| ranked (possible_savings), one core | {2**15:,} | {1e-6 / on_cpu:.3f} |")


def main() -> None:
    verb, *rest = sys.argv[1:] or ["check"]
    if verb == "reference":
        reference(Path(rest[0]))
    elif verb == "check":
        check(Path(rest[1]) if rest[:1] == ["--reference"] else None)
    elif verb == "speed":
        speed(*([tuple(rest[0].split(","))] if rest else []))
    elif verb == "large":
        large(*map(int, rest))
    elif verb == "pool":
        pool(*map(int, rest))
    else:
        print(json.dumps({"verbs": ["reference", "check", "speed", "large", "pool"]}))


if __name__ == "__main__":
    try:
        main()
    except CoalfaceError as problem:  # such as a machine without a GPU
        sys.exit(f"benchmarks.gpu: {problem}")

"""Speed and memory of ``simulate``, compared with Vowpal Wabbit and with the machine's copy bandwidth."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import vw
from benchmarks.figures import Figure, Progress, at_least, at_most
from benchmarks.interleaved import interleave
from benchmarks.machine import Seconds, copy_bandwidth, run_python, timed
from benchmarks.problems import Problem
from coalface import CoalClassifier, simulate
from coalface.kernels.state import SLOTS_USED, lanes_for

RULES = ("coal", "passive")
_BYTES_PER_CELL = 12  # weight, sum of squares, inverse scale


def params_for(problem: Problem, rule: str) -> dict[str, Any]:
    """The settings that Vowpal Wabbit gets, too; all others are as published."""
    return {"rule": rule, "mellowness": problem.mellowness, "learning_rate": problem.learning_rate}


def learner_for(problem: Problem, rule: str) -> CoalClassifier:
    """A learner that visits rows in the order of their file, as Vowpal Wabbit does."""
    return CoalClassifier.as_published(classes=problem.train.classes, shuffle=False, **params_for(problem, rule))


def compile_kernels(problem: Problem, rule: str) -> None:
    """Compile the kernels, or load them if they were compiled before."""
    few = problem.train.subset(slice(20))
    learner = learner_for(problem, rule)
    simulate(learner, few.X, few.cost)
    learner.predict(few.X)


def simulation_figures(problem: Problem, files: vw.Files, repeats: int, progress: Progress) -> Iterator[Figure]:
    for rule in RULES:
        progress(f"{problem.name}: simulate, {rule}")
        compile_kernels(problem, rule)
        yield from _rule_figures(problem, files, rule, repeats)


def _rule_figures(problem: Problem, files: vw.Files, rule: str, repeats: int) -> Iterator[Figure]:
    trained = vw.train(problem, files, rule)
    theirs = vw.Driver.learning(files, trained)
    learners: list[CoalClassifier] = []

    def ours() -> Seconds:
        learners[:] = [learner_for(problem, rule)]
        return timed(lambda: simulate(learners[0], problem.train.X, problem.train.cost))[0]

    pairs = interleave(ours, theirs.seconds, repeats)
    learner, n_examples = learners[0], len(problem.train)
    yield Figure.of(
        f"simulate {rule}: speed / VW",
        problem.name,
        pairs.ratios,
        "times",
        at_least(problem.coal_target if rule == "coal" else problem.passive_target),
        **pairs.details(n_examples),
        our_costs_asked=learner.costs_queried_,
        vw_costs_asked=trained.costs_asked,
        our_test_cost=-float(learner.score(problem.test.X, cost=problem.test.cost)),
        vw_test_cost=trained.test_cost,
    )
    touched = _bytes_touched(problem, learner.costs_queried_ / n_examples)
    bandwidth = copy_bandwidth()
    yield Figure.of(
        f"simulate {rule}: share of copy bandwidth",
        problem.name,
        [touched * n_examples / run.cpu / bandwidth for run in pairs.ours],
        "share",
        bytes_touched_per_example=touched,
        copy_gigabytes_per_second=bandwidth / 1e9,
    )
    yield from _memory_figures(problem, files.folder, rule, learner, theirs.peak_bytes)


def _bytes_touched(problem: Problem, costs_per_example: float) -> float:
    """A pass over a row reads the cells of all labels; an update reads and writes those of the labels asked about."""
    lanes = lanes_for(problem.n_labels)
    return problem.nonzeros * _BYTES_PER_CELL * (lanes + 2 * costs_per_example)


def _memory_figures(
    problem: Problem, folder: Path, rule: str, learner: CoalClassifier, vw_peak_bytes: int
) -> Iterator[Figure]:
    features_seen = len(np.unique(problem.train.X.indices))
    slots = int(learner.model_.state.counters[SLOTS_USED]) - 1
    least = _BYTES_PER_CELL * features_seen * lanes_for(problem.n_labels)
    yield Figure.of(
        f"simulate {rule}: model bytes / least",
        problem.name,
        [learner.model_.nbytes / least],
        "times",
        at_most(1.2),
        model_bytes=learner.model_.nbytes,
        features_seen=features_seen,
        features_learned=slots,
    )
    peak = _peak_bytes(problem, rule, folder)
    if peak is not None:
        yield Figure.of(
            f"simulate {rule}: peak memory / least",
            problem.name,
            [peak / least],
            "times",
            peak_bytes=peak,
            vw_process_peak_bytes=vw_peak_bytes,
        )


def _peak_bytes(problem: Problem, rule: str, folder: Path) -> int | None:
    saved = folder / "train"
    if not saved.exists():
        problem.train.save(saved)
    request = [f"{saved}", json.dumps(params_for(problem, rule))]
    peak: int | None = json.loads(run_python(["-m", "benchmarks.memory_worker", *request]).stdout)
    return peak

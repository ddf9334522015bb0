"""Compile the kernels that most tests use, one process per core, before the workers of pytest start.

    python -m tests.precompile

Without it every worker compiles every kernel, all at the same time. What is compiled already takes a few seconds.
"""

import os
import tempfile
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import numpy as np

X = np.abs(np.sin(np.arange(240.0).reshape(60, 4)))
COST = (X[:, :3] > X[:, :3].min(axis=1, keepdims=True)).astype(float)


def _answer(row: int, label: int) -> float:
    return float(COST[row, label])


def simulated_online() -> None:
    """The fused loop of the online model."""
    from coalface import CoalClassifier, simulate

    simulate(CoalClassifier(classes=range(3), model="online"), X, COST, X_test=X, cost_test=COST)


def committee() -> None:
    """The rounds of models other than the online one: forests, classes and ridge regression."""
    from coalface import CoalClassifier, simulate

    simulate(CoalClassifier(classes=range(3)), X, COST)
    simulate(CoalClassifier(model="ridge", classes=range(3)), X, COST)
    learner = CoalClassifier(classes=range(3))
    learner.interview(X, _answer)
    learner.predict(X)


def online_rows() -> None:
    """The row-by-row interface of the online model."""
    from coalface import CoalClassifier

    learner = CoalClassifier(classes=range(3), model="online")
    learner.partial_fit(X, cost=COST).tell(X, COST, asked=learner.ask(X))
    learner.predict(X)
    learner.interview(X, _answer)


def served() -> None:
    """Serving, where only the cost of the served label is seen."""
    from coalface import CoalClassifier
    from coalface.evaluate import simulate_serving

    simulate_serving(CoalClassifier(classes=range(3), model="online"), X, COST)
    learner = CoalClassifier(classes=range(3), model="online")
    actions = learner.act(X)
    learner.observe(X, actions.labels, COST[:, 0], actions.probability)


def tagger() -> None:
    """The loops of the sequence tagger."""
    from coalface.structured import SequenceTagger

    sentences, tags = [["Ada", "saw", "London"]] * 12, [["B", "O", "B"]] * 12
    SequenceTagger().fit(sentences, tags).predict(sentences)


def vw_text() -> None:
    """The parser of VW's text."""
    from coalface import read_dataset

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "costs.vw"
        path.write_text("1:0 2:1 | a b:2\n" * 5, encoding="utf-8")
        read_dataset(path)


JOBS: tuple[Callable[[], None], ...] = (simulated_online, committee, vw_text, online_rows, served, tagger)  # long first


def main() -> None:
    """Run all jobs; later ones load what earlier ones compiled."""
    with ProcessPoolExecutor(os.cpu_count(), mp_context=get_context("spawn")) as pool:
        for job in [pool.submit(job) for job in JOBS]:
            job.result()


if __name__ == "__main__":
    main()

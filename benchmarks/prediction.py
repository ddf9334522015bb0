"""Speed of ``predict`` on a batch compared with ``vw -t`` on a saved model."""

from collections.abc import Iterator

from benchmarks import vw
from benchmarks.figures import Figure, Progress, at_least
from benchmarks.interleaved import interleave
from benchmarks.machine import Seconds, timed
from benchmarks.problems import Problem
from benchmarks.simulation import compile_kernels, learner_for
from coalface import simulate


def prediction_figures(problem: Problem, files: vw.Files, repeats: int, progress: Progress) -> Iterator[Figure]:
    progress(f"{problem.name}: predict")
    compile_kernels(problem, "passive")
    learner = learner_for(problem, "passive")
    simulate(learner, problem.train.X, problem.train.cost)
    theirs = vw.Driver.predicting(files, vw.train(problem, files, "passive"))

    def ours() -> Seconds:
        return timed(lambda: learner.predict(problem.train.X))[0]

    pairs = interleave(ours, theirs.seconds, repeats)
    details = pairs.details(len(problem.train))
    yield Figure.of("predict: speed / VW", problem.name, pairs.ratios, "times", at_least(1.0), **details)

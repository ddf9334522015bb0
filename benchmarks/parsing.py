"""Speed of the reader of VW text compared with VW's own parser, on the same file."""

from collections.abc import Iterator

from benchmarks import vw
from benchmarks.figures import Figure, Progress, at_least
from benchmarks.machine import timed
from benchmarks.problems import Problem
from coalface import read_dataset


def parsing_figures(problem: Problem, files: vw.Files, repeats: int, progress: Progress) -> Iterator[Figure]:
    progress(f"{problem.name}: parsing")
    read_dataset(files.one)  # compiles
    theirs = vw.Parsing(problem, files)
    megabytes = files.train.stat().st_size / 1e6
    pairs = [(timed(lambda: read_dataset(files.train))[0].cpu, theirs.seconds()) for _ in range(repeats)]
    ratios = [vw_seconds / our_seconds for our_seconds, vw_seconds in pairs]
    details = {
        "our_megabytes_per_second": megabytes / sorted(pair[0] for pair in pairs)[repeats // 2],
        "vw_megabytes_per_second": megabytes / sorted(pair[1] for pair in pairs)[repeats // 2],
        "megabytes": megabytes,
    }
    yield Figure.of("VW text reader: speed / VW", problem.name, ratios, "times", at_least(0.5), **details)

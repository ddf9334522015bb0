"""``python -m benchmarks``: measure speed and memory, and print a table."""

import argparse
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from rich.console import Console

from benchmarks import machine, report
from benchmarks.figures import Figure, Progress
from benchmarks.parsing import parsing_figures
from benchmarks.prediction import prediction_figures
from benchmarks.problems import Problem, problems
from benchmarks.simulation import simulation_figures
from benchmarks.single_rows import single_row_figures
from benchmarks.startup import startup_figures
from benchmarks.vw import Files

PARTS = ("simulate", "predict", "parse", "rows", "startup")


def measure(chosen: list[Problem], parts: set[str], repeats: int, progress: Progress) -> Iterator[Figure]:
    """The figures of these parts, problem by problem."""
    for problem in chosen if parts & {"simulate", "predict", "parse"} else []:
        with TemporaryDirectory() as folder:
            progress(f"{problem.name}: {problem.train!r} as text")
            files = Files.write(problem, Path(folder))
            if "simulate" in parts:
                yield from simulation_figures(problem, files, repeats, progress)
            if "predict" in parts:
                yield from prediction_figures(problem, files, repeats, progress)
            if "parse" in parts:
                yield from parsing_figures(problem, files, repeats, progress)
    if "rows" in parts:
        for problem in chosen:
            if problem.n_labels > 100 or len(chosen) == 1:
                yield from single_row_figures(problem, repeats, progress)
    if "startup" in parts:
        yield from startup_figures(2 * repeats + 1, progress)


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="benchmarks", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer rows and repetitions")
    parser.add_argument("--only", action="append", metavar="NAME", help=f"a part ({', '.join(PARTS)}) or a problem")
    parser.add_argument("--json", type=Path, metavar="PATH", help="write all figures with their details to this file")
    options = parser.parse_args(arguments)
    core = machine.use_one_core()
    machine_now = machine.description(core)
    available = problems(options.quick)
    wanted = set(options.only or [])
    unknown = wanted - set(PARTS) - {problem.name for problem in available}
    if unknown:
        names = [*PARTS, *(problem.name for problem in available)]
        parser.error(f"--only must be one of {', '.join(names)}, got {', '.join(sorted(unknown))}")
    parts = wanted & set(PARTS) or set(PARTS)
    chosen = [problem for problem in available if problem.name in wanted] or available
    began = time.perf_counter()

    def progress(message: str) -> None:
        print(f"{time.perf_counter() - began:6.1f} s  {message}", file=sys.stderr, flush=True)

    figures: list[Figure] = []
    try:
        for figure in measure(chosen, parts, 2 if options.quick else 3, progress):
            figures.append(figure)  # noqa: PERF402 - after an error or Ctrl-C, the figures so far are shown
    finally:
        report.show(figures, Console(width=None if sys.stdout.isatty() else 200))
        if options.json:
            report.save(figures, machine_now, options.json)


if __name__ == "__main__":
    main()
